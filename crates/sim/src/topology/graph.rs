//! Any network, as a list of cables.

use super::{MAX_CABLES, MAX_HOSTS, TopologyError, TopologySettings, check_count, check_total};
use crate::network::{CablePlan, NetworkPlan, NodeId, SwitchPlan};
use forebay_settings::check::{carries, delay, if_set};
use forebay_settings::{Diagnostic, Table, nearest, quoted, read_settings};
use forebay_tm::described::{Described, Field, Value, Wrong};
use forebay_tm::settings;
use forebay_tm::{Duration, Rate};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The rate and the delay of a cable, in either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Bits per second.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
}

settings! {
    /// Defaults of all cables.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct GraphDefaults {
        /// The default rate of cables.
        pub rate: Option<Rate> = None; if_set(carries),
        /// The default delay of cables.
        pub delay: Option<Duration> = None; if_set(delay),
    }
}

/// Hosts at one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphHosts {
    /// The name of their switch.
    pub switch: String,
    /// How many there are.
    pub count: usize,
    /// The cable of each.
    pub wire: Wire,
}

/// Cables between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphLink {
    /// The name of one end.
    pub from: String,
    /// The name of the other.
    pub to: String,
    /// Each cable.
    pub wire: Wire,
    /// How many there are.
    pub count: usize,
}

/// A network as a list. Hosts with names come first, then those at the switches, in order, which are called "host" with
/// their number. The cables of hosts that are listed with a switch come first, then the links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The switches.
    pub switches: Vec<SwitchPlan>,
    /// The names of hosts that are connected by links.
    pub named_hosts: Vec<String>,
    /// Hosts that are connected to a switch here.
    pub hosts: Vec<GraphHosts>,
    /// All other cables.
    pub links: Vec<GraphLink>,
    /// While it is read: what holds for cables that do not say otherwise.
    defaults: GraphDefaults,
}

impl Described for Graph {
    fn fields(&self) -> &'static [Field] {
        GraphDefaults::FIELDS
    }

    /// Each cable is written with its own.
    fn get(&self, _: usize) -> Value {
        Value::Nothing
    }

    fn set(&mut self, field: usize, value: Value) -> Result<(), Wrong> {
        self.defaults.set(field, value)
    }
}

impl TopologySettings for Graph {
    fn plan(&self) -> Result<NetworkPlan, TopologyError> {
        self.network()
    }

    fn tables(&self) -> &'static [&'static str] {
        &["switch", "host", "hosts", "link"]
    }

    fn read_tables(&mut self, table: &Table<'_>) -> Result<(), Diagnostic> {
        let name = |element: &Table<'_>, key: &str, example: &str| -> Result<String, Diagnostic> {
            Ok(element.need(key, example)?.text()?.to_owned())
        };
        for element in table.tables("switch")? {
            element.allow(&["name", "tier"], |_| false, "")?;
            let tier = element.get("tier").map_or(Ok("switch"), |value| value.text())?.to_owned();
            self.switches.push(SwitchPlan { name: name(&element, "name", "name = \"a\"")?, tier });
        }
        for element in table.tables("host")? {
            element.allow(&["name"], |_| false, "")?;
            self.named_hosts.push(name(&element, "name", "name = \"server\"")?);
        }
        for element in table.tables("hosts")? {
            element.allow(&["switch", "count", "rate", "delay"], |_| false, "")?;
            self.hosts.push(GraphHosts {
                switch: name(&element, "switch", "switch = \"a\"")?,
                count: element.need("count", "count = 8")?.number()?,
                wire: self.wire(&element)?,
            });
        }
        for element in table.tables("link")? {
            element.allow(&["from", "to", "rate", "delay", "count"], |_| false, "")?;
            self.links.push(GraphLink {
                from: name(&element, "from", "from = \"a\"")?,
                to: name(&element, "to", "to = \"b\"")?,
                wire: self.wire(&element)?,
                count: element.get("count").map_or(Ok(1), |value| value.number())?,
            });
        }
        Ok(())
    }

    fn write_tables(&self) -> String {
        let mut out = String::new();
        for switch in &self.switches {
            let (name, tier) = (quoted(&switch.name), quoted(&switch.tier));
            let _ = writeln!(out, "\n[[topology.switch]]\nname = {name}\ntier = {tier}");
        }
        for name in &self.named_hosts {
            let _ = writeln!(out, "\n[[topology.host]]\nname = {}", quoted(name));
        }
        for GraphHosts { switch, count, wire } in &self.hosts {
            let _ =
                writeln!(out, "\n[[topology.hosts]]\nswitch = {}\ncount = {count}\n{}", quoted(switch), wire.lines());
        }
        for GraphLink { from, to, wire, count } in &self.links {
            let (from, to) = (quoted(from), quoted(to));
            let _ = writeln!(out, "\n[[topology.link]]\nfrom = {from}\nto = {to}\n{}\ncount = {count}", wire.lines());
        }
        out
    }
}

