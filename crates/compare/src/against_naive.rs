//! The fast core against the naive reference, through the same text forms that a user writes.

use forebay_naive::ingress::NaiveRefusal;
use forebay_naive::{Arrival, Outcome, Policy, Reason, Switch, Verdict, run_observed, to_toml};
use forebay_settings::read_switch;
use forebay_tm::View as _;
use forebay_tm::drive::{Drivable, Driver, Observer};
use forebay_tm::{Colour, Departure, Eviction, Instant, Packet, PacketId, PauseRequest, Tm};
use std::collections::BTreeMap;

/// Collects outcomes and the queues' lengths.
pub(crate) struct Watch {
    pub(crate) outcomes: Vec<Option<Outcome>>,
    pub(crate) requests: Vec<PauseRequest>,
    rejected: Vec<Option<Reason>>,
    marked: Vec<bool>,
    lengths: BTreeMap<u64, Vec<u64>>,
    check: bool,
}

fn reason(reason: forebay_tm::Reason) -> Reason {
    let ingress = NaiveRefusal::ALL.into_iter().map(Reason::Ingress);
    let mut known = Reason::ALL.into_iter().chain(ingress);
    known.find(|known| known.as_str() == reason.as_str()).expect("a reason of the specification")
}

impl Watch {
    pub(crate) fn new(packets: usize, check: bool) -> Self {
        Self {
            outcomes: vec![None; packets],
            requests: Vec::new(),
            rejected: vec![None; packets],
            marked: vec![false; packets],
            lengths: BTreeMap::new(),
            check,
        }
    }

    fn ends(&mut self, id: PacketId, outcome: Outcome) {
        let place = &mut self.outcomes[id.0 as usize];
        assert!(place.is_none(), "packet {} met two fates: {place:?} and {outcome:?}", id.0);
        *place = Some(outcome);
    }
}

impl Observer for Watch {
    fn arrived(&mut self, _: Instant, packet: &Packet, verdict: forebay_tm::Verdict) {
        let mut end = |verdict, why| {
            let outcome = Outcome { verdict, reason: reason(why), marked: false, start: None, end: None };
            self.ends(packet.id, outcome);
        };
        match verdict {
            forebay_tm::Verdict::Queued { marked } => self.marked[packet.id.0 as usize] = marked,
            forebay_tm::Verdict::Trimmed { reason: why } => self.rejected[packet.id.0 as usize] = Some(reason(why)),
            forebay_tm::Verdict::Returned { reason } => end(Verdict::Returned, reason),
            forebay_tm::Verdict::Dropped { reason } => end(Verdict::Dropped, reason),
        }
    }

    fn started(&mut self, now: Instant, _: usize, departure: &Departure, end: Instant) {
        let at = departure.id.0 as usize;
        let (verdict, reason) = match self.rejected[at] {
            Some(reason) => (Verdict::Trimmed, reason),
            None => (Verdict::Sent, Reason::None),
        };
        assert_eq!(departure.is_header(), verdict == Verdict::Trimmed);
        let (start, end) = (Some(now.ps()), Some(end.ps()));
        self.ends(departure.id, Outcome { verdict, reason, marked: self.marked[at], start, end });
    }

    fn evicted(&mut self, eviction: Eviction) {
        let marked = self.marked[eviction.id.0 as usize];
        let outcome =
            Outcome { verdict: Verdict::Dropped, reason: reason(eviction.reason), marked, start: None, end: None };
        self.ends(eviction.id, outcome);
    }

    fn requested(&mut self, request: PauseRequest) {
        self.requests.push(request);
    }

    fn instant_over(&mut self, now: Instant, tm: &Tm) {
        let queues = tm.config().total_queues();
        self.lengths.insert(now.ps(), (0..queues).map(|queue| tm.queue_bytes(queue).get()).collect());
        if self.check {
            assert!(tm.is_consistent(), "the accounts do not agree at {now}");
        }
    }
}

