//! Who sends to whom.

use super::racks::Racks;
use forebay_tm::random::Random;
use std::ops::Range;

/// Which hosts a host may send to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Any other host.
    #[default]
    Uniform,
    /// Any host under another top-of-rack switch.
    OtherRacks,
    /// Any host under the next top-of-rack switch; the first comes after the last.
    NextRack,
}

/// Who sends, and to whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// The senders in order; `None` is all hosts.
    pub from: Option<Vec<u32>>,
    /// The hosts that may be sent to, in order; `None` is all hosts.
    pub to: Option<Vec<u32>>,
    /// Which of them a host may send to.
    pub reach: Reach,
}

/// A host set, `None` being all hosts.
pub(super) fn hosts_or_all(hosts: Option<&[u32]>, racks: &Racks) -> Vec<u32> {
    hosts.map_or_else(|| (0..racks.hosts()).collect(), <[u32]>::to_vec)
}

/// The destinations of a host, as a part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// All but these.
    Except(Range<usize>),
    /// Only these.
    Only(Range<usize>),
}

/// A pattern made ready for a network: draws destinations in constant time.
#[derive(Clone, Debug)]
pub(super) struct Destinations {
    /// The senders, in order.
    senders: Vec<u32>,
    /// The possible destinations, by rack and then by host, so that every set is a range or all but a range.
    list: Vec<u32>,
    /// Where each rack begins in `list`, and the end.
    rack_starts: Vec<usize>,
    /// Of each host in `list`.
    place_of: Vec<Option<u32>>,
    reach: Reach,
}

impl Destinations {
    /// Makes a pattern ready.
    pub(super) fn new(pattern: &Pattern, racks: &Racks) -> Self {
        let senders = hosts_or_all(pattern.from.as_deref(), racks);
        let mut list = hosts_or_all(pattern.to.as_deref(), racks);
        list.sort_by_key(|host| (racks.rack_of(*host), *host));
        let mut place_of = vec![None; racks.hosts() as usize];
        for (place, host) in list.iter().enumerate() {
            place_of[*host as usize] = Some(place as u32);
        }
        let rack_starts =
            (0..=racks.all().len()).map(|rack| list.partition_point(|host| racks.rack_of(*host) < rack)).collect();
        Self { senders, list, rack_starts, place_of, reach: pattern.reach }
    }

    /// The senders, in order.
    pub(super) fn senders(&self) -> &[u32] {
        &self.senders
    }

    fn rack_range(&self, rack: usize) -> Range<usize> {
        self.rack_starts[rack]..self.rack_starts[rack + 1]
    }

    fn part(&self, racks: &Racks, src: u32) -> Part {
        match self.reach {
            Reach::Uniform => match self.place_of[src as usize] {
                Some(place) => Part::Except(place as usize..place as usize + 1),
                None => Part::Except(0..0),
            },
            Reach::OtherRacks => Part::Except(self.rack_range(racks.rack_of(src))),
            Reach::NextRack => {
                let count = racks.all().len();
                let next = (racks.rack_of(src) + 1) % count;
                if count == 1 { Part::Only(0..0) } else { Part::Only(self.rack_range(next)) }
            }
        }
    }

    /// How many hosts a host may send to.
    pub(super) fn count(&self, racks: &Racks, src: u32) -> usize {
        match self.part(racks, src) {
            Part::Except(range) => self.list.len() - range.len(),
            Part::Only(range) => range.len(),
        }
    }

    /// Destination number `index` of a host, `index` being below [`Destinations::count`].
    fn nth(&self, part: &Part, index: usize) -> u32 {
        match part {
            Part::Except(range) if index < range.start => self.list[index],
            Part::Except(range) => self.list[index + range.len()],
            Part::Only(range) => self.list[range.start + index],
        }
    }

    /// A destination of a host, every one as likely as another; `None` if it has none.
    pub(super) fn draw(&self, racks: &Racks, src: u32, random: &mut Random) -> Option<u32> {
        let count = self.count(racks, src) as u64;
        (count > 0).then(|| self.nth(&self.part(racks, src), random.below(count) as usize))
    }

    /// The hosts of so many different servers among the destinations of a host, of which each has `servers`: every
    /// choice as likely as another, in a random order; all of them in their own order if that many are asked for.
    pub(super) fn draw_servers(
        &self,
        racks: &Racks,
        src: u32,
        servers: usize,
        wanted: usize,
        random: &mut Random,
    ) -> Vec<u32> {
        let (part, hosts) = (self.part(racks, src), self.count(racks, src));
        let count = hosts * servers;
        let mut indices: Vec<usize> = (0..count).collect();
        if wanted < count {
            for i in 0..wanted {
                indices.swap(i, i + random.below((count - i) as u64) as usize);
            }
            indices.truncate(wanted);
        }
        indices.into_iter().map(|index| self.nth(&part, index % hosts)).collect()
    }