impl Wire {
    fn lines(self) -> String {
        format!("rate = \"{}\"\ndelay = \"{}\"", self.rate, self.delay)
    }
}

impl Graph {
    /// The cable of an element of a list.
    fn wire(&self, element: &Table<'_>) -> Result<Wire, Diagnostic> {
        let mut own = self.defaults.clone();
        read_settings(element, &mut own)?;
        let rate = own.rate.ok_or_else(|| element.missing("rate", "rate = \"100Gbps\""))?;
        let delay = own.delay.ok_or_else(|| element.missing("delay", "delay = \"1us\""))?;
        Ok(Wire { rate, delay })
    }

    fn network(&self) -> Result<NetworkPlan, TopologyError> {
        let mut hosts = self.named_hosts.clone();
        for (index, group) in self.hosts.iter().enumerate() {
            check_count(&format!("hosts.{index}.count"), group.count)?;
            check_total(
                &format!("hosts.{index}.count"),
                "hosts",
                &[group.count],
                MAX_HOSTS - hosts.len().min(MAX_HOSTS),
            )?;
            hosts.extend((hosts.len()..hosts.len() + group.count).map(|host| format!("host{host}")));
        }
        let mut plan = NetworkPlan { hosts, switches: self.switches.clone(), cables: Vec::new() };
        let nodes = self.nodes(&plan)?;
        let find = |name: &str, key: String| {
            nodes.get(name).copied().ok_or_else(|| {
                let known: Vec<&str> = nodes.keys().map(String::as_str).collect();
                let remedy = match nearest(name, &known) {
                    Some(meant) => format!("did you mean \"{meant}\"?"),
                    None => "name a switch of [[topology.switch]] or a host of [[topology.host]]".to_owned(),
                };
                TopologyError::new(key, format!("there is no node \"{name}\""), remedy)
            })
        };
        let mut host = self.named_hosts.len() as NodeId;
        for (index, group) in self.hosts.iter().enumerate() {
            let key = format!("hosts.{index}.switch");
            let switch = find(&group.switch, key.clone())?;
            if plan.is_host(switch) {
                let problem = format!("\"{}\" is a host", group.switch);
                return Err(TopologyError::new(key, problem, "name a switch"));
            }
            for _ in 0..group.count {
                let Wire { rate, delay } = group.wire;
                plan.cables.push(CablePlan { a: host, b: switch, rate, delay });
                host += 1;
            }
        }
        let mut host_cables = vec![0usize; plan.hosts.len()];
        host_cables[self.named_hosts.len()..].fill(1);
        for (index, link) in self.links.iter().enumerate() {
            let key = format!("link.{index}");
            let (a, b) = (find(&link.from, format!("{key}.from"))?, find(&link.to, format!("{key}.to"))?);
            if a == b {
                let problem = format!("this cable leads from \"{}\" to itself", link.from);
                return Err(TopologyError::new(key, problem, "connect it to another node"));
            }
            if plan.is_host(a) && plan.is_host(b) {
                let problem = format!("this cable leads from host {} to host {}", link.from, link.to);
                return Err(TopologyError::new(key, problem, "connect each host to a switch"));
            }
            check_count(&format!("{key}.count"), link.count)?;
            let room = MAX_CABLES - plan.cables.len().min(MAX_CABLES);
            check_total(&format!("{key}.count"), "cables", &[link.count], room)?;
            for end in [a, b] {
                if let Some(count) = host_cables.get_mut(end as usize) {
                    *count += link.count;
                    if *count > 1 {
                        let problem = format!("host {} has {count} cables with this", plan.name(end));
                        return Err(TopologyError::new(key, problem, "give each host exactly one cable"));
                    }
                }
            }
            let Wire { rate, delay } = link.wire;
            plan.cables.extend(core::iter::repeat_n(CablePlan { a, b, rate, delay }, link.count));
        }
        Ok(plan)
    }

