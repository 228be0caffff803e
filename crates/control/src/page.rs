//! The web page: plain files that are part of the program. It takes nothing from elsewhere.

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($($path:literal $media:ident $name:literal,)*) => {
        const FILES: &[(&str, &str, &str)] = &[$(($path, $media, include_str!(concat!("../page/", $name))),)*];
    };
}

const SVG: &str = "image/svg+xml";

files! {
    "/" HTML "index.html",
    "/page/style.css" CSS "style.css",
    "/page/icon.svg" SVG "icon.svg",
    "/page/main.js" SCRIPT "main.js",
    "/page/model.js" SCRIPT "model.js",
    "/page/charts.js" SCRIPT "charts.js",
    "/page/buffer.js" SCRIPT "buffer.js",
    "/page/ports.js" SCRIPT "ports.js",
    "/page/losses.js" SCRIPT "losses.js",
    "/page/counters.js" SCRIPT "counters.js",
    "/page/controls.js" SCRIPT "controls.js",
    "/page/format.js" SCRIPT "format.js",
}

/// The type and the text of the file at a path.
pub fn file(path: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(known, _, _)| *known == path).map(|(_, media, text)| (*media, *text))
}
