//! What a lab is made of: names, addresses and cables. Nothing here touches the machine.

use crate::error::{self, Result};
use forebay_sim::network::{CablePlan, NetworkPlan};
use forebay_tm::Rate;
use std::net::Ipv4Addr;

/// The interface of a host, inside its namespace.
pub const INTERFACE: &str = "eth0";
/// The most hosts of a lab.
pub const MOST_HOSTS: usize = 200;

/// A lab: hosts, switches and the cables between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// What all names begin with.
    pub prefix: String,
    /// The hosts, h1 first.
    pub hosts: Vec<Host>,
    /// One switch, or leaves and then spines.
    pub switches: Vec<Switch>,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Such as "h1".
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// Its switch.
    pub switch: usize,
    /// The rate of its link, both ways.
    pub rate: Rate,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Such as "sw", "leaf1" or "spine2".
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its ports in order.
    pub ports: Vec<Port>,
}

/// A port of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The interface, inside the switch's namespace.
    pub interface: String,
    /// What is at the other end.
    pub peer: Peer,
    /// The rate of the cable.
    pub rate: Rate,
}

/// The other end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A host, by its index.
    Host(usize),
    /// A port of another switch, by its index and the port's.
    Switch(usize, usize),
}

/// Whether a name may begin namespaces and interfaces.
fn check_prefix(prefix: &str) -> Result<()> {
    let plain = prefix.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if plain && (1..=8).contains(&prefix.len()) && !prefix.starts_with('-') {
        return Ok(());
    }
    Err(error::problem(
        format_args!("\"{prefix}\" cannot begin the names of namespaces"),
        "give at most 8 small letters, digits and dashes, such as \"fb\"",
    ))
}

/// The hardware address of a host's interface, or of a switch's port.
pub fn mac(kind: u8, number: usize, port: usize) -> String {
    format!("02:fb:{kind:02x}:{:02x}:00:{:02x}", number + 1, port + 1)
}

impl Host {
    /// The hardware address of its interface.
    pub fn mac(&self, number: usize) -> String {
        mac(1, number, 0)
    }
}

impl Layout {
    /// Hosts around one switch: h1 is 10.0.0.1 and so on.
    pub fn star(prefix: &str, rates: &[Rate]) -> Result<Self> {
        check_prefix(prefix)?;
        check_hosts(rates.len())?;
        let host = |(number, rate): (usize, &Rate)| Host {
            name: format!("h{}", number + 1),
            namespace: format!("{prefix}-h{}", number + 1),
            address: Ipv4Addr::new(10, 0, 0, number as u8 + 1),
            switch: 0,
            rate: *rate,
        };
        let hosts: Vec<Host> = rates.iter().enumerate().map(host).collect();
        let port = |(number, host): (usize, &Host)| Port {
            interface: host.namespace.clone(),
            peer: Peer::Host(number),
            rate: host.rate,
        };
        let ports = hosts.iter().enumerate().map(port).collect();
        let switch = Switch { name: "sw".to_owned(), namespace: format!("{prefix}-sw"), ports };
        Ok(Self { prefix: prefix.to_owned(), hosts, switches: vec![switch] })
    }

    /// Hosts spread evenly over leaves, each of which has a cable to every spine: the first host of the second leaf is
    /// 10.0.2.1.
    pub fn leaf_spine(prefix: &str, hosts: usize, leaves: usize, spines: usize, rate: Rate) -> Result<Self> {
        check_prefix(prefix)?;
        check_hosts(hosts)?;
        if !(1..=16).contains(&leaves) || !(1..=16).contains(&spines) {
            return Err(error::problem(format_args!("{leaves} leaves and {spines} spines"), "give 1 to 16 of each"));
        }
        let switch = |name: String| Switch { namespace: format!("{prefix}-{name}"), name, ports: Vec::new() };
        let mut switches: Vec<Switch> = (1..=leaves).map(|n| switch(format!("leaf{n}"))).collect();
        switches.extend((1..=spines).map(|n| switch(format!("spine{n}"))));
        let per_leaf = hosts.div_ceil(leaves);
        let mut all = Vec::new();
        for number in 0..hosts {
            let (leaf, place) = (number / per_leaf, number % per_leaf);
            let namespace = format!("{prefix}-h{}", number + 1);
            switches[leaf].ports.push(Port { interface: namespace.clone(), peer: Peer::Host(number), rate });
            let address = Ipv4Addr::new(10, 0, leaf as u8 + 1, place as u8 + 1);
            all.push(Host { name: format!("h{}", number + 1), namespace, address, switch: leaf, rate });
        }
        for leaf in 0..leaves {
            for spine in leaves..leaves + spines {
                let (up, down) = (switches[leaf].ports.len(), switches[spine].ports.len());
                let interface = format!("up{}", spine - leaves + 1);
                switches[leaf].ports.push(Port { interface, peer: Peer::Switch(spine, down), rate });
                let interface = format!("leaf{}", leaf + 1);
                switches[spine].ports.push(Port { interface, peer: Peer::Switch(leaf, up), rate });
            }
        }
        Ok(Self { prefix: prefix.to_owned(), hosts: all, switches })
    }

