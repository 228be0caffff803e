//! Looking at a running switch, and changing it while traffic flows.
//!
//! Everything here holds a [`Handle`]: it looks at the snapshots that the switch shows and asks for changes, which the
//! switch makes or refuses between two turns of its loop. Nothing that is sent to a server here is waited for by the
//! switch.
//!
//! - [`serve`] opens the control [`socket`] (lines of JSON, for the switch's owner alone) and the [`http`] server (the
//!   [`page`], snapshots as JSON, [`metrics`] for Prometheus, changes to [`keys`]).
//! - [`client`] is the other end of the socket.
//! - [`view`] is a snapshot as text for a terminal.

#![forbid(unsafe_code)]

pub mod client;
pub mod http;
pub mod keys;
pub mod metrics;
pub mod page;
pub mod socket;
#[doc(hidden)]
pub mod torture;
pub mod view;

mod connection;
mod server;

use forebay_live::handle::Handle;
pub use http::HttpConfig;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What listens. When it is dropped nobody listens any more, and the file of the socket is gone.
#[derive(Debug)]
pub struct Server {
    http: Option<http::Http>,
    socket: Option<socket::Socket>,
}

/// Opens what is asked for: an HTTP server, a control socket at a path, or both.
pub fn serve(handle: Handle, http: Option<HttpConfig>, socket: Option<PathBuf>) -> io::Result<Server> {
    let socket = socket.map(|path| socket::open(handle.clone(), &path)).transpose()?;
    let http = http.map(|config| http::open(handle, config)).transpose()?;
    Ok(Server { http, socket })
}

impl Server {
    /// Where the HTTP server listens: with port 0 in its settings the kernel has chosen one.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http.as_ref().map(http::Http::address)
    }

    /// Ends all connections and threads.
    pub fn stop(self) {
        drop((self.http, self.socket));
    }
}
