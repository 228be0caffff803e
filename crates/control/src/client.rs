//! The other end of the control socket.

use forebay_live::snapshot::Snapshot;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long an answer is waited for: longer than the switch has.
const PATIENCE: Duration = Duration::from_secs(15);
/// The longest answer that is read: more than the largest switch has to say.
const MOST_ANSWER: u64 = 1 << 30;

/// A talk with a running switch. It waits for every answer.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the control socket at a path.
    pub fn connect(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path).map_err(|error| {
            let help = "is the switch running, and are you its owner?";
            io::Error::new(error.kind(), format!("control socket {}: {error}; {help}", path.display()))
        })?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// The latest snapshot.
    pub fn snapshot(&mut self) -> io::Result<Snapshot> {
        Ok(serde_json::from_value(self.get("snapshot")?)?)
    }

    /// The settings in force, as TOML.
    pub fn settings(&mut self) -> io::Result<String> {
        match self.get("settings")? {
            Value::String(text) => Ok(text),
            other => Err(unexpected(&other)),
        }
    }

    /// Changes settings, all or none. An error of the kind [`ErrorKind::InvalidInput`] says why they were refused.
    pub fn set<'a>(&mut self, changes: impl IntoIterator<Item = (&'a str, &'a str)>) -> io::Result<()> {
        let changes: serde_json::Map<String, Value> =
            changes.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
        self.ask(&json!({"set": changes})).map(|_| ())
    }

    /// Asks the switch to stop.
    pub fn stop(&mut self) -> io::Result<()> {
        self.ask(&json!({"stop": true})).map(|_| ())
    }

    fn get(&mut self, what: &str) -> io::Result<Value> {
        let mut answer = self.ask(&json!({"get": what}))?;
        match answer.get_mut(what) {
            Some(value) => Ok(value.take()),
            None => Err(unexpected(&answer)),
        }
    }

    /// Sends a request and reads its answer.
    fn ask(&mut self, request: &Value) -> io::Result<Value> {
        self.stream.get_mut().write_all(format!("{request}\n").as_bytes())?;
        let mut line = Vec::new();
        self.stream.by_ref().take(MOST_ANSWER).read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the switch ended the talk"));
        }
        let answer: Value = serde_json::from_slice(&line)?;
        match answer.get("error").and_then(Value::as_str) {
            Some(sentence) => Err(io::Error::new(ErrorKind::InvalidInput, sentence)),
            None => Ok(answer),
        }
    }
}

fn unexpected(answer: &Value) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the switch gave an unexpected answer: {answer}"))
}
