//! Arrivals from a CSV file, read line by line in constant memory, or from a capture, which is read whole.

use crate::capture;
use crate::scenario_file::cannot_read;
use flate2::read::MultiGzDecoder;
use forebay_settings::{Diagnostic, nearest};
use forebay_tm::drive::EndOfTime;
use forebay_tm::ingress::{GROUPS_PER_PORT, Ingress};
use forebay_tm::packet::MAX_PACKET_BYTES;
use forebay_tm::{Bytes, Colour, Instant, Packet, PacketId, ValidConfig};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// No line of numbers is longer.
const LONGEST_LINE: usize = 4_096;
/// A capture is kept in memory.
const LARGEST_CAPTURE: u64 = 2 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Time,
    Bytes,
    Port,
    Queue,
    Flow,
    Rank,
    Class,
    Unscheduled,
    Ect,
    Eligible,
    InPort,
    Group,
    Colour,
}

/// The groups of the ingress side that packets are charged to.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'c> {
    /// The ingress side.
    pub ingress: &'c Ingress,
    /// The group of packets of each queue number, where arrivals do not say it.
    pub of_queue: &'c [u8],
}

pub(crate) const COLUMNS: [(&str, Column); 13] = [
    ("time_ps", Column::Time),
    ("bytes", Column::Bytes),
    ("port", Column::Port),
    ("queue", Column::Queue),
    ("flow", Column::Flow),
    ("rank", Column::Rank),
    ("class", Column::Class),
    ("unscheduled", Column::Unscheduled),
    ("ect", Column::Ect),
    ("eligible_ps", Column::Eligible),
    ("in_port", Column::InPort),
    ("pg", Column::Group),
    ("colour", Column::Colour),
];

pub(crate) const NEEDED: [Column; 4] = [Column::Time, Column::Bytes, Column::Port, Column::Queue];

pub(crate) fn name_of(column: Column) -> &'static str {
    COLUMNS.iter().find(|(_, known)| *known == column).map_or("", |(name, _)| name)
}

/// A file of arrivals, open at some line.
pub struct Arrivals<'c> {
    file: String,
    reader: Box<dyn BufRead>,
    columns: Vec<Column>,
    /// The packets of a capture.
    captured: Option<std::vec::IntoIter<(Instant, Packet)>>,
    switch: &'c ValidConfig,
    groups: Option<Groups<'c>>,
    /// The current line, without its end.
    line: Vec<u8>,
    number: usize,
    /// The length of the file, if it has one.
    pub length: Option<u64>,
    /// How much of it has been read.
    pub read: u64,
    last: Instant,
    next: u64,
}

impl<'c> Arrivals<'c> {
    /// Opens a file and reads its header.
    pub fn open(path: &Path, switch: &'c ValidConfig) -> Result<Self, Diagnostic> {
        Self::open_for(path, switch, None)
    }

    /// The same for a switch that may have an ingress side.
    pub fn open_for(path: &Path, switch: &'c ValidConfig, groups: Option<Groups<'c>>) -> Result<Self, Diagnostic> {
        if path.as_os_str() == "-" {
            return Self::of_any_form("standard input", Box::new(BufReader::new(io::stdin())), None, switch, groups);
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| cannot_read(&name, &error))?;
        let length = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
        Self::of_any_form(&name, Box::new(BufReader::with_capacity(1 << 16, file)), length, switch, groups)
    }

