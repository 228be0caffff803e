//! Any bytes as what clients send, for tests and the fuzzer: nothing that is asked may do harm.

use crate::http::MOST_BODY;
use crate::http::torture as http_head;
use crate::keys;
use crate::socket::torture as socket_line;
use forebay_live::settings;

const FILE: &str = "buffer = \"64KB\"\nrate = \"100Mbps\"\nqueues = 2\n[policy]\nkind = \"dt\"\nalpha = 1.0\n[scheduler]\nkind = \"drr\"\n\
                    [[interface]]\nname = \"a\"\n[[interface]]\nname = \"b\"\n";

/// A request for settings: the body as JSON, the changes in it, and the file with them. What comes out of it is a file
/// that means the same.
///
/// # Panics
///
/// If it does not.
pub fn settings(body: &[u8]) {
    if body.len() > MOST_BODY {
        return;
    }
    let Ok(changes) = serde_json::from_slice(body).map_err(drop).and_then(|json| keys::changes(&json).map_err(drop))
    else {
        return;
    };
    match settings::read("torture.toml", FILE, &changes) {
        Ok((config, text)) => {
            let again = settings::read("torture.toml", &text, &[]);
            let (again, _) = again.unwrap_or_else(|error| panic!("{error}\n{text}"));
            // Secrets are not told.
            if config.http.as_ref().is_none_or(|http| http.token.is_none()) {
                assert_eq!(again, config, "{text}");
            }
            assert!(keys::changeable(&text).iter().any(|key| key.key == "policy.kind"));
        }
        Err(error) => assert!(error.to_string().contains("help:"), "{error}"),
    }
}

/// A request over HTTP, as it comes from a connection; what would be done with its body is tried, too.
pub fn http(bytes: &[u8]) {
    if let Some(body) = http_head(bytes) {
        settings(body);
    }
}

/// A line to the control socket, and what is answered.
///
/// # Panics
///
/// If the answer is none.
pub fn control(line: &[u8]) {
    let answer = socket_line(line);
    assert!(answer.is_object(), "{answer}");
}
