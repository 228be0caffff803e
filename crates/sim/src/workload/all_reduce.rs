//! All-reduce: every host ends up with the sum of what all hosts had, over a ring or a double binary tree.
//!
//! A flow starts when the data it carries is there: when the flows it depends on have arrived at its host. Adding up
//! takes no time.

use super::WorkloadSettings;
use super::pattern::hosts_or_all;
use super::planner::{Draft, Planner};
use super::read::Reader;
use crate::flow::FlowSpec;
use forebay_settings::Diagnostic;
use forebay_tm::described::{Field, Kind};
use forebay_tm::{Bytes, Duration, Instant, Rate};

/// How the hosts go about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Each host sends to the next, 2(n-1) times, one n-th of the data each time.
    #[default]
    Ring,
    /// Two binary trees, each with half of the data: up to the root, and down again (Sanders, Speck and Träff 2009).
    /// Every host is a leaf in one of them, so that its link is busy in both directions.
    DoubleBinaryTree,
}

/// Settings of all-reduce.
#[derive(Clone, Debug, PartialEq)]
pub struct AllReduceConfig {
    /// What each host has.
    pub bytes: Bytes,
    /// How the hosts go about it.
    pub algorithm: Algorithm,
    /// Who takes part, in the order of the ring; `None` is all hosts.
    pub hosts: Option<Vec<u32>>,
    /// Parts into which the trees' data is cut, so that a host passes on what it has while more comes in. A leaf starts
    /// its parts one after the other at the pace of its link.
    pub chunks: u32,
    /// A new round starts so often, whether the one before has ended or not; `None`: there is one.
    pub every: Option<Duration>,
}

/// Part `index` of `count` nearly equal parts of `bytes`; all together are `bytes`.
fn part(bytes: u64, index: usize, count: usize) -> u64 {
    let upto = |index: usize| (u128::from(bytes) * index as u128 / count as u128) as u64;
    upto(index + 1) - upto(index)
}

/// The parent of each place of a binary tree over `count` places, `None` for the root.
///
/// Counted from 1, a place is as high as its lowest set bit: odd places are leaves, and reading the tree from left to
/// right gives the places in order. Where the usual parent does not exist, the tree's right edge takes the one below.
fn tree(count: usize) -> Vec<Option<usize>> {
    let parent = |place: usize| {
        let low = place & place.wrapping_neg();
        let rest = place ^ low;
        match rest | (low << 1) {
            up if up <= count => Some(up),
            _ if rest > 0 => Some(rest),
            _ => None,
        }
    };
    (1..=count).map(|place| parent(place).map(|up| up - 1)).collect()
}

/// The second tree: the first one mirrored if the count is even, shifted by one place if it is odd, so that leaves of
/// one are inner places of the other (for an odd count, one place is a leaf of both).
fn complement(first: &[Option<usize>]) -> Vec<Option<usize>> {
    let count = first.len();
    let moved = |place: usize| if count % 2 == 0 { count - 1 - place } else { (place + count - 1) % count };
    let mut second = vec![None; count];
    for (place, parent) in first.iter().enumerate() {
        second[moved(place)] = parent.map(moved);
    }
    second
}

impl AllReduceConfig {
    /// In step s host i sends part i - s to host i + 1. In the first n-1 steps parts are added up on the way, in the
    /// others the sums go round.
    fn ring(&self, planner: &Planner<'_>, start: Instant, hosts: &[u32], draft: &mut Draft) {
        let count = hosts.len();
        let mut before: Vec<u32> = Vec::new();
        for step in 0..2 * (count - 1) {
            let mut sent = Vec::with_capacity(count);
            for (place, src) in hosts.iter().enumerate() {
                let chunk = (place + 2 * count - step) % count;
                let bytes = part(self.bytes.get(), chunk, count).max(1);
                let flow = planner.flow(*src, hosts[(place + 1) % count], bytes);
                if step == 0 {
                    sent.push(draft.push(FlowSpec { start, ..flow }));
                } else {
                    let number = draft.push(FlowSpec { start: Instant::ZERO, ..flow });
                    draft.wait(before[(place + count - 1) % count], number);
                    sent.push(number);
                }
            }
            before = sent;
        }
    }

