//! What "load" means, what is expected, and what a plan has come to.
//!
//! Load is offered data over capacity, in one of two definitions:
//!
//! * of the **host links**: the data that the hosts send, over the sum of the rates of the sending hosts' own links.
//!   All flows count.
//! * of the **uplinks**: the data that leaves the senders' racks, over the sum of the rates of all links from the
//!   senders' top-of-rack switches to other switches. Flows within a rack do not count. This is the load of the ABM
//!   paper's evaluation.
//!
//! Data is payload, or bytes on the wire: payload plus the header of every packet. Either way it is what flows bring
//! along: responses (ACKs), retransmissions and gaps between frames do not count. Reports give both.
//!
//! A load is expected in the long run ([`expected_load`]); the flows that a seed has drawn come to another value
//! ([`achieved_load`]), all the more if few large flows carry most of the bytes.

use super::pattern::Destinations;
use super::racks::Racks;
use super::{Pattern, SizeDistribution, WorkloadConfig};
use crate::flow::TrafficPlan;
use crate::network::NetworkPlan;
use crate::transport::{Common, FlowInfo, TransportConfig};
use forebay_tm::Duration;
use forebay_tm::units::PS_PER_SECOND;

/// A share of capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Counting payload.
    pub payload: f64,
    /// Counting payload and headers.
    pub wire: f64,
}

/// The link, or group of parallel links, with the highest load.
#[derive(Clone, Debug, PartialEq)]
pub struct Busiest {
    /// Which: "the link from leaf0 to host3".
    pub link: String,
    /// Its load, headers included.
    pub load: f64,
}

/// A load for people to read: what is a slip of the pen is not written out digit by digit.
pub(crate) fn percent(load: f64) -> String {
    if load < 1e6 { format!("{:.1}%", 100.0 * load) } else { format!("{:.1e}%", 100.0 * load) }
}

/// A link, or group of parallel links, that some workloads ask too much of.
#[derive(Clone, Debug, PartialEq)]
pub struct Overload {
    /// The link and its load.
    pub busiest: Busiest,
    /// The workloads that use it, by their numbers, with the load that each brings.
    pub shares: Vec<(usize, f64)>,
}

/// The load that some workloads put on a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadReport {
    /// Of the sending hosts' links.
    pub host_links: Load,
    /// Of the links between the senders' racks and the rest; `None` if there are no such links.
    pub uplinks: Option<Load>,
    /// The highest load of a host's link (either way) or of a rack's uplinks (either way); `None` without traffic.
    pub busiest: Option<Busiest>,
}

/// Bits a second, with and without headers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bits {
    payload: f64,
    wire: f64,
}

impl Bits {
    /// Of a flow a second, with sizes from a distribution.
    pub fn of_flow(sizes: &SizeDistribution, packets: &Common) -> Self {
        Self { payload: 8.0 * sizes.mean(), wire: 8.0 * sizes.mean_on_the_wire(packets.mss, packets.header) }
    }

    fn add(&mut self, other: Self) {
        self.payload += other.payload;
        self.wire += other.wire;
    }

    /// So many times as many.
    pub fn scaled(self, factor: f64) -> Self {
        Self { payload: self.payload * factor, wire: self.wire * factor }
    }

    fn over(self, capacity: u64) -> Load {
        let capacity = capacity.max(1) as f64;
        Load { payload: self.payload / capacity, wire: self.wire / capacity }
    }
}

/// A link, or group of parallel links, that the definitions of load speak of.
#[derive(Clone, Copy, Debug)]
enum Link {
    /// From a host.
    From(u32),
    /// To a host.
    To(u32),
    /// From a rack to the other switches.
    Leaving(usize),
    /// From the other switches to a rack.
    Entering(usize),
}

/// Offered traffic on every link that the definitions of load speak of.
pub struct Offered<'a> {
    network: &'a NetworkPlan,
    pub(super) racks: &'a Racks,
    /// By host; only what is on the wire is needed on the way down.
    sent: Vec<Bits>,
    received: Vec<f64>,
    /// By rack.
    leaving: Vec<Bits>,
    entering: Vec<f64>,
    is_sender: Vec<bool>,
}

