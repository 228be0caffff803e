//! AIFO, PIFO and FIFO at constant rates (AIFO's theorem 1).
//!
//! Packets of rank `i`, smaller ranks first, arrive at `rates[i]` at a port that drains at `drain`, all in the same
//! unit; together they are more than it drains. Nothing is random, and nothing is a packet: with random arrivals, or a
//! window that is short, AIFO is off.

/// `n*`: the index of the rank at which the ranks up to it fill the port, `rates[0] + ... + rates[n*] >= drain`. None
/// without overload.
pub fn margin(rates: &[f64], drain: f64) -> Option<usize> {
    rates
        .iter()
        .scan(0.0, |sum, rate| {
            *sum += rate;
            Some(*sum)
        })
        .position(|sum| sum >= drain)
}

/// Theorem 1 (1): the departure rates of PIFO, and in the steady state of AIFO: all of the ranks before `n*`, for `n*`
/// what is left, nothing of those after. Without overload, all.
pub fn departures_by_rank(rates: &[f64], drain: f64) -> Vec<f64> {
    let mut left = drain;
    rates
        .iter()
        .map(|rate| {
            let part = rate.min(left);
            left -= part;
            part
        })
        .collect()
}

/// Theorem 1 (2): the departure rates of FIFO, `rate_i * drain / (sum of rates)`. Without overload, all.
pub fn departures_of_fifo(rates: &[f64], drain: f64) -> Vec<f64> {
    let part = (drain / rates.iter().sum::<f64>()).min(1.0);
    rates.iter().map(|rate| rate * part).collect()
}

/// The least gap (AIFO's equation 1: the share of packets that only one of two schedulers sends) that departure rates
/// allow: the sum of `|p_i - a_i|` over the sum of all. The gap itself is larger where two schedulers send different
/// packets of one rank.
pub fn gap_of_rates(p: &[f64], a: &[f64]) -> f64 {
    let differ: f64 = p.iter().zip(a).map(|(p, a)| (p - a).abs()).sum();
    differ / (p.iter().sum::<f64>() + a.iter().sum::<f64>())
}

/// The share of all arrivals that have a smaller rank than the one with this index: the quantile by which AIFO admits
/// (with packets of the own rank not counted).
pub fn quantile(rates: &[f64], rank: usize) -> f64 {
    rates[..rank].iter().sum::<f64>() / rates.iter().sum::<f64>()
}

/// AIFO's queue length where packets up to `quantile` are just admitted, in the unit of `capacity` (theorem 1, appendix
/// A):
///
/// ```text
/// c = (1 - quantile * (1 - k)) * C
/// ```
///
/// `headroom` is `k`. In the steady state rank `n*` is admitted in part, so that the length is that of its quantile, if
/// the ranks up to `n*` are more than the port drains. The paper writes `n*/n` for it: all rates equal, and the own
/// rank counted. With [`quantile`] of [`margin`] it is what an AIFO has that counts the smaller ranks only.
pub fn queue_length(capacity: f64, headroom: f64, quantile: f64) -> f64 {
    (1.0 - quantile * (1.0 - headroom)) * capacity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_near;

    #[test]
    fn ranks_up_to_the_margin_leave() {
        let rates = [0.3; 6];
        assert_eq!(margin(&rates, 1.0), Some(3));
        let sent = departures_by_rank(&rates, 1.0);
        for (seen, expected) in sent.iter().zip([0.3, 0.3, 0.3, 0.1, 0.0, 0.0]) {
            assert!((seen - expected).abs() < 1e-12);
        }
        assert_near(sent.iter().sum(), 1.0);
        let fifo = departures_of_fifo(&rates, 1.0);
        assert!(fifo.iter().all(|rate| (rate - 1.0 / 6.0).abs() < 1e-12));
        // 3 ranks get 2/15 less than with PIFO, one 1/15 more, two 1/6 more: 0.8 of 2.
        assert_near(gap_of_rates(&sent, &fifo), 0.4);
        assert_near(gap_of_rates(&sent, &sent), 0.0);
    }

    #[test]
    fn without_overload_all_leave() {
        let rates = [0.2, 0.3];
        assert_eq!(margin(&rates, 1.0), None);
        assert_eq!(departures_by_rank(&rates, 1.0), rates);
        assert_eq!(departures_of_fifo(&rates, 1.0), rates);
    }

    /// AIFO's figure 4: C = 6 and k = 1/6. The quantile that is just admitted is 80% with 2 packets waiting and 20%
    /// with 5.
    #[test]
    fn figure_4() {
        assert_near(queue_length(6.0, 1.0 / 6.0, 0.8), 2.0);
        assert_near(queue_length(6.0, 1.0 / 6.0, 0.2), 5.0);
    }

    /// Queues are shorter than PIFO's, which are full, and at least as long as the headroom.
    #[test]
    fn queue_lengths() {
        let rates = [0.05, 0.2, 0.4, 0.61, 0.5, 0.3];
        let rank = margin(&rates, 1.0).unwrap();
        assert_eq!(rank, 3);
        assert_near(quantile(&rates, rank), 0.65 / 2.06);
        let length = queue_length(40.0, 0.1, quantile(&rates, rank));
        assert!(length > 4.0 && length < 40.0);
        assert_near(queue_length(40.0, 0.1, 0.0), 40.0);
        assert_near(queue_length(40.0, 0.1, 1.0), 4.0);
    }
}