/// Packet number `id` arrives at the core, as `change` leaves it.
pub(crate) fn arrive<T: Drivable>(
    driver: &mut Driver<T>,
    id: usize,
    arrival: &Arrival,
    watch: &mut Watch,
    change: impl FnOnce(&mut Packet),
) {
    let mut packet = Packet {
        id: PacketId(id as u64),
        bytes: arrival.bytes as u32,
        port: arrival.port as u32,
        queue: arrival.queue as u32,
        class: arrival.class as u32,
        flow: arrival.flow,
        rank: arrival.rank,
        unscheduled: arrival.unscheduled,
        ect: arrival.ect,
        colour: Colour::ALL[arrival.colour],
        ..Packet::default()
    };
    change(&mut packet);
    driver.arrive(Instant::from_ps(arrival.time), &packet, watch).unwrap();
}

/// Runs the core. `watching` also gives the lengths of all queues at the end of every instant.
fn core(switch: &Switch, arrivals: &[Arrival], watching: bool, extra: &str) -> (Vec<Outcome>, BTreeMap<u64, Vec<u64>>) {
    let text = format!("{extra}{}", to_toml(switch));
    let config = read_switch("switch.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let tm = Tm::new(config);
    let mut driver = if watching { Driver::watching(tm) } else { Driver::new(tm) };
    let mut watch = Watch::new(arrivals.len(), watching);
    for (id, arrival) in arrivals.iter().enumerate() {
        arrive(&mut driver, id, arrival, &mut watch, |_| {});
    }
    driver.finish(&mut watch).unwrap();
    assert!(driver.tm().is_consistent());
    assert_eq!(driver.tm().used().get(), 0, "everything has left at the end");
    let outcomes = watch.outcomes.into_iter().map(|outcome| outcome.expect("every packet met a fate")).collect();
    (outcomes, watch.lengths)
}

/// More updates than this are not watched one by one.
const MOST_UPDATES: u64 = 100_000;

/// The periodic updates of a policy in a run with these outcomes.
fn updates(switch: &Switch, outcomes: &[Outcome]) -> u64 {
    match &switch.policy {
        Policy::Fba { interval, .. } | Policy::Abm { interval, .. } => {
            outcomes.iter().filter_map(|outcome| outcome.end).max().unwrap_or(0) / interval
        }
        _ => 0,
    }
}

/// Compares the core with the naive reference: the same verdicts, marks and times, with a driver that watches every
/// instant and with one that does not, and queues of the same lengths at the end of the instants that both know. (A run
/// of very many periodic updates is not watched.)
///
/// # Panics
///
/// If anything differs. The text names the case with `name` and shows its switch.
pub fn agree(name: &str, switch: &Switch, arrivals: &[Arrival]) {
    let mut lengths = BTreeMap::new();
    let expected = run_observed(switch, arrivals, &mut |now, queues: &[u64]| {
        lengths.insert(now, queues.to_vec());
    });
    let (plain, _) = core(switch, arrivals, false, "");
    for (packet, want) in expected.iter().enumerate() {
        assert_eq!(plain[packet], *want, "{name}, packet {packet}: {:?}\n{}", arrivals[packet], to_toml(switch));
    }
    if updates(switch, &expected) > MOST_UPDATES {
        return;
    }
    // Checking every pointer after every instant is slow where a cell is a byte.
    let pointers = if switch.buffer / switch.cell < 2_000 { "cell_pointers = true\n" } else { "" };
    let (watched, seen) = core(switch, arrivals, true, pointers);
    for (packet, want) in expected.iter().enumerate() {
        assert_eq!(
            watched[packet],
            *want,
            "watching changed a verdict: {name}, packet {packet}: {:?}\n{}",
            arrivals[packet],
            to_toml(switch)
        );
    }
    for (now, want) in &lengths {
        if let Some(got) = seen.get(now) {
            assert_eq!(got, want, "{name}: queue lengths at the end of {now} ps\n{}", to_toml(switch));
        }
    }
    assert!(
        lengths.keys().filter(|now| seen.contains_key(now)).count() * 2 > lengths.len(),
        "{name}: few common instants"
    );
}
