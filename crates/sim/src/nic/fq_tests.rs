//! Fair queueing against its rules written down naively, and by hand.

use super::*;
use forebay_tm::Duration;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const SETUP: FqSetup = FqSetup {
    quantum: 3_000,
    initial_quantum: 15_000,
    flow_limit: 100,
    limit: 10_000,
    refill_delay: Duration::from_us(40_000),
};

/// The rules with maps and queues of the library, and no thought of speed.
struct Naive {
    setup: FqSetup,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    flows: BTreeMap<u32, NaiveFlow>,
}

#[derive(Default)]
struct NaiveFlow {
    packets: VecDeque<(u32, u32)>,
    credit: i64,
    idle_since: Option<Instant>,
}

impl Naive {
    fn waiting(&self) -> usize {
        self.flows.values().map(|flow| flow.packets.len()).sum()
    }

    fn send(&mut self, now: Instant, number: u32, packet: u32, bytes: u32) -> bool {
        if self.waiting() >= self.setup.limit as usize {
            return false;
        }
        let first = i64::from(self.setup.initial_quantum);
        let flow = self.flows.entry(number).or_insert(NaiveFlow { credit: first, ..NaiveFlow::default() });
        if flow.packets.len() >= self.setup.flow_limit as usize {
            return false;
        }
        flow.packets.push_back((packet, bytes));
        if !self.new.contains(&number) && !self.old.contains(&number) {
            if flow.idle_since.is_some_and(|since| now > since + self.setup.refill_delay) {
                flow.credit = flow.credit.max(i64::from(self.setup.quantum));
            }
            self.new.push_back(number);
        }
        true
    }

    fn next(&mut self, now: Instant, open: &[bool]) -> Option<(u32, u32)> {
        if self.waiting() == 0 {
            return None;
        }
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let flow = self.flows.get_mut(&number)?;
            if flow.credit <= 0 {
                flow.credit += i64::from(self.setup.quantum);
                list.pop_front();
                self.old.push_back(number);
            } else if let Some((packet, bytes)) = flow.packets.pop_front() {
                flow.credit -= i64::from(bytes);
                return Some((number, packet));
            } else {
                list.pop_front();
                if is_new && !self.old.is_empty() {
                    self.old.push_back(number);
                } else if open[number as usize] {
                    flow.idle_since = Some(now);
                } else {
                    self.flows.remove(&number);
                }
            }
        }
    }

    fn close(&mut self, number: u32) {
        if !self.new.contains(&number) && !self.old.contains(&number) {
            self.flows.remove(&number);
        }
    }
}

/// The queues with what flows know of theirs.
struct Host {
    fq: Fq,
    waiting: u32,
    queues: Vec<u32>,
    open: Vec<bool>,
}

impl Host {
    fn new(setup: FqSetup, flows: usize) -> Self {
        Self { fq: Fq::new(setup), waiting: 0, queues: vec![NONE; flows], open: vec![true; flows] }
    }

    fn send(&mut self, now: Instant, flow: u32, packet: u32, bytes: u32) -> bool {
        if self.waiting >= self.fq.limit() {
            return false;
        }
        let queue = &mut self.queues[flow as usize];
        if *queue == NONE {
            *queue = self.fq.open(flow, End::Source);
        }
        let fits = self.fq.enqueue(now, *queue, Metadata::inside(packet, bytes)).is_ok();
        self.waiting += u32::from(fits);
        fits
    }

    fn next(&mut self, now: Instant) -> Option<(u32, u32)> {
        if self.waiting == 0 {
            return None;
        }
        self.waiting -= 1;
        let (queues, open) = (&mut self.queues, &self.open);
        let departure = self.fq.dequeue(now, |flow, _| {
            if !open[flow as usize] {
                queues[flow as usize] = NONE;
            }
            open[flow as usize]
        });
        Some((departure.flow, departure.metadata.packet))
    }

    fn close(&mut self, flow: u32) {
        self.open[flow as usize] = false;
        let queue = &mut self.queues[flow as usize];
        if *queue != NONE && self.fq.close(*queue) {
            *queue = NONE;
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send { flow: u32, bytes: u32, count: u32 },
    Next(u32),
    Wait(u64),
    Close(u32),
    Open(u32),
}

const FLOWS: u32 = 7;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..FLOWS, 1u32..3_000, 1u32..6).prop_map(|(flow, bytes, count)| Step::Send { flow, bytes, count }),
        6 => (1u32..8).prop_map(Step::Next),
        2 => (0u64..50).prop_map(Step::Wait),
        1 => (0..FLOWS).prop_map(Step::Close),
        1 => (0..FLOWS).prop_map(Step::Open),
    ];
    proptest::collection::vec(step, 1..300)
}

