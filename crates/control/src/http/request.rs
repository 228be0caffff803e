//! The head of an HTTP/1.1 request.

use super::response::Status;
use std::str;

/// The longest head, and the longest body, that is read.
pub(crate) const MOST_HEAD: usize = 16 << 10;
pub(crate) const MOST_BODY: usize = 64 << 10;
/// The most header fields.
const MOST_FIELDS: usize = 100;

/// A request without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) method: String,
    /// The path, as it was sent.
    pub(crate) path: String,
    /// What follows the question mark.
    pub(crate) query: String,
    pub(crate) host: String,
    /// Whether the connection goes on after the answer.
    pub(crate) keep_alive: bool,
    /// Names in lower case.
    fields: Vec<(String, String)>,
}

/// Why a head is no head, and what the client did wrong.
pub(crate) type Refusal = (Status, &'static str);

const fn bad(why: &'static str) -> Refusal {
    (Status::BadRequest, why)
}

impl Head {
    /// Reads a head: all up to the empty line, without the line break in front of that.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let text = str::from_utf8(bytes).map_err(|_| bad("the head is not text"))?;
        let mut lines = text.split("\r\n");
        let (method, target, version) = request_line(lines.next().unwrap_or_default())?;
        let fields = lines.map(field).collect::<Result<Vec<_>, _>>()?;
        if fields.len() > MOST_FIELDS {
            return Err((Status::HeadTooLarge, "too many header fields"));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut head = Self {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            host: String::new(),
            keep_alive: true,
            fields,
        };
        head.host = match (head.only("host")?, version) {
            (Some(host), _) => host.into(),
            (None, "HTTP/1.0") => String::new(),
            (None, _) => return Err(bad("the Host is missing")),
        };
        let says = |word: &str| head.all("connection").any(|value| has_word(value, word));
        head.keep_alive = if version == "HTTP/1.0" { says("keep-alive") } else { !says("close") };
        Ok(head)
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first value of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a field that may not be there twice.
    fn only(&self, name: &str) -> Result<Option<&str>, Refusal> {
        let mut values = self.all(name);
        let value = self.field(name);
        values.next();
        if values.next().is_some() { Err(bad("a header field is there twice")) } else { Ok(value) }
    }

    /// Bytes of the body.
    pub(crate) fn body_length(&self) -> Result<usize, Refusal> {
        if self.field("transfer-encoding").is_some() {
            return Err((Status::LengthRequired, "give the length of the body"));
        }
        match self.only("content-length")? {
            None if self.method == "POST" || self.method == "PUT" => {
                Err((Status::LengthRequired, "give the length of the body"))
            }
            None => Ok(0),
            Some(digits) if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Err(bad("the Content-Length is not a number"))
            }
            // A number that does not fit is too large as well.
            Some(digits) => match digits.parse() {
                Ok(length) if length <= MOST_BODY => Ok(length),
                _ => Err((Status::BodyTooLarge, "the body is longer than 64 KB")),
            },
        }
    }
}

/// Whether a comma-separated list has a word, in any case.
fn has_word(list: &str, word: &str) -> bool {
    list.split(',').any(|part| part.trim().eq_ignore_ascii_case(word))
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn request_line(line: &str) -> Result<(&str, &str, &str), Refusal> {
    let mut parts = line.split(' ');
    let (Some(method), Some(target), Some(version), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(bad("the first line is not METHOD TARGET VERSION"));
    };
    if !is_token(method) {
        return Err(bad("the method is not a word"));
    }
    if !target.starts_with('/') || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(bad("the target is not a path"));
    }
    match version {
        "HTTP/1.1" | "HTTP/1.0" => Ok((method, target, version)),
        _ if version.starts_with("HTTP/") => Err((Status::VersionNotSupported, "speak HTTP/1.1")),
        _ => Err(bad("the first line names no version of HTTP")),
    }
}

fn field(line: &str) -> Result<(String, String), Refusal> {
    let (name, value) = line.split_once(':').ok_or(bad("a header field has no colon"))?;
    if !is_token(name) {
        return Err(bad("the name of a header field is not a word"));
    }
    let value = value.trim_matches([' ', '\t']);
    if value.chars().any(|c| c.is_control() && c != '\t') {
        return Err(bad("a header field has control characters"));
    }
    Ok((name.to_ascii_lowercase(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Head, Refusal> {
        Head::parse(text.as_bytes())
    }

    fn status(text: &str) -> u16 {
        match parse(text).and_then(|head| head.body_length()) {
            Ok(_) => 200,
            Err((status, _)) => status.code(),
        }
    }

    #[test]
    fn a_head_is_taken_apart() {
        let head =
            parse("GET /api/x?token=a%20b HTTP/1.1\r\nHost: localhost:9099\r\nX-Y:  z \r\nConnection: Close").unwrap();
        assert_eq!((head.method.as_str(), head.path.as_str(), head.query.as_str()), ("GET", "/api/x", "token=a%20b"));
        assert_eq!((head.host.as_str(), head.field("x-y"), head.keep_alive), ("localhost:9099", Some("z"), false));
        assert!(parse("GET / HTTP/1.0\r\nConnection: keep-alive").unwrap().keep_alive);
        assert!(!parse("GET / HTTP/1.0").unwrap().keep_alive);
        assert!(parse("GET / HTTP/1.1\r\nHost: a").unwrap().keep_alive);
    }

    #[test]
    fn what_is_wrong_has_its_status() {
        let post = |fields: &str| format!("POST / HTTP/1.1\r\nHost: a{fields}");
        for (text, code) in [
            ("", 400),
            ("GET /", 400),
            ("GET  / HTTP/1.1\r\nHost: a", 400),
            ("GET http://a/ HTTP/1.1\r\nHost: a", 400),
            ("GET /\u{e9} HTTP/1.1\r\nHost: a", 400),
            ("GET / HTTP/1.1", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nx", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\n folded: x", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nx: a\nb", 400),
            ("GET / HTTP/1.1\r\nHost : a", 400),
            ("GET / HTTP/2.0\r\nHost: a", 505),
            ("GET / FTP", 400),
            (&post(""), 411),
            (&post("\r\nContent-Length: 3\r\nTransfer-Encoding: chunked"), 411),
            (&post("\r\nContent-Length: 5\r\nContent-Length: 5"), 400),
            (&post("\r\nContent-Length: +5"), 400),
            (&post("\r\nContent-Length: -1"), 400),
            (&post("\r\nContent-Length: "), 400),
            (&post("\r\nContent-Length: 65536"), 200),
            (&post("\r\nContent-Length: 65537"), 413),
            (&post("\r\nContent-Length: 99999999999999999999999"), 413),
            (&format!("GET / HTTP/1.1\r\nHost: a{}", "\r\na: b".repeat(100)), 431),
        ] {
            assert_eq!(status(text), code, "{text:?}");
        }
        assert_eq!(Head::parse(b"GET /\xff HTTP/1.1").unwrap_err().0.code(), 400);
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_parser(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = Head::parse(&bytes).map(|head| head.body_length());
        }

        #[test]
        fn nothing_like_a_head_breaks_the_parser(
            text in "(GET|POST|[A-Z ]{0,9}) ?/?[ -~\\t\\r\\n:]{0,40} HTTP/1\\.[01]\r\n((Host|content-length|Connection): ?[ -~\u{80}-\u{ff}]{0,30}\r\n){0,5}"
        ) {
            if let Ok(head) = parse(&text) {
                prop_assert!(head.path.starts_with('/'));
                let _ = head.body_length();
            }
        }
    }
}
