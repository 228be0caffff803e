//! What the empty network could do at best, in closed form.
//!
//! Switches store a packet whole before they forward it, and a link sends one packet after the other, each for
//! [`Rate::serialization`] of its length. All sums saturate at the longest span there is.

use forebay_tm::{Duration, Rate};

/// The links of a path, in order.
pub type Path = [(Rate, Duration)];

/// Completion time of a flow that has the path to itself and whose packets are all there at the start: `packets - 1` of
/// `full_bytes` on the wire, then one of `last_bytes`. It ends when the last bit of the last packet has arrived.
///
/// Packet `j` leaves link `i` at `C(j,i) = max(C(j-1,i), C(j,i-1) + d(i-1)) + s(j,i)`, with `s` the serialization and
/// `d` the delay. Every way through this recurrence passes all the delays once, so they come out as a sum, and what is
/// left is the heaviest monotone way through a grid of `s(j,i)` from the first packet at the first link to the last
/// packet at the last link. The full packets' rows are all alike: a way that leaves them at link `m` passes each link
/// up to `m` once and spends its other `packets - 2` steps at the slowest of them. The last packet's row follows from
/// `m` on:
///
/// `sum(d) + max over m of (sum of s(i), i <= m) + (packets - 2) (max of s(i), i <= m) + (sum of l(i), i >= m)`
pub fn ideal_fct(path: &Path, packets: u32, full_bytes: u32, last_bytes: u32) -> Duration {
    let serialization = |rate: Rate, bytes: u32| u128::from(rate.serialization(u64::from(bytes)).ps());
    let delays: u128 = path.iter().map(|(_, delay)| u128::from(delay.ps())).sum();
    if packets == 0 {
        return Duration::from_ps(0);
    }
    let mut last_from_here: u128 = path.iter().map(|(rate, _)| serialization(*rate, last_bytes)).sum();
    if packets == 1 {
        return saturated(delays + last_from_here);
    }
    let (mut sum, mut slowest, mut heaviest) = (0, 0, 0);
    for (rate, _) in path {
        let full = serialization(*rate, full_bytes);
        sum += full;
        slowest = full.max(slowest);
        heaviest = (sum + u128::from(packets - 2) * slowest + last_from_here).max(heaviest);
        last_from_here -= serialization(*rate, last_bytes);
    }
    saturated(delays + heaviest)
}

/// From the first bit of a packet of `data_bytes` out until the last bit of its reply of `ack_bytes` in, on the empty
/// network.
pub fn base_rtt(forward: &Path, backward: &Path, data_bytes: u32, ack_bytes: u32) -> Duration {
    let there = ideal_fct(forward, 1, data_bytes, data_bytes);
    let back = ideal_fct(backward, 1, ack_bytes, ack_bytes);
    Duration::from_ps(there.ps().saturating_add(back.ps()))
}

/// One response to a query, as [`ideal_fct`] takes it.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// From the host that responds to the host that asks.
    pub path: &'a Path,
    /// Packets.
    pub packets: u32,
    /// Bytes on the wire of all but the last.
    pub full_bytes: u32,
    /// Bytes on the wire of the last.
    pub last_bytes: u32,
}

/// The shortest time that a query can take whose responses all start at once and end at one host, the same last link
/// for all.
///
/// Two things bound it from below, and the larger of the two is returned. The last link cannot start before the
/// earliest first packet of any response is there, and must then carry all packets of all responses, at best without a
/// gap. And no response can be faster than it would be alone. Nothing is said about what the responses do to each other
/// on their way to the last link.
pub fn ideal_query<'a>(responses: impl IntoIterator<Item = Response<'a>>) -> Duration {
    let (mut earliest, mut busy, mut alone, mut delay) = (u128::MAX, 0u128, 0u128, 0u128);
    for response in responses {
        let Response { path, packets, full_bytes, last_bytes } = response;
        let (Some(((rate, last_delay), before)), true) = (path.split_last(), packets > 0) else { continue };
        let first_bytes = if packets == 1 { last_bytes } else { full_bytes };
        earliest = earliest.min(u128::from(ideal_fct(before, 1, first_bytes, first_bytes).ps()));
        busy += u128::from(packets - 1) * u128::from(rate.serialization(u64::from(full_bytes)).ps());
        busy += u128::from(rate.serialization(u64::from(last_bytes)).ps());
        alone = alone.max(u128::from(ideal_fct(path, packets, full_bytes, last_bytes).ps()));
        delay = u128::from(last_delay.ps());
    }
    if busy == 0 { Duration::from_ps(0) } else { saturated((earliest + busy + delay).max(alone)) }
}

