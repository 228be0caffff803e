//! The HTTP server, as clients see it.

use crate::{server, switch};
use forebay_control::{HttpConfig, serve};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Sends bytes and reads all that comes back until the server closes.
pub(crate) fn talk(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    // A server that closes early may take back what follows; what came before is judged.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

pub(crate) fn ask(address: SocketAddr, first: &str, fields: &str, body: &str) -> (u16, String, String) {
    let length = if first.starts_with("POST") { format!("Content-Length: {}\r\n", body.len()) } else { String::new() };
    let request = format!("{first} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{fields}{length}\r\n{body}");
    let answer = talk(address, request.as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{first}: {answer:?}"));
    (head[9..12].parse().unwrap(), head.into(), body.into())
}

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn snapshots_metrics_and_the_page_are_served() {
    let (_server, address) = server(None);
    let (code, head, body) = ask(address, "GET /api/snapshot", "", "");
    assert_eq!(code, 200);
    assert!(head.contains("Content-Type: application/json") && head.contains("Cache-Control: no-store"), "{head}");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["buffer_bytes"], 410_000);
    let (code, head, body) = ask(address, "GET /metrics", "", "");
    assert!(code == 200 && head.contains("version=0.0.4") && body.contains("\nforebay_buffer_bytes 410000\n"));
    let (code, head, body) = ask(address, "GET /", "", "");
    assert!(code == 200 && body.contains("/page/main.js"));
    for guard in [
        "Content-Security-Policy: default-src 'none'; script-src 'self';",
        "X-Content-Type-Options: nosniff",
        "frame-ancestors 'none'",
    ] {
        assert!(head.contains(guard), "{head}");
    }
    // Whatever the page names is there.
    let named: Vec<&str> = body.split('"').filter(|part| part.starts_with("/page/")).collect();
    assert!(named.len() >= 3);
    for path in named {
        assert_eq!(ask(address, &format!("GET {path}"), "", "").0, 200, "{path}");
    }
    let (code, head, body) = ask(address, "HEAD /", "", "");
    assert!(code == 200 && body.is_empty() && !head.contains("Content-Length: 0"));
}

#[test]
fn settings_are_changed_all_or_none() {
    let (_server, address) = server(None);
    let settings = || serde_json::from_str::<Value>(&ask(address, "GET /api/settings", "", "").2).unwrap();
    assert!(settings()["toml"].as_str().unwrap().contains("alpha = 1"));
    let (code, _, body) =
        ask(address, "POST /api/settings", JSON, "{\"policy.alpha\": 0.5, \"interface.1.rate\": \"10Mbps\"}");
    assert_eq!(code, 200, "{body}");
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(answer, settings(), "the answer has the settings in force");
    let value = |settings: &Value, key: &str| {
        settings["keys"]
            .as_array()
            .unwrap()
            .iter()
            .find(|entry| entry["key"] == key)
            .map(|entry| entry["value"].clone())
    };
    assert_eq!(value(&answer, "policy.alpha"), Some("0.5".into()));
    assert_eq!(value(&answer, "interface.1.rate"), Some("10Mbps".into()));
    let (code, _, body) =
        ask(address, "POST /api/settings", JSON, "{\"policy.alpha\": 4, \"interface.9.rate\": \"10Mbps\"}");
    assert_eq!(code, 422);
    assert!(body.contains("interface.9"), "{body}");
    assert_eq!(value(&settings(), "policy.alpha"), Some("0.5".into()));
    assert_eq!(ask(address, "POST /api/settings", JSON, "{\"policy.alpha\"").0, 400);
    assert_eq!(ask(address, "POST /api/settings", JSON, "[1]").0, 422);
    assert_eq!(ask(address, "POST /api/settings", "", "{}").0, 415);
    assert_eq!(ask(address, "POST /api/settings", &format!("{JSON}Origin: http://evil.example\r\n"), "{}").0, 403);
}

#[test]
fn wrong_requests_have_their_status() {
    let (_server, address) = server(None);
    let (code, head, _) = ask(address, "DELETE /api/settings", "", "");
    assert!(code == 405 && head.contains("Allow: GET, HEAD, POST"));
    assert_eq!(ask(address, "POST /metrics", JSON, "{}").0, 405);
    for path in ["/nothing", "/page/", "/page/../Cargo.toml", "/%2e%2e/etc/passwd", "//"] {
        assert_eq!(ask(address, &format!("GET {path}"), "", "").0, 404, "{path}");
    }
    let status = |bytes: &[u8]| talk(address, bytes).get(9..12).map(str::to_owned).unwrap_or_default();
    let host = format!("Host: {address}\r\n");
    assert_eq!(status(b"nonsense\r\n\r\n"), "400");
    assert_eq!(status(b"GET / HTTP/1.1\r\n\r\n"), "400");
    assert_eq!(status(b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"), "403");
    assert_eq!(status(format!("POST /api/settings HTTP/1.1\r\n{host}{JSON}\r\n").as_bytes()), "411");
    assert_eq!(
        status(format!("POST /api/settings HTTP/1.1\r\n{host}{JSON}Content-Length: 70000\r\n\r\n").as_bytes()),
        "413"
    );
    assert_eq!(status(format!("GET / HTTP/1.1\r\n{host}X: {}\r\n\r\n", "y".repeat(20_000)).as_bytes()), "431");
    assert_eq!(status(&vec![b'A'; 100_000]), "431");
}

#[test]
fn a_connection_is_kept_and_requests_may_follow_at_once() {
    let (_server, address) = server(None);
    let one = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let last = format!(
        "POST /api/settings HTTP/1.1\r\nHost: {address}\r\n{JSON}Content-Length: 19\r\nConnection: close\r\n\r\n{{\"policy.alpha\": 2}}"
    );
    let answers = talk(address, format!("{one}{one}{last}").as_bytes());
    assert_eq!(answers.matches("HTTP/1.1 200 OK\r\n").count(), 3, "{answers}");
    assert!(answers.ends_with("}\n"));
}

#[test]
fn events_come_one_after_the_other() {
    let (server, address) = server(None);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(format!("GET /api/events HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut last = 0;
    for _ in 0..5 {
        let data = lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("data: ")).unwrap();
        let sequence = serde_json::from_str::<Value>(&data[6..]).unwrap()["sequence"].as_u64().unwrap();
        assert!(sequence > last);
        last = sequence;
    }
    // The end of the server is the end of the stream.
    server.stop();
    assert!(lines.all(|line| line.is_ok()));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_token_is_asked_for() {
    let (_server, address) = server(Some("open-sesame"));
    let (code, head, _) = ask(address, "GET /api/snapshot", "", "");
    assert!(code == 401 && head.contains("WWW-Authenticate: Bearer"));
    assert_eq!(ask(address, "GET /api/snapshot", "Authorization: Bearer open-sesame\r\n", "").0, 200);
    assert_eq!(ask(address, "POST /api/settings", JSON, "{\"policy.alpha\": 2}").0, 401);
    let (code, head, _) = ask(address, "GET /?token=open-sesame", "", "");
    assert!(code == 303 && head.contains("HttpOnly; SameSite=Strict") && !head.contains("open-sesame"), "{head}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("Set-Cookie: ")).unwrap().split(';').next().unwrap();
    assert_eq!(ask(address, "GET /", &format!("Cookie: {cookie}\r\n"), "").0, 200);
}

#[test]
fn others_are_not_listened_to_without_a_token() {
    let open = |listen: &str, token: Option<&str>| {
        let config = HttpConfig { listen: listen.parse().unwrap(), token: token.map(Into::into) };
        serve(switch().0, Some(config), None).map(|_| ()).map_err(|error| error.to_string())
    };
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        assert!(open(listen, None).unwrap_err().contains("give a token as http.token"), "{listen}");
    }
    assert!(open("127.0.0.1:0", Some("")).unwrap_err().contains("http.token"));
    assert!(open("0.0.0.0:0", Some("x")).is_ok());
    assert!(open("192.0.2.1:0", Some("x")).unwrap_err().contains("http.listen 192.0.2.1:0"));
}
