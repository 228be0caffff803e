//! The book of `docs/` builds, lists every page, and no link in it is dead. Needs mdBook, which `./test` installs into
//! `target/tools`; where it is missing nothing is built, unless `FOREBAY_TEST` is 1, as in `./test`.

use crate::pages::{read, root};
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// What stands in these attributes of a page.
fn attributes(html: &str, names: &[&str]) -> Vec<String> {
    let values = names.iter().flat_map(|name| {
        let marker = format!(" {name}=\"");
        html.split(&marker).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect::<Vec<_>>()
    });
    values.map(|value| value.replace("&amp;", "&").replace("%20", " ")).collect()
}

/// A path without `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(parts.pop(), "{}", path.display()),
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts
}

#[test]
fn the_book_builds_and_no_link_is_dead() {
    let must = std::env::var("FOREBAY_TEST").is_ok_and(|value| value == "1");
    let directory = tempfile::tempdir().unwrap();
    // As deep as `book/` of the project: links to files outside the book lead to the project.
    let book = directory.path().join("book");
    let installed = root().join("target/tools/bin/mdbook");
    let mdbook = if installed.exists() { installed } else { "mdbook".into() };
    let output = match Command::new(mdbook).arg("build").arg(root()).arg("-d").arg(&book).output() {
        Ok(output) => output,
        Err(error) if must => panic!("mdbook: {error}"),
        Err(_) => return,
    };
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !told.contains("WARN") && !told.contains("ERROR"), "{told}");

    let pages: Vec<PathBuf> =
        files(&book).into_iter().filter(|path| path.extension().is_some_and(|e| e == "html")).collect();
    let texts: HashMap<&PathBuf, String> =
        pages.iter().map(|path| (path, std::fs::read_to_string(path).unwrap())).collect();
    let anchors: HashMap<&PathBuf, HashSet<String>> =
        texts.iter().map(|(path, text)| (*path, attributes(text, &["id", "name"]).into_iter().collect())).collect();
    let (mut dead, mut links) = (Vec::new(), 0);
    // Links of the page for addresses that do not exist start at the root of a server.
    for (page, text) in texts.iter().filter(|(page, _)| page.file_name().is_some_and(|name| name != "404.html")) {
        for link in attributes(text, &["href", "src"]) {
            if link.contains("://") || link.starts_with("data:") || link.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { (*page).clone() } else { resolved(&page.parent().unwrap().join(file)) };
            let is_there = match target.strip_prefix(&book) {
                Ok(_) => target.exists(),
                Err(_) => target.strip_prefix(directory.path()).is_ok_and(|path| root().join(path).exists()),
            };
            let has_anchor = anchor.is_empty() || anchors.get(&target).is_none_or(|known| known.contains(anchor));
            if !is_there || !has_anchor {
                dead.push(format!("{}: {link}", page.strip_prefix(&book).unwrap().display()));
            }
        }
    }
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
    assert!(links > 500, "only {links} links");
}

#[test]
fn every_page_is_a_chapter() {
    let summary = read("docs/SUMMARY.md");
    let docs = root().join("docs");
    for page in files(&docs).iter().filter(|path| path.extension().is_some_and(|e| e == "md")) {
        let name = page.strip_prefix(&docs).unwrap().display().to_string();
        let is_listed = summary.contains(&format!("]({name})"));
        // Pages that `forebay reproduce` makes as HTML, too, are in the book as that: mdBook's would have the same
        // name.
        let is_html = page.with_extension("html").exists();
        assert!(
            (is_listed != is_html) || name == "SUMMARY.md",
            "docs/SUMMARY.md does not list {name}, or lists what it must not"
        );
    }
}