impl<'a> Offered<'a> {
    fn new(network: &'a NetworkPlan, racks: &'a Racks) -> Self {
        let (hosts, count) = (racks.hosts() as usize, racks.all().len());
        Self {
            network,
            racks,
            sent: vec![Bits::default(); hosts],
            received: vec![0.0; hosts],
            leaving: vec![Bits::default(); count],
            entering: vec![0.0; count],
            is_sender: vec![false; hosts],
        }
    }

    /// Traffic from one host to another.
    fn add(&mut self, src: u32, dst: u32, bits: Bits) {
        self.is_sender[src as usize] = true;
        self.sent[src as usize].add(bits);
        self.received[dst as usize] += bits.wire;
        if self.racks.are_apart(src, dst) {
            self.leaving[self.racks.rack_of(src)].add(bits);
            self.entering[self.racks.rack_of(dst)] += bits.wire;
        }
    }

    /// Traffic that each near end of a pattern exchanges with its far ends, spread evenly over them: `near(i)` bits a
    /// second of payload and on the wire for near end number `i`, from the near to the far ends or, if `inward`, back.
    pub fn add_pattern(&mut self, pattern: &Pattern, near: impl Fn(usize) -> Bits, inward: bool) {
        let racks = self.racks;
        let destinations = Destinations::new(pattern, racks);
        let mut own = vec![Bits::default(); racks.hosts() as usize];
        for (index, host) in destinations.senders().iter().enumerate() {
            if destinations.count(racks, *host) > 0 {
                own[*host as usize] = near(index);
            }
        }
        let spread = |of: fn(&Bits) -> f64| {
            let mut far = vec![0.0; own.len()];
            destinations.spread(racks, |host| of(&own[host as usize]), &mut far);
            far
        };
        let (payload, wire) = (spread(|bits| bits.payload), spread(|bits| bits.wire));
        // What stays within each rack, and what each rack has in all at the far end.
        let mut far_of_rack = vec![Bits::default(); racks.all().len()];
        let mut near_leaving = vec![Bits::default(); racks.all().len()];
        for host in 0..racks.hosts() {
            let (at, rack) = (host as usize, racks.rack_of(host));
            let far = Bits { payload: payload[at], wire: wire[at] };
            let leaving = destinations.share_leaving(racks, host);
            near_leaving[rack].add(own[at].scaled(leaving));
            far_of_rack[rack].add(far);
            far_of_rack[rack].add(own[at].scaled(leaving - 1.0));
            let (sent, received) = if inward { (far, own[at]) } else { (own[at], far) };
            self.is_sender[at] |= sent.wire > 0.0;
            self.sent[at].add(sent);
            self.received[at] += received.wire;
        }
        let (leaving, entering) = if inward { (far_of_rack, near_leaving) } else { (near_leaving, far_of_rack) };
        for rack in 0..racks.all().len() {
            self.leaving[rack].add(leaving[rack]);
            self.entering[rack] += entering[rack].wire;
        }
    }

    fn report(&self) -> LoadReport {
        let racks = self.racks;
        let (mut host_bits, mut host_capacity) = (Bits::default(), 0);
        let mut sends = vec![false; racks.all().len()];
        for host in (0..racks.hosts()).filter(|host| self.is_sender[*host as usize]) {
            host_bits.add(self.sent[host as usize]);
            host_capacity += racks.rate_of(host);
            sends[racks.rack_of(host)] = true;
        }
        let (mut rack_bits, mut rack_capacity) = (Bits::default(), 0);
        for (rack, _) in sends.iter().enumerate().filter(|(_, sends)| **sends) {
            rack_bits.add(self.leaving[rack]);
            rack_capacity += racks.all()[rack].uplinks;
        }
        LoadReport {
            host_links: host_bits.over(host_capacity),
            uplinks: (rack_capacity > 0).then(|| rack_bits.over(rack_capacity)),
            busiest: self.busiest().map(|link| Busiest { link: self.name(link), load: self.load(link) }),
        }
    }

