//! Lists, cells and accounts.

use super::*;

fn packet(id: u64) -> Descriptor {
    Descriptor::new(PacketId(id), Summary::new(100, 0), 0)
}

#[test]
fn lists_are_fifo_and_give_back_their_tail() {
    let mut slots = Descriptors::default();
    let mut list = List::default();
    for id in 0..4 {
        let slot = slots.allocate(packet(id));
        slots.push_back(&mut list, slot);
    }
    let mut take = |front: bool| {
        let slot = if front { slots.pop_front(&mut list) } else { slots.pop_back(&mut list) }?;
        Some(slots.release(slot).id.0)
    };
    assert_eq!(
        [take(true), take(false), take(true), take(false), take(true), take(false)],
        [Some(0), Some(3), Some(1), Some(2), None, None]
    );
    assert_eq!(slots.in_use(), 0);
    assert_eq!(slots.slots.len(), 4);
}

#[test]
fn a_packet_is_charged_whole_cells() {
    let buffer = Buffer::new(Bytes::new(1_000), 208, 1, false);
    assert_eq!([1, 208, 209, 417].map(|bytes| buffer.charge(bytes)), [208, 208, 416, 624]);
    assert_eq!(Buffer::new(Bytes::new(1_000), 1, 1, false).charge(417), 417);
}

#[test]
fn cell_pointers_are_spliced_back_whole() {
    let mut buffer = Buffer::new(Bytes::new(1_000), 100, 1, true);
    let mut waiting = Vec::new();
    for id in 0..3 {
        let charge = buffer.charge(250);
        let (slot, _) = buffer.adopt(0, Descriptor::new(PacketId(id), Summary::new(250, 0), 0), charge);
        waiting.push(slot);
    }
    assert_eq!(buffer.remaining(), 100);
    assert!(buffer.is_consistent(|_| waiting.clone()));
    buffer.release(0, waiting.remove(1));
    assert_eq!(buffer.remaining(), 400);
    assert!(buffer.is_consistent(|_| waiting.clone()));
    let mut broken = buffer.clone();
    broken.cells.as_mut().unwrap().free_head = 1;
    assert!(!broken.is_consistent(|_| waiting.clone()));
}
