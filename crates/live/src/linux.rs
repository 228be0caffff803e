//! The interfaces of a switch's file, opened, and waited for.

use crate::attached::Attached;
use crate::backend::{Attacher, Backend, Closed, Kind, Opened, wait_for};
use crate::pool::Pool;
use crate::port::Outside;
use crate::port_keeper::Opener;
use crate::settings::{BackendKind, Interface, LiveConfig};
use std::io;
use std::time::Duration;

/// Interfaces to be opened.
#[derive(Debug)]
pub struct Interfaces {
    list: Vec<(String, Kind)>,
    /// Whether ports receive and send in threads of their own.
    in_threads: bool,
    attacher: Option<Attacher>,
}

impl Interfaces {
    /// Those of a switch.
    pub fn new(config: &LiveConfig) -> Self {
        let of = |interface: &Interface| match interface {
            Interface::Linux { name, backend } => {
                let kind = match backend {
                    None => Kind::Auto,
                    Some(BackendKind::Xdp) => Kind::Xdp,
                    Some(BackendKind::ZeroCopy) => Kind::ZeroCopy,
                    Some(BackendKind::Packet) => Kind::Packet,
                    Some(BackendKind::Mixed) => Kind::Mixed,
                };
                Some((name.clone(), kind))
            }
            Interface::Capture { .. } => None,
        };
        let list = config.interfaces.iter().filter_map(of).collect();
        Self { list, in_threads: config.run.threads == 3, attacher: None }
    }
}

impl Opener for Interfaces {
    type Port = Backend;
    type Opened = Opened;
    type Closed = Closed;

    fn prepare(&mut self, pool: &Pool) -> io::Result<()> {
        let attacher = Attacher::new(pool, self.list.len());
        self.attacher = Some(if self.in_threads { attacher.in_threads()? } else { attacher });
        Ok(())
    }

    fn open(&mut self, port: usize) -> io::Result<Opened> {
        let (name, kind) = &self.list[port];
        self.attacher.as_mut().ok_or(io::ErrorKind::InvalidInput)?.open(name, *kind)
    }

    fn join(opened: Opened, pool: &mut Pool) -> io::Result<Backend> {
        opened.join(pool)
    }

    fn close(&mut self, port: Backend) -> Closed {
        port.shut()
    }

    fn settle(closed: Closed, pool: &mut Pool) -> Outside {
        closed.settle(pool)
    }

    fn wait(ports: &mut [Attached<Backend>], time: Duration) {
        wait_for(ports.iter().filter_map(Attached::port), time);
    }
}
