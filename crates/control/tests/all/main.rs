//! The servers and faces of a switch, from outside.

#[allow(dead_code)]
#[path = "../../examples/fake.rs"]
mod fake;

mod browser;
mod control_socket;
mod devtools;
mod faces;
mod hostile;
mod http;

use forebay_control::{HttpConfig, Server, serve};
use forebay_live::handle::{Handle, pair};
use std::net::SocketAddr;
use std::thread::JoinHandle;

/// A switch in a thread of its own.
fn switch() -> (Handle, JoinHandle<()>) {
    let (handle, switch_side) = pair();
    (handle, std::thread::spawn(move || fake::Fake::new(fake::SETTINGS).unwrap().run(&switch_side, |_, _| {})))
}

/// An HTTP server on a port that the kernel chooses, with a switch behind it.
fn server(token: Option<&str>) -> (Server, SocketAddr) {
    let listen = "127.0.0.1:0".parse().unwrap();
    let server = serve(switch().0, Some(HttpConfig { listen, token: token.map(Into::into) }), None).unwrap();
    let address = server.http_address().unwrap();
    (server, address)
}