    /// The leaves and spines of a scenario's network: every leaf has hosts and a cable to every spine. Switches and
    /// ports have the numbers that they have there.
    pub fn of_network(prefix: &str, network: &NetworkPlan) -> Result<Self> {
        check_prefix(prefix)?;
        check_hosts(network.hosts.len())?;
        let unfit = |why: &str| {
            error::problem(
                format_args!("a lab cannot have the scenario's network: {why}"),
                "give it topology.kind = \"single\" or \"leaf-spine\", with one cable between a leaf and a spine",
            )
        };
        let is_leaf = |switch: usize| {
            let node = network.switch_node(switch);
            let at = |cable: &CablePlan| {
                cable.a == node && network.is_host(cable.b) || cable.b == node && network.is_host(cable.a)
            };
            network.cables.iter().any(at)
        };
        let leaves = (0..network.switches.len()).filter(|switch| is_leaf(*switch)).count();
        if !(1..=16).contains(&leaves) || (0..leaves).any(|switch| !is_leaf(switch)) {
            return Err(unfit("leaves do not come before spines, or are more than 16"));
        }
        let spines = network.switches.len() - leaves;
        let name = |switch: usize| {
            if switch < leaves { format!("leaf{}", switch + 1) } else { format!("spine{}", switch - leaves + 1) }
        };
        let empty = |name: String| Switch { namespace: format!("{prefix}-{name}"), name, ports: Vec::new() };
        let mut switches: Vec<Switch> = (0..network.switches.len()).map(|switch| empty(name(switch))).collect();
        let mut hosts: Vec<Option<Host>> = vec![None; network.hosts.len()];
        let mut places = vec![0; leaves];
        for cable in &network.cables {
            let (a, b) = (cable.a.min(cable.b) as usize, cable.a.max(cable.b) as usize);
            let far = b.checked_sub(hosts.len()).ok_or_else(|| unfit("hosts are connected to each other"))?;
            if a < hosts.len() {
                let namespace = format!("{prefix}-h{}", a + 1);
                switches[far].ports.push(Port { interface: namespace.clone(), peer: Peer::Host(a), rate: cable.rate });
                places[far] += 1;
                let address = Ipv4Addr::new(10, 0, far as u8 + 1, places[far]);
                let host = Host { name: format!("h{}", a + 1), namespace, address, switch: far, rate: cable.rate };
                if hosts[a].replace(host).is_some() {
                    return Err(unfit("a host has several cables"));
                }
                continue;
            }
            let near = a - hosts.len();
            let joins = |port: &Port| matches!(port.peer, Peer::Switch(to, _) if to == far);
            if near >= leaves || far < leaves || switches[near].ports.iter().any(joins) {
                return Err(unfit(
                    "there are cables between two leaves or two spines, or several between a leaf and a spine",
                ));
            }
            let (up, down) = (switches[near].ports.len(), switches[far].ports.len());
            let (above, below) = (format!("up{}", far - leaves + 1), name(near));
            switches[near].ports.push(Port { interface: above, peer: Peer::Switch(far, down), rate: cable.rate });
            switches[far].ports.push(Port { interface: below, peer: Peer::Switch(near, up), rate: cable.rate });
        }
        let is_whole = switches[leaves..].iter().all(|spine| spine.ports.len() == leaves) && spines > 0;
        let hosts: Option<Vec<Host>> = hosts.into_iter().collect();
        match hosts.filter(|_| is_whole) {
            Some(hosts) => Ok(Self { prefix: prefix.to_owned(), hosts, switches }),
            None => Err(unfit("a host has no cable, or a leaf has none to a spine")),
        }
    }

    /// Whether frames must be routed, not switched: there are several ways.
    pub fn is_routed(&self) -> bool {
        self.switches.len() > 1
    }

    /// All namespaces.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        let hosts = self.hosts.iter().map(|host| host.namespace.as_str());
        hosts.chain(self.switches.iter().map(|switch| switch.namespace.as_str()))
    }

    /// The port by which a switch reaches a host. Destinations are spread over spines.
    pub fn port_to(&self, switch: usize, host: usize) -> Option<usize> {
        let ports = &self.switches[switch].ports;
        let direct = ports.iter().position(|port| port.peer == Peer::Host(host));
        let leaf = self.hosts[host].switch;
        let down = || ports.iter().position(|port| matches!(port.peer, Peer::Switch(to, _) if to == leaf));
        let ups: Vec<usize> =
            (0..ports.len()).filter(|port| matches!(ports[*port].peer, Peer::Switch(to, _) if to > switch)).collect();
        let up = || (!ups.is_empty()).then(|| ups[host % ups.len()]);
        direct.or_else(down).or_else(up)
    }
}

