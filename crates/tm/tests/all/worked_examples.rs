//! The examples that the papers work out in numbers, and where their numbers and their equations part.
//!
//! FB's examples have a buffer of 60 packets. Here a paper's packet is a hundred of ours, so that lengths come out as
//! those of the fluid that the paper thinks of: the queue that is offered first in a slot meets a `B - Q` larger by
//! what all ports have just sent, so that its threshold is larger by `alpha * ports` hundredths, 0.12 packets at most.

use crate::common;

use common::{alphas, at, dt_each, is_queued, offer, packet, send, start, switch};
use forebay_tm::View as _;
use forebay_tm::admit::{AbmConfig, FlexibleBufferConfig, PolicyConfig};
use forebay_tm::schedule::{AifoConfig, PifoConfig, SchedulerConfig};
use forebay_tm::{Bytes, Duration, Packet, Reason, Tm, Verdict, Wire};

/// A hundredth of a packet of the paper. Ports send one a slot.
const HUNDREDTH: u32 = 10;
/// A packet of the paper.
const PACKET: f64 = 1_000.0;
const TOLERANCE: f64 = 0.12;
/// The queue of red packets.
const HIGH: usize = 0;

fn fb(alpha: &[f64], groups: Vec<Vec<usize>>) -> PolicyConfig {
    PolicyConfig::FlexibleBuffer(FlexibleBufferConfig {
        alpha: alphas(alpha),
        groups: Some(groups),
        ..FlexibleBufferConfig::default()
    })
}

struct Example {
    tm: Tm,
    queues_per_port: usize,
    slot: u64,
}

impl Example {
    fn new(ports: usize, queues: usize, policy: PolicyConfig) -> Self {
        let mut config = switch(ports, queues, 60_000);
        config.policy = policy;
        config.scheduler = SchedulerConfig::RoundRobin;
        Self { tm: start(&config), queues_per_port: queues, slot: 0 }
    }

    /// Queue lengths in packets of the paper.
    fn lengths(&self, queues: &[(usize, usize)]) -> Vec<f64> {
        let index = |(port, queue): &(usize, usize)| port * self.queues_per_port + queue;
        queues.iter().map(|queue| self.tm.queue_bytes(index(queue)).as_f64() / PACKET).collect()
    }

    /// One slot: every port sends, then each of the queues is offered as much as it takes.
    fn slot(&mut self, queues: &[(usize, usize)]) {
        self.slot += 1;
        for port in 0..self.tm.config().rates.len() {
            send(&mut self.tm, at(self.slot), port);
        }
        for (port, queue) in queues {
            while is_queued(offer(&mut self.tm, at(self.slot), &packet(0, *port, *queue, HUNDREDTH))) {}
        }
    }

    fn overload(&mut self, queues: &[(usize, usize)]) {
        (0..20_000).for_each(|_| self.slot(queues));
    }

    /// Asserts the lengths in steady state, and what is free.
    fn settles_at(&mut self, queues: &[(usize, usize)], expected: &[f64], free: f64) {
        self.overload(queues);
        let lengths = self.lengths(queues);
        let near = |seen: f64, expected: f64| (seen - expected).abs() <= TOLERANCE;
        let fits = lengths.iter().zip(expected).all(|(seen, expected)| near(*seen, *expected));
        assert!(fits, "{lengths:?} instead of {expected:?}");
        let seen = 60.0 - self.tm.used().as_f64() / PACKET;
        assert!((seen - free).abs() <= TOLERANCE, "{seen} free instead of {free}");
    }

    /// A 5:1 incast at queue `HIGH` of port 0 while the others stay overloaded; its length when it first loses a
    /// packet.
    fn incast(&mut self, others: &[(usize, usize)]) -> f64 {
        loop {
            self.slot(others);
            for _ in 0..5 {
                if !is_queued(offer(&mut self.tm, at(self.slot), &packet(0, 0, HIGH, HUNDREDTH))) {
                    return self.lengths(&[(0, HIGH)])[0];
                }
            }
        }
    }
}

/// FB figure 2: alpha 1 and 2. Alone the first queue holds 30 of 60 packets; when the second comes they go to 15 and
/// 30.
#[test]
fn fb_figure_2() {
    let mut example = Example::new(2, 2, dt_each(&[2.0, 1.0]));
    example.settles_at(&[(1, 1)], &[30.0], 30.0);
    example.settles_at(&[(1, 1), (0, HIGH)], &[15.0, 30.0], 15.0);
    // And back: no allocation is for ever.
    example.settles_at(&[(1, 1)], &[30.0], 30.0);
}

/// FB figure 4a: DT gives the red queue 20 packets and the three yellow ones 10 each.
#[test]
fn fb_figure_4a() {
    let queues = [(0, HIGH), (1, 1), (2, 1), (3, 1)];
    Example::new(4, 2, dt_each(&[2.0, 1.0])).settles_at(&queues, &[20.0, 10.0, 10.0, 10.0], 10.0);
    // Alone the red queue would have up to 40.
    Example::new(4, 2, dt_each(&[2.0, 1.0])).settles_at(&[(0, HIGH)], &[40.0], 20.0);
}

