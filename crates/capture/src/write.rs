//! Writes pcap, and pcapng with interfaces and comments.

use crate::{
    BYTE_ORDER, Captured, ENHANCED_PACKET, ETHERNET, INTERFACE, NANOSECONDS, PS_PER_SECOND, RESOLUTION, SECTION,
};
use std::io::{self, Write};

const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const INTERFACE_NAME: u16 = 2;
const APPLICATION: u16 = 4;

/// What times in a pcapng file count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// What is finer is left out.
    Nanoseconds,
    /// Enough for half a year.
    Picoseconds,
}

/// Writes frames.
#[derive(Debug)]
pub struct Writer<O> {
    out: O,
    /// The block or packet that is being put together.
    block: Vec<u8>,
    format: Format,
}

#[derive(Clone, Copy, Debug)]
enum Format {
    /// With nanoseconds.
    Pcap,
    Pcapng {
        interfaces: usize,
        clock: Clock,
    },
}

impl<O: Write> Writer<O> {
    /// Begins a pcap file.
    pub fn pcap(out: O) -> io::Result<Self> {
        let mut writer = Self { out, block: Vec::with_capacity(256), format: Format::Pcap };
        writer.u32(NANOSECONDS);
        writer.block.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        writer.u32(u32::from(u16::MAX));
        writer.u32(u32::from(ETHERNET));
        writer.out.write_all(&writer.block)?;
        Ok(writer)
    }

    /// Begins a pcapng file with these interfaces: the places where frames are seen, such as "leaf0 port 3 out".
    pub fn pcapng(out: O, interfaces: &[impl AsRef<str>], clock: Clock) -> io::Result<Self> {
        let format = Format::Pcapng { interfaces: interfaces.len(), clock };
        let mut writer = Self { out, block: Vec::with_capacity(256), format };
        writer.begin(SECTION);
        writer.u32(BYTE_ORDER);
        writer.u16(1);
        writer.u16(0);
        // The length of the section is not known.
        writer.block.extend(u64::MAX.to_le_bytes());
        writer.option(APPLICATION, b"forebay");
        writer.option(END_OF_OPTIONS, b"");
        writer.end()?;
        for name in interfaces {
            writer.begin(INTERFACE);
            writer.u16(ETHERNET);
            writer.u16(0);
            // No limit on what is captured.
            writer.u32(0);
            writer.option(INTERFACE_NAME, clip(name.as_ref()));
            let power = match clock {
                Clock::Nanoseconds => 9,
                Clock::Picoseconds => 12,
            };
            writer.option(RESOLUTION, &[power]);
            writer.option(END_OF_OPTIONS, b"");
            writer.end()?;
        }
        Ok(writer)
    }

    /// A whole frame of the first interface.
    pub fn frame(&mut self, at_ps: u128, bytes: &[u8]) -> io::Result<()> {
        self.packet(&Captured { at_ps, interface: 0, bytes, length: bytes.len() }, "")
    }

    /// A frame, and what there is to say about it: why it was dropped, for instance. Only pcapng has comments and
    /// interfaces.
    pub fn packet(&mut self, packet: &Captured<'_>, comment: &str) -> io::Result<()> {
        let Captured { at_ps, interface, bytes, length } = *packet;
        let too_large = |_| io::Error::from(io::ErrorKind::InvalidInput);
        match self.format {
            Format::Pcap => {
                self.block.clear();
                self.u32(u32::try_from(at_ps / PS_PER_SECOND).map_err(too_large)?);
                self.u32((at_ps % PS_PER_SECOND / 1_000) as u32);
            }
            Format::Pcapng { interfaces, .. } if interface as usize >= interfaces => {
                let problem = "a packet at an interface that was not declared";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
            }
            Format::Pcapng { clock, .. } => {
                let ticks = if clock == Clock::Nanoseconds { at_ps / 1_000 } else { at_ps };
                let ticks = u64::try_from(ticks).map_err(too_large)?;
                self.begin(ENHANCED_PACKET);
                self.u32(interface);
                self.u32((ticks >> 32) as u32);
                self.u32(ticks as u32);
            }
        }
        self.u32(u32::try_from(bytes.len()).map_err(too_large)?);
        self.u32(u32::try_from(length).map_err(too_large)?);
        self.block.extend_from_slice(bytes);
        if matches!(self.format, Format::Pcap) {
            return self.out.write_all(&self.block);
        }
        self.pad();
        if !comment.is_empty() {
            self.option(COMMENT, clip(comment));
            self.option(END_OF_OPTIONS, b"");
        }
        self.end()
    }

    /// Writes out what is held back, and gives the file back.
    pub fn finish(mut self) -> io::Result<O> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.u32(kind);
        self.u32(0);
    }

    /// Fills in the length at both ends of the block and writes it.
    fn end(&mut self) -> io::Result<()> {
        let length = u32::try_from(self.block.len() + 4).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        self.u32(length);
        self.out.write_all(&self.block)
    }

    fn u16(&mut self, value: u16) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.u16(code);
        self.u16(value.len() as u16);
        self.block.extend_from_slice(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }
}

/// Text as the bytes of an option, which has room for 65,535: cut before the character that does not fit.
fn clip(text: &str) -> &[u8] {
    let mut end = text.len().min(usize::from(u16::MAX));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text.as_bytes()[..end]
}
