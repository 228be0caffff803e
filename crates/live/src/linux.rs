//! The interfaces of a switch's file, opened, and waited for.

use crate::attached::Attached;
use crate::backend::{Attacher, Backend, Kind, be_punctual, wait_for};
use crate::pool::Pool;
use crate::runtime::Opener;
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
    /// Whether the thread's timers have been told not to be late.
    is_punctual: bool,
}

impl Interfaces {
    /// Those of a switch.
    pub fn new(config: &LiveConfig) -> Self {
        let of = |interface: &Interface| match interface {
            Interface::Linux { name, backend } => {
                let kind = match backend {
                    None => Kind::Auto,
                    Some(BackendKind::Xdp) => Kind::Xdp,
                    Some(BackendKind::Packet) => Kind::Packet,
                    Some(BackendKind::Mixed) => Kind::Mixed,
                };
                Some((name.clone(), kind))
            }
            Interface::Capture { .. } => None,
        };
        let list = config.interfaces.iter().filter_map(of).collect();
        Self { list, in_threads: config.run.threads == 3, attacher: None, is_punctual: false }
    }
}

impl Opener for Interfaces {
    type Port = Backend;

    fn open(&mut self, port: usize, pool: &mut Pool) -> io::Result<Backend> {
        let mut attacher = match self.attacher.take() {
            Some(attacher) => attacher,
            None if self.in_threads => Attacher::new(pool, self.list.len()).in_threads()?,
            None => Attacher::new(pool, self.list.len()),
        };
        let (name, kind) = &self.list[port];
        let opened = attacher.attach(name, *kind, pool);
        self.attacher = Some(attacher);
        opened
    }

    fn wait(&mut self, ports: &mut [Attached<Backend>], time: Duration) {
        if !self.is_punctual {
            be_punctual();
            self.is_punctual = true;
        }
        wait_for(ports.iter().filter_map(Attached::port), time);
    }
}