/// FB figure 5a: FB bounds the yellow queues to 15 packets together, and the red one has 30.
#[test]
fn fb_figure_5a() {
    let queues = [(0, HIGH), (1, 1), (2, 1), (3, 1)];
    let policy = fb(&[2.0, 1.0], vec![vec![0], vec![1]]);
    Example::new(4, 2, policy).settles_at(&queues, &[30.0, 5.0, 5.0, 5.0], 15.0);
}

const LOW_QUEUES: [(usize, usize); 5] = [(1, 1), (1, 2), (1, 3), (1, 4), (1, 5)];
/// Red queues have alpha 2, yellow ones alpha 1.
const ALPHAS: [f64; 6] = [2.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// FB figures 4b and 4c: five yellow queues of one port have 10 packets each under DT, and a 5:1 incast to a red queue
/// then loses packets at 8: in t slots it grows by 4t while two ports send, so that `4t = 2*(10 - 3t)`. (Its fair share
/// would be 2*60/8 = 15 packets; the paper says about 17, which is 2*60/7.)
#[test]
fn fb_figures_4b_and_4c() {
    let mut example = Example::new(2, 6, dt_each(&ALPHAS));
    example.settles_at(&LOW_QUEUES, &[10.0; 5], 10.0);
    let mut after = Example::new(2, 6, dt_each(&ALPHAS));
    let mut all = LOW_QUEUES.to_vec();
    all.push((0, HIGH));
    after.settles_at(&all, &[7.5, 7.5, 7.5, 7.5, 7.5, 15.0], 7.5);
    let at_loss = example.incast(&LOW_QUEUES);
    assert!((at_loss - 8.0).abs() <= TOLERANCE, "the incast loses packets at {at_loss}");
}

/// FB figures 5b and 5c. By eq. 4 each of five yellow queues of one port has `1/5 * 1/5 * (B - Q)`: 2 packets. The
/// paper says 6, which is what `1/5 * (B - Q)` gives, without the share of the port: what five queues at five ports
/// have.
#[test]
fn fb_figures_5b_and_5c() {
    let groups = vec![vec![0], vec![1, 2, 3, 4, 5]];
    let mut example = Example::new(2, 6, fb(&ALPHAS, groups.clone()));
    example.settles_at(&LOW_QUEUES, &[2.0; 5], 50.0);

    let ports = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)];
    Example::new(6, 6, fb(&ALPHAS, groups)).settles_at(&ports, &[6.0; 5], 30.0);

    // The incast reaches its fair share, 2 * 60 / (1 + 2 + 1/5) = 37.5 packets, before it loses any.
    let at_loss = example.incast(&LOW_QUEUES);
    assert!(at_loss >= 37.5, "the incast loses packets at {at_loss}");
}

// ---- ABM ----------------------------------------------------------------------------------------------------------

/// Congested queues as ABM's authors count them, with 10,000 bytes as a full queue: of a queue counts what its last
/// packet found, 5,000 of two packets and more than 10,000 of four, so `n` is 1.5 from the next measurement on, and
/// stays so when both have drained, until packets that find less come.
#[test]
fn abm_counts_queues_by_their_length() {
    let mut config = switch(3, 1, 100_000);
    config.policy = PolicyConfig::Abm(AbmConfig {
        alpha: alphas(&[1.0]),
        interval: Duration::from_us(10),
        congested_at: Some(Bytes::new(10_000)),
        ..AbmConfig::default()
    });
    let mut tm = start(&config);
    let n_and_threshold = |tm: &mut Tm, us: u64| {
        tm.advance(at(us * 1_000_000));
        let threshold = tm.threshold(2).unwrap();
        (threshold.n.unwrap(), threshold.value)
    };
    for (port, packets) in [(0, 2), (1, 4)] {
        for _ in 0..packets {
            assert!(is_queued(offer(&mut tm, at(0), &packet(0, port, 0, 5_000))));
        }
    }
    assert_eq!(n_and_threshold(&mut tm, 9), (1.0, 70_000.0));
    assert_eq!(n_and_threshold(&mut tm, 10), (1.5, 70_000.0 / 1.5));
    for (port, packets) in [(0, 2), (1, 4)] {
        for _ in 0..packets {
            assert!(send(&mut tm, at(11_000_000), port).is_some());
        }
    }
    assert_eq!(n_and_threshold(&mut tm, 40), (1.5, 100_000.0 / 1.5));
    assert!(is_queued(offer(&mut tm, at(41_000_000), &packet(0, 1, 0, 5_000))));
    assert_eq!(n_and_threshold(&mut tm, 50), (1.0, 95_000.0));
}

