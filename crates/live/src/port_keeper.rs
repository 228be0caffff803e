//! Ports are opened and closed in a thread of their own: the kernel takes up to some 40 ms for it, in which the thread
//! that forwards would hold up all other ports.

use crate::attached::Attached;
use crate::backend::privileges;
use crate::pool::Pool;
use crate::port::{Outside, Port};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Tries to open what went away are so far apart.
const RETRY: Duration = Duration::from_millis(250);

/// Whoever opens and closes ports. What takes long can be done in any thread; the steps that need the pool take no
/// time.
pub trait Opener: Send + 'static {
    /// What it opens.
    type Port: Port + Send;
    /// A port that is open, without frame buffers of the pool.
    type Opened: Send;
    /// What is left of a port that is closed.
    type Closed: Send;

    /// The memory of all ports. This comes first.
    fn prepare(&mut self, pool: &Pool) -> io::Result<()>;
    /// Opens a port, by its number.
    fn open(&mut self, port: usize) -> io::Result<Self::Opened>;
    /// Gives a port that was opened its frame buffers.
    fn join(opened: Self::Opened, pool: &mut Pool) -> io::Result<Self::Port>;
    /// Closes a port.
    fn close(&mut self, port: Self::Port) -> Self::Closed;
    /// Takes back the frame buffers of a port that was closed; what was lost there in all.
    fn settle(closed: Self::Closed, pool: &mut Pool) -> Outside;
    /// Waits until a frame comes in or `time` has passed.
    fn wait(ports: &mut [Attached<Self::Port>], time: Duration);
}

/// What became of a port, by its number.
pub(crate) enum News<O: Opener> {
    Closed(usize, O::Closed),
    Opened(usize, O::Opened),
}

/// The way to the thread.
#[derive(Debug)]
pub(crate) struct PortKeeper<O: Opener> {
    orders: Sender<(usize, O::Port)>,
    news: Receiver<News<O>>,
    /// Ports that are being closed.
    closing: usize,
}

impl<O: Opener> PortKeeper<O> {
    /// Starts the thread, which alone keeps what it takes to attach to interfaces.
    pub(crate) fn start(opener: O) -> io::Result<Self> {
        let ((orders, to_do), (tell, news)) = (channel(), channel());
        privileges::spawn_attacher("attach", move || keep(opener, &to_do, &tell))?;
        Ok(Self { orders, news, closing: 0 })
    }

    /// Has a port closed, and opened again as soon as its interface is back.
    pub(crate) fn close(&mut self, number: usize, port: O::Port) {
        self.closing += usize::from(self.orders.send((number, port)).is_ok());
    }

    /// What has become of a port, if there is anything new.
    pub(crate) fn news(&mut self) -> Option<News<O>> {
        let news = self.news.try_recv().ok()?;
        self.closing -= usize::from(matches!(news, News::Closed(..)));
        Some(news)
    }

    /// Waits until all ports that are being closed are closed.
    pub(crate) fn finish(self) -> impl Iterator<Item = (usize, O::Closed)> {
        drop(self.orders);
        self.news.into_iter().filter_map(|news| match news {
            News::Closed(port, closed) => Some((port, closed)),
            News::Opened(..) => None,
        })
    }
}

/// The loop of the thread, until nobody can give it orders.
fn keep<O: Opener>(mut opener: O, orders: &Receiver<(usize, O::Port)>, tell: &Sender<News<O>>) {
    let mut missing: Vec<usize> = Vec::new();
    loop {
        let order =
            if missing.is_empty() { orders.recv().map_err(RecvTimeoutError::from) } else { orders.recv_timeout(RETRY) };
        // Whoever is told may have gone away: then there will be no more orders.
        match order {
            Ok((number, port)) => {
                let _ = tell.send(News::Closed(number, opener.close(port)));
                missing.push(number);
            }
            Err(RecvTimeoutError::Timeout) => missing.retain(|number| match opener.open(*number) {
                Ok(opened) => tell.send(News::Opened(*number, opened)).is_err(),
                Err(_) => true,
            }),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