    /// One tree: each part goes up from the leaves, where every inner host waits for its children, and comes down from
    /// the root.
    fn tree(
        &self,
        planner: &Planner<'_>,
        start: Instant,
        hosts: &[u32],
        parents: &[Option<usize>],
        bytes: u64,
        draft: &mut Draft,
    ) {
        let count = hosts.len();
        let chunks = self.chunks.max(1) as usize;
        let mut children = vec![Vec::new(); count];
        for (place, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(place);
            }
        }
        // Every place behind its parent.
        let mut order: Vec<usize> = (0..count).filter(|place| parents[*place].is_none()).collect();
        let mut next = 0;
        while let Some(place) = order.get(next).copied() {
            order.extend(&children[place]);
            next += 1;
        }
        let mut paced = vec![0u64; count];
        for chunk in 0..chunks {
            let bytes = part(bytes, chunk, chunks).max(1);
            let mut up = vec![0; count];
            for place in order.iter().copied().rev() {
                let Some(parent) = parents[place] else { continue };
                let mut flow = planner.flow(hosts[place], hosts[parent], bytes);
                flow.start = if children[place].is_empty() {
                    let rate = Rate::from_bps(planner.racks.rate_of(hosts[place]));
                    let ready = start + rate.serialization(paced[place]);
                    paced[place] += bytes;
                    ready
                } else {
                    Instant::ZERO
                };
                up[place] = draft.push(flow);
                for child in &children[place] {
                    draft.wait(up[*child], up[place]);
                }
            }
            let mut down = vec![0; count];
            for place in order.iter().copied() {
                let Some(parent) = parents[place] else { continue };
                let flow = planner.flow(hosts[parent], hosts[place], bytes);
                down[place] = draft.push(FlowSpec { start: Instant::ZERO, ..flow });
                if parents[parent].is_some() {
                    draft.wait(down[parent], down[place]);
                } else {
                    for child in &children[parent] {
                        draft.wait(up[*child], down[place]);
                    }
                }
            }
        }
    }
}