// ---- AIFO ---------------------------------------------------------------------------------------------------------

/// Which ranks a queue of four slots holds after a burst, in the order they leave.
fn after_burst(scheduler: SchedulerConfig, ranks: &[u64]) -> Vec<u64> {
    let mut config = switch(1, 1, 100_000);
    config.queue_capacity = (scheduler == SchedulerConfig::Fifo).then_some(4);
    config.scheduler = scheduler;
    let mut tm = start(&config);
    for rank in ranks {
        // The id tells the rank, since a FIFO does not keep it.
        tm.offer(at(0), &Packet { rank: *rank, ..packet(*rank, 0, 0, 100) }, Wire::Busy);
        // PIFO makes room for a better rank.
        tm.drain_evictions().for_each(drop);
    }
    std::iter::from_fn(|| send(&mut tm, at(0), 0)).map(|departure| departure.id.0).collect()
}

fn pifo() -> SchedulerConfig {
    SchedulerConfig::Pifo(PifoConfig { capacity: 4 })
}

/// AIFO figure 2: six packets, four slots.
#[test]
fn aifo_figure_2() {
    let burst = [1, 4, 5, 1, 2, 2];
    assert_eq!(after_burst(pifo(), &burst), [1, 1, 2, 2]);
    assert_eq!(after_burst(pifo(), &burst[..4]), [1, 1, 4, 5]);
    assert_eq!(after_burst(pifo(), &burst[..5]), [1, 1, 2, 4]);
    assert_eq!(after_burst(SchedulerConfig::Fifo, &burst), [1, 4, 5, 1]);
    // A FIFO behind an admission control that knows the burst, and admits ranks up to 3, does what PIFO does.
    let admitted: Vec<u64> = burst.into_iter().filter(|rank| *rank <= 3).collect();
    assert_eq!(after_burst(SchedulerConfig::Fifo, &admitted), [1, 1, 2, 2]);
}

/// AIFO figure 3: the same packets in another order. The paper says that the third and fourth are swapped, but its
/// departures, 1 2 1 2, take the fourth and fifth.
#[test]
fn aifo_figure_3() {
    let burst = [1, 4, 5, 2, 1, 2];
    assert_eq!(after_burst(pifo(), &burst), [1, 1, 2, 2]);
    let admitted: Vec<u64> = burst.into_iter().filter(|rank| *rank <= 3).collect();
    assert_eq!(after_burst(SchedulerConfig::Fifo, &admitted), [1, 2, 1, 2]);
}

/// AIFO figure 4: C = 6 and a headroom of one packet. A quantile of 50% is admitted with 2 packets waiting, where the
/// threshold is 80%, and dropped with 5, where it is 20%.
#[test]
fn aifo_figure_4() {
    for (waiting, threshold, admitted) in [(2, 0.8, true), (5, 0.2, false)] {
        let mut config = switch(1, 1, 100_000);
        config.scheduler = SchedulerConfig::Aifo(AifoConfig { capacity: 6, headroom: 1.0 / 6.0, window: 2, sample: 1 });
        let mut tm = start(&config);
        let ranked = |rank| Packet { rank, ..packet(rank, 0, 0, 100) };
        for _ in 0..waiting {
            assert!(is_queued(offer(&mut tm, at(0), &ranked(10))), "no smaller rank is in the window");
        }
        let (outcome, why) = tm.offer_explained(at(0), &ranked(20), Wire::Busy);
        let test = why.rank_test.unwrap();
        assert_eq!((test.smaller, test.entries, test.waiting), (1, 2, waiting));
        let seen = (test.capacity - test.waiting) as f64 / test.capacity as f64 / (1.0 - test.headroom);
        assert!((seen - threshold).abs() < 1e-12);
        let expected =
            if admitted { Verdict::Queued { marked: false } } else { Verdict::Dropped { reason: Reason::Rank } };
        assert_eq!(outcome.verdict(), expected);
    }
}

// ---- Occamy -------------------------------------------------------------------------------------------------------

/// Occamy section 4.4: with one queue B/9 stays free with alpha 8 and B/17 with alpha 16, 5.2% of the buffer less.
#[test]
fn occamy_section_4_4() {
    let free = |alpha: f64| {
        let mut config = switch(1, 1, 1_530_000);
        config.policy = common::occamy(alpha, 64);
        let mut tm = start(&config);
        while is_queued(offer(&mut tm, at(0), &packet(0, 0, 0, 10))) {}
        config.buffer - tm.used()
    };
    // 1,530,000 is a multiple of 9, 17 and 10: a queue stops exactly at its threshold.
    assert_eq!(free(8.0), Bytes::new(1_530_000 / 9));
    assert_eq!(free(16.0), Bytes::new(1_530_000 / 17));
    assert_eq!((free(8.0).get() - free(16.0).get()) * 1_000 / 1_530_000, 52);
}