fn check_hosts(hosts: usize) -> Result<()> {
    if (2..=MOST_HOSTS).contains(&hosts) {
        return Ok(());
    }
    Err(error::problem(format_args!("a lab of {hosts} hosts"), format_args!("give 2 to {MOST_HOSTS}")))
}

/// Whether a namespace has a name that a lab with this prefix gives.
pub fn is_ours(prefix: &str, namespace: &str) -> bool {
    let Some(rest) = namespace.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-')) else { return false };
    let numbered = |kind: &str| {
        rest.strip_prefix(kind).is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    rest == "sw" || numbered("h") || numbered("leaf") || numbered("spine")
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_sim::network::SwitchPlan;

    fn rate() -> Rate {
        Rate::from_bps(100_000_000)
    }

    #[test]
    fn a_star_has_a_port_for_each_host() {
        let layout = Layout::star("fb", &[rate(); 3]).unwrap();
        assert_eq!(layout.namespaces().collect::<Vec<_>>(), ["fb-h1", "fb-h2", "fb-h3", "fb-sw"]);
        assert_eq!(layout.hosts[2].address, Ipv4Addr::new(10, 0, 0, 3));
        assert_eq!(layout.port_to(0, 2), Some(2));
        assert!(layout.namespaces().all(|name| is_ours("fb", name)));
    }

    #[test]
    fn a_leaf_spine_reaches_every_host_from_every_switch() {
        let layout = Layout::leaf_spine("fb", 8, 2, 2, rate()).unwrap();
        for from in 0..4 {
            for to in 0..8 {
                let (mut switch, mut hops) = (from, 0);
                loop {
                    let port = layout.port_to(switch, to).unwrap();
                    hops += 1;
                    assert!(hops <= 3, "from {from} to {to}");
                    match layout.switches[switch].ports[port].peer {
                        Peer::Host(host) => break assert_eq!(host, to),
                        Peer::Switch(next, back) => {
                            assert_eq!(layout.switches[next].ports[back].peer, Peer::Switch(switch, port));
                            switch = next;
                        }
                    }
                }
            }
        }
        let ups: Vec<_> = (4..8).map(|host| layout.port_to(0, host)).collect();
        assert!(ups.iter().any(|up| *up != ups[0]), "both spines are used: {ups:?}");
    }

    #[test]
    fn a_network_of_leaves_and_spines_keeps_its_numbers() {
        let cable = |a: u32, b: u32| CablePlan { a, b, rate: rate(), delay: forebay_tm::Duration::ZERO };
        let plan = |cables: Vec<CablePlan>| NetworkPlan {
            hosts: (0..4).map(|host| format!("host{host}")).collect(),
            switches: vec![SwitchPlan { name: String::new(), tier: String::new() }; 4],
            cables,
        };
        // Hosts 0 to 3 at leaves 4 and 5, spines 6 and 7; the cables of leaf 5 come first.
        let sound = vec![
            cable(2, 5),
            cable(5, 7),
            cable(3, 5),
            cable(0, 4),
            cable(1, 4),
            cable(4, 6),
            cable(4, 7),
            cable(6, 5),
        ];
        let layout = Layout::of_network("fb", &plan(sound.clone())).unwrap();
        let ports =
            |switch: usize| layout.switches[switch].ports.iter().map(|port| &*port.interface).collect::<Vec<_>>();
        assert_eq!((ports(0), ports(1)), (vec!["fb-h1", "fb-h2", "up1", "up2"], vec!["fb-h3", "up2", "fb-h4", "up1"]));
        assert_eq!((ports(2), ports(3)), (vec!["leaf1", "leaf2"], vec!["leaf2", "leaf1"]));
        assert_eq!(layout.hosts[3].address, Ipv4Addr::new(10, 0, 2, 2));
        assert_eq!((layout.port_to(0, 3), layout.port_to(3, 3), layout.port_to(1, 3)), (Some(3), Some(0), Some(2)));
        let with = |more: CablePlan| plan(sound.iter().copied().chain([more]).collect());
        for (wrong, why) in [
            (with(cable(4, 5)), "between two leaves"),
            (with(cable(4, 6)), "several between"),
            (with(cable(0, 5)), "several cables"),
            (with(cable(0, 1)), "each other"),
            (plan(sound[..7].to_vec()), "has none to a spine"),
            (plan(sound[1..].to_vec()), "a host has no cable"),
        ] {
            let error = Layout::of_network("fb", &wrong).unwrap_err().to_string();
            assert!(error.contains(why), "{why}: {error}");
        }
    }

    #[test]
    fn names_of_others_are_not_ours() {
        for name in ["fb-db", "fb-h", "fb-h1x", "fbh1", "other-h1", "fb-swx", "fb"] {
            assert!(!is_ours("fb", name), "{name}");
        }
        assert!(Layout::star("much-too-long", &[rate(); 2]).is_err() && Layout::star("a b", &[rate(); 2]).is_err());
        assert!(Layout::star("fb", &[rate()]).is_err() && Layout::star("fb", &[rate(); 201]).is_err());
    }
}
