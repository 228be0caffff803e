//! VERDICTS.csv: one line a packet, in the order of arrival, in memory that does not grow with the trace.
//!
//! Packets meet their fates out of order, so lines wait for those before them. Should very many wait (a packet starves
//! in a queue while millions pass), the oldest are put aside in a temporary file.

use crate::Failure;
use crate::output::{Output, cannot_write};
use forebay_runner::fate::{Change, Row};
use forebay_tm::drive::Observer;
use forebay_tm::{Departure, Eviction, Instant, Packet, PacketId, Reason, Verdict};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

/// The line of a packet.
fn write_line(row: &Row, packet: u64, line: &mut Vec<u8>) {
    line.clear();
    push_number(line, packet);
    line.push(b',');
    line.extend_from_slice(row.fate.as_str().as_bytes());
    line.push(b',');
    line.extend_from_slice(row.reason.map_or("", Reason::as_str).as_bytes());
    line.extend_from_slice(if row.marked { b",1," } else { b",0," });
    if let Some((start, end)) = row.sent() {
        push_number(line, start);
        line.push(b',');
        push_number(line, end);
    } else {
        line.push(b',');
    }
    line.push(b'\n');
}

fn push_number(line: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[at..]);
}

/// Rows put aside on disk.
struct Aside {
    /// Rows are appended here and patched in place.
    file: BufWriter<File>,
    rows: u64,
    /// Whether the file is positioned at its end.
    at_end: bool,
}

impl Aside {
    fn new() -> io::Result<Self> {
        Ok(Self { file: BufWriter::with_capacity(1 << 16, tempfile::tempfile()?), rows: 0, at_end: true })
    }

    fn append(&mut self, row: Row) -> io::Result<()> {
        if !self.at_end {
            self.file.seek(SeekFrom::End(0))?;
            self.at_end = true;
        }
        self.rows += 1;
        self.file.write_all(&row.to_bytes())
    }

    fn patch(&mut self, index: u64, change: Change) -> io::Result<()> {
        let offset = SeekFrom::Start(index * Row::BYTES as u64);
        self.at_end = false;
        self.file.seek(offset)?;
        let mut bytes = [0; Row::BYTES];
        self.file.get_mut().read_exact(&mut bytes)?;
        let mut row = Row::from_bytes(bytes);
        row.apply(change);
        self.file.seek(offset)?;
        self.file.write_all(&row.to_bytes())
    }
}

/// What a file of verdicts begins with.
pub(crate) const HEADER: &str = "packet,verdict,reason,marked,start_ps,end_ps\n";

/// The verdicts of a run.
pub(crate) struct Verdicts {
    output: Output,
    /// Rows from number `first` on.
    rows: VecDeque<Row>,
    first: u64,
    aside: Option<Aside>,
    /// The number of the first row put aside.
    aside_first: u64,
    most: usize,
    line: Vec<u8>,
    failure: Option<Failure>,
}

impl Verdicts {
    /// Rows kept in memory at most (about 25 MB: the queue of rows doubles as it grows).
    const MOST: usize = (1 << 20) - 1;

    pub(crate) fn new(output: Output) -> Result<Self, Failure> {
        Self::with_limit(output, Self::MOST)
    }

    fn with_limit(mut output: Output, most: usize) -> Result<Self, Failure> {
        output.write(HEADER.as_bytes())?;
        Ok(Self {
            output,
            rows: VecDeque::new(),
            first: 0,
            aside: None,
            aside_first: 0,
            most,
            line: Vec::with_capacity(128),
            failure: None,
        })
    }

