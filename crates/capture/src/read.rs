//! Reads pcap (micro- and nanoseconds, either byte order) and pcapng.
//!
//! Nothing that a file claims is trusted: lengths are checked against what is there, and an error says at which byte it
//! stands.

use crate::{
    BYTE_ORDER, ENHANCED_PACKET, ETHERNET, INTERFACE, MICROSECONDS, NANOSECONDS, PS_PER_SECOND, RESOLUTION, SECTION,
    SIMPLE_PACKET,
};
use std::fmt;

/// A frame of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured<'f> {
    /// When it was captured, in picoseconds of the file's clock, which mostly counts from 1970.
    pub at_ps: u128,
    /// The interface it was captured at; 0 in pcap files, which have one.
    pub interface: u32,
    /// What was captured of it.
    pub bytes: &'f [u8],
    /// Its length on the wire.
    pub length: usize,
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCapture {
    /// The byte at which it shows.
    pub at: usize,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for BadCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.problem)
    }
}

impl std::error::Error for BadCapture {}

/// The frames of a file, one after the other.
pub struct Frames<'f> {
    file: &'f [u8],
    at: usize,
    format: Format,
}

enum Format {
    Pcap {
        big_endian: bool,
        /// Picoseconds of the second number of a time.
        unit: u64,
    },
    Pcapng {
        big_endian: bool,
        /// Of each interface, how many of its units are a second.
        interfaces: Vec<u64>,
    },
}

impl<'f> Frames<'f> {
    /// Reads the head of a file.
    pub fn new(file: &'f [u8]) -> Result<Self, BadCapture> {
        let bad = |problem: &str| BadCapture { at: 0, problem: problem.to_owned() };
        let magic = file.get(..4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        let magic = magic.ok_or_else(|| bad("the file is too short to be a capture"))?;
        if magic == SECTION {
            return Ok(Self { file, at: 0, format: Format::Pcapng { big_endian: false, interfaces: Vec::new() } });
        }
        let (big_endian, unit) = match (magic, magic.swap_bytes()) {
            (MICROSECONDS, _) => (false, 1_000_000),
            (NANOSECONDS, _) => (false, 1_000),
            (_, MICROSECONDS) => (true, 1_000_000),
            (_, NANOSECONDS) => (true, 1_000),
            _ => return Err(bad("this is neither pcap nor pcapng")),
        };
        let head = file.get(..24).ok_or_else(|| bad("the head of the file is not whole"))?;
        let link = word(head, 20, big_endian);
        if link & 0xffff != u32::from(ETHERNET) {
            return Err(BadCapture { at: 20, problem: format!("link type {link} is not Ethernet") });
        }
        Ok(Self { file, at: 24, format: Format::Pcap { big_endian, unit } })
    }

    fn bad<T>(&self, at: usize, problem: impl Into<String>) -> Result<T, BadCapture> {
        Err(BadCapture { at, problem: problem.into() })
    }

    fn next_pcap(&mut self, big_endian: bool, unit: u64) -> Result<Option<Captured<'f>>, BadCapture> {
        let at = self.at;
        if at == self.file.len() {
            return Ok(None);
        }
        let Some(head) = self.file.get(at..at + 16) else { return self.bad(at, "the head of a packet is not whole") };
        let number = |offset| word(head, offset, big_endian);
        let (captured, length) = (number(8) as usize, number(12) as usize);
        let Some(bytes) = self.file.get(at + 16..).and_then(|rest| rest.get(..captured)) else {
            return self.bad(at + 8, format!("a packet of {captured} bytes is not whole"));
        };
        self.at = at + 16 + captured;
        let at_ps = u128::from(number(0)) * PS_PER_SECOND + u128::from(u64::from(number(4)) * unit);
        Ok(Some(Captured { at_ps, interface: 0, bytes, length }))
    }

