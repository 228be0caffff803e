//! The table of the network: every port of every node, and what is at the other end.

use crate::table::Table;
use forebay_sim::measure::RunResult;
use forebay_sim::network::{NetworkPlan, NodeId};
use forebay_sim::scenario::Scenario;
use forebay_tm::{Duration, Rate};

/// A port of a node, and what is at the other end of its cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortEnd {
    pub(crate) node: NodeId,
    pub(crate) port: u32,
    pub(crate) peer: NodeId,
    pub(crate) peer_port: u32,
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
}

/// All ports, by node and number.
pub(crate) fn ports(network: &NetworkPlan) -> Vec<PortEnd> {
    let mut used = vec![0u32; network.nodes()];
    let mut ports = Vec::with_capacity(2 * network.cables.len());
    for cable in &network.cables {
        let [a, b] = [cable.a, cable.b].map(|node| {
            let port = used[node as usize];
            used[node as usize] += 1;
            (node, port)
        });
        for ((node, port), (peer, peer_port)) in [(a, b), (b, a)] {
            ports.push(PortEnd { node, port, peer, peer_port, rate: cable.rate, delay: cable.delay });
        }
    }
    ports.sort_by_key(|end| (end.node, end.port));
    ports
}

/// The name of a node.
pub(crate) fn name(network: &NetworkPlan, node: NodeId) -> &str {
    let hosts = network.hosts.len();
    match network.hosts.get(node as usize) {
        Some(name) => name,
        None => network.switches.get(node as usize - hosts).map_or("", |switch| &switch.name),
    }
}

/// "host", or the tier of a switch.
pub(crate) fn tier(network: &NetworkPlan, node: NodeId) -> &str {
    match (node as usize).checked_sub(network.hosts.len()) {
        None => "host",
        Some(switch) => network.switches.get(switch).map_or("", |switch| &switch.tier),
    }
}

/// A row for each port of each host and switch.
pub fn table(scenario: &Scenario, _: &RunResult) -> Table {
    let network = &scenario.network;
    let ports = ports(network);
    let mut table = Table::new();
    table.text("node", ports.iter().map(|end| name(network, end.node)));
    table.bool("is_host", ports.iter().map(|end| network.is_host(end.node)));
    table.text("tier", ports.iter().map(|end| tier(network, end.node)));
    table.count("port", ports.iter().map(|end| u64::from(end.port)));
    table.text("peer", ports.iter().map(|end| name(network, end.peer)));
    table.count("peer_port", ports.iter().map(|end| u64::from(end.peer_port)));
    table.count("rate_bps", ports.iter().map(|end| end.rate.bps()));
    table.count("delay_ps", ports.iter().map(|end| end.delay.ps()));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn both_ends_of_every_cable() {
        let scenario = testing::scenario();
        let table = table(&scenario, &testing::result());
        assert_eq!(table.rows(), 2 * scenario.network.cables.len());
        let text = |name: &str, row| table.column(name).unwrap().text(row).unwrap().to_owned();
        let int = |name: &str, row| table.column(name).unwrap().int(row).unwrap();
        assert_eq!((text("node", 0), text("peer", 0), int("peer_port", 0)), ("host0".into(), "leaf0".into(), 0));
        let row = (0..table.rows()).find(|row| text("node", *row) == "leaf0" && int("port", *row) == 2).unwrap();
        assert_eq!((text("peer", row), int("peer_port", row), text("tier", row)), ("spine0".into(), 0, "leaf".into()));
        assert_eq!((int("rate_bps", row), int("delay_ps", row)), (10_000_000_000, 1_000_000));
    }
}
