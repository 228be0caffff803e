//! A SONiC configuration whose lossy queue trims, and frames for it.

use crate::pages::root;
use serde_json::{Value, json};

/// The code point of trimmed packets, and their size.
pub(crate) const DSCP: u8 = 48;
pub(crate) const SIZE: usize = 256;

/// Three ports. Queue 0 trims, and shares a small pool; the trim queue 6 is strict and may have 5120 B of it.
pub(crate) fn configuration() -> Value {
    let path = root().join("crates/sonic/tests/data/small.json");
    let mut config: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    config["BUFFER_POOL"]["egress_lossy_pool"]["size"] = "600000".into();
    config["BUFFER_PROFILE"]["q_headers_profile"] =
        json!({"pool": "egress_lossy_pool", "size": "0", "static_th": "5120"});
    let queues = config["BUFFER_QUEUE"].as_object_mut().unwrap();
    queues.remove("Ethernet0-8|5-6").unwrap();
    queues.insert("Ethernet0-8|5".to_owned(), json!({"profile": "egress_lossy_profile"}));
    queues.insert("Ethernet0-8|6".to_owned(), json!({"profile": "q_headers_profile"}));
    config["SCHEDULER"]["scheduler.2"] = json!({"type": "STRICT"});
    config["QUEUE"]["Ethernet0-8|6"] = json!({"scheduler": "scheduler.2"});
    config["SWITCH_TRIMMING"]["GLOBAL"] =
        json!({"size": SIZE.to_string(), "dscp_value": DSCP.to_string(), "queue_index": "dynamic"});
    config
}

fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)));
    words.fold(0, |sum, word| fold(sum + word))
}

fn fold(sum: u32) -> u32 {
    (sum & 0xffff) + (sum >> 16)
}

/// A frame of so many bytes with a UDP packet from a host to another.
pub(crate) fn frame(source: u8, destination: u8, bytes: usize) -> Vec<u8> {
    let (packet, segment) = ((bytes - 14) as u16, (bytes - 34) as u16);
    let mut frame = vec![2, 0, 0, 0, 0, destination, 2, 0, 0, 0, 0, source, 8, 0, 0x45, 0];
    frame.extend(packet.to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, source, 10, 0, 0, destination, 0, 7, 0, 9]);
    frame.extend(segment.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend((frame.len()..bytes).map(|place| (place % 251) as u8));
    let network = !sum(&frame[14..34]) as u16;
    frame[24..26].copy_from_slice(&network.to_be_bytes());
    let transport = !fold(sum(&frame[26..34]) + 17 + u32::from(segment) + sum(&frame[34..])) as u16;
    frame[40..42].copy_from_slice(&transport.to_be_bytes());
    frame
}

/// The code point of a frame.
pub(crate) fn dscp(frame: &[u8]) -> u8 {
    frame[15] >> 2
}

/// Whether the checksum of the IP header is right.
pub(crate) fn network_checksum_is_right(frame: &[u8]) -> bool {
    fold(sum(&frame[14..34])) == 0xffff
}

/// Whether the packet says that it ends where the frame does, and the checksum of UDP is that of all of it.
pub(crate) fn is_whole(frame: &[u8]) -> bool {
    let word = |at: usize| usize::from(frame[at]) << 8 | usize::from(frame[at + 1]);
    let (packet, segment) = (frame.len() - 14, frame.len() - 34);
    let transport = fold(sum(&frame[26..34]) + 17 + segment as u32 + sum(&frame[34..]));
    word(16) == packet && word(38) == segment && fold(transport) == 0xffff
}