    fn next_pcapng(&mut self) -> Result<Option<Captured<'f>>, BadCapture> {
        loop {
            let at = self.at;
            if at == self.file.len() {
                return Ok(None);
            }
            let Some(head) = self.file.get(at..at + 12) else {
                return self.bad(at, "the head of a block is not whole");
            };
            let Format::Pcapng { big_endian, interfaces } = &mut self.format else { return Ok(None) };
            let kind = word(head, 0, *big_endian);
            if kind == SECTION {
                *big_endian = match word(head, 8, false) {
                    BYTE_ORDER => false,
                    swapped if swapped.swap_bytes() == BYTE_ORDER => true,
                    other => return self.bad(at + 8, format!("{other:#x} is no mark of a byte order")),
                };
                interfaces.clear();
            }
            let big_endian = *big_endian;
            let size = word(head, 4, big_endian) as usize;
            let Some(block) =
                self.file.get(at..).and_then(|rest| rest.get(..size)).filter(|_| size >= 12 && size % 4 == 0)
            else {
                return self.bad(at + 4, format!("a block of {size} bytes is not whole"));
            };
            self.at = at + size;
            let body = &block[8..size - 4];
            match kind {
                INTERFACE => {
                    let Some(fixed) = body.get(..8) else { return self.bad(at, "an interface is not whole") };
                    let link = half(fixed, 0, big_endian);
                    if link != ETHERNET {
                        return self.bad(at + 8, format!("link type {link} is not Ethernet"));
                    }
                    let units = units_per_second(&body[8..], big_endian);
                    let Some(units) = units else { return self.bad(at, "this resolution of time is not known") };
                    if let Format::Pcapng { interfaces, .. } = &mut self.format {
                        interfaces.push(units);
                    }
                }
                ENHANCED_PACKET => return self.enhanced(at, body, big_endian).map(Some),
                SIMPLE_PACKET => return self.bad(at, "packets without times cannot be replayed"),
                _ => {}
            }
        }
    }

    fn enhanced(&self, at: usize, body: &'f [u8], big_endian: bool) -> Result<Captured<'f>, BadCapture> {
        let Some(head) = body.get(..20) else { return self.bad(at, "the head of a packet is not whole") };
        let number = |offset| word(head, offset, big_endian);
        let Format::Pcapng { interfaces, .. } = &self.format else { return self.bad(at, "this is no pcapng") };
        let Some(units) = interfaces.get(number(0) as usize) else {
            return self.bad(at + 8, format!("there is no interface {}", number(0)));
        };
        let captured = number(12) as usize;
        let Some(bytes) = body[20..].get(..captured) else {
            return self.bad(at + 20, format!("a packet of {captured} bytes is not whole"));
        };
        let ticks = u128::from(number(4)) << 32 | u128::from(number(8));
        let at_ps = ticks * PS_PER_SECOND / u128::from(*units);
        Ok(Captured { at_ps, interface: number(0), bytes, length: number(16) as usize })
    }
}

impl<'f> Iterator for Frames<'f> {
    type Item = Result<Captured<'f>, BadCapture>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match self.format {
            Format::Pcap { big_endian, unit } => self.next_pcap(big_endian, unit),
            Format::Pcapng { .. } => self.next_pcapng(),
        };
        if next.is_err() {
            // There is no way to find the next packet.
            self.at = self.file.len();
        }
        next.transpose()
    }
}

fn word(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
}

fn half(bytes: &[u8], at: usize, big_endian: bool) -> u16 {
    let two = [bytes[at], bytes[at + 1]];
    if big_endian { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) }
}

