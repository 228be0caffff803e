//! The file is read back by a reader of its own.

use super::*;
use forebay_capture::{Clock, Writer};

/// `(type, body)` of each block.
fn blocks(mut file: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let length = le32(file, 4) as usize;
        assert_eq!(length % 4, 0);
        assert_eq!(le32(file, length - 4) as usize, length, "the length is repeated at the end");
        blocks.push((le32(file, 0), file[8..length - 4].to_vec()));
        file = &file[length..];
    }
    blocks
}

fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn options(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut options = Vec::new();
    while !bytes.is_empty() {
        let code = u16::from_le_bytes([bytes[0], bytes[1]]);
        let length = usize::from(u16::from_le_bytes([bytes[2], bytes[3]]));
        options.push((code, bytes[4..4 + length].to_vec()));
        bytes = &bytes[4 + length.next_multiple_of(4)..];
    }
    options
}

struct Seen {
    interface: u32,
    at: u64,
    length: u32,
    frame: Vec<u8>,
    comment: Option<String>,
}

fn seen((kind, body): &(u32, Vec<u8>)) -> Seen {
    assert_eq!(*kind, 6);
    let captured = le32(body, 12) as usize;
    Seen {
        interface: le32(body, 0),
        at: u64::from(le32(body, 4)) << 32 | u64::from(le32(body, 8)),
        length: le32(body, 16),
        frame: body[20..20 + captured].to_vec(),
        comment: options(&body[20 + captured.next_multiple_of(4)..])
            .into_iter()
            .find(|(code, _)| *code == 1)
            .map(|(_, text)| String::from_utf8(text).unwrap()),
    }
}

const TCP: FlowEndpoints =
    FlowEndpoints { src: 3, dst: 256, bytes: 4_000, mss: 1_460, header: 40, framing: Framing::Tcp };
const NDP: FlowEndpoints = FlowEndpoints { framing: Framing::Udp, ..TCP };

/// Packets of all kinds, where they are seen, and of what flow.
fn samples() -> Vec<(u32, Packet, FlowEndpoints, &'static str)> {
    let data = Packet { flow: 20_000, bytes: 1_500, class: 2, spreads: 1, ..Packet::default() };
    let ack = Packet { kind: Kind::Ack, bytes: 64, ..data };
    vec![
        (0, Packet { seq: 0, flags: flag::ECT, ..data }, TCP, ""),
        (0, Packet { seq: 1, flags: flag::ECT | flag::CE, ..data }, TCP, "dropped: over the threshold"),
        (1, Packet { seq: 2, bytes: 1_120, flags: flag::LAST, ..data }, TCP, ""),
        (1, Packet { seq: 1, echo: 2, block: (2, 3), flags: flag::CE, ..ack }, TCP, ""),
        (1, Packet { seq: 3, echo: 1, ..ack }, TCP, ""),
        (0, Packet { kind: Kind::Probe, seq: 1, bytes: 40, ..data }, TCP, ""),
        (0, Packet { seq: 5, ..data }, NDP, ""),
        (1, Packet { seq: 5, bytes: 64, flags: flag::TRIMMED, ..data }, NDP, ""),
        (1, Packet { seq: 6, bytes: 64, flags: flag::TRIMMED | flag::RETURNED, ..data }, NDP, ""),
        (0, Packet { kind: Kind::Nack, seq: 4, echo: 5, ..ack }, NDP, ""),
        (0, Packet { kind: Kind::Pull, seq: 9, ..ack }, NDP, ""),
    ]
}

fn written() -> Vec<u8> {
    let names = ["leaf0 port 3 out", "host256 in"];
    let mut writer = Writer::pcapng(Vec::new(), &names, Clock::Picoseconds).unwrap();
    for (number, (interface, packet, flow, comment)) in samples().iter().enumerate() {
        let at = Instant::from_ps(5_000_000_000_001 + number as u64 * 120_001);
        writer.packet(&Frame::new(packet, flow).seen(*interface, at), comment).unwrap();
    }
    writer.finish().unwrap()
}

/// The ones' complement sum over the header and what it covers, which must be zero.
fn sum_is_right(frame: &[u8]) -> bool {
    let ip = &frame[14..34];
    let pseudo = u32::from(ip[9]) + u32::from(be16(ip, 2)) - 20;
    of_sum(sum(ip)) == 0 && of_sum(pseudo + sum(&frame[26..])) == 0
}