    /// CSV or a capture, compressed by gzip or not, as its first bytes say.
    fn of_any_form(
        name: &str,
        reader: Box<dyn BufRead>,
        mut length: Option<u64>,
        switch: &'c ValidConfig,
        groups: Option<Groups<'c>>,
    ) -> Result<Self, Diagnostic> {
        let failure = |error: io::Error| cannot_read(name, &error);
        let (mut head, mut reader) = peek(reader).map_err(failure)?;
        if head.starts_with(&[0x1f, 0x8b]) {
            let unpacked = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(reader));
            (head, reader) = peek(Box::new(unpacked)).map_err(failure)?;
            // Nobody knows how long it will be.
            length = None;
        }
        if !capture::is_capture(&head) {
            let mut arrivals = Self { groups, ..Self::empty(name, reader, length, switch) };
            arrivals.read_header()?;
            return Ok(arrivals);
        }
        let Some(bytes) = read_at_most(reader, LARGEST_CAPTURE).map_err(failure)? else {
            let problem = format!("this capture is larger than {}", Bytes::new(LARGEST_CAPTURE));
            return Err(Diagnostic::of_file(name, problem, "give a part of it, such as editcap -c makes"));
        };
        let packets = capture::packets(name, &bytes, switch)?;
        let mut arrivals = Self { groups, ..Self::empty(name, Box::new(io::empty()), None, switch) };
        arrivals.captured = Some(packets.into_iter());
        Ok(arrivals)
    }

    /// Reads from anything; `name` is what errors call it.
    pub fn new(
        name: &str,
        reader: Box<dyn BufRead>,
        length: Option<u64>,
        switch: &'c ValidConfig,
    ) -> Result<Self, Diagnostic> {
        let mut arrivals = Self::empty(name, reader, length, switch);
        arrivals.read_header()?;
        Ok(arrivals)
    }

    fn empty(name: &str, reader: Box<dyn BufRead>, length: Option<u64>, switch: &'c ValidConfig) -> Self {
        Self {
            file: name.to_owned(),
            reader,
            columns: Vec::new(),
            captured: None,
            switch,
            groups: None,
            line: Vec::new(),
            number: 0,
            length,
            read: 0,
            last: Instant::ZERO,
            next: 0,
        }
    }

    /// Which packet comes next, counted from 0.
    pub fn count(&self) -> u64 {
        self.next
    }

    fn read_header(&mut self) -> Result<(), Diagnostic> {
        let example = "start with the line time_ps,bytes,port,queue";
        if !self.next_line()? {
            let empty = Diagnostic::of_file(&self.file, "the file is empty", example);
            return Err(Diagnostic { line: Some(1), ..empty });
        }
        if let Some(rest) = self.line.strip_prefix(b"\xef\xbb\xbf") {
            self.line = rest.to_vec();
        }
        let header = self.text()?.to_owned();
        let known: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
        let mut start = 0;
        for name in header.split(',') {
            let span = start..start + name.len();
            start = span.end + 1;
            let found = COLUMNS.iter().find(|(known, _)| *known == name).map(|(_, column)| *column);
            let Some(column) = found else {
                if !header.contains(|c: char| c.is_ascii_alphabetic()) {
                    return Err(self.error(0..header.len(), "", "this line does not name the columns", example));
                }
                let remedy = match nearest(name, &known) {
                    _ if known.contains(&name.trim()) => "remove the space".to_owned(),
                    Some(meant) => format!("did you mean {meant}?"),
                    None => format!("{example}; the other columns are {}", known[4..].join(", ")),
                };
                return Err(self.error(span, name.trim(), format!("there is no column \"{name}\""), remedy));
            };
            if self.columns.contains(&column) {
                return Err(self.error(span, name, "this column is there twice", "remove one of them"));
            }
            self.columns.push(column);
        }
        for column in NEEDED {
            if !self.columns.contains(&column) {
                let name = name_of(column);
                return Err(self.error(0..header.len(), name, "this column is missing", example));
            }
        }
        self.check_sides(&header)
    }

    /// Whether the columns of the ingress side are there if and only if they mean something.
    fn check_sides(&self, header: &str) -> Result<(), Diagnostic> {
        let has = |column| self.columns.contains(&column);
        if self.groups.is_some() && !has(Column::InPort) {
            let problem = "this column is missing: the switch has an ingress side";
            let remedy = "add the column in_port, the port that a packet came by";
            return Err(self.error(0..header.len(), name_of(Column::InPort), problem, remedy));
        }
        for column in [Column::InPort, Column::Group] {
            if self.groups.is_none() && has(column) {
                let remedy = "remove the column, or describe [ingress] in the switch file";
                return Err(self.error(0..header.len(), name_of(column), "the switch has no ingress side", remedy));
            }
        }
        Ok(())
    }

    /// The group that a packet is charged to, which must be there.
    fn set_group(&self, packet: &mut Packet) -> Result<(), Diagnostic> {
        let Some(groups) = self.groups else { return Ok(()) };
        let is_said = self.columns.contains(&Column::Group);
        if !is_said {
            packet.group = groups.of_queue[packet.queue as usize];
        }
        if groups.ingress.has_group(packet.in_port as usize, packet.group) {
            return Ok(());
        }
        let problem = format!("port {} has no group {}", packet.in_port, packet.group);
        let remedy = "describe it in [[ingress.group]] of the switch file, or give another";
        if self.captured.is_some() {
            let problem = format!("packet {}: {problem}, which queue {} stands for", packet.id.0, packet.queue);
            return Err(Diagnostic::of_file(&self.file, problem, remedy));
        }
        match is_said {
            true => Err(self.error_in(Column::Group, problem, remedy)),
            false => Err(self.error_in(Column::Queue, problem + ", which queue number stands for", remedy)),
        }
    }

    /// The next packet and when it arrives.
    pub fn read_next(&mut self) -> Result<Option<(Instant, Packet)>, Diagnostic> {
        if let Some(captured) = &mut self.captured {
            let Some((now, mut packet)) = captured.next() else { return Ok(None) };
            self.next += 1;
            self.set_group(&mut packet)?;
            return Ok(Some((now, packet)));
        }
        if !self.next_line()? {
            return Ok(None);
        }
        if self.line.is_empty() {
            return self.only_blank_lines_left().map(|()| None);
        }
        let mut packet = Packet { id: PacketId(self.next), ..Packet::default() };
        let mut time = 0;
        let mut start = 0;
        for index in 0..self.columns.len() {
            if start > self.line.len() {
                return Err(self.too_few(index));
            }
            let rest = &self.line[start..];
            let end = start + rest.iter().position(|byte| *byte == b',').unwrap_or(rest.len());
            let value = match parse(&self.line[start..end]) {
                Some(value) => value,
                None => return Err(self.bad_number(start..end, self.columns[index])),
            };
            if !set(self.columns[index], value, self.switch, &mut time, &mut packet) {
                return Err(self.out_of_range(start..end, self.columns[index], value));
            }
            start = end + 1;
        }
        if start <= self.line.len() {
            let remedy = format!("give {} values, as the header says", self.columns.len());
            return Err(self.error(start - 1..self.line.len(), "", "there are more values than columns", remedy));
        }
        // Without a class column every packet is of class 0, which must exist, too.
        if !self.switch.policy.knows_class(packet.class) {
            return Err(self.out_of_range(0..self.line.len(), Column::Class, u64::from(packet.class)));
        }
        self.set_group(&mut packet)?;
        let now = Instant::from_ps(time);
        if now < self.last {
            let problem = format!("{time} is before the arrival above it, at {}", self.last.ps());
            return Err(self.error_in(Column::Time, problem, "sort the arrivals by time"));
        }
        self.last = now;
        self.next += 1;
        Ok(Some((now, packet)))
    }

    /// The error of a run that these arrivals take past the end of time.
    pub fn too_late(&self, error: EndOfTime) -> Diagnostic {
        let remedy = "give earlier arrivals, shorter packets or a higher rate";
        Diagnostic::of_file(&self.file, error.to_string(), remedy)
    }

    /// Reads a line, without its end. False at the end of the file.
    fn next_line(&mut self) -> Result<bool, Diagnostic> {
        self.line.clear();
        let read = self.reader.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| cannot_read(&self.file, &error))?;
        self.read += read as u64;
        self.number += 1;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        } else if read > LONGEST_LINE {
            self.line.truncate(80);
            return Err(self.error(
                0..80,
                "",
                "this line is too long for an arrival",
                "is this a CSV file of arrivals?",
            ));
        }
        Ok(read > 0)
    }

    /// An empty line is an error unless nothing but empty lines follows.
    fn only_blank_lines_left(&mut self) -> Result<(), Diagnostic> {
        let number = self.number;
        while self.next_line()? {
            if !self.line.is_empty() {
                let problem = "this line is empty, but arrivals follow";
                return Err(Diagnostic::of_line(&self.file, number, "", 0..0, "", problem, "remove it"));
            }
        }
        Ok(())
    }

    fn text(&self) -> Result<&str, Diagnostic> {
        std::str::from_utf8(&self.line).map_err(|error| {
            self.error(error.valid_up_to()..self.line.len(), "", "this is not UTF-8 text", "save the file as UTF-8")
        })
    }

    /// An error at some bytes of the current line.
    fn error(
        &self,
        span: std::ops::Range<usize>,
        field: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Diagnostic {
        let text = String::from_utf8_lossy(&self.line);
        Diagnostic::of_line(&self.file, self.number, &text, span, field, problem, remedy)
    }

    /// An error in a column of the current line.
    fn error_in(&self, column: Column, problem: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        let index = self.columns.iter().position(|known| *known == column).unwrap_or(0);
        let start: usize = self.line.split(|byte| *byte == b',').take(index).map(|field| field.len() + 1).sum();
        let length = self.line[start..].iter().position(|byte| *byte == b',').unwrap_or(self.line.len() - start);
        self.error(start..start + length, name_of(column), problem, remedy)
    }

    fn too_few(&self, found: usize) -> Diagnostic {
        let missing = name_of(self.columns[found]);
        let problem = format!("the line ends after {found} of {} values", self.columns.len());
        self.error(
            self.line.len()..self.line.len(),
            missing,
            problem,
            "is the file cut off? give a value for every column",
        )
    }

    fn bad_number(&self, span: std::ops::Range<usize>, column: Column) -> Diagnostic {
        if let Err(error) = self.text() {
            return error;
        }
        let text = String::from_utf8_lossy(&self.line[span.clone()]).into_owned();
        let problem = if text.is_empty() {
            "the value is missing".to_owned()
        } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("{text} is too large")
        } else if text.starts_with('-') && text[1..].bytes().all(|byte| byte.is_ascii_digit()) {
            format!("{text} is below zero")
        } else {
            format!("\"{text}\" is not a whole number")
        };
        let remedy = if parse(text.trim().as_bytes()).is_some() {
            "remove the space".to_owned()
        } else {
            let least = u64::from(column == Column::Bytes);
            format!("give a whole number from {least} to {}", self.largest(column))
        };
        self.error(span, name_of(column), problem, remedy)
    }

    fn out_of_range(&self, span: std::ops::Range<usize>, column: Column, value: u64) -> Diagnostic {
        let (problem, remedy) = range_error(column, value, self.switch);
        self.error(span, name_of(column), problem, remedy)
    }

    fn largest(&self, column: Column) -> u64 {
        match column {
            Column::Bytes => u64::from(MAX_PACKET_BYTES),
            Column::Port => self.switch.rates.len() as u64 - 1,
            Column::Queue => self.switch.queues as u64 - 1,
            Column::Class => u64::from(u32::MAX),
            Column::Unscheduled | Column::Ect => 1,
            Column::InPort => self.switch.rates.len() as u64 - 1,
            Column::Group => GROUPS_PER_PORT as u64 - 1,
            Column::Colour => 2,
            Column::Time | Column::Flow | Column::Rank | Column::Eligible => u64::MAX,
        }
    }
}

