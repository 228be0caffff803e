//! NDP end to end: senders, receivers and their host's pull queue over a modelled network.

use super::*;
use crate::packet::{Kind, Packet, flag};
use crate::transport::{Common, FlowInfo, Reply, TransportConfig};
use forebay_tm::random::Random;
use forebay_tm::{Duration, Instant, Rate};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

const RATE: Rate = Rate::from_gbps(100);
const RTT: Duration = Duration::from_us(8);
const MTU_TIME: Duration = Duration::from_ps(120_000);

fn common() -> Common {
    TransportConfig::named("ndp").unwrap().common
}

fn flow(number: u32, packets: u32) -> FlowInfo {
    FlowInfo {
        bytes: u64::from(packets) * 1_460,
        packets,
        base_rtt: RTT,
        open_rtt: RTT,
        rate: RATE,
        number,
        seed: 1,
        until: Instant::NEVER,
    }
}

/// What the network does to packets.
#[derive(Clone, Copy, Debug, Default)]
struct Trouble {
    /// Chance that a packet, header, ACK, NACK or pull is lost.
    loss: f64,
    /// Chance that data is cut to its header.
    trim: f64,
    /// Chance that data is turned around.
    bounce: f64,
    /// Largest extra delay, which reorders.
    jitter: Duration,
    /// The bottleneck at the receiving host cuts packets that find so many waiting.
    queue: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    AtBottleneck(Packet),
    BottleneckFree,
    AtReceiver(Packet),
    AtSender(Packet),
    PullDue,
    Timer(u32),
}

/// Many senders, one receiving host.
struct Net {
    senders: Vec<NdpSender>,
    receivers: Vec<NdpReceiver>,
    pulls: PullQueue,
    /// `(time, flow)` of all pulls.
    pull_log: Vec<(Instant, u32)>,
    trouble: Trouble,
    random: Random,
    events: BinaryHeap<Reverse<(Instant, u64)>>,
    payloads: Vec<Event>,
    waiting: VecDeque<Packet>,
    headers: VecDeque<Packet>,
    busy: bool,
    now: Instant,
    data_sent: u32,
    trims: u32,
    last_arrival: Instant,
}

impl Net {
    fn new(flows: &[u32], common: &Common, trouble: Trouble, seed: u64) -> Self {
        let own = NdpConfig {};
        let flows = || flows.iter().enumerate().map(|(number, packets)| flow(number as u32, *packets));
        Self {
            senders: flows().map(|flow| NdpSender::new(common, &own, flow, Instant::ZERO)).collect(),
            receivers: flows().map(|flow| NdpReceiver::new(common, &own, flow)).collect(),
            pulls: PullQueue::new(),
            pull_log: Vec::new(),
            trouble,
            random: Random::stream(seed, "trouble", 0),
            events: BinaryHeap::new(),
            payloads: Vec::new(),
            waiting: VecDeque::new(),
            headers: VecDeque::new(),
            busy: false,
            now: Instant::ZERO,
            data_sent: 0,
            trims: 0,
            last_arrival: Instant::ZERO,
        }
    }

    fn at(&mut self, delay: Duration, event: Event) {
        self.events.push(Reverse((self.now + delay, self.payloads.len() as u64)));
        self.payloads.push(event);
    }

    fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && self.random.unit() < p
    }

    fn travel(&mut self, event: Event) {
        if !self.chance(self.trouble.loss) {
            let extra = (self.random.unit() * self.trouble.jitter.ps() as f64) as u64;
            self.at(Duration::from_ps(RTT.ps() / 2 + extra), event);
        }
    }

    fn send(&mut self, flow: u32) {
        while let Some(segment) = self.senders[flow as usize].poll(self.now) {
            self.data_sent += 1;
            let mut packet = Packet {
                kind: segment.kind,
                flow,
                seq: segment.seq,
                sent_at: self.now,
                flags: segment.flags,
                ..Packet::default()
            };
            if self.chance(self.trouble.bounce) {
                packet.flags |= flag::TRIMMED | flag::RETURNED;
                self.travel(Event::AtSender(packet));
                continue;
            }
            if self.chance(self.trouble.trim) {
                packet.flags |= flag::TRIMMED;
            }
            let queued = self.trouble.queue.is_some();
            self.travel(if queued { Event::AtBottleneck(packet) } else { Event::AtReceiver(packet) });
        }
        self.timer(flow);
    }

    fn timer(&mut self, flow: u32) {
        let deadline = self.senders[flow as usize].deadline();
        if deadline != Instant::NEVER {
            assert!(deadline > self.now, "a timer in the past");
            self.at(deadline.since(self.now), Event::Timer(flow));
        }
    }

    /// The last link starts to send: headers first.
    fn start(&mut self) {
        if let Some(packet) = self.headers.pop_front().or_else(|| self.waiting.pop_front()) {
            let bytes = if packet.has(flag::TRIMMED) { 64 } else { 1_500 };
            self.busy = true;
            self.at(RATE.serialization(bytes), Event::BottleneckFree);
            self.at(RATE.serialization(bytes), Event::AtReceiver(packet));
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::AtBottleneck(mut packet) => {
                if packet.has(flag::TRIMMED) || self.trouble.queue.is_some_and(|limit| self.waiting.len() >= limit) {
                    packet.flags |= flag::TRIMMED;
                    self.trims += 1;
                    self.headers.push_back(packet);
                } else {
                    self.waiting.push_back(packet);
                }
                if !self.busy {
                    self.start();
                }
            }
            Event::BottleneckFree => {
                self.busy = false;
                self.start();
            }
            Event::AtReceiver(mut packet) => {
                let flow = packet.flow;
                let reply = self.receivers[flow as usize].on_packet(self.now, &mut packet);
                self.last_arrival = self.now;
                if self.receivers[flow as usize].is_complete() {
                    self.pulls.forget(flow);
                    assert_eq!(reply, Reply::Packet);
                }
                if reply == Reply::PacketAndPull {
                    self.pulls.request(flow);
                    self.arm_pulls();
                }
                self.travel(Event::AtSender(packet));
            }
            Event::PullDue => {
                if let Some(flow) = self.pulls.next(self.now, MTU_TIME) {
                    let receiver = &mut self.receivers[flow as usize];
                    let packet = Packet { kind: Kind::Pull, flow, seq: receiver.pull_sent(), ..Packet::default() };
                    if receiver.wants_pull() {
                        self.pulls.request(flow);
                    }
                    self.pull_log.push((self.now, flow));
                    self.travel(Event::AtSender(packet));
                    self.arm_pulls();
                }
            }
            Event::AtSender(packet) => {
                self.senders[packet.flow as usize].on_reply(self.now, &packet, None);
                self.send(packet.flow);
            }
            Event::Timer(flow) => {
                if self.senders[flow as usize].deadline() <= self.now {
                    self.senders[flow as usize].on_deadline(self.now);
                    self.send(flow);
                }
            }
        }
    }

    fn arm_pulls(&mut self) {
        if self.pulls.deadline() != Instant::NEVER {
            self.at(self.pulls.deadline().since(self.now), Event::PullDue);
        }
    }

    /// Runs until all is quiet; says whether all flows are done.
    fn run(&mut self) -> bool {
        for flow in 0..self.senders.len() as u32 {
            self.send(flow);
        }
        let mut steps = 0;
        while let Some(Reverse((at, event))) = self.events.pop() {
            self.now = at;
            self.happen(self.payloads[event as usize]);
            steps += 1;
            assert!(steps < 3_000_000, "does not end");
        }
        self.senders.iter().all(NdpSender::is_done) && self.receivers.iter().all(NdpReceiver::is_complete)
    }

    fn retransmissions(&self) -> u32 {
        self.senders.iter().map(|sender| sender.stats().retransmissions).sum()
    }

    fn timeouts(&self) -> u32 {
        self.senders.iter().map(|sender| sender.stats().timeouts).sum()
    }
}

#[test]
fn without_loss_there_are_as_many_pulls_as_packets_beyond_the_first_window() {
    for packets in [1, 2, 29, 30, 31, 100, 1_370] {
        let mut net = Net::new(&[packets], &common(), Trouble::default(), 0);
        assert!(net.run());
        assert_eq!(net.pull_log.len() as u32, packets.saturating_sub(30), "{packets} packets");
        assert_eq!((net.data_sent, net.retransmissions(), net.timeouts()), (packets, 0, 0));
        // No pull before the first arrival, then one for each packet's time at most.
        assert!(net.pull_log.windows(2).all(|pair| pair[1].0.since(pair[0].0) >= MTU_TIME));
    }
}

