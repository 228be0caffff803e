//! A load generator for memcached, in its text protocol: connections that ask, wait, think and ask again.

use crate::error::{self, Result};
use crate::programs::percentiles;
use forebay_tm::random::Random;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a load is like.
#[derive(Clone, Debug)]
pub struct Load {
    /// The server.
    pub server: SocketAddr,
    /// Connections at the same time.
    pub connections: usize,
    /// How long.
    pub duration: Duration,
    /// Bytes of a value.
    pub value: usize,
    /// The share of requests that set a value.
    pub sets: f64,
    /// Different keys.
    pub keys: u64,
    /// The time between an answer and the next request.
    pub think: Duration,
}

/// The times of one connection's requests, in microseconds.
type Times = io::Result<Vec<f64>>;

impl Load {
    /// Runs it. Requests, how many a second, and percentiles of latencies, as JSON.
    pub fn run(&self) -> Result<Value> {
        if self.keys == 0 || self.connections == 0 {
            return Err(error::problem("a load without keys or connections", "give at least one of each"));
        }
        self.fill().map_err(|error| self.failed(&error))?;
        let begin = Instant::now();
        let all: Vec<Times> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.connections)
                .map(|number| scope.spawn(move || self.connection(number, begin + self.duration)))
                .collect();
            let ended = |thread: std::thread::ScopedJoinHandle<'_, Times>| {
                thread.join().unwrap_or_else(|_| Err(ErrorKind::Other.into()))
            };
            threads.into_iter().map(ended).collect()
        });
        let seconds = begin.elapsed().as_secs_f64();
        let mut times = Vec::new();
        for own in all {
            times.extend(own.map_err(|error| self.failed(&error))?);
        }
        let (requests, mut answer) = (times.len(), json!({}));
        answer["requests"] = json!(requests);
        answer["requests_per_second"] = json!(requests as f64 / seconds);
        for (name, value) in percentiles(times, "_us") {
            answer[name] = json!(value);
        }
        Ok(answer)
    }

    fn failed(&self, error: &io::Error) -> forebay_settings::Diagnostic {
        error::problem(format_args!("memcached at {}: {error}", self.server), "see whether it runs and listens there")
    }

    fn open(&self) -> io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect(self.server)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(BufReader::new(stream))
    }

    /// Gives every key a value.
    fn fill(&self) -> io::Result<()> {
        let mut stream = self.open()?;
        (0..self.keys).try_for_each(|key| self.set(&mut stream, key))
    }

    fn set(&self, stream: &mut BufReader<TcpStream>, key: u64) -> io::Result<()> {
        let mut request = format!("set key{key} 0 0 {}\r\n", self.value).into_bytes();
        request.resize(request.len() + self.value, b'x');
        request.extend_from_slice(b"\r\n");
        stream.get_mut().write_all(&request)?;
        match line(stream)?.as_str() {
            "STORED" => Ok(()),
            other => Err(io::Error::new(ErrorKind::InvalidData, format!("it answered \"{other}\" to a set"))),
        }
    }

    fn get(stream: &mut BufReader<TcpStream>, key: u64) -> io::Result<()> {
        stream.get_mut().write_all(format!("get key{key}\r\n").as_bytes())?;
        loop {
            let answer = line(stream)?;
            match answer.split(' ').collect::<Vec<_>>()[..] {
                ["END"] => return Ok(()),
                ["VALUE", _, _, bytes] => {
                    let bytes: u64 = bytes.parse().map_err(|_| ErrorKind::InvalidData)?;
                    io::copy(&mut stream.by_ref().take(bytes + 2), &mut io::sink())?;
                }
                _ => return Err(io::Error::new(ErrorKind::InvalidData, format!("it answered \"{answer}\" to a get"))),
            }
        }
    }

    fn connection(&self, number: usize, end: Instant) -> Times {
        let mut random = Random::stream(1, "memcached", number as u64);
        let mut stream = self.open()?;
        let mut times = Vec::new();
        while Instant::now() < end {
            let (key, is_set) = (random.below(self.keys), random.unit() < self.sets);
            let begin = Instant::now();
            if is_set {
                self.set(&mut stream, key)?;
            } else {
                Self::get(&mut stream, key)?;
            }
            times.push(begin.elapsed().as_secs_f64() * 1e6);
            std::thread::sleep(self.think);
        }
        Ok(times)
    }
}

/// A line of the server's, without its end.
fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    match stream.read_line(&mut line)? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A server with the few words that the load needs.
    fn serve(stream: TcpStream, answer: &'static str) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        loop {
            let request = line(&mut stream)?;
            match request.split(' ').collect::<Vec<_>>()[..] {
                ["set", _, _, _, bytes] => {
                    let bytes: u64 = bytes.parse().unwrap();
                    io::copy(&mut stream.by_ref().take(bytes + 2), &mut io::sink())?;
                    stream.get_mut().write_all(answer.as_bytes())?;
                }
                ["get", key] => stream.get_mut().write_all(format!("VALUE {key} 0 3\r\nxxx\r\nEND\r\n").as_bytes())?,
                _ => return Ok(()),
            }
        }
    }

    fn load(answer: &'static str) -> Result<Value> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || serve(stream, answer));
            }
        });
        let duration = Duration::from_millis(100);
        Load { server, connections: 2, duration, value: 100, sets: 0.5, keys: 3, think: Duration::from_millis(1) }.run()
    }

    #[test]
    fn latencies_of_a_server_are_measured() {
        let answer = load("STORED\r\n").unwrap();
        assert!(answer["requests"].as_u64().unwrap() >= 2, "{answer}");
        assert!(answer["p99_us"].as_f64().unwrap() >= answer["p50_us"].as_f64().unwrap());
        assert!(load("SERVER_ERROR out of memory\r\n").unwrap_err().to_string().contains("out of memory"));
    }
}
