//! Who may ask for what.
//!
//! On loopback without a token, the user that has started the switch may look and change, and root: the kernel says
//! whose a connection is. No page of a foreign site may: a browser tells which site a request comes from, and a site
//! that points its own name at 127.0.0.1 is given away by the `Host`. With a token, the token decides.

use super::request::Head;
use super::response::{Response, Status};
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};

/// The rules of one server.
#[derive(Debug)]
pub(crate) struct Guard {
    address: SocketAddr,
    token: Option<Token>,
}

#[derive(Debug)]
struct Token {
    token: String,
    /// What a browser is given instead: cookies are seen by every port of a host, and the token may be written down
    /// elsewhere.
    session: String,
}

/// Whether a request may go on, or how it is answered.
pub(crate) type Decision = Result<(), Response>;

impl Guard {
    pub(crate) fn new(address: SocketAddr, token: Option<String>) -> io::Result<Self> {
        let token = token.map(|token| Ok::<_, io::Error>(Token { token, session: random()? })).transpose()?;
        Ok(Self { address, token })
    }

    /// Whether a token decides.
    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    pub(crate) fn check(&self, head: &Head) -> Decision {
        self.check_host(head)?;
        self.check_token(head)?;
        check_site(head)
    }

    /// Against names that others have pointed at this machine.
    fn check_host(&self, head: &Head) -> Decision {
        if self.token.is_some() || is_local(&head.host, self.address) {
            return Ok(());
        }
        let sentence =
            format!("this server answers to http://{} and http://localhost, not to another name", self.address);
        Err(Response::error(Status::Forbidden, &sentence))
    }

    fn check_token(&self, head: &Head) -> Decision {
        let Some(token) = &self.token else { return Ok(()) };
        let bearer = head.field("authorization").and_then(|value| value.split_once(' '));
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, given)| given.trim());
        let cookie = head.field("cookie").and_then(|value| cookie(value, &self.cookie_name()));
        let asked = (head.path == "/").then(|| parameter(&head.query, "token")).flatten();
        if bearer.is_some_and(|given| same(given, &token.token))
            || asked.is_none() && cookie.is_some_and(|given| same(given, &token.session))
        {
            return Ok(());
        }
        if asked.is_some_and(|given| same(&given, &token.token)) {
            let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), token.session);
            let moved = Response::new(Status::SeeOther, "text/plain", "");
            return Err(moved.with("Location", "/").with("Set-Cookie", &cookie));
        }
        let sentence = "a token is needed: open /?token=TOKEN, or send it as Authorization: Bearer TOKEN";
        Err(Response::error(Status::Unauthorized, sentence).with("WWW-Authenticate", "Bearer"))
    }

    /// Two switches on one host keep their sessions apart.
    fn cookie_name(&self) -> String {
        format!("forebay-{}", self.address.port())
    }
}

/// Pages of other sites may lead to the page, and to nothing else.
fn check_site(head: &Head) -> Decision {
    let refuse = || Err(Response::error(Status::Forbidden, "this may only be asked for by the switch's own page"));
    let is_foreign = head.field("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none"));
    if is_foreign && head.path != "/" {
        return refuse();
    }
    if head.method != "POST" {
        return Ok(());
    }
    // A proxy with TLS in front leaves the name as it is.
    let site =
        |origin: &str| ["http://", "https://"].iter().any(|scheme| origin.strip_prefix(scheme) == Some(&*head.host));
    if head.field("origin").is_some_and(|origin| !site(origin)) {
        return refuse();
    }
    let media = head.field("content-type").unwrap_or_default();
    if !media.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        let sentence = "send the changes as application/json";
        return Err(Response::error(Status::UnsupportedMediaType, sentence));
    }
    Ok(())
}

/// Whether a `Host` names this machine's loopback or the very address that is listened on.
fn is_local(host: &str, address: SocketAddr) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, Some(80)),
    };
    let ip: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();
    let is_known =
        name.eq_ignore_ascii_case("localhost") || ip.is_some_and(|ip| ip.is_loopback() || ip == address.ip());
    is_known && port == Some(address.port())
}

fn cookie<'a>(cookies: &'a str, name: &str) -> Option<&'a str> {
    cookies
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// A parameter of a query, with its escapes undone.
fn parameter(query: &str, name: &str) -> Option<String> {
    let (_, value) = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)?;
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| behind.get(..2)).flatten();
        let escaped = escaped.and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).ok()
}

/// Whether two texts are the same, in a time that depends on nothing but the length of what was given.
fn same(given: &str, secret: &str) -> bool {
    let secret = secret.as_bytes();
    let mut differs = given.len() ^ secret.len();
    for (index, byte) in given.bytes().enumerate() {
        let other = secret.get(index % secret.len().max(1)).copied().unwrap_or(0);
        differs |= usize::from(std::hint::black_box(byte ^ other));
    }
    std::hint::black_box(differs) == 0
}