/// How many units of an interface's times are a second, by its options; a million if they say nothing.
fn units_per_second(mut options: &[u8], big_endian: bool) -> Option<u64> {
    while options.len() >= 4 {
        let (code, length) = (half(options, 0, big_endian), usize::from(half(options, 2, big_endian)));
        let value = options[4..].get(..length)?;
        match (code, value.first()) {
            (0, _) => break,
            (RESOLUTION, Some(power)) if power & 0x80 == 0 => return 10u64.checked_pow(u32::from(*power)),
            (RESOLUTION, Some(power)) => return 1u64.checked_shl(u32::from(power & 0x7f)),
            _ => {}
        }
        options = options.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Writer};
    use proptest::prelude::*;

    fn read(file: &[u8]) -> Result<Vec<(u128, u32, Vec<u8>)>, BadCapture> {
        Frames::new(file)?.map(|frame| frame.map(|own| (own.at_ps, own.interface, own.bytes.to_vec()))).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        // In the year 2026: more picoseconds than 64 bits hold.
        let later = 1_780_000_000_123_456_789_000;
        let write = |mut writer: Writer<Vec<u8>>| {
            writer.frame(1_000_000_002_000, &[1, 2, 3]).unwrap();
            writer.frame(later + 321, &[]).unwrap();
            writer.finish().unwrap()
        };
        let pcapng = write(Writer::pcapng(Vec::new(), &["port"], Clock::Nanoseconds).unwrap());
        let file = write(Writer::pcap(Vec::new()).unwrap());
        for file in [&file, &pcapng] {
            assert_eq!(read(file).unwrap(), [(1_000_000_002_000, 0, vec![1, 2, 3]), (later, 0, vec![])]);
        }
        let mut exact = Writer::pcapng(Vec::new(), &["in", "out"], Clock::Picoseconds).unwrap();
        let seen = |interface| Captured { at_ps: 7_000_000_000_001, interface, bytes: &[4], length: 60 };
        exact.packet(&seen(1), "a comment").unwrap();
        assert!(exact.packet(&seen(2), "").is_err(), "there is no third interface");
        assert!(exact.frame(later, &[]).is_err(), "64 bits do not hold it");
        assert_eq!(read(&exact.finish().unwrap()).unwrap(), [(7_000_000_000_001, 1, vec![4])]);
        let error = read(&file[..file.len() - 1]).unwrap_err();
        assert_eq!(error.to_string(), "at byte 43: the head of a packet is not whole");
    }

    #[test]
    fn both_byte_orders_and_microseconds() {
        let file = |big: bool| {
            let word = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
            let numbers = [MICROSECONDS, 0, 0, 0, 65_535, 1, 7, 250_000, 2, 60];
            let mut file: Vec<u8> = numbers.into_iter().flat_map(word).collect();
            file.extend([8, 9]);
            file
        };
        for big in [false, true] {
            assert_eq!(read(&file(big)).unwrap(), [(7_250_000_000_000, 0, vec![8, 9])]);
        }
    }

    /// A section, two interfaces (microseconds, nanoseconds), an unknown block, a packet of each.
    fn pcapng(big: bool) -> Vec<u8> {
        let word = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let half = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let block = |kind: u32, body: Vec<u8>| {
            let size = word(12 + body.len() as u32);
            [&word(kind)[..], &size, &body, &size].concat()
        };
        let interface = |options: &[u8]| block(INTERFACE, [&half(1)[..], &[0, 0], &word(0), options].concat());
        let packet = |number: u32, ticks: u32| {
            let numbers = [number, 0, ticks, 3, 60].map(word).concat();
            block(ENHANCED_PACKET, [&numbers[..], &[5, 6, 7, 0]].concat())
        };
        let nanoseconds = [&half(RESOLUTION)[..], &half(1), &[9, 0, 0, 0], &half(0), &half(0)].concat();
        [
            block(SECTION, [&word(BYTE_ORDER)[..], &half(1), &half(0), &[0xff; 8]].concat()),
            interface(&[]),
            interface(&nanoseconds),
            block(77, vec![1, 2, 3, 4]),
            packet(1, 42),
            packet(0, 42),
        ]
        .concat()
    }

    #[test]
    fn pcapng_with_interfaces_of_their_own_time() {
        for big in [false, true] {
            assert_eq!(read(&pcapng(big)).unwrap(), [(42_000, 1, vec![5, 6, 7]), (42_000_000, 0, vec![5, 6, 7])]);
        }
    }

    #[test]
    fn other_files_are_told() {
        for (file, problem) in [
            (&b"GIF"[..], "at byte 0: the file is too short to be a capture"),
            (b"GIF89a..................", "at byte 0: this is neither pcap nor pcapng"),
            (&NANOSECONDS.to_le_bytes(), "at byte 0: the head of the file is not whole"),
        ] {
            assert_eq!(read(file).unwrap_err().to_string(), problem);
        }
    }

    proptest! {
        /// Broken anywhere, a file gives frames or an error, and an end.
        #[test]
        fn broken_files_are_safe(big: bool, at in 0usize..300, byte: u8, cut in 0usize..300) {
            let mut file = pcapng(big);
            let at = at % file.len();
            file[at] = byte;
            file.truncate(file.len() - cut.min(file.len()));
            if let Ok(frames) = Frames::new(&file) {
                prop_assert!(frames.count() <= 3);
            }
        }

        #[test]
        fn any_bytes_are_safe(file in prop::collection::vec(any::<u8>(), 0..400), kind in 0usize..3) {
            let mut file = file;
            if let Some(magic) = file.get_mut(..4) {
                magic.copy_from_slice(&[MICROSECONDS, NANOSECONDS, SECTION][kind].to_le_bytes());
            }
            if let Ok(frames) = Frames::new(&file) {
                prop_assert!(frames.count() <= 400);
            }
        }
    }
}
