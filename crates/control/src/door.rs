//! A door: a listening socket, with a thread for each of a bounded number of guests, which can be shut at any time.

use forebay_live::backend::privileges;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// How long the door stays closed when the system cannot give another connection.
const REST: Duration = Duration::from_millis(50);

/// A connection.
pub(crate) trait Stream: Read + Write + Send + Sync + Sized + 'static {
    fn twin(&self) -> io::Result<Self>;
    fn close(&self, how: Shutdown);
    fn read_patience(&self, patience: Option<Duration>) -> io::Result<()>;
    fn write_patience(&self, patience: Option<Duration>) -> io::Result<()>;
}

/// A listening socket.
pub(crate) trait Listener: Send + Sized + 'static {
    type Stream: Stream;
    fn take(&self) -> io::Result<Self::Stream>;
    /// A hand on the same socket whose closing wakes whoever waits in `take`: Linux lets a listening socket be shut down.
    fn bolt(&self) -> io::Result<Self::Stream>;
}

macro_rules! sockets {
    ($listener:ty, $stream:ty) => {
        impl Stream for $stream {
            fn twin(&self) -> io::Result<Self> {
                self.try_clone()
            }
            fn close(&self, how: Shutdown) {
                // A connection that is gone is closed.
                let _ = self.shutdown(how);
            }
            fn read_patience(&self, patience: Option<Duration>) -> io::Result<()> {
                self.set_read_timeout(patience)
            }
            fn write_patience(&self, patience: Option<Duration>) -> io::Result<()> {
                self.set_write_timeout(patience)
            }
        }

        impl Listener for $listener {
            type Stream = $stream;
            fn take(&self) -> io::Result<$stream> {
                self.accept().map(|(stream, _)| stream)
            }
            fn bolt(&self) -> io::Result<$stream> {
                Ok(OwnedFd::from(self.try_clone()?).into())
            }
        }
    };
}

sockets!(TcpListener, TcpStream);
sockets!(UnixListener, UnixStream);

/// What a door does with guests.
pub(crate) trait Welcome<S>: Send + Sync + 'static {
    /// Talks to a guest until one of them has enough. Whoever can be sent away for others says so with [`Visit::rests`].
    fn serve(&self, stream: S, visit: &Visit);
    /// Sends a guest away; it must not wait for anything.
    fn refuse(&self, stream: S);
}

/// A guest who has said nothing for so long makes room for another one.
const IDLE: Duration = Duration::from_secs(2);

/// Since when a guest has said nothing.
#[derive(Debug, Default)]
pub(crate) struct Visit(Mutex<Option<Instant>>);

impl Visit {
    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is asked for while `wait` lasts.
    pub(crate) fn rests<T>(&self, wait: impl FnOnce() -> T) -> T {
        *self.since() = Some(Instant::now());
        let come = wait();
        *self.since() = None;
        come
    }
}

/// Those inside.
struct Guests<S> {
    /// Hands on their connections, to close them from outside, and what they do.
    streams: Mutex<HashMap<u64, (S, Arc<Visit>)>>,
    closing: AtomicBool,
}

impl<S> Guests<S> {
    fn streams(&self) -> MutexGuard<'_, HashMap<u64, (S, Arc<Visit>)>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Stream> Guests<S> {
    /// Sends the guest away who has said nothing for the longest time; false if all have something to say.
    fn send_idle_away(&self) -> bool {
        let streams = self.streams();
        let idle = streams.values().filter_map(|(stream, visit)| Some(((*visit.since())?, stream)));
        match idle.min_by_key(|(since, _)| *since) {
            Some((since, stream)) if since.elapsed() >= IDLE => {
                stream.close(Shutdown::Both);
                true
            }
            _ => false,
        }
    }
}

/// An open door. Dropping it shuts it and waits until everybody has left.
pub(crate) struct Door {
    shut: Box<dyn Fn() + Send + Sync>,
    keeper: Option<JoinHandle<Option<()>>>,
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Door").finish_non_exhaustive()
    }
}

impl Door {
    /// Serves at most `most` guests at a time.
    pub(crate) fn open<L: Listener>(
        name: &str,
        listener: L,
        most: usize,
        welcome: impl Welcome<L::Stream>,
    ) -> io::Result<Self> {
        let guests = Arc::new(Guests { streams: Mutex::default(), closing: AtomicBool::new(false) });
        let bolt = listener.bolt()?;
        let inside = Arc::clone(&guests);
        // What is said by guests is heard by threads that may do nothing more than any other.
        let keeper = privileges::spawn_without(name, move || keep(&listener, most, &Arc::new(welcome), &inside))?;
        let shut = Box::new(move || {
            guests.closing.store(true, Ordering::SeqCst);
            bolt.close(Shutdown::Both);
            guests.streams().values().for_each(|(stream, _)| stream.close(Shutdown::Both));
        });
        Ok(Self { shut: shut as _, keeper: Some(keeper) })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        (self.shut)();
        if let Some(keeper) = self.keeper.take() {
            // A keeper that panicked has left, too.
            let _ = keeper.join();
        }
    }
}

fn keep<L: Listener>(
    listener: &L,
    most: usize,
    welcome: &Arc<impl Welcome<L::Stream>>,
    guests: &Arc<Guests<L::Stream>>,
) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for number in 0.. {
        let taken = listener.take();
        if guests.closing.load(Ordering::SeqCst) {
            break;
        }
        threads.retain(|thread| !thread.is_finished());
        if threads.len() >= most && guests.send_idle_away() {
            let start = Instant::now();
            while threads.len() >= most && start.elapsed() < REST {
                std::thread::sleep(Duration::from_millis(1));
                threads.retain(|thread| !thread.is_finished());
            }
        }
        match taken {
            Ok(stream) if threads.len() >= most => welcome.refuse(stream),
            Ok(stream) => threads.extend(let_in(stream, number, welcome, guests)),
            Err(_) => std::thread::sleep(REST),
        }
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// A thread for a guest; `None` if the system has none, and then the guest is gone.
fn let_in<S: Stream>(
    stream: S,
    number: u64,
    welcome: &Arc<impl Welcome<S>>,
    guests: &Arc<Guests<S>>,
) -> Option<JoinHandle<()>> {
    let hand = stream.twin().ok()?;
    let visit = Arc::new(Visit::default());
    guests.streams().insert(number, (hand, Arc::clone(&visit)));
    // Whoever shuts the door sees the guest in the list, or is seen here.
    if guests.closing.load(Ordering::SeqCst) {
        stream.close(Shutdown::Both);
    }
    let (welcome, inside) = (Arc::clone(welcome), Arc::clone(guests));
    let thread = Builder::new().name("forebay-guest".into()).spawn(move || {
        welcome.serve(stream, &visit);
        inside.streams().remove(&number);
    });
    if thread.is_err() {
        guests.streams().remove(&number);
    }
    thread.ok()
}