/// 128 random bits as text.
fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(first: &str, fields: &str) -> Head {
        Head::parse(format!("{first} HTTP/1.1\r\n{fields}").as_bytes()).unwrap()
    }

    fn code(guard: &Guard, first: &str, fields: &str) -> u16 {
        guard.check(&head(first, fields)).err().map_or(200, |response| response.status.code())
    }

    #[test]
    fn only_local_names_are_answered_without_a_token() {
        let address = "127.0.0.1:9099".parse().unwrap();
        for host in ["localhost:9099", "LocalHost:9099", "127.0.0.1:9099", "[::1]:9099", "127.8.9.1:9099"] {
            assert!(is_local(host, address), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:80",
            "evil.example:9099",
            "127.0.0.1.evil.example:9099",
            "10.0.0.1:9099",
            "[::1]",
            ":9099",
            "localhost:9099:9099",
        ] {
            assert!(!is_local(host, address), "{host}");
        }
        assert!(is_local("localhost", "127.0.0.1:80".parse().unwrap()));
        assert!(is_local("[::1]", "[::1]:80".parse().unwrap()));
        let guard = Guard::new(address, None).unwrap();
        assert_eq!(code(&guard, "GET /api/snapshot", "Host: localhost:9099"), 200);
        assert_eq!(code(&guard, "GET /api/snapshot", "Host: evil.example:9099"), 403);
    }

    #[test]
    fn foreign_sites_may_not_ask() {
        let guard = Guard::new("127.0.0.1:9099".parse().unwrap(), None).unwrap();
        let host = "Host: localhost:9099\r\n";
        let json = format!("{host}Content-Type: application/json; charset=utf-8");
        for (first, fields, expected) in [
            ("GET /", format!("{host}Sec-Fetch-Site: cross-site"), 200),
            ("GET /api/events", format!("{host}Sec-Fetch-Site: cross-site"), 403),
            ("GET /api/events", format!("{host}Sec-Fetch-Site: same-site"), 403),
            ("GET /api/events", format!("{host}Sec-Fetch-Site: same-origin"), 200),
            ("POST /api/settings", json.clone(), 200),
            ("POST /api/settings", format!("{json}\r\nOrigin: http://localhost:9099"), 200),
            ("POST /api/settings", format!("{json}\r\nOrigin: https://localhost:9099"), 200),
            ("POST /api/settings", format!("{json}\r\nOrigin: http://localhost:9098"), 403),
            ("POST /api/settings", format!("{json}\r\nOrigin: https://localhost:9098"), 403),
            ("POST /api/settings", format!("{json}\r\nOrigin: httpss://localhost:9099"), 403),
            ("POST /api/settings", format!("{json}\r\nOrigin: null"), 403),
            ("POST /", format!("{json}\r\nOrigin: http://evil.example"), 403),
            ("POST /api/settings", format!("{json}\r\nSec-Fetch-Site: cross-site"), 403),
            ("POST /api/settings", format!("{host}Content-Type: text/plain"), 415),
            ("POST /api/settings", format!("{host}Content-Type: application/jsonp"), 415),
            ("POST /api/settings", host.trim_end().into(), 415),
        ] {
            assert_eq!(code(&guard, first, &fields), expected, "{first} {fields}");
        }
    }

    #[test]
    fn a_token_opens() {
        let guard = Guard::new("0.0.0.0:9099".parse().unwrap(), Some("s3cret token".into())).unwrap();
        let session = guard.token.as_ref().unwrap().session.clone();
        let host = "Host: switch.example:9099";
        for (first, fields, expected) in [
            ("GET /", String::new(), 401),
            ("GET /api/snapshot", String::new(), 401),
            ("GET /api/snapshot", "Authorization: Bearer s3cret token".into(), 200),
            ("GET /api/snapshot", "Authorization: bearer s3cret token".into(), 200),
            ("GET /api/snapshot", "Authorization: Bearer s3cret".into(), 401),
            ("GET /api/snapshot", "Authorization: Basic s3cret token".into(), 401),
            ("GET /?token=s3cret%20token", String::new(), 303),
            ("GET /?token=s3cret", String::new(), 401),
            ("GET /?token=", String::new(), 401),
            ("GET /api/snapshot?token=s3cret%20token", String::new(), 401),
            ("GET /api/snapshot", format!("Cookie: a=b; forebay-9099={session}"), 200),
            ("GET /api/snapshot", format!("Cookie: forebay-9098={session}"), 401),
            ("GET /api/snapshot", "Cookie: forebay-9099=s3cret token".into(), 401),
        ] {
            let fields = if fields.is_empty() { host.into() } else { format!("{host}\r\n{fields}") };
            assert_eq!(code(&guard, first, &fields), expected, "{first} {fields}");
        }
        assert_ne!(
            session,
            Guard::new("0.0.0.0:9099".parse().unwrap(), Some("x".into())).unwrap().token.unwrap().session
        );
    }

    #[test]
    fn texts_are_compared_whole() {
        assert!(same("abc", "abc") && same("", ""));
        assert!(
            !same("abd", "abc") && !same("ab", "abc") && !same("abcabc", "abc") && !same("", "abc") && !same("a", "")
        );
    }
}