fn setups() -> impl Strategy<Value = FqSetup> {
    (1u32..5_000, 0u32..20_000, 1u32..12, 1u32..40, 0u64..40).prop_map(
        |(quantum, initial_quantum, flow_limit, limit, us)| FqSetup {
            quantum,
            initial_quantum,
            flow_limit,
            limit,
            refill_delay: Duration::from_us(us),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn packets_leave_and_are_dropped_as_the_rules_say(setup in setups(), steps in steps()) {
        let mut naive =
            Naive { setup, new: VecDeque::new(), old: VecDeque::new(), flows: BTreeMap::new() };
        let mut host = Host::new(setup, FLOWS as usize);
        let mut now = Instant::ZERO;
        let (mut offered, mut sent, mut dropped) = (0u32, 0u32, 0u32);
        for step in steps {
            match step {
                Step::Send { flow, bytes, count } => for _ in 0..count {
                    let fits = host.send(now, flow, offered, bytes);
                    prop_assert_eq!(fits, naive.send(now, flow, offered, bytes));
                    offered += 1;
                    dropped += u32::from(!fits);
                },
                Step::Next(count) => for _ in 0..count {
                    let next = host.next(now);
                    prop_assert_eq!(next, naive.next(now, &host.open));
                    sent += u32::from(next.is_some());
                },
                Step::Wait(us) => now = now + Duration::from_us(us),
                Step::Close(flow) => {
                    host.close(flow);
                    naive.close(flow);
                }
                Step::Open(flow) => host.open[flow as usize] = true,
            }
            prop_assert_eq!(offered, sent + dropped + host.waiting);
            prop_assert_eq!(host.waiting as usize, naive.waiting());
            for flow in 0..FLOWS {
                let queue = host.queues[flow as usize];
                let theirs = naive.flows.get(&flow);
                prop_assert_eq!(queue != NONE, theirs.is_some(), "state of flow {}", flow);
                if let Some(theirs) = theirs {
                    let bytes = theirs.packets.iter().map(|(_, bytes)| u64::from(*bytes)).sum::<u64>();
                    prop_assert_eq!(host.fq.bytes(queue), bytes);
                }
            }
            prop_assert_eq!(host.fq.kept(), naive.flows.len());
        }
        // Everything leaves in the end, and nothing is kept of flows that are closed.
        for flow in 0..FLOWS {
            host.close(flow);
        }
        while host.next(now).is_some() {
            sent += 1;
        }
        prop_assert_eq!(offered, sent + dropped);
    }

    #[test]
    fn flows_that_always_have_packets_share_equally(
        sizes in proptest::collection::vec(64u32..3_000, 2..20), rounds in 5u32..40,
    ) {
        let mut host = Host::new(SETUP, sizes.len());
        let mut bytes = vec![0u64; sizes.len()];
        for (flow, size) in sizes.iter().enumerate() {
            host.send(Instant::ZERO, flow as u32, 0, *size);
        }
        let most = u64::from(SETUP.initial_quantum) + u64::from(rounds) * u64::from(SETUP.quantum);
        while bytes.iter().all(|sent| *sent < most) {
            let (flow, _) = host.next(Instant::ZERO).unwrap();
            bytes[flow as usize] += u64::from(sizes[flow as usize]);
            host.send(Instant::ZERO, flow, 0, sizes[flow as usize]);
        }
        // Shreedhar and Varghese: what two flows have had differs by less than a quantum and two packets.
        let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
        let bound = u64::from(SETUP.quantum) + 2 * u64::from(*sizes.iter().max().unwrap());
        prop_assert!(most - least < bound, "{:?}", bytes);
    }
}

/// The order in which flows are served.
fn order(host: &mut Host, count: usize) -> Vec<u32> {
    (0..count).map_while(|_| host.next(Instant::ZERO)).map(|(flow, _)| flow).collect()
}

#[test]
fn a_new_flow_sends_its_first_quantum_before_old_flows_send_theirs() {
    let mut host = Host::new(SETUP, 2);
    for packet in 0..40 {
        host.send(Instant::ZERO, 0, packet, 1_500);
    }
    // Ten packets in its first turn, and two as an old flow.
    assert_eq!(order(&mut host, 12), [0; 12]);
    for packet in 0..14 {
        host.send(Instant::ZERO, 1, packet, 1_500);
    }
    // The other one has ten, too, and goes to the tail with its next quantum; the first one's is spent, so that it gets
    // another and goes behind it. Then they take turns.
    assert_eq!(order(&mut host, 10), [1; 10]);
    assert_eq!(order(&mut host, 8), [1, 1, 0, 0, 1, 1, 0, 0]);
}

#[test]
fn a_flow_that_sends_a_packet_at_a_time_does_not_stay_new() {
    let mut host = Host::new(SETUP, 2);
    for packet in 0..40 {
        host.send(Instant::ZERO, 0, packet, 1_500);
    }
    order(&mut host, 11);
    let mut shares = [0; 2];
    host.send(Instant::ZERO, 1, 0, 1_500);
    for _ in 0..20 {
        let (flow, _) = host.next(Instant::ZERO).unwrap();
        shares[flow as usize] += 1;
        if flow == 1 {
            // Its next packet comes when the last one has left.
            host.send(Instant::ZERO, 1, 0, 1_500);
        }
    }
    // It has its first ten packets, and half of the rest.
    assert_eq!(shares, [5, 15]);
}

#[test]
fn an_idle_flow_has_a_quantum_again_after_the_refill_delay() {
    let late = Instant::ZERO + SETUP.refill_delay;
    for (back_at, first_turn) in [(late, 1), (late + Duration::from_ps(1), 2)] {
        let mut host = Host::new(SETUP, 2);
        for packet in 0..9 {
            host.send(Instant::ZERO, 1, packet, 1_500);
        }
        // 100 bytes are left of its first quantum when it becomes idle.
        host.send(Instant::ZERO, 1, 9, 1_400);
        assert_eq!(order(&mut host, 10), [1; 10]);
        host.send(Instant::ZERO, 0, 0, 1_500);
        assert_eq!(order(&mut host, 1), [0]);
        for packet in 0..40 {
            host.send(back_at, 0, packet, 1_500);
        }
        assert_eq!(order(&mut host, 12), [0; 12], "the other flow is old");
        for packet in 0..4 {
            host.send(back_at, 1, packet, 1_500);
        }
        let leading = order(&mut host, 4).iter().take_while(|flow| **flow == 1).count();
        assert_eq!(leading, first_turn);
    }
}
