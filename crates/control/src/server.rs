//! A server: a listening socket, with a thread for each of a bounded number of clients, which can be shut down at any
//! time.

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

/// How long no connection is accepted when the system cannot give another one.
const REST: Duration = Duration::from_millis(50);

/// A connection.
pub(crate) trait Stream: Read + Write + Send + Sync + Sized + 'static {
    fn duplicate(&self) -> io::Result<Self>;
    fn close(&self, how: Shutdown);
    fn read_timeout(&self, timeout: Option<Duration>) -> io::Result<()>;
    fn write_timeout(&self, timeout: Option<Duration>) -> io::Result<()>;
}

/// A listening socket.
pub(crate) trait Listener: Send + Sized + 'static {
    type Stream: Stream;
    fn take(&self) -> io::Result<Self::Stream>;
    /// A hand on the same socket whose closing wakes whoever waits in `take`: Linux lets a listening socket be shut
    /// down.
    fn shutdown_handle(&self) -> io::Result<Self::Stream>;
}

macro_rules! sockets {
    ($listener:ty, $stream:ty) => {
        impl Stream for $stream {
            fn duplicate(&self) -> io::Result<Self> {
                self.try_clone()
            }
            fn close(&self, how: Shutdown) {
                // A connection that is gone is closed.
                let _ = self.shutdown(how);
            }
            fn read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
                self.set_read_timeout(timeout)
            }
            fn write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
                self.set_write_timeout(timeout)
            }
        }

        impl Listener for $listener {
            type Stream = $stream;
            fn take(&self) -> io::Result<$stream> {
                self.accept().map(|(stream, _)| stream)
            }
            fn shutdown_handle(&self) -> io::Result<$stream> {
                Ok(OwnedFd::from(self.try_clone()?).into())
            }
        }
    };
}

sockets!(TcpListener, TcpStream);
sockets!(UnixListener, UnixStream);

/// What a server does with clients.
pub(crate) trait Service<S>: Send + Sync + 'static {
    /// Serves a client until either side closes the connection. While it waits for a request ([`Idle::while_waiting`]),
    /// the connection may be closed to make room for another.
    fn serve(&self, stream: S, idle: &Idle);
    /// Whether this client may ask at all. One that may not has been told so, and takes nobody's place; this must not
    /// wait for anything.
    fn admits(&self, _stream: &S) -> bool {
        true
    }
    /// Refuses a client; it must not wait for anything.
    fn refuse(&self, stream: S);
}

/// A connection that has been idle for so long may be closed for another one.
const IDLE: Duration = Duration::from_secs(2);

/// Since when a connection has been idle.
#[derive(Debug, Default)]
pub(crate) struct Idle(Mutex<Option<Instant>>);

impl Idle {
    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection is idle while `wait` lasts.
    pub(crate) fn while_waiting<T>(&self, wait: impl FnOnce() -> T) -> T {
        *self.since() = Some(Instant::now());
        let received = wait();
        *self.since() = None;
        received
    }
}

/// The open connections.
struct Connections<S> {
    /// Clones of their streams, to close them from outside, and whether they are idle.
    streams: Mutex<HashMap<u64, (S, Arc<Idle>)>>,
    closing: AtomicBool,
}

impl<S> Connections<S> {
    fn streams(&self) -> MutexGuard<'_, HashMap<u64, (S, Arc<Idle>)>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Stream> Connections<S> {
    /// Closes the connection that has been idle for the longest time; false if none has been idle for long enough.
    fn close_idle(&self) -> bool {
        let streams = self.streams();
        let idle = streams.values().filter_map(|(stream, idle)| Some(((*idle.since())?, stream)));
        match idle.min_by_key(|(since, _)| *since) {
            Some((since, stream)) if since.elapsed() >= IDLE => {
                stream.close(Shutdown::Both);
                true
            }
            _ => false,
        }
    }
}

/// A running server. Dropping it shuts it down and waits until all connections are closed.
pub(crate) struct Server {
    shut: Box<dyn Fn() + Send + Sync>,
    acceptor: Option<JoinHandle<Option<()>>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

impl Server {
    /// Serves at most `most` clients at a time.
    pub(crate) fn open<L: Listener>(
        name: &str,
        listener: L,
        most: usize,
        welcome: impl Service<L::Stream>,
    ) -> io::Result<Self> {
        let clients = Arc::new(Connections { streams: Mutex::default(), closing: AtomicBool::new(false) });
        let shutdown_handle = listener.shutdown_handle()?;
        let inside = Arc::clone(&clients);
        // What is said by clients is heard by threads that may do nothing more than any other.
        let acceptor = privileges::spawn_without(name, move || keep(&listener, most, &Arc::new(welcome), &inside))?;
        let shut = Box::new(move || {
            clients.closing.store(true, Ordering::SeqCst);
            shutdown_handle.close(Shutdown::Both);
            clients.streams().values().for_each(|(stream, _)| stream.close(Shutdown::Both));
        });
        Ok(Self { shut: shut as _, acceptor: Some(acceptor) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        (self.shut)();
        if let Some(acceptor) = self.acceptor.take() {
            // A acceptor that panicked has left, too.
            let _ = acceptor.join();
        }
    }
}

fn keep<L: Listener>(
    listener: &L,
    most: usize,
    welcome: &Arc<impl Service<L::Stream>>,
    clients: &Arc<Connections<L::Stream>>,
) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for number in 0.. {
        let taken = listener.take();
        if clients.closing.load(Ordering::SeqCst) {
            break;
        }
        if taken.as_ref().is_ok_and(|stream| !welcome.admits(stream)) {
            continue;
        }
        threads.retain(|thread| !thread.is_finished());
        if threads.len() >= most && clients.close_idle() {
            let start = Instant::now();
            while threads.len() >= most && start.elapsed() < REST {
                std::thread::sleep(Duration::from_millis(1));
                threads.retain(|thread| !thread.is_finished());
            }
        }
        match taken {
            Ok(stream) if threads.len() >= most => welcome.refuse(stream),
            Ok(stream) => threads.extend(let_in(stream, number, welcome, clients)),
            Err(_) => std::thread::sleep(REST),
        }
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// A thread for a client; `None` if the system has none, and then the client is gone.
fn let_in<S: Stream>(
    stream: S,
    number: u64,
    welcome: &Arc<impl Service<S>>,
    clients: &Arc<Connections<S>>,
) -> Option<JoinHandle<()>> {
    let hand = stream.duplicate().ok()?;
    let idle = Arc::new(Idle::default());
    clients.streams().insert(number, (hand, Arc::clone(&idle)));
    // Whoever shuts the server down sees the client in the list, or is seen here.
    if clients.closing.load(Ordering::SeqCst) {
        stream.close(Shutdown::Both);
    }
    let (welcome, inside) = (Arc::clone(welcome), Arc::clone(clients));
    let thread = Builder::new().name("forebay-client".into()).spawn(move || {
        welcome.serve(stream, &idle);
        inside.streams().remove(&number);
    });
    if thread.is_err() {
        clients.streams().remove(&number);
    }
    thread.ok()
}