fn saturated(ps: u128) -> Duration {
    Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Packet by packet, link by link.
    fn brute_force(path: &Path, packets: u32, full_bytes: u32, last_bytes: u32) -> u64 {
        let mut link_free = vec![0u64; path.len()];
        let mut end = 0;
        for packet in 0..packets {
            let bytes = if packet + 1 == packets { last_bytes } else { full_bytes };
            let mut arrival = 0;
            for (free, (rate, delay)) in link_free.iter_mut().zip(path) {
                *free = arrival.max(*free) + rate.serialization(u64::from(bytes)).ps();
                arrival = *free + delay.ps();
            }
            end = arrival;
        }
        end
    }

    fn links() -> impl Strategy<Value = Vec<(Rate, Duration)>> {
        let link = (1_000_000u64..200_000_000_000, 0u64..5_000_000);
        proptest::collection::vec(link.prop_map(|(rate, delay)| (Rate::from_bps(rate), Duration::from_ps(delay))), 1..8)
    }

    proptest! {
        #[test]
        fn the_closed_form_is_exact(path in links(), packets in 1u32..60, full in 64u32..9_000, last in 1u32..9_000) {
            // The last packet need not be the smallest: the form holds for any length.
            prop_assert_eq!(ideal_fct(&path, packets, full, last).ps(), brute_force(&path, packets, full, last));
        }

        #[test]
        fn no_order_of_the_responses_beats_the_bound(
            paths in proptest::collection::vec((links(), 1u32..20, 64u32..1_500), 1..6),
        ) {
            // The responses' own links, then one that all share, served in order of arrival.
            let shared = (Rate::from_gbps(10), Duration::from_us(1));
            let full_paths: Vec<Vec<_>> =
                paths.iter().map(|(path, ..)| path.iter().copied().chain([shared]).collect()).collect();
            let responses = || full_paths.iter().zip(&paths).map(|(path, (_, packets, last))| Response {
                path, packets: *packets, full_bytes: 1_500, last_bytes: *last,
            });
            let mut arrivals = Vec::new();
            for (path, packets, last) in &paths {
                for n in 1..=*packets {
                    let bytes = if n == *packets { *last } else { 1_500 };
                    arrivals.push((ideal_fct(path, n, 1_500, bytes).ps(), bytes));
                }
            }
            arrivals.sort_unstable();
            let mut free = 0u64;
            for (at, bytes) in arrivals {
                free = free.max(at) + shared.0.serialization(u64::from(bytes)).ps();
            }
            let bound = ideal_query(responses()).ps();
            prop_assert!(bound <= free + shared.1.ps());
            prop_assert!(responses().all(|a| bound >= ideal_fct(a.path, a.packets, a.full_bytes, a.last_bytes).ps()));
            if paths.len() == 1 {
                let a = responses().next().unwrap();
                prop_assert_eq!(bound, ideal_fct(a.path, a.packets, a.full_bytes, a.last_bytes).ps());
            }
        }
    }

    #[test]
    fn equal_responses_fill_the_last_link() {
        // 1500 bytes at 10 Gb/s are 1.2 us. The first packet is at the last link after 1.2 + 1 us; 8 x 3 packets
        // follow.
        let link = (Rate::from_gbps(10), Duration::from_us(1));
        let response = Response { path: &[link, link], packets: 3, full_bytes: 1_500, last_bytes: 1_500 };
        assert_eq!(ideal_query([response; 8]).ps(), 2_200_000 + 24 * 1_200_000 + 1_000_000);
        assert_eq!(ideal_query([]).ps(), 0);
    }

    #[test]
    fn a_round_trip_is_there_and_back() {
        let link = (Rate::from_gbps(10), Duration::from_us(1));
        let rtt = base_rtt(&[link, link], &[link, link], 1_500, 64);
        assert_eq!(rtt.ps(), 2 * 1_200_000 + 2 * 51_200 + 4 * 1_000_000);
    }

    #[test]
    fn what_does_not_fit_saturates() {
        let path = [(Rate::from_bps(1), Duration::from_us(1))];
        assert_eq!(ideal_fct(&path, u32::MAX, 1_500, 1_500).ps(), u64::MAX);
        assert_eq!(ideal_fct(&path, 0, 1_500, 1_500).ps(), 0);
    }
}
