//! Switches in a ring: each has hosts, and a cable to the next.

use forebay_settings::check::{carries, delay};
use forebay_sim::network::NetworkPlan;
use forebay_sim::topology::{
    Builder, MAX_HOSTS, MAX_PORTS, MAX_SWITCHES, TopologyError, TopologySettings, check_count, check_total,
};
use forebay_tm::settings;
use forebay_tm::{Duration, Rate};

settings! {
    /// Host `n` is at switch `n / hosts_per_switch`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Ring {
        /// Switches.
        pub switches: usize = 4 => given,
        /// Hosts at each switch.
        pub hosts_per_switch: usize = 2 => given,
        /// The rate of each host's cable.
        pub rate: Rate = Rate::from_gbps(10); carries => given,
        /// The rate of each cable between switches.
        pub ring_rate: Rate = Rate::from_gbps(10); carries => like rate,
        /// The delay of all cables.
        pub delay: Duration = Duration::from_us(1); delay => given,
    }
}

impl TopologySettings for Ring {
    fn plan(&self) -> Result<NetworkPlan, TopologyError> {
        if self.switches < 3 {
            let problem = format!("{} switches make no ring", self.switches);
            return Err(TopologyError::new("switches", problem, "give 3 or more"));
        }
        check_count("hosts_per_switch", self.hosts_per_switch)?;
        check_total("switches", "switches", &[self.switches], MAX_SWITCHES)?;
        check_total("hosts_per_switch", "hosts", &[self.switches, self.hosts_per_switch], MAX_HOSTS)?;
        check_total("hosts_per_switch", "hosts at a switch", &[self.hosts_per_switch], MAX_PORTS - 2)?;
        let hosts = self.switches * self.hosts_per_switch;
        let mut network = Builder::new(hosts);
        let first = network.switches("ring", self.switches);
        for host in 0..hosts {
            network.cable(host, first + host / self.hosts_per_switch, self.rate, self.delay);
        }
        for switch in 0..self.switches {
            network.cable(first + switch, first + (switch + 1) % self.switches, self.ring_rate, self.delay);
        }
        Ok(network.plan())
    }
}