impl WorkloadSettings for AllReduceConfig {
    const FIELDS: &'static [&'static [Field]] = &[&[
        Field::needed("bytes", Kind::Bytes, "What each host has."),
        Field::optional(
            "algorithm",
            Kind::Special("`\"ring\"`, `\"double-binary-tree\"`"),
            "How the hosts go about it; default `\"ring\"`.",
        ),
        Field::optional("hosts", Kind::Special("hosts"), "Who takes part, in the order of the ring; default all."),
        Field::optional("chunks", Kind::Count, "Parts into which the trees' data is cut; default 1."),
        Field::optional("every", Kind::Duration, "A new round starts so often; default: there is one."),
    ]];

    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        let words = [("ring", Algorithm::Ring), ("double-binary-tree", Algorithm::DoubleBinaryTree)];
        let algorithm = reader.optional("algorithm", Algorithm::default(), |value| value.word(&words))?;
        let config = Self {
            bytes: reader.need_size("bytes")?,
            algorithm,
            hosts: reader.group()?,
            chunks: reader.count("chunks", 1)?,
            every: reader.every()?,
        };
        let hosts = config.hosts.as_ref().map_or(reader.hosts.racks.hosts() as usize, Vec::len) as u64;
        let (parts, least) = match (algorithm, reader.get("chunks")) {
            (Algorithm::Ring, Some(value)) => {
                return Err(value.error("a ring cuts the data into one part a host", "remove this key"));
            }
            (Algorithm::Ring, None) => (hosts, "a byte for each host"),
            (Algorithm::DoubleBinaryTree, _) => (2 * u64::from(config.chunks), "a byte for each chunk of both trees"),
        };
        match reader.get("bytes") {
            Some(value) if config.bytes.get() < parts => {
                Err(value.error(format!("{} cannot be cut into {parts} parts", config.bytes), format!("give {least}")))
            }
            _ => Ok(config),
        }
    }

    fn plan(&self, planner: &Planner<'_>) -> Draft {
        let hosts = hosts_or_all(self.hosts.as_deref(), planner.racks);
        let mut draft = Draft::default();
        if hosts.len() < 2 {
            return draft;
        }
        for (round, start) in (0u32..).zip(planner.rounds(self.every)) {
            let planned = draft.flows.len();
            match self.algorithm {
                Algorithm::Ring => self.ring(planner, start, &hosts, &mut draft),
                Algorithm::DoubleBinaryTree => {
                    let first = tree(hosts.len());
                    for (half, parents) in [complement(&first), first].iter().enumerate() {
                        self.tree(planner, start, &hosts, parents, part(self.bytes.get(), half, 2), &mut draft);
                    }
                }
            }
            draft.flows[planned..].iter_mut().for_each(|flow| flow.round = round);
        }
        draft
    }

    fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64 {
        let hosts = reader.members(&self.hosts);
        let of_round = match self.algorithm {
            Algorithm::Ring => 2.0 * hosts * hosts,
            Algorithm::DoubleBinaryTree => 4.0 * hosts * f64::from(self.chunks),
        };
        of_round * reader.rounds(self.every)
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkloadKind;
    use super::super::testing::{one_switch, plan_of};
    use super::*;
    use crate::flow::TrafficPlan;

    fn plan(algorithm: Algorithm, hosts: usize, bytes: u64, chunks: u32) -> TrafficPlan {
        let kind = AllReduceConfig { bytes: Bytes::new(bytes), algorithm, hosts: None, chunks, every: None };
        plan_of(WorkloadKind::AllReduce(kind), 1, &one_switch(hosts), 1)
    }

    /// The flows in an order in which they can run; panics on a circle. What is waited for arrives where it is waited.
    fn run(plan: &TrafficPlan) -> Vec<usize> {
        let mut waits: Vec<u16> = plan.flows.iter().map(|flow| flow.waits_for).collect();
        let mut ready: Vec<usize> = (0..plan.flows.len()).filter(|flow| waits[*flow] == 0).collect();
        let mut next = 0;
        while let Some(flow) = ready.get(next).copied() {
            next += 1;
            for (_, after) in plan.triggers.iter().filter(|(before, _)| *before as usize == flow) {
                let after = *after as usize;
                assert_eq!(plan.flows[flow].dst, plan.flows[after].src);
                waits[after] -= 1;
                if waits[after] == 0 {
                    ready.push(after);
                }
            }
        }
        assert_eq!(ready.len(), plan.flows.len(), "no circle");
        ready
    }

    #[test]
    fn a_ring_moves_its_share_and_no_more() {
        for n in [2usize, 3, 8, 13] {
            let bytes = 1_000 * n as u64;
            let plan = plan(Algorithm::Ring, n, bytes, 1);
            assert_eq!(plan.flows.len(), n * 2 * (n - 1));
            for host in 0..n as u32 {
                let sent: u64 = plan.flows.iter().filter(|flow| flow.src == host).map(|flow| flow.bytes).sum();
                assert_eq!(sent, 2 * (n as u64 - 1) * bytes / n as u64);
                assert!(
                    plan.flows.iter().filter(|flow| flow.src == host).all(|flow| flow.dst == (host + 1) % n as u32)
                );
            }
            run(&plan);
            assert!(plan.flows.iter().filter(|flow| flow.waits_for == 0).count() == n);
        }
        // Where the parts are not equal, each is what it is: nothing is lost in the division.
        let uneven = plan(Algorithm::Ring, 3, 1_000, 1);
        let total: u64 = uneven.flows.iter().map(|flow| flow.bytes).sum();
        assert_eq!(total, 2 * 2 * 1_000);
    }

    #[test]
    fn a_ring_sums_up_every_part_everywhere() {
        // Part c of host i is the set {i}; what arrives is added. Parts are told apart by their sizes.
        let n = 5usize;
        let bytes = 23;
        let plan = plan(Algorithm::Ring, n, bytes, 1);
        let order = run(&plan);
        let mut has = vec![vec![0u32; n]; n];
        has.iter_mut().enumerate().for_each(|(host, parts)| parts.fill(1 << host));
        let mut steps = vec![0usize; n];
        for flow in order {
            let spec = plan.flows[flow];
            let (src, dst) = (spec.src as usize, spec.dst as usize);
            let chunk = (src + 2 * n - steps[src]) % n;
            assert_eq!(spec.bytes, part(bytes, chunk, n));
            steps[src] += 1;
            has[dst][chunk] |= has[src][chunk];
        }
        assert!(has.iter().flatten().all(|set| *set == (1 << n) - 1), "{has:?}");
    }

    #[test]
    fn trees_are_binary_and_complementary() {
        for n in 2..70 {
            let first = tree(n);
            let second = complement(&first);
            let mut leaf = vec![0; n];
            for parents in [&first, &second] {
                assert_eq!(parents.iter().filter(|parent| parent.is_none()).count(), 1, "{n}: one root");
                let mut children = vec![0; n];
                for (place, parent) in parents.iter().enumerate() {
                    parent.iter().for_each(|parent| children[*parent] += 1);
                    // Up to the root in at most log2(n) + 1 steps.
                    let height = std::iter::successors(Some(place), |at| parents[*at]).take(n + 1).count();
                    assert!(height <= n.ilog2() as usize + 1, "{n}: {place} is {height} from the root");
                }
                assert!(children.iter().all(|count| *count <= 2), "{n}");
                children.iter().enumerate().for_each(|(place, count)| leaf[place] += i32::from(*count == 0));
            }
            assert!(leaf.iter().all(|times| *times >= 1), "{n}: each is a leaf in one of the trees: {leaf:?}");
            assert_eq!(leaf.iter().sum::<i32>() as usize, n + n % 2, "{n}: and but for one, in one only");
        }
    }

    #[test]
    fn trees_bring_everything_to_every_host() {
        for (n, chunks) in [(2usize, 1u32), (3, 1), (8, 1), (13, 4), (16, 3)] {
            let bytes = 100_000;
            let plan = plan(Algorithm::DoubleBinaryTree, n, bytes, chunks);
            assert_eq!(plan.flows.len(), 2 * chunks as usize * 2 * (n - 1));
            // In each tree n-1 flows go up and n-1 come down with half of the data.
            let total: u64 = plan.flows.iter().map(|flow| flow.bytes).sum();
            assert_eq!(total, 2 * (n as u64 - 1) * bytes);
            // Whose data a host has: what it waited for is in what it sends; flows hang together by triggers alone.
            let order = run(&plan);
            let mut carries: Vec<u64> = plan.flows.iter().map(|flow| 1 << flow.src).collect();
            for flow in order {
                for (_, after) in plan.triggers.iter().filter(|(before, _)| *before as usize == flow) {
                    carries[*after as usize] |= carries[flow];
                }
            }
            let all = (1u64 << n) - 1;
            let mut whole = vec![0u64; n];
            for (flow, carried) in plan.flows.iter().zip(&carries) {
                if *carried == all {
                    whole[flow.dst as usize] += flow.bytes;
                }
            }
            // Whole sums come down to all but the root of each tree, which has made its own.
            let halves: Vec<u64> = whole.iter().map(|bytes_in| bytes - bytes_in).collect();
            assert_eq!(halves.iter().sum::<u64>(), bytes, "{n}: two roots, half of the data each: {halves:?}");
            assert_eq!(halves.iter().filter(|missing| **missing > 0).count(), 2, "{n}: two different roots");
        }
    }
}
