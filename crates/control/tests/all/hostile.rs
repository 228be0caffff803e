//! Whatever is sent to a server, it still answers afterwards, and the switch does not notice.

use crate::http::{ask, talk};
use crate::server;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Waits until the server answers, as it must when those who were in the way are gone.
fn answers_again(address: SocketAddr) {
    let start = Instant::now();
    loop {
        let code =
            talk(address, format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes());
        if code.starts_with("HTTP/1.1 200") {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{code}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn random_bytes_do_no_harm() {
    let (_server, address) = server(None);
    let pieces = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        Just(b"GET / HTTP/1.1\r\n".to_vec()),
        Just(b"POST /api/settings HTTP/1.1\r\nContent-Type: application/json\r\n".to_vec()),
        Just(format!("Host: {address}\r\n").into_bytes()),
        Just(b"Content-Length: 9\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(b"{\"policy.alpha\": [[[[".to_vec()),
        Just(vec![0xff; 5000]),
    ];
    let hostile = prop::collection::vec(pieces, 1..8).prop_map(|pieces| pieces.concat());
    let mut runner = TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    runner
        .run(&hostile, |bytes| {
            let mut stream = connect(address);
            let _ = stream.write_all(&bytes);
            let _ = stream.shutdown(Shutdown::Write);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            prop_assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 "));
            Ok(())
        })
        .unwrap();
    answers_again(address);
}

/// As deep, as long and as many as a request has room for.
#[test]
fn requests_without_bounds_are_refused() {
    let (_server, address) = server(None);
    let pair = |key: &str, value: &str| format!("{{\"{key}\": {value}}}");
    let many: Vec<String> = (0..1_000).map(|key| format!("\"key{key}\": \"{}\"", "x".repeat(44))).collect();
    for (body, code, says) in [
        (pair(&vec!["a"; 12_000].join("."), "\"1\""), 422, "bytes of a key"),
        (pair(&format!("policy.{}", vec!["a"; 100].join(".")), "1"), 422, "101 parts of a key"),
        (pair("policy.alpha", &("[".repeat(30_000) + &"]".repeat(30_000))), 400, "recursion limit"),
        (pair("policy.alpha", &("[".repeat(100) + &"]".repeat(100))), 422, "more than 16 brackets"),
        (pair("policy.alpha", &format!("\"{}\"", "[".repeat(60_000))), 422, "more than 16 brackets"),
        (pair("policy", &format!("\"{{{} = 1}}\"", vec!["a"; 12_000].join("."))), 422, "more than 16 parts"),
        (format!("{{{}}}", many.join(",")), 422, "give 1 to 200"),
    ] {
        let (got, _, answer) = ask(address, "POST /api/settings", "Content-Type: application/json\r\n", &body);
        assert!(got == code && answer.contains(says) && answer.len() < 1_000, "{got} {answer}, not {says}");
    }
    answers_again(address);
}

#[test]
fn a_request_that_trickles_in_is_given_up() {
    let (_server, address) = server(None);
    let mut slow = connect(address);
    slow.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n").unwrap();
    let mut other = slow.try_clone().unwrap();
    let trickle = std::thread::spawn(move || {
        while other.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let start = Instant::now();
    let mut answer = String::new();
    let _ = slow.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(start.elapsed() < Duration::from_secs(15));
    drop(slow);
    trickle.join().unwrap();
    answers_again(address);
}

#[test]
fn more_connections_than_there_are_threads_for_are_turned_away() {
    let (_server, address) = server(None);
    let idle: Vec<TcpStream> = (0..forebay_control::http::MOST_CONNECTIONS).map(|_| connect(address)).collect();
    let (code, head, _) = ask(address, "GET /metrics", "", "");
    assert!(code == 503 && head.contains("Retry-After: 1"), "{head}");
    // Hundreds more change nothing.
    for _ in 0..300 {
        drop(TcpStream::connect(address));
    }
    drop(idle);
    answers_again(address);
}

#[test]
fn those_who_watch_leave_room_for_those_who_ask() {
    let (_server, address) = server(None);
    let watch = format!("GET /api/events HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut watching: Vec<TcpStream> = (0..20).map(|_| connect(address)).collect();
    for stream in &mut watching {
        stream.write_all(watch.as_bytes()).unwrap();
    }
    let mut refused = 0;
    for stream in &mut watching {
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        refused += usize::from(&head == b"HTTP/1.1 503");
    }
    assert_eq!(refused, 4, "16 may watch");
    assert_eq!(ask(address, "GET /metrics", "", "").0, 200);
    drop(watching);
    answers_again(address);
}

#[test]
fn the_server_ends_at_once_whoever_is_inside() {
    let (server, address) = server(None);
    let mut inside: Vec<TcpStream> = (0..10).map(|_| connect(address)).collect();
    for (index, stream) in inside.iter_mut().enumerate() {
        let start = ["", "GET / HT", "GET /api/events HTTP/1.1\r\nHost: localhost\r\n"][index % 3];
        stream.write_all(start.as_bytes()).unwrap();
    }
    let start = Instant::now();
    server.stop();
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

/// What the fuzzer checks (`fuzz/`), on words of requests put together at random and on what has done harm before.
#[test]
fn what_the_fuzzer_checks_holds() {
    use forebay_control::torture;
    let deep = format!("{{\"policy.{}\": \"1\"}}", vec!["a"; 12_000].join("."));
    let brackets = format!("{{\"set\":{}", "[".repeat(60_000));
    // The third one was shown as `0x0x10`.
    for known in [
        &*deep,
        &brackets,
        "{\"rate\":\"0x42337685475807\"}",
        "{\"policy.alpha\":\"-1\"}",
        "{\"http.token\":\"0123456789abcdef\"}",
    ] {
        torture::settings(known.as_bytes());
        torture::control(known.as_bytes());
        let head = "POST /api/settings HTTP/1.1\r\nHost: localhost:9099\r\nContent-Type: application/json\r\n";
        torture::http(format!("{head}Content-Length: {}\r\n\r\n{known}", known.len()).as_bytes());
    }
    let words: Vec<String> = include_str!("../../../../fuzz/requests.dict")
        .lines()
        .filter_map(|line| {
            Some(line.strip_prefix('"')?.strip_suffix('"')?.replace("\\\"", "\"").replace("\\x0d\\x0a", "\r\n"))
        })
        .collect();
    let bytes = prop::collection::vec(prop::sample::select(words), 0..12).prop_map(|words| words.concat());
    let mut runner = TestRunner::new(Config { cases: 300, ..Config::default() });
    let checked = runner.run(&(bytes, "[ -~]{0,20}"), |(bytes, more)| {
        for text in [&*bytes, &format!("{bytes}{more}"), &format!("{{\"{bytes}\":\"{more}\"}}")] {
            torture::settings(text.as_bytes());
            torture::http(text.as_bytes());
            torture::control(text.as_bytes());
        }
        Ok(())
    });
    checked.unwrap();
}