    /// The share of a host's flows that leave its rack.
    pub(super) fn share_leaving(&self, racks: &Racks, src: u32) -> f64 {
        let count = self.count(racks, src);
        if count == 0 {
            return 0.0;
        }
        let own = self.rack_range(racks.rack_of(src));
        let staying = match self.part(racks, src) {
            Part::Except(range) => own.len() - overlap(&own, &range),
            Part::Only(range) => overlap(&own, &range),
        };
        (count - staying) as f64 / count as f64
    }

    /// Adds to each host's `received` what comes to it if every sender spreads `sent(sender)` evenly over its
    /// destinations. Linear in the number of hosts: each sender adds to a range.
    pub(super) fn spread(&self, racks: &Racks, sent: impl Fn(u32) -> f64, received: &mut [f64]) {
        // Differences from one place of the list to the next; they sum up to what comes in.
        let mut steps = vec![0.0; self.list.len() + 1];
        for src in &self.senders {
            let count = self.count(racks, *src);
            if count == 0 {
                continue;
            }
            let each = sent(*src) / count as f64;
            match self.part(racks, *src) {
                Part::Except(range) => {
                    steps[0] += each;
                    steps[range.start] -= each;
                    steps[range.end] += each;
                }
                Part::Only(range) => {
                    steps[range.start] += each;
                    steps[range.end] -= each;
                }
            }
        }
        let mut level = 0.0;
        for (host, step) in self.list.iter().zip(steps) {
            level += step;
            received[*host as usize] += level;
        }
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> usize {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::leaf_spine;

    /// The destinations of a host, by drawing until nothing new comes.
    fn drawn(pattern: &Pattern, src: u32) -> Vec<u32> {
        let racks = Racks::of(&leaf_spine(3, 4, 1, 1));
        let destinations = Destinations::new(pattern, &racks);
        let mut random = Random::stream(1, "test", 0);
        let mut seen: Vec<u32> = (0..500).filter_map(|_| destinations.draw(&racks, src, &mut random)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), destinations.count(&racks, src));
        seen
    }

    #[test]
    fn each_reach_gives_its_hosts() {
        let of = |reach| Pattern { reach, ..Pattern::default() };
        assert_eq!(drawn(&of(Reach::Uniform), 5), [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]);
        assert_eq!(drawn(&of(Reach::OtherRacks), 5), [0, 1, 2, 3, 8, 9, 10, 11]);
        assert_eq!(drawn(&of(Reach::NextRack), 5), [8, 9, 10, 11]);
        assert_eq!(drawn(&of(Reach::NextRack), 9), [0, 1, 2, 3], "the first comes after the last");
        let to = Pattern { to: Some(vec![2, 5, 9]), ..Pattern::default() };
        assert_eq!(drawn(&to, 5), [2, 9], "never itself");
        assert_eq!(drawn(&to, 0), [2, 5, 9]);
        let none = Pattern { to: Some(vec![5]), ..Pattern::default() };
        assert!(drawn(&none, 5).is_empty());
    }

    #[test]
    fn distinct_destinations_are_distinct() {
        let racks = Racks::of(&leaf_spine(3, 4, 1, 1));
        let destinations = Destinations::new(&Pattern::default(), &racks);
        let mut random = Random::stream(1, "test", 0);
        let mut counts = [0u32; 12];
        for _ in 0..11_000 {
            let mut some = destinations.draw_servers(&racks, 5, 1, 3, &mut random);
            some.sort_unstable();
            some.dedup();
            assert_eq!(some.len(), 3);
            some.iter().for_each(|host| counts[*host as usize] += 1);
        }
        // 3000 each but for the asker; five standard deviations of sqrt(11000 * 3/11 * 8/11) = 47.
        assert_eq!(counts[5], 0);
        assert!(counts.iter().enumerate().all(|(host, n)| host == 5 || n.abs_diff(3_000) < 235), "{counts:?}");
        assert_eq!(destinations.draw_servers(&racks, 0, 1, 11, &mut random), (1..12).collect::<Vec<_>>());
    }

    #[test]
    fn spreading_agrees_with_drawing_one_by_one() {
        let racks = Racks::of(&leaf_spine(3, 4, 1, 1));
        for reach in [Reach::Uniform, Reach::OtherRacks, Reach::NextRack] {
            let pattern = Pattern { from: Some(vec![0, 1, 6]), to: Some(vec![0, 3, 5, 6, 7, 10]), reach };
            let destinations = Destinations::new(&pattern, &racks);
            let mut spread = vec![0.0; 12];
            destinations.spread(&racks, |src| f64::from(src + 1), &mut spread);
            let mut slow = [0.0; 12];
            for src in [0u32, 1, 6] {
                let (part, count) = (destinations.part(&racks, src), destinations.count(&racks, src));
                for i in 0..count {
                    slow[destinations.nth(&part, i) as usize] += f64::from(src + 1) / count as f64;
                }
                let leaving = (0..count).filter(|i| racks.are_apart(src, destinations.nth(&part, *i))).count();
                let share = destinations.share_leaving(&racks, src);
                assert!((share - leaving as f64 / count.max(1) as f64).abs() < 1e-12, "{reach:?} {src}");
            }
            assert!(spread.iter().zip(slow).all(|(a, b)| (a - b).abs() < 1e-12), "{reach:?}: {spread:?} {slow:?}");
        }
    }
}