#[test]
fn a_header_costs_one_pull_and_no_timeout() {
    for seed in 0..20 {
        let trouble = Trouble { trim: 0.3, ..Trouble::default() };
        let mut net = Net::new(&[200], &common(), trouble, seed);
        assert!(net.run());
        let again = net.retransmissions();
        assert!(again > 0);
        assert_eq!((net.data_sent, net.timeouts()), (200 + again, 0));
        assert_eq!(net.pull_log.len() as u32, 170 + again);
    }
}

#[test]
fn the_first_window_goes_out_at_once_and_is_flagged() {
    let mut sender = NdpSender::new(&Common { ecn: true, ..common() }, &NdpConfig {}, flow(0, 40), Instant::ZERO);
    let first: Vec<_> = core::iter::from_fn(|| sender.poll(Instant::ZERO)).collect();
    assert_eq!(first.iter().map(|s| s.seq).collect::<Vec<_>>(), (0..30).collect::<Vec<_>>());
    assert!(first.iter().all(|s| s.flags == flag::ECT | flag::UNSCHEDULED && s.rank == 40 * 1_460));
    let pull = |number| Packet { kind: Kind::Pull, seq: number, ..Packet::default() };
    // The first pull is lost; the second makes up for it, and nothing is gained by an old one.
    sender.on_reply(Instant::ZERO, &pull(2), None);
    assert_eq!(core::iter::from_fn(|| sender.poll(Instant::ZERO)).count(), 2);
    sender.on_reply(Instant::ZERO, &pull(1), None);
    assert_eq!(sender.poll(Instant::ZERO), None);
    // A packet that was cut goes before new ones.
    let nack = Packet { kind: Kind::Nack, echo: 7, ..Packet::default() };
    sender.on_reply(Instant::ZERO, &nack, None);
    assert_eq!(sender.poll(Instant::ZERO), None);
    sender.on_reply(Instant::ZERO, &pull(3), None);
    let again = sender.poll(Instant::ZERO).unwrap();
    assert_eq!((again.seq, again.flags), (7, flag::ECT | flag::RETRANSMISSION));
}

#[test]
fn a_returned_packet_waits_for_a_pull_unless_the_paper_says_otherwise() {
    let start = || {
        let mut sender = NdpSender::new(&common(), &NdpConfig {}, flow(0, 20), Instant::ZERO);
        assert_eq!(core::iter::from_fn(|| sender.poll(Instant::ZERO)).count(), 20);
        sender
    };
    let back = |number| Packet { seq: number, flags: flag::TRIMMED | flag::RETURNED, ..Packet::default() };
    let reply = |kind, number| Packet { kind, echo: number, ..Packet::default() };
    // Most came through: at once.
    let mut sender = start();
    for number in 0..10 {
        sender.on_reply(Instant::ZERO, &reply(Kind::Ack, number), None);
    }
    sender.on_reply(Instant::ZERO, &back(15), None);
    assert_eq!(sender.poll(Instant::ZERO).map(|s| s.seq), Some(15));
    // Most were cut, and replies are expected: it waits for a pull.
    let mut sender = start();
    for number in 0..10 {
        sender.on_reply(Instant::ZERO, &reply(Kind::Nack, number), None);
    }
    sender.on_reply(Instant::ZERO, &back(15), None);
    assert_eq!(sender.poll(Instant::ZERO), None);
    // All came back: the last of them says that nothing else is expected, and one packet goes out.
    let mut sender = start();
    for number in 0..20 {
        assert_eq!(sender.poll(Instant::ZERO), None);
        sender.on_reply(Instant::ZERO, &back(number), None);
    }
    assert_eq!(sender.poll(Instant::ZERO).map(|s| s.seq), Some(0));
    assert_eq!(sender.poll(Instant::ZERO), None);
    // It came through: two more.
    sender.on_reply(Instant::ZERO, &Packet { seq: 1, ..reply(Kind::Ack, 0) }, None);
    assert_eq!(core::iter::from_fn(|| sender.poll(Instant::ZERO)).count(), 2);
}

#[test]
fn the_timer_backs_off_and_sends_one_packet() {
    let mut sender = NdpSender::new(&common(), &NdpConfig {}, flow(0, 10), Instant::ZERO);
    assert_eq!(core::iter::from_fn(|| sender.poll(Instant::ZERO)).count(), 10);
    let mut now = Instant::ZERO;
    for doubled in [1, 2, 4, 8] {
        assert_eq!(sender.deadline().since(now), Duration::from_us(1_000 * doubled));
        now = sender.deadline();
        sender.on_deadline(now);
        assert_eq!(core::iter::from_fn(|| sender.poll(now)).count(), 1);
    }
    assert_eq!(sender.stats().timeouts, 4);
}

