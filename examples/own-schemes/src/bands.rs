//! Two bands: packets of a rank below a bound leave before all others, in order of arrival within each band.
//! It has the shape of a built-in scheduler (`pifo.rs` of the core): a scheme of another crate implements the same
//! trait.

use forebay_tm::schedule::{ActiveScheduler, Discipline, Join, Lanes, SchedulerSettings, Service};
use forebay_tm::{Packet, ValidConfig, settings};

settings! {
    /// Settings of the bands.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BandsConfig {
        /// Packets of a smaller rank are in the first band.
        pub bound: u64 = 10_000 => needed,
    }
}

impl SchedulerSettings for BandsConfig {
    fn service(&self) -> Service {
        Service::OwnOrder
    }

    fn uses_ranks(&self) -> bool {
        true
    }

    /// With another bound, too, packets can stay where they wait.
    fn layout(&self) -> Option<Vec<u64>> {
        Some(Vec::new())
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        ActiveScheduler::new(Bands { bound: self.bound, ports: vec![Lanes::new(2); switch.rates.len()] })
    }
}

#[derive(Clone, Debug)]
struct Bands {
    bound: u64,
    ports: Vec<Lanes>,
}

impl Discipline for Bands {
    fn join(&mut self, _: &Packet, rank: u64) -> Join {
        Join::Yes(u32::from(rank >= self.bound))
    }

    fn lanes(&self, port: usize) -> Option<&Lanes> {
        self.ports.get(port)
    }

    fn lanes_mut(&mut self, port: usize) -> Option<&mut Lanes> {
        self.ports.get_mut(port)
    }

    fn inherit(&mut self, earlier: &Self) {
        self.ports.clone_from(&earlier.ports);
    }
}