#[test]
fn the_file_starts_with_its_section_and_interfaces() {
    let blocks = blocks(&written());
    assert_eq!(blocks[0].0, 0x0a0d_0d0a);
    assert_eq!(le32(&blocks[0].1, 0), 0x1a2b_3c4d);
    for (block, name) in blocks[1..3].iter().zip(["leaf0 port 3 out", "host256 in"]) {
        assert_eq!((block.0, le32(&block.1, 0)), (1, 1), "an Ethernet interface");
        let options = options(&block.1[8..]);
        assert_eq!(options[0], (2, name.as_bytes().to_vec()));
        assert_eq!(options[1], (9, vec![12]), "picoseconds");
        assert_eq!(options[2], (0, vec![]));
    }
    assert_eq!(blocks.len(), 3 + samples().len());
}

#[test]
fn frames_say_what_the_packets_say() {
    let blocks = blocks(&written());
    for (number, (block, (interface, packet, flow, comment))) in blocks[3..].iter().zip(samples()).enumerate() {
        let seen = seen(block);
        let frame = &seen.frame;
        assert_eq!((seen.interface, seen.at), (interface, 5_000_000_000_001 + number as u64 * 120_001));
        assert_eq!(seen.comment.unwrap_or_default(), comment);
        assert!(sum_is_right(frame), "packet {number}");
        // 3 + 1 and 256 + 1, turned around for what goes back.
        let back = matches!(packet.kind, Kind::Ack | Kind::Nack | Kind::Pull) || packet.has(flag::RETURNED);
        let (from, to) = if back { (0x0a00_0101, 0x0a00_0004) } else { (0x0a00_0004, 0x0a00_0101) };
        assert_eq!((be32(frame, 26), be32(frame, 30)), (from, to), "packet {number}");
        let (sender, receiver) = (57_344 + 20_000 % 8_192, 57_344 + 20_000 / 8_192);
        let ports = if back { (receiver, sender) } else { (sender, receiver) };
        assert_eq!((be16(frame, 34), be16(frame, 36)), ports);
        assert_eq!((frame[15] >> 2, frame[22]), (2, 63));
        // A frame is what IP says that it is, and an Ethernet header; short ones are padded.
        assert_eq!(seen.length, (u32::from(be16(frame, 16)) + 14).max(packet.bytes));
        if packet.kind == Kind::Data {
            let bytes = if packet.has(flag::TRIMMED) { 40 } else { packet.bytes };
            assert_eq!(u32::from(be16(frame, 16)), bytes, "the default header is that of TCP and IP");
        }
        match flow.framing {
            Framing::Tcp => assert_eq!(frame[23], 6),
            Framing::Udp => {
                assert_eq!((frame[23], frame[42]), (17, packet.kind as u8));
                assert_eq!((be32(frame, 46), be32(frame, 50)), (packet.seq, packet.echo));
            }
        }
    }
}

#[test]
fn tcp_numbers_are_places_in_the_stream() {
    let blocks = blocks(&written());
    let tcp = |packet: usize| {
        let frame = seen(&blocks[3 + packet]).frame;
        (be32(&frame, 38), be32(&frame, 42), frame[47], frame[15] & 3)
    };
    assert_eq!(tcp(0), (1, 1, 0x10, 0b10));
    assert_eq!(tcp(1), (1_461, 1, 0x10, 0b11), "marked");
    assert_eq!(tcp(2), (2_921, 1, 0x18, 0), "the last is pushed");
    assert_eq!(tcp(3), (1, 1_461, 0x50, 0), "the mark is echoed");
    assert_eq!(tcp(4), (1, 4_001, 0x10, 0), "all of it");
    let sack = seen(&blocks[3 + 3]).frame;
    assert_eq!(sack[54..58], [1, 1, 5, 10]);
    assert_eq!((be32(&sack, 58), be32(&sack, 62)), (2_921, 4_001));
}

#[test]
fn long_comments_are_cut_between_characters() {
    let long = "ü".repeat(40_000);
    let mut writer = Writer::pcapng(Vec::new(), &["x"], Clock::Picoseconds).unwrap();
    writer.packet(&Frame::new(&Packet::default(), &TCP).seen(0, Instant::ZERO), &long).unwrap();
    let blocks = blocks(&writer.finish().unwrap());
    assert_eq!(seen(&blocks[2]).comment.unwrap().chars().count(), 32_767);
}
