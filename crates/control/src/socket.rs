//! The control socket: a Unix socket for the switch's owner alone, with a JSON object per line each way.

use crate::connection::{Connection, ReadError};
use crate::keys;
use crate::server::{Idle, Server, Service};
use forebay_live::handle::Handle;
use forebay_live::peer;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest line that is read.
pub const MOST_LINE: usize = 64 << 10;
/// Clients at a time.
const MOST_CLIENTS: usize = 16;
/// How long a client may take to read an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the first snapshot is waited for.
pub(crate) const FIRST_SNAPSHOT: Duration = Duration::from_secs(2);

/// A control socket that answers. Dropping it removes its file.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
    identity: (u64, u64),
    _server: Server,
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Another switch may have been given the path since; its file stays.
        if identity(&self.path).is_ok_and(|now| now == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens a control socket at a path.
///
/// # Errors
/// If another process answers there, if there is something else, or if no socket can be made there.
pub fn open(handle: Handle, path: &Path) -> io::Result<Socket> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("control socket {}: {error}", path.display()));
    make_way(path).map_err(named)?;
    let listener = bind(path).map_err(named)?;
    let identity = identity(path).map_err(named)?;
    let owner = peer::owner();
    let service = ControlService { handle, owner, patience: FIRST_SNAPSHOT };
    let server = Server::open("forebay-socket", listener, MOST_CLIENTS, service).map_err(named)?;
    Ok(Socket { path: path.to_owned(), identity, _server: server })
}

/// The device and the number of a file.
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|of| (of.dev(), of.ino()))
}

/// Removes the socket of a process that is gone.
fn make_way(path: &Path) -> io::Result<()> {
    let kind = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        of => of?.file_type(),
    };
    if !kind.is_socket() {
        return Err(io::Error::new(
            ErrorKind::AlreadyExists,
            "there is a file that is no socket; remove it or give another path",
        ));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(io::Error::new(
            ErrorKind::AddrInUse,
            "another switch answers there; stop it, or give another path as live.control",
        )),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

/// Makes the socket where nobody else can reach it, gives it its mode, and only then puts it in its place.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let beside = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    // Short, since the path of a socket may not be longer than 107 bytes.
    let private = beside.join(format!(".f{}", std::process::id()));
    let inside = private.join("s");
    let clear = || {
        let _ = fs::remove_file(&inside);
        let _ = fs::remove_dir(&private);
    };
    // A process of this number may have been killed here.
    clear();
    fs::DirBuilder::new().mode(0o700).create(&private)?;
    let bound = UnixListener::bind(&inside).and_then(|listener| {
        fs::set_permissions(&inside, fs::Permissions::from_mode(0o600))?;
        // Unlike a rename, this does not replace what another process has put there meanwhile.
        fs::hard_link(&inside, path)?;
        Ok(listener)
    });
    clear();
    bound
}

/// Answers clients.
struct ControlService {
    handle: Handle,
    owner: u32,
    /// How long the first snapshot is waited for.
    patience: Duration,
}

impl Service<UnixStream> for ControlService {
    fn serve(&self, stream: UnixStream, idle: &Idle) {
        let is_owner = peer::user_of(&stream).is_ok_and(|user| user == self.owner);
        let mut line = Connection::new(stream);
        if !is_owner {
            let _ = send(&mut line, &error("only the owner of the switch may talk to it"));
            return line.linger();
        }
        loop {
            match idle.while_waiting(|| line.until(b"\n", MOST_LINE, None)) {
                Ok(text) => {
                    if send(&mut line, &self.answer(&text)).is_err() {
                        return;
                    }
                }
                Err(ReadError::Long) => {
                    let _ = send(&mut line, &error(&format!("this line is longer than {MOST_LINE} bytes")));
                    return line.linger();
                }
                Err(ReadError::Gone | ReadError::Late) => return,
            }
        }
    }

    fn refuse(&self, mut stream: UnixStream) {
        if stream.set_nonblocking(true).is_ok() {
            let _ = writeln!(stream, "{}", error("too many clients talk to the switch; try again later"));
        }
    }
}

fn send(line: &mut Connection<UnixStream>, answer: &Value) -> io::Result<()> {
    line.send(format!("{answer}\n").as_bytes(), Instant::now() + PATIENCE)
}

fn error(sentence: &str) -> Value {
    json!({"error": sentence})
}

impl ControlService {
    fn answer(&self, line: &[u8]) -> Value {
        let parsed = serde_json::from_slice(line).map_err(|error| format!("this is not JSON: {error}"));
        parsed.and_then(|request| self.obey(&request)).unwrap_or_else(|sentence| error(&sentence))
    }

    fn obey(&self, request: &Value) -> Result<Value, String> {
        const FORMS: &str = "give {\"get\":\"snapshot\"}, {\"get\":\"settings\"}, {\"get\":\"keys\"}, {\"set\":{...}} or {\"stop\":true}";
        let object = request.as_object().filter(|object| object.len() == 1);
        let (verb, what) = object.and_then(|object| object.iter().next()).ok_or(FORMS)?;
        match (verb.as_str(), what.as_str()) {
            ("get", Some("snapshot")) => {
                let shown = self.handle.newer_than(0, self.patience).ok_or("the switch has shown nothing yet")?;
                Ok(json!({"snapshot": &*shown}))
            }
            ("get", Some("settings")) => Ok(json!({"settings": self.handle.settings()?})),
            ("get", Some("keys")) => Ok(json!({"keys": keys::to_json(&self.handle.settings()?)["keys"].take()})),
            ("set", _) => self.handle.change(keys::changes(what)?).map(|()| json!({"ok": true})),
            ("stop", _) if *what == Value::Bool(true) => {
                self.handle.stop();
                Ok(json!({"ok": true}))
            }
            _ => Err(FORMS.into()),
        }
    }
}

/// What is answered to a line by a switch that is gone, for the fuzzer.
pub(crate) fn torture(line: &[u8]) -> Value {
    let (handle, _) = forebay_live::handle::pair();
    let answer = ControlService { handle, owner: 0, patience: Duration::ZERO }.answer(line);
    serde_json::from_str(&answer.to_string()).unwrap_or(Value::Null)
}