/// Sets what a column says of a packet; false if the value is none that it can have.
#[inline]
pub(crate) fn set(column: Column, value: u64, switch: &ValidConfig, time: &mut u64, packet: &mut Packet) -> bool {
    match column {
        Column::Time => *time = value,
        Column::Flow => packet.flow = value,
        Column::Rank => packet.rank = value,
        Column::Eligible => packet.eligible = Instant::from_ps(value),
        Column::Bytes if (1..=u64::from(MAX_PACKET_BYTES)).contains(&value) => packet.bytes = value as u32,
        Column::Port if value < switch.rates.len() as u64 => packet.port = value as u32,
        Column::Queue if value < switch.queues as u64 => packet.queue = value as u32,
        Column::Class if value <= u64::from(u32::MAX) && switch.policy.knows_class(value as u32) => {
            packet.class = value as u32;
        }
        Column::Unscheduled if value <= 1 => packet.unscheduled = value == 1,
        Column::Ect if value <= 1 => packet.ect = value == 1,
        Column::InPort if value < switch.rates.len() as u64 => packet.in_port = value as u32,
        Column::Group if value < GROUPS_PER_PORT as u64 => packet.group = value as u8,
        Column::Colour if value < Colour::ALL.len() as u64 => packet.colour = Colour::ALL[value as usize],
        _ => return false,
    }
    true
}

