//! A browser without a window, driven over its DevTools pipe: JSON messages that end in a zero byte.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Browsers want a machine for themselves.
static ONE: Mutex<()> = Mutex::new(());

const PATIENCE: Duration = Duration::from_secs(60);

/// Whether there is a browser. `./test` sees to it that there is.
fn has_chromium() -> bool {
    let found = Command::new("chromium").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    let must = std::env::var("FOREBAY_TEST").is_ok_and(|value| value == "1");
    assert!(found || !must, "chromium is missing; ./test installs it");
    found
}

/// A browser with one page.
pub(crate) struct Browser {
    process: Child,
    orders: ChildStdin,
    heard: Receiver<Value>,
    last: u64,
    session: Value,
    _profile: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Browser {
    /// Starts a browser; `None` where there is none.
    pub(crate) fn start() -> Option<Self> {
        if !has_chromium() {
            return None;
        }
        let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let profile = tempfile::tempdir().unwrap();
        let flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
            --disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe";
        // The browser listens on descriptor 3 and speaks on 4.
        let mut process = Command::new("sh")
            .arg("-c")
            .arg(format!("exec chromium {flags} --user-data-dir=\"$0\" 3<&0 4>&1 >/dev/null 2>&1"))
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (orders, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (tell, heard) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(answers).split(0).map_while(Result::ok) {
                if tell.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    return;
                }
            }
        });
        let mut browser =
            Self { process, orders, heard, last: 0, session: Value::Null, _profile: profile, _turn: turn };
        let target = browser.order("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        browser.session = browser.order("Target.attachToTarget", &attach)["sessionId"].take();
        browser.order("Page.enable", &json!({}));
        Some(browser)
    }

    /// Gives an order and waits for what comes of it.
    pub(crate) fn order(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut order = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_null() {
            order["sessionId"] = self.session.clone();
        }
        self.orders.write_all(format!("{order}\0").as_bytes()).unwrap();
        loop {
            let mut message = self.heard.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }

    /// The value of an expression of the page; promises are waited for.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut result = self.order("Runtime.evaluate", &parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].take()
    }

    pub(crate) fn open(&mut self, url: &str) {
        self.order("Page.navigate", &json!({"url": url}));
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&mut self, expression: &str) {
        let start = Instant::now();
        while self.value(expression) != true {
            let text = "document.body?.innerText";
            assert!(start.elapsed() < PATIENCE, "never: {expression}\n{}", self.value(text));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The size of the window in pixels, and the colours that the person prefers.
    pub(crate) fn look(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.order("Emulation.setDeviceMetricsOverride", &size);
        self.prefer("prefers-color-scheme", scheme);
    }

    pub(crate) fn prefer(&mut self, feature: &str, value: &str) {
        let features = json!({"features": [{"name": feature, "value": value}]});
        self.order("Emulation.setEmulatedMedia", &features);
    }

    /// Presses and releases a key.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let press = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.order("Input.dispatchKeyEvent", &press);
        }
    }

    /// Types text where the cursor is.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.order("Input.insertText", &json!({"text": text}));
    }

    /// Keeps a picture of the whole page, where `FOREBAY_PICTURES` names a directory for them.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(dir) = std::env::var_os("FOREBAY_PICTURES") else { return };
        let shot = self.order("Page.captureScreenshot", &json!({"format": "png", "captureBeyondViewport": true}));
        let path = std::path::Path::new(&dir).join(format!("{name}.png"));
        std::fs::write(path, base64(shot["data"].as_str().unwrap())).unwrap();
    }
}

/// The bytes of a text in base 64.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for digit in text.bytes().filter_map(|byte| DIGITS.iter().position(|of| *of == byte)) {
        bits = bits << 6 | digit as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
