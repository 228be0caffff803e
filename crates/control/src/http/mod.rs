//! A small HTTP/1.1 server: the page, snapshots, metrics, settings and changes to them.
//!
//! A thread serves a connection. There is a bounded number of these, everything that is read has a limit and everything
//! that is waited for a deadline.

mod events;
mod guard;
mod request;
mod response;
mod routes;

use crate::connection::{Connection, ReadError};
use crate::server::{Idle, Server, Service};
use forebay_live::handle::Handle;
use forebay_live::peer;
pub use forebay_live::settings::HttpConfig;
use guard::Guard;
pub(crate) use request::MOST_BODY;
use request::{Head, MOST_HEAD, Refusal};
use response::{Response, Status};
use routes::{Answer, Routes};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Connections at a time.
pub const MOST_CONNECTIONS: usize = 32;
/// How long a client may take to send a request once it has begun.
const REQUEST: Duration = Duration::from_secs(5);
/// How long a connection is kept between requests.
const IDLE: Duration = Duration::from_secs(10);
/// How long a client may take to read an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// A server that listens. Dropping it ends its connections and threads.
#[derive(Debug)]
pub struct Http {
    address: SocketAddr,
    _server: Server,
}

impl Http {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Opens a server.
///
/// # Errors
/// If the address is not to be had, or is no loopback address and there is no token.
pub fn open(handle: Handle, config: HttpConfig) -> io::Result<Http> {
    let HttpConfig { listen, token } = config;
    let refuse = |sentence: String| Err(io::Error::new(ErrorKind::InvalidInput, sentence));
    if token.as_ref().is_some_and(|token| token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic())) {
        return refuse("http.token: give at least one character, and only visible ones of ASCII".into());
    }
    if token.is_none() && !listen.ip().is_loopback() {
        let why = "others than this machine can reach it";
        return refuse(format!("http.listen {listen}: {why}; give a token as http.token, or listen on 127.0.0.1"));
    }
    let named = |error: io::Error| io::Error::new(error.kind(), format!("http.listen {listen}: {error}"));
    let listener = TcpListener::bind(listen).map_err(named)?;
    let address = listener.local_addr().map_err(named)?;
    let server = HttpService { owner: peer::owner(), guard: Guard::new(address, token)?, routes: Routes::new(handle) };
    Ok(Http { address, _server: Server::open("forebay-http", listener, MOST_CONNECTIONS, server)? })
}

struct HttpService {
    /// The user that has started the switch.
    owner: u32,
    guard: Guard,
    routes: Routes,
}

impl Service<TcpStream> for HttpService {
    fn serve(&self, stream: TcpStream, _: &Idle) {
        // Answers are written whole; waiting for more would only delay them.
        let _ = stream.set_nodelay(true);
        let mut line = Connection::new(stream);
        while let Some(next) = self.serve_one(&mut line) {
            if next == Next::Linger {
                return line.linger();
            }
        }
    }

    /// Without a token, on loopback: the user that has started the switch, and root.
    fn admits(&self, stream: &TcpStream) -> bool {
        if self.guard.has_token() {
            return true;
        }
        let is_known = |user| user == self.owner || user == 0;
        let is_admitted = peer::tcp_user_of(stream).is_ok_and(|user| user.is_some_and(is_known));
        if !is_admitted {
            let sentence = "only the user that has started the switch may ask here; others need a token (http.token)";
            tell_and_close(stream, &Response::error(Status::Forbidden, sentence));
        }
        is_admitted
    }

    fn refuse(&self, stream: TcpStream) {
        let sentence = format!("more than {MOST_CONNECTIONS} connections are open; try again later");
        let answer = Response::error(Status::ServiceUnavailable, &sentence).with("Retry-After", "1");
        tell_and_close(&stream, &answer);
    }
}

/// Answers without waiting for anything.
fn tell_and_close(mut stream: &TcpStream, answer: &Response) {
    if stream.set_nonblocking(true).is_err() {
        return;
    }
    // What has come is taken, or closing would take back the answer.
    let _ = stream.read(&mut [0; 4096]);
    let _ = stream.write_all(&answer.bytes(true, false));
    let _ = stream.shutdown(Shutdown::Write);
}

/// What follows an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Another request.
    Request,
    /// The end, after what is still coming has been read.
    Linger,
}

impl HttpService {
    /// Reads a request and answers it. `None` if there is none, or nobody to answer.
    fn serve_one(&self, line: &mut Connection<TcpStream>) -> Option<Next> {
        if !line.has_some() {
            line.fill(Some(Instant::now() + IDLE)).ok()?;
        }
        let end = Some(Instant::now() + REQUEST);
        let (head, body) = match read(line, end) {
            Ok(request) => request,
            Err(None) => return None,
            Err(Some((status, why))) => {
                say(line, &Response::error(status, why), true, false)?;
                return Some(Next::Linger);
            }
        };
        let answer = match self.guard.check(&head) {
            Ok(()) => self.routes.answer(&head, &body),
            Err(response) => Answer::Whole(response),
        };
        match answer {
            Answer::Whole(response) => say(line, &response, head.method != "HEAD", head.keep_alive)?,
            Answer::Events(seat) => {
                seat.send(&self.routes, |bytes| line.send(bytes, Instant::now() + ANSWER));
                return None;
            }
        }
        Some(if head.keep_alive { Next::Request } else { Next::Linger })
    }
}

fn say(line: &mut Connection<TcpStream>, response: &Response, with_body: bool, keep_alive: bool) -> Option<()> {
    line.send(&response.bytes(with_body, keep_alive), Instant::now() + ANSWER).ok()
}

/// Reads a head and its body; the error is what is answered, if anybody is there to hear it.
fn read(line: &mut Connection<TcpStream>, end: Option<Instant>) -> Result<(Head, Vec<u8>), Option<Refusal>> {
    let head = line.until(b"\r\n\r\n", MOST_HEAD, end).map_err(refusal)?;
    let head = Head::parse(&head).map_err(Some)?;
    let length = head.body_length().map_err(Some)?;
    let body = line.exactly(length, end).map_err(refusal)?;
    Ok((head, body))
}

fn refusal(cut: ReadError) -> Option<Refusal> {
    match cut {
        ReadError::Gone => None,
        ReadError::Late => Some((Status::RequestTimeout, "the request did not come in time")),
        ReadError::Long => Some((Status::HeadTooLarge, "the head is longer than 16 KB")),
    }
}

/// What is made of the bytes of a request up to its body, for the fuzzer; the body, if it would be looked at.
pub(crate) fn torture(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.windows(4).take(MOST_HEAD).position(|window| window == b"\r\n\r\n")?;
    let head = Head::parse(&bytes[..end]).ok()?;
    let length = head.body_length().ok()?;
    for (listen, token) in [(([127, 0, 0, 1], 9_099), None), (([0, 0, 0, 0], 80), Some("a token".to_owned()))] {
        let guard = Guard::new(listen.into(), token).ok()?;
        if let Err(response) = guard.check(&head) {
            assert!(response.bytes(true, head.keep_alive).starts_with(b"HTTP/1.1 "));
        }
    }
    bytes.get(end + 4..end + 4 + length)
}
