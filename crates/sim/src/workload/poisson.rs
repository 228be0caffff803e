//! Flows that start at random times: a Poisson process for each sending host.

use super::WorkloadSettings;
use super::distribution::SizeDistribution;
use super::load::{Bits, Offered};
use super::pattern::{Destinations, Pattern};
use super::planner::{Draft, Planner};
use super::racks::Racks;
use super::read::{Reader, positive};
use crate::flow::FlowSpec;
use crate::transport::Common;
use forebay_settings::{Diagnostic, Value};
use forebay_tm::described::{Field, Kind};

/// What a load is a share of; see [`super::load`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadOf {
    /// The sending hosts' links.
    #[default]
    HostLinks,
    /// The links from the senders' top-of-rack switches to other switches.
    Uplinks,
}

/// How much traffic there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A share of the capacity of links.
    Load {
        /// The share.
        share: f64,
        /// Of which links.
        of: LoadOf,
        /// Bytes on the wire are counted, not payload.
        with_headers: bool,
    },
    /// Flows a second, all senders together; each starts as many as another.
    Rate(f64),
}

/// Settings of random flows.
#[derive(Clone, Debug, PartialEq)]
pub struct PoissonConfig {
    /// Of the flows.
    pub sizes: SizeDistribution,
    /// How much traffic.
    pub amount: Amount,
    /// Who sends to whom.
    pub pattern: Pattern,
}

impl PoissonConfig {
    /// Flows a second that each sender starts, in the order of the senders.
    ///
    /// A sender without a destination starts none. With a load of the host links, a sender has its share of its own
    /// link; with a load of the uplinks, the senders of a rack start equally many flows, such that those that leave
    /// the rack make up the load.
    pub(super) fn rates(&self, destinations: &Destinations, racks: &Racks, packets: &Common) -> Vec<f64> {
        let senders = destinations.senders();
        let can_send = |host: u32| destinations.count(racks, host) > 0;
        match self.amount {
            Amount::Rate(all) => {
                let count = senders.iter().filter(|host| can_send(**host)).count();
                senders.iter().map(|host| if can_send(*host) { all / count as f64 } else { 0.0 }).collect()
            }
            Amount::Load { share, of, with_headers } => {
                let bytes = if with_headers {
                    self.sizes.mean_on_the_wire(packets.mss, packets.header)
                } else {
                    self.sizes.mean()
                };
                let bits = 8.0 * bytes;
                // Flows that leave each rack if each of its senders starts one.
                let mut leaving = vec![0.0; racks.all().len()];
                for host in senders {
                    leaving[racks.rack_of(*host)] += destinations.share_leaving(racks, *host);
                }
                let rate = |host: u32| match of {
                    LoadOf::HostLinks => share * racks.rate_of(host) as f64 / bits,
                    LoadOf::Uplinks => {
                        let rack = racks.rack_of(host);
                        let uplinks = racks.all()[rack].uplinks as f64;
                        if leaving[rack] > 0.0 { share * uplinks / bits / leaving[rack] } else { 0.0 }
                    }
                };
                senders.iter().map(|host| if can_send(*host) { rate(*host) } else { 0.0 }).collect()
            }
        }
    }
}