/// What is wrong with a value that a column cannot have, and what would be right.
pub(crate) fn range_error(column: Column, value: u64, switch: &ValidConfig) -> (String, String) {
    let (ports, queues) = (switch.rates.len(), switch.queues);
    match column {
        Column::Bytes if value == 0 => ("a packet has at least one byte".to_owned(), "give 1 or more".to_owned()),
        Column::Bytes => (format!("a packet of {value} bytes is too long"), format!("give 1 to {MAX_PACKET_BYTES}")),
        Column::Group => (format!("there is no group {value}"), format!("give 0 to {}", GROUPS_PER_PORT - 1)),
        Column::Colour => (format!("{value} is no colour"), "give 0 for green, 1 for yellow, 2 for red".to_owned()),
        Column::Port | Column::InPort => {
            (format!("there is no port {value}"), format!("the switch has ports 0 to {}", ports - 1))
        }
        Column::Queue => (format!("there is no queue {value}"), format!("a port has queues 0 to {}", queues - 1)),
        Column::Class => (
            format!("class {value} has no alpha"),
            "give policy.alpha one value for each class in the switch file".to_owned(),
        ),
        _ => (format!("{value} is neither 0 nor 1"), "give 1 for yes or 0 for no".to_owned()),
    }
}

/// Everything there is; none if that is more than `most` bytes. A small compressed file may stand for a very large one.
fn read_at_most(reader: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// The first bytes, and a reader that still has them.
fn peek(mut reader: Box<dyn BufRead>) -> io::Result<(Vec<u8>, Box<dyn BufRead>)> {
    let mut head = Vec::new();
    reader.by_ref().take(4).read_to_end(&mut head)?;
    let whole = Box::new(io::Cursor::new(head.clone()).chain(reader));
    Ok((head, whole))
}

/// Digits only.
fn parse(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_there_is_room_for() {
        assert_eq!(read_at_most(&b"abcd"[..], 4).unwrap().as_deref(), Some(&b"abcd"[..]));
        assert_eq!(read_at_most(&b"abcd"[..], 3).unwrap(), None);
        // One that never ends.
        assert_eq!(read_at_most(io::repeat(0), 1_000).unwrap(), None);
    }
}