#[test]
fn an_incast_is_pulled_evenly_at_the_rate_of_the_link() {
    let trouble = Trouble { queue: Some(8), ..Trouble::default() };
    let (senders, packets) = (64, 60);
    let mut net = Net::new(&vec![packets; senders], &common(), trouble, 0);
    assert!(net.run());
    assert!(net.trims > 1_000, "{}", net.trims);
    assert_eq!(net.timeouts(), 0);
    let log = &net.pull_log;
    assert_eq!(log.len() as u32, senders as u32 * (packets - 30) + net.trims);
    // One pull per packet time, without a break while there is something to pull.
    let busy: Vec<_> = log.windows(2).map(|pair| pair[1].0.since(pair[0].0)).collect();
    assert!(busy.iter().all(|gap| *gap >= MTU_TIME));
    let breaks = busy.iter().filter(|gap| **gap > MTU_TIME).count();
    assert!(breaks < log.len() / 20, "{breaks} breaks in {} pulls", log.len());
    // In turn: until the first flow needs no more, no flow is ahead of another by more than two.
    let mut counts = vec![0u32; senders];
    let warm = log.iter().position(|pull| log.iter().take_while(|p| p.0 < pull.0).count() > 2 * senders).unwrap();
    for (_, flow) in &log[warm..log.len() / 2] {
        counts[*flow as usize] += 1;
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 2, "{counts:?}");
    }
    // The whole incast takes 5% longer than the receiver's link needs, at most.
    let ideal = MTU_TIME.ps() * u64::from(packets) * senders as u64 + RTT.ps() / 2;
    let ratio = net.last_arrival.ps() as f64 / ideal as f64;
    assert!((1.0..1.05).contains(&ratio), "{ratio}");
}

#[test]
fn losing_a_whole_window_does_not_narrow_it_for_good() {
    // Everything that is on the way at 50 us is lost, as when a link fails; 3,000 packets need 360 us at line rate.
    let mut net =
        Net::new(&[3_000], &Common { initial_window: InitialWindow::Packets(80), ..common() }, Trouble::default(), 0);
    net.send(0);
    while net.now < Instant::from_ps(50_000_000) {
        let Reverse((at, event)) = net.events.pop().unwrap();
        net.now = at;
        net.happen(net.payloads[event as usize]);
    }
    net.events.clear();
    net.timer(0);
    net.arm_pulls();
    assert!(net.run());
    assert!(net.timeouts() <= 2, "{}", net.timeouts());
    // A timeout of 1 ms, and the rest at line rate but for some round trips of slow start.
    assert!(net.last_arrival < Instant::from_ps(1_600_000_000), "{}", net.last_arrival);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn completes_whatever_happens(
        seed: u64,
        flows in prop::collection::vec(1u32..150, 1..5),
        window in 1u32..60,
        loss in 0.0..0.4f64,
        trim in 0.0..0.6f64,
        bounce in 0.0..0.4f64,
        jitter in 0u64..40,
        queue in prop::option::of(1usize..20),
    ) {
        let trouble = Trouble { loss, trim, bounce, jitter: Duration::from_us(jitter), queue };
        let common = Common {
            initial_window: InitialWindow::Packets(window),
            rto_max: Duration::from_us(8_000),
            ..common()
        };
        let mut net = Net::new(&flows, &common, trouble, seed);
        prop_assert!(net.run());
        prop_assert_eq!(net.receivers.iter().map(NdpReceiver::received).sum::<u32>(), flows.iter().sum::<u32>());
    }

    #[test]
    fn trims_and_returns_alone_need_no_timer(
        seed: u64,
        packets in 1u32..300,
        trim in 0.0..0.5f64,
        bounce in 0.0..0.5f64,
    ) {
        let trouble = Trouble { trim, bounce, jitter: Duration::from_us(5), ..Trouble::default() };
        let mut net = Net::new(&[packets], &common(), trouble, seed);
        prop_assert!(net.run());
        prop_assert_eq!(net.timeouts(), 0);
        prop_assert_eq!(net.data_sent, packets + net.retransmissions());
    }
}