impl WorkloadSettings for PoissonConfig {
    const FIELDS: &'static [&'static [Field]] = &[&[
        Field::needed("sizes", Kind::Special("size distribution"), "Sizes of the flows."),
        Field::optional(
            "interpolation",
            Kind::Special("`\"linear\"`, `\"step\"`"),
            "Between the points of a size distribution; default what its source says.",
        ),
        Field::optional("load", Kind::Real, "Offered data over capacity; this or `rate` is needed."),
        Field::optional(
            "load_of",
            Kind::Special("`\"host-links\"`, `\"uplinks\"`"),
            "Which capacity; default `\"host-links\"`.",
        ),
        Field::optional("with_headers", Kind::Flag, "Data is payload and headers; default false: payload."),
        Field::optional("rate", Kind::Real, "Flows a second of all senders together, instead of `load`."),
        Field::optional("allow_overload", Kind::Flag, "A link may be asked for more than it can carry; default false."),
        Field::optional("pattern", Kind::Special("pattern"), "Who is sent to; default `\"uniform\"`."),
        Field::optional("from", Kind::Special("hosts"), "Who sends; default all."),
        Field::optional("to", Kind::Special("hosts"), "Who may be sent to; default all."),
        Field::optional(
            "classes",
            Kind::Special("whole number, `\"all\"`"),
            "Each flow draws one of so many classes, from `class` on; default 1.",
        ),
    ]];

    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        let sizes = reader.sizes("sizes")?;
        let pattern = reader.pattern()?;
        let amount = match (reader.get("load"), reader.get("rate")) {
            (Some(_), Some(rate)) => {
                return Err(rate.error("there is a load, too", "give either load or rate"));
            }
            (None, None) => return Err(reader.table.missing("load", "load = 0.4")),
            (None, Some(rate)) => {
                for key in ["load_of", "with_headers"] {
                    if let Some(value) = reader.get(key) {
                        return Err(value.error("this does nothing with a rate", "remove it, or give load, not rate"));
                    }
                }
                Amount::Rate(positive(&rate)?)
            }
            (Some(load), None) => Amount::Load {
                share: positive(&load).map_err(|error| Diagnostic {
                    remedy: "give a share of the capacity above 0, such as 0.4".to_owned(),
                    ..error
                })?,
                of: reader.optional("load_of", LoadOf::default(), |value| {
                    value.word(&[("host-links", LoadOf::HostLinks), ("uplinks", LoadOf::Uplinks)])
                })?,
                with_headers: reader.optional("with_headers", false, Value::boolean)?,
            },
        };
        if let (Amount::Load { of: LoadOf::Uplinks, .. }, Some(value)) = (amount, reader.get("load_of")) {
            check_uplinks(reader, &value, &pattern)?;
        }
        Ok(Self { sizes, amount, pattern })
    }

    fn plan(&self, planner: &Planner<'_>) -> Draft {
        let racks = planner.racks;
        let destinations = Destinations::new(&self.pattern, racks);
        let rates = self.rates(&destinations, racks, planner.packets);
        let mut draft = Draft::default();
        for (src, rate) in destinations.senders().iter().zip(rates).filter(|(_, rate)| *rate > 0.0) {
            let mut sizes = planner.stream("sizes", *src);
            let mut choices = planner.stream("destinations", *src);
            for start in planner.poisson_times(rate, planner.stream("arrivals", *src)) {
                let Some(dst) = destinations.draw(racks, *src, &mut choices) else { break };
                let bytes = self.sizes.sample(sizes.unit());
                draft.push(FlowSpec { start, ..planner.flow(*src, dst, bytes) });
            }
        }
        draft
    }

    fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64 {
        let racks = &reader.hosts.racks;
        let rates = self.rates(&Destinations::new(&self.pattern, racks), racks, reader.packets());
        rates.iter().sum::<f64>() * reader.seconds()
    }

    fn offer(&self, offered: &mut Offered<'_>, packets: &Common) -> bool {
        let rates = self.rates(&Destinations::new(&self.pattern, offered.racks), offered.racks, packets);
        let bits = Bits::of_flow(&self.sizes, packets);
        offered.add_pattern(&self.pattern, |index| bits.scaled(rates[index]), false);
        true
    }

    fn senders(&self, racks: &Racks) -> Vec<u32> {
        Destinations::new(&self.pattern, racks).senders().to_vec()
    }
}