    /// An error of writing, which an observer cannot return.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn note(&mut self, result: Result<(), Failure>) {
        if let Err(failure) = result {
            self.failure.get_or_insert(failure);
        }
    }

    fn change(&mut self, id: PacketId, change: Change) {
        match id.0.checked_sub(self.first) {
            Some(index) => self.rows[index as usize].apply(change),
            None => {
                let index = id.0 - self.aside_first;
                let aside = self.aside.as_mut().expect("older rows are aside");
                let result = aside.patch(index, change).map_err(|error| cannot_write("a temporary file", &error));
                self.note(result);
            }
        }
        let result = self.write_finished();
        self.note(result);
    }

    /// Writes the lines that no earlier one holds up.
    fn write_finished(&mut self) -> Result<(), Failure> {
        if self.aside.is_none() {
            while let Some(row) = self.rows.front().filter(|row| row.fate.is_final()) {
                write_line(row, self.first, &mut self.line);
                self.output.write(&self.line)?;
                self.rows.pop_front();
                self.first += 1;
            }
        }
        if self.rows.len() > self.most {
            self.put_aside().map_err(|error| cannot_write("a temporary file", &error))?;
        }
        Ok(())
    }

    #[cold]
    fn put_aside(&mut self) -> io::Result<()> {
        if self.aside.is_none() {
            self.aside = Some(Aside::new()?);
            self.aside_first = self.first;
        }
        let aside = self.aside.as_mut().expect("just made");
        for row in self.rows.drain(..self.most / 2) {
            aside.append(row)?;
            self.first += 1;
        }
        Ok(())
    }

    /// Writes what is left and puts the file in its place.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.check()?;
        if let Some(aside) = self.aside.take() {
            let temporary = |error: io::Error| cannot_write("a temporary file", &error);
            let rows = aside.rows;
            let mut file = aside.file.into_inner().map_err(|error| temporary(error.into_error()))?;
            file.rewind().map_err(temporary)?;
            let mut reader = BufReader::with_capacity(1 << 16, file);
            for index in 0..rows {
                let mut bytes = [0; Row::BYTES];
                reader.read_exact(&mut bytes).map_err(temporary)?;
                write_line(&Row::from_bytes(bytes), self.aside_first + index, &mut self.line);
                self.output.write(&self.line)?;
            }
        }
        self.write_finished()?;
        assert!(self.rows.is_empty(), "every packet has met its fate when nothing waits any more");
        self.output.finish()
    }
}

impl Observer for Verdicts {
    fn arrived(&mut self, _: Instant, _: &Packet, verdict: Verdict) {
        let row = Row::new(verdict);
        self.rows.push_back(row);
        if row.fate.is_final() || self.rows.len() > self.most {
            let result = self.write_finished();
            self.note(result);
        }
    }

    fn started(&mut self, now: Instant, _: usize, departure: &Departure, end: Instant) {
        self.change(departure.id, Change::Started(now, end));
    }

    fn evicted(&mut self, eviction: Eviction) {
        self.change(eviction.id, Change::Lost(eviction.reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_tm::Outcome;

    /// Packets leave in reverse, so every line waits for the first.
    fn reversed(packets: u64, most: usize) -> String {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("verdicts.csv");
        let output = Output::create(Some(&path)).unwrap_or_else(|_| panic!("a temporary directory can be written"));
        let mut verdicts = Verdicts::with_limit(output, most).unwrap_or_else(|_| panic!("as above"));
        for id in 0..packets {
            let verdict = match id % 3 {
                0 => Verdict::Queued { marked: id % 2 == 0 },
                1 => Verdict::Trimmed { reason: Reason::Full },
                _ => Verdict::Dropped { reason: Reason::Threshold },
            };
            verdicts.arrived(Instant::ZERO, &Packet::default(), verdict);
        }
        for id in (0..packets).rev().filter(|id| id % 3 != 2) {
            let packet = Packet { id: PacketId(id), bytes: 1, ..Packet::default() };
            let departure = Outcome::Sent.departure(&packet).unwrap();
            if id % 7 == 0 {
                let (bytes, length) = (1, forebay_tm::Bytes::ZERO);
                let reason = Reason::PushedOut;
                let lost =
                    Eviction { id: PacketId(id), at: Instant::ZERO, queue: 0, bytes, reason, length, threshold: None };
                verdicts.evicted(lost);
            } else {
                verdicts.started(Instant::from_ps(id), 0, &departure, Instant::from_ps(id + 1));
            }
        }
        assert!(verdicts.finish().is_ok());
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn rows_put_aside_come_out_the_same() {
        let plain = reversed(1_000, 10_000);
        assert_eq!(plain.lines().count(), 1_001);
        assert!(plain.contains("\n3,sent,,0,3,4\n") && plain.contains("\n4,trimmed,full,0,4,5\n"));
        for most in [2, 10, 333, 999] {
            assert_eq!(reversed(1_000, most), plain, "with at most {most} rows in memory");
        }
    }
}