    /// The nodes by their names.
    fn nodes(&self, plan: &NetworkPlan) -> Result<BTreeMap<String, NodeId>, TopologyError> {
        let mut nodes = BTreeMap::new();
        for node in 0..plan.nodes() {
            let name = plan.name(node as NodeId);
            if name.is_empty() {
                return Err(TopologyError::new(self.key_of(plan, node), "this name is empty", "give it a name"));
            }
            if nodes.insert(name.to_owned(), node as NodeId).is_some() {
                let problem = format!("the name \"{name}\" is there twice");
                return Err(TopologyError::new(self.key_of(plan, node), problem, "rename one of them"));
            }
        }
        Ok(nodes)
    }

    /// Where a node is listed.
    fn key_of(&self, plan: &NetworkPlan, node: usize) -> String {
        if node < self.named_hosts.len() {
            format!("host.{node}.name")
        } else if node < plan.hosts.len() {
            "hosts".to_owned()
        } else {
            format!("switch.{}.name", node - plan.hosts.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::planned;

    fn wire(gbps: u64) -> Wire {
        Wire { rate: Rate::from_gbps(gbps), delay: Duration::from_us(1) }
    }

    fn switch(name: &str) -> SwitchPlan {
        SwitchPlan { name: name.into(), tier: "switch".into() }
    }

    fn link(from: &str, to: &str, count: usize) -> GraphLink {
        GraphLink { from: from.into(), to: to.into(), wire: wire(10), count }
    }

    fn hosts(switch: &str, count: usize) -> GraphHosts {
        GraphHosts { switch: switch.into(), count, wire: wire(1) }
    }

    /// Two switches, a named host at the one and two others at the other.
    fn sound() -> Graph {
        Graph {
            switches: vec![switch("a"), switch("b")],
            named_hosts: vec!["server".into()],
            hosts: vec![hosts("b", 2)],
            links: vec![link("a", "b", 3), link("a", "server", 1)],
            ..Graph::default()
        }
    }

    #[test]
    fn nodes_and_cables_stand_in_the_order_of_the_list() {
        let plan = planned(&sound()).unwrap();
        assert_eq!(plan.hosts, ["server", "host1", "host2"]);
        let ends: Vec<_> = plan.cables.iter().map(|cable| (cable.a, cable.b)).collect();
        assert_eq!(ends, [(1, 4), (2, 4), (3, 4), (3, 4), (3, 4), (3, 0)]);
    }

    #[test]
    fn what_cannot_be_is_refused_at_its_place() {
        type Change = fn(&mut Graph);
        let cases: [(Change, &str, &str); 11] = [
            (|g| g.links[0].to = "bb".into(), "link.0.to", "there is no node \"bb\""),
            (|g| g.hosts[0].switch = "server".into(), "hosts.0.switch", "\"server\" is a host"),
            (|g| g.hosts[0].count = 0, "hosts.0.count", "at least one"),
            (|g| g.switches[1].name = "a".into(), "switch.1.name", "\"a\" is there twice"),
            (|g| g.switches[1].name = "host1".into(), "switch.1.name", "\"host1\" is there twice"),
            (|g| g.links.push(link("b", "server", 1)), "link.2", "host server has 2 cables"),
            (|g| g.links[1].count = 2, "link.1", "host server has 2 cables"),
            (|g| g.links[1].from = "host1".into(), "link.1", "from host host1 to host server"),
            (|g| g.links[0].to = "a".into(), "link.0", "from \"a\" to itself"),
            (|g| drop(g.links.remove(0)), "", "no path from server to host1"),
            (|g| drop(g.links.pop()), "", "host server has 0 cables"),
        ];
        for (change, key, problem) in cases {
            let mut graph = sound();
            change(&mut graph);
            let error = planned(&graph).unwrap_err();
            assert_eq!(error.key, key, "{error:?}");
            assert!(error.problem.contains(problem), "{error:?}");
        }
    }
}