/// A load of the uplinks needs uplinks, and flows that use them.
fn check_uplinks(reader: &Reader<'_, '_>, value: &Value<'_>, pattern: &Pattern) -> Result<(), Diagnostic> {
    let racks = &reader.hosts.racks;
    let destinations = Destinations::new(pattern, racks);
    for host in destinations.senders() {
        let rack = &racks.all()[racks.rack_of(*host)];
        if rack.uplinks == 0 {
            let name = rack.switch.map_or("its switch", |node| reader.context.network.name(node));
            let problem = format!("{name} has no links to other switches");
            return Err(value.error(problem, "give load_of = \"host-links\""));
        }
    }
    if destinations.senders().iter().all(|host| destinations.share_leaving(racks, *host) == 0.0) {
        return Err(value.error("no flow leaves its rack", "give load_of = \"host-links\", or another pattern"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{leaf_spine, one_switch, plan_of};
    use super::super::{Reach, WorkloadKind};
    use super::*;
    use forebay_tm::Bytes;

    fn config(amount: Amount, reach: Reach) -> PoissonConfig {
        let sizes = SizeDistribution::bundled("websearch").unwrap();
        PoissonConfig { sizes, amount, pattern: Pattern { reach, ..Pattern::default() } }
    }

    fn rates(config: &PoissonConfig, racks: &Racks) -> Vec<f64> {
        config.rates(&Destinations::new(&config.pattern, racks), racks, &Common::default())
    }

    const UPLINKS: LoadOf = LoadOf::Uplinks;

    #[test]
    fn the_uplinks_of_the_abm_network_at_40_percent() {
        // 2 leaves with 32 servers each, 2 spines with 4 parallel links: 73.05 flows a second from each server.
        let racks = Racks::of(&leaf_spine(2, 32, 2, 4));
        let load = Amount::Load { share: 0.4, of: UPLINKS, with_headers: false };
        for rate in rates(&config(load, Reach::NextRack), &racks) {
            assert!((rate - 73.05).abs() < 0.005, "{rate}");
        }
        // Uniform destinations: 32 of 63 leave the leaf, so that so many more flows are needed.
        for rate in rates(&config(load, Reach::Uniform), &racks) {
            assert!((rate - 73.0472 * 63.0 / 32.0).abs() < 0.005, "{rate}");
        }
        let with_headers = Amount::Load { share: 0.4, of: UPLINKS, with_headers: true };
        let ratio = rates(&config(with_headers, Reach::NextRack), &racks)[0] / 73.0472;
        // About 40 bytes of header for 1460 of payload.
        assert!((ratio - 1_460.0 / 1_500.0).abs() < 0.0005, "{ratio}");
    }

    #[test]
    fn host_links_and_total_rates() {
        let racks = Racks::of(&leaf_spine(2, 4, 1, 1));
        let load = Amount::Load { share: 0.5, of: LoadOf::HostLinks, with_headers: false };
        let each = 0.5 * 10e9 / 8.0 / 1_711_222.5;
        assert!(rates(&config(load, Reach::Uniform), &racks).iter().all(|rate| (rate - each).abs() < 1e-6));
        let total = Amount::Rate(800.0);
        assert_eq!(rates(&config(total, Reach::Uniform), &racks), [100.0; 8]);
        // Netbench: 36000 flows a second from 144 hosts of 10 Gb/s are 0.2 of the host links.
        let share = 36_000.0 * 8.0 * SizeDistribution::bundled("websearch_netbench").unwrap().mean() / (144.0 * 10e9);
        assert!((share - 0.2).abs() < 0.003, "{share}");
        // Host 0 is the only destination, so that it cannot send; the others share the rate.
        let to = PoissonConfig {
            pattern: Pattern { to: Some(vec![0]), ..Pattern::default() },
            ..config(Amount::Rate(700.0), Reach::Uniform)
        };
        assert_eq!(rates(&to, &racks), [0.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0]);
    }

    #[test]
    fn counts_and_gaps_are_those_of_a_poisson_process() {
        let kind = PoissonConfig {
            sizes: SizeDistribution::Fixed(Bytes::new(1_000)),
            ..config(Amount::Rate(1_000_000.0), Reach::Uniform)
        };
        let plan = plan_of(WorkloadKind::Poisson(kind), 100, &one_switch(20), 5);
        let n = plan.flows.len() as f64;
        // 100000 expected; the standard deviation is its root, 316.
        assert!((n - 100_000.0).abs() < 4.0 * 316.3, "{n}");
        let starts: Vec<f64> = plan.flows.iter().map(|flow| flow.start.ps() as f64).collect();
        let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.013, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "gaps as wide as an exponential's: {}", variance.sqrt());
        // Each host sends its part and gets its part: 5000, standard deviation 71.
        for host in 0..20 {
            let sent = plan.flows.iter().filter(|flow| flow.src == host).count();
            let received = plan.flows.iter().filter(|flow| flow.dst == host).count();
            assert!(sent.abs_diff(5_000) < 320 && received.abs_diff(5_000) < 320, "{host}: {sent} {received}");
        }
        assert!(plan.flows.iter().all(|flow| flow.src != flow.dst && flow.class == 1));
    }

    #[test]
    fn times_do_not_depend_on_sizes() {
        let starts = |sizes| {
            let kind = PoissonConfig { sizes, ..config(Amount::Rate(10_000.0), Reach::Uniform) };
            let plan = plan_of(WorkloadKind::Poisson(kind), 10, &one_switch(4), 5);
            plan.flows.iter().map(|flow| (flow.start, flow.src, flow.dst)).collect::<Vec<_>>()
        };
        let fixed = starts(SizeDistribution::Fixed(Bytes::new(1_000)));
        assert_eq!(fixed, starts(SizeDistribution::bundled("fb_hadoop").unwrap()));
    }
}