    /// Bits a second on a link, and what it could carry.
    fn on(&self, link: Link) -> (f64, u64) {
        let racks = self.racks;
        match link {
            Link::From(host) => (self.sent[host as usize].wire, racks.rate_of(host)),
            Link::To(host) => (self.received[host as usize], racks.rate_of(host)),
            Link::Leaving(rack) => (self.leaving[rack].wire, racks.all()[rack].uplinks),
            Link::Entering(rack) => (self.entering[rack], racks.all()[rack].uplinks),
        }
    }

    fn load(&self, link: Link) -> f64 {
        let (bits, capacity) = self.on(link);
        bits / capacity.max(1) as f64
    }

    fn name(&self, link: Link) -> String {
        let rack = match link {
            Link::From(host) | Link::To(host) => self.racks.rack_of(host),
            Link::Leaving(rack) | Link::Entering(rack) => rack,
        };
        let rack = &self.racks.all()[rack];
        let switch = rack.switch.map_or("the hosts without a switch", |node| self.network.name(node));
        let links = if rack.uplink_count == 1 { "link".to_owned() } else { format!("{} links", rack.uplink_count) };
        match link {
            Link::From(host) => format!("the link from {} to {switch}", self.network.name(host)),
            Link::To(host) => format!("the link from {switch} to {}", self.network.name(host)),
            Link::Leaving(_) => format!("the {links} from {switch} to other switches"),
            Link::Entering(_) => format!("the {links} from other switches to {switch}"),
        }
    }

    /// The first of the links with the highest load, if there is any traffic.
    fn busiest(&self) -> Option<Link> {
        let of_rack = |rack: usize| {
            let is = &self.racks.all()[rack];
            let uplinks = [Link::Leaving(rack), Link::Entering(rack)].into_iter().filter(|_| is.uplinks > 0);
            is.hosts.iter().flat_map(|host| [Link::From(*host), Link::To(*host)]).chain(uplinks)
        };
        let mut best = None;
        let mut highest = 0.0;
        for link in (0..self.racks.all().len()).flat_map(of_rack) {
            // Sums of the same loads in another order differ in the last digits; the first link stays.
            if self.load(link) > highest * (1.0 + 1e-9) {
                (best, highest) = (Some(link), self.load(link));
            }
        }
        best
    }
}

fn packets_of<'a>(transports: &'a [(String, TransportConfig)], index: u16, defaults: &'a Common) -> &'a Common {
    transports.get(usize::from(index)).map_or(defaults, |(_, transport)| &transport.common)
}

/// The load that workloads offer together in the long run. Only workloads with a rate count (Poisson, on-off, incast
/// with a rate); `None` if there is none.
pub fn expected_load(
    workloads: &[WorkloadConfig],
    network: &NetworkPlan,
    transports: &[(String, TransportConfig)],
) -> Option<LoadReport> {
    let racks = Racks::of(network);
    let defaults = Common::default();
    let mut offered = Offered::new(network, &racks);
    let mut any = false;
    for workload in workloads {
        any |= workload.kind.offer(&mut offered, packets_of(transports, workload.transport, &defaults));
    }
    any.then(|| offered.report())
}

/// The busiest link, if workloads ask it in the long run for more than it can carry; those that allow for that do not
/// make an error alone.
pub fn overload(
    workloads: &[WorkloadConfig],
    network: &NetworkPlan,
    transports: &[(String, TransportConfig)],
) -> Option<Overload> {
    let racks = Racks::of(network);
    let defaults = Common::default();
    let offered = |workloads: &[WorkloadConfig]| {
        let mut offered = Offered::new(network, &racks);
        for workload in workloads {
            workload.kind.offer(&mut offered, packets_of(transports, workload.transport, &defaults));
        }
        offered
    };
    let all = offered(workloads);
    let link = all.busiest().filter(|link| all.load(*link) > 1.0 + 1e-9)?;
    let share = |workload: &WorkloadConfig| offered(std::slice::from_ref(workload)).load(link);
    let shares: Vec<(usize, f64)> = workloads.iter().map(share).enumerate().filter(|(_, share)| *share > 0.0).collect();
    let is_meant = shares.iter().all(|(index, _)| workloads[*index].allow_overload);
    (!is_meant).then(|| Overload { busiest: Busiest { link: all.name(link), load: all.load(link) }, shares })
}

