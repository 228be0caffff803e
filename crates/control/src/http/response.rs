//! What is answered to a request.

use std::fmt::Write;

/// The statuses that are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    SeeOther,
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    LengthRequired,
    BodyTooLarge,
    UnsupportedMediaType,
    Unprocessable,
    HeadTooLarge,
    ServiceUnavailable,
    VersionNotSupported,
}

impl Status {
    const fn line(self) -> (u16, &'static str) {
        match self {
            Self::Ok => (200, "OK"),
            Self::SeeOther => (303, "See Other"),
            Self::BadRequest => (400, "Bad Request"),
            Self::Unauthorized => (401, "Unauthorized"),
            Self::Forbidden => (403, "Forbidden"),
            Self::NotFound => (404, "Not Found"),
            Self::MethodNotAllowed => (405, "Method Not Allowed"),
            Self::RequestTimeout => (408, "Request Timeout"),
            Self::LengthRequired => (411, "Length Required"),
            Self::BodyTooLarge => (413, "Content Too Large"),
            Self::UnsupportedMediaType => (415, "Unsupported Media Type"),
            Self::Unprocessable => (422, "Unprocessable Content"),
            Self::HeadTooLarge => (431, "Request Header Fields Too Large"),
            Self::ServiceUnavailable => (503, "Service Unavailable"),
            Self::VersionNotSupported => (505, "HTTP Version Not Supported"),
        }
    }

    #[cfg(test)]
    pub(crate) const fn code(self) -> u16 {
        self.line().0
    }
}

/// On every answer: nothing is kept, guessed, framed or taken from elsewhere.
const ALWAYS: &str = "Cache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n";

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: Status,
    /// Lines of the head beside those that every answer has.
    fields: String,
    body: Vec<u8>,
}

impl Response {
    pub(crate) fn new(status: Status, media: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, fields: format!("Content-Type: {media}\r\n"), body: body.into() }
    }

    /// A sentence, as JSON.
    pub(crate) fn error(status: Status, sentence: &str) -> Self {
        Self::json(status, &serde_json::json!({"error": sentence}))
    }

    pub(crate) fn json(status: Status, value: &serde_json::Value) -> Self {
        Self::new(status, "application/json", format!("{value}\n"))
    }

    /// The same with a line more in its head. The value is ours, not the client's.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.fields, "{name}: {value}\r\n");
        self
    }

    /// As it goes over the wire.
    pub(crate) fn bytes(&self, with_body: bool, keep_alive: bool) -> Vec<u8> {
        let length = self.body.len();
        let mut bytes = head(self.status, &format!("{}Content-Length: {length}\r\n", self.fields), keep_alive);
        if with_body {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

/// The head of an answer.
pub(crate) fn head(status: Status, fields: &str, keep_alive: bool) -> Vec<u8> {
    let (code, phrase) = status.line();
    let connection = if keep_alive { "keep-alive" } else { "close" };
    format!("HTTP/1.1 {code} {phrase}\r\n{fields}{ALWAYS}Connection: {connection}\r\n\r\n").into_bytes()
}