/// The load that the flows of a plan have come to, over the time from the first start to the last stop of their
/// workloads: of workload number `only`, or of all. Flows without end and closed-loop sessions do not count, as nobody
/// knows how much they will send.
pub fn achieved_load(
    plan: &TrafficPlan,
    workloads: &[WorkloadConfig],
    only: Option<usize>,
    network: &NetworkPlan,
    transports: &[(String, TransportConfig)],
) -> LoadReport {
    let racks = Racks::of(network);
    let defaults = Common::default();
    let counts = |index: usize| only.is_none_or(|only| only == index);
    let chosen = || workloads.iter().enumerate().filter(|(index, _)| counts(*index)).map(|(_, workload)| workload);
    let start = chosen().map(|workload| workload.start).min().unwrap_or_default();
    let span = chosen().map(|workload| workload.stop.since(start)).max().unwrap_or(Duration::ZERO);
    let seconds = span.ps().max(1) as f64 / PS_PER_SECOND as f64;
    let mut offered = Offered::new(network, &racks);
    // Hosts that may send count even if they have not been drawn.
    for workload in chosen() {
        for host in workload.kind.senders(&racks) {
            offered.is_sender[host as usize] = true;
        }
    }
    for flow in plan.flows.iter().filter(|flow| counts(usize::from(flow.workload))) {
        if flow.bytes != FlowInfo::ENDLESS {
            let packets = packets_of(transports, flow.transport, &defaults);
            let header = u64::from(packets.header) * u64::from(FlowInfo::packets_of(flow.bytes, packets.mss));
            let bits = Bits { payload: 8.0 * flow.bytes as f64, wire: 8.0 * (flow.bytes + header) as f64 };
            offered.add(flow.src, flow.dst, bits.scaled(1.0 / seconds));
        }
    }
    offered.report()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{leaf_spine, one_switch, transports, workload};
    use super::super::{Amount, Arrivals, IncastConfig, LoadOf, PoissonConfig, Reach, WorkloadKind, plan};
    use super::*;
    use forebay_tm::Bytes;

    fn poisson(amount: Amount, pattern: Pattern) -> WorkloadConfig {
        // Small flows of one size, so that a plan is close to what is expected.
        let sizes = SizeDistribution::Fixed(Bytes::new(14_600));
        workload(WorkloadKind::Poisson(PoissonConfig { sizes, amount, pattern }), 50)
    }

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b.abs()
    }

    #[test]
    fn the_load_that_was_asked_for_is_expected_and_achieved() {
        let network = leaf_spine(2, 8, 2, 2);
        let transports = transports();
        for reach in [Reach::Uniform, Reach::NextRack] {
            let amount = Amount::Load { share: 0.4, of: LoadOf::Uplinks, with_headers: false };
            let workloads = [poisson(amount, Pattern { reach, ..Pattern::default() })];
            let expected = expected_load(&workloads, &network, &transports).unwrap();
            let uplinks = expected.uplinks.unwrap();
            assert!(near(uplinks.payload, 0.4, 1e-9), "{expected:?}");
            assert!(near(uplinks.wire, 0.4 * 1_500.0 / 1_460.0, 1e-9), "{expected:?}");
            let drawn = plan(&workloads, &network, &transports, 3);
            let achieved = achieved_load(&drawn, &workloads, Some(0), &network, &transports);
            // Some 13700 flows leave: three standard deviations are 2.6%.
            assert!(near(achieved.uplinks.unwrap().payload, 0.4, 0.026), "{achieved:?}");
            assert!(near(achieved.host_links.wire, expected.host_links.wire, 0.026), "{achieved:?}");
        }
        let amount = Amount::Load { share: 0.6, of: LoadOf::HostLinks, with_headers: true };
        let expected = expected_load(&[poisson(amount, Pattern::default())], &network, &transports).unwrap();
        assert!(near(expected.host_links.wire, 0.6, 1e-9), "{expected:?}");
        assert!(near(expected.host_links.payload, 0.6 * 1_460.0 / 1_500.0, 1e-9));
        // 8 of 15 destinations are in the other rack, whose 8 hosts have as much as 2 of its links.
        assert!(near(expected.uplinks.unwrap().wire, 0.6 * 8.0 / 15.0 * 2.0, 1e-9));
        assert!(expected.busiest.unwrap().link.contains("4 links from leaf0 to other switches"));
    }

    #[test]
    fn the_busiest_link_may_be_the_one_to_the_receiver() {
        let network = one_switch(5);
        let amount = Amount::Load { share: 0.3, of: LoadOf::HostLinks, with_headers: true };
        let pattern = Pattern { from: Some(vec![1, 2, 3, 4]), to: Some(vec![0]), ..Pattern::default() };
        let report = expected_load(&[poisson(amount, pattern)], &network, &transports()).unwrap();
        assert!(near(report.host_links.wire, 0.3, 1e-9));
        assert_eq!(report.uplinks, None);
        let busiest = report.busiest.unwrap();
        assert_eq!(busiest.link, "the link from switch0 to host0");
        assert!(near(busiest.load, 1.2, 1e-9), "four times 0.3: {busiest:?}");
    }

    #[test]
    fn incast_counts_responses_and_requests() {
        let network = leaf_spine(2, 8, 2, 2);
        let config = IncastConfig {
            request: Bytes::new(8 * 14_600),
            fan_in: 8,
            servers_per_host: 1,
            arrivals: Arrivals::Periodic,
            rate_per_host: 1_000.0,
            pattern: Pattern { from: Some((0..8).collect()), to: None, reach: Reach::NextRack },
            jitter: Duration::ZERO,
            request_bytes: Bytes::ZERO,
        };
        let workloads = [workload(WorkloadKind::Incast(config), 50)];
        let expected = expected_load(&workloads, &network, &transports()).unwrap();
        // Hosts 8 to 15 response: each 8 queries of 15000 bytes on the wire a millisecond.
        let share = 8.0 * 15_000.0 * 8.0 * 1_000.0 / 10e9;
        assert!(near(expected.host_links.wire, share, 1e-9), "{expected:?}");
        assert!(near(expected.uplinks.unwrap().wire, 2.0 * share, 1e-9), "{expected:?}");
        let drawn = plan(&workloads, &network, &transports(), 3);
        let achieved = achieved_load(&drawn, &workloads, None, &network, &transports());
        assert!(near(achieved.host_links.wire, share, 1e-9), "{achieved:?}");
        assert_eq!(achieved.busiest.unwrap().link, expected.busiest.unwrap().link);
    }

    #[test]
    fn the_long_run_agrees_with_a_long_plan_on_every_pattern() {
        let network = leaf_spine(3, 4, 1, 1);
        for reach in [Reach::Uniform, Reach::OtherRacks, Reach::NextRack] {
            let pattern = Pattern { from: Some(vec![0, 1, 5]), to: Some(vec![0, 2, 3, 6, 9, 10]), reach };
            let workloads = [poisson(Amount::Rate(1_000_000.0), pattern)];
            let expected = expected_load(&workloads, &network, &transports()).unwrap();
            let drawn = plan(&workloads, &network, &transports(), 3);
            let achieved = achieved_load(&drawn, &workloads, None, &network, &transports());
            let (a, b) = (achieved.uplinks.unwrap().wire, expected.uplinks.unwrap().wire);
            assert!(near(a, b, 0.02), "{reach:?}: {a} {b}");
            let (a, b) = (achieved.busiest.unwrap(), expected.busiest.unwrap());
            assert!(near(a.load, b.load, 0.02), "{reach:?}: {a:?} {b:?}");
        }
    }
}
