//! Which ports of the switches lead where.

use forebay_sim::network::{NetworkPlan, NodeId};

/// Where a port of a switch leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To a host.
    Host,
    /// To a switch farther from the hosts.
    Up,
    /// To a switch nearer to the hosts.
    Down,
    /// To a switch at the same distance.
    Across,
}

impl Direction {
    pub(crate) const ALL: [Self; 4] = [Self::Host, Self::Up, Self::Down, Self::Across];

    /// Its name in `summary.json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Up => "up",
            Self::Down => "down",
            Self::Across => "across",
        }
    }
}

/// For each switch and each of its ports, where it leads. What is up is told by the distance to the nearest host, which
/// gives the usual answer in trees and some answer in any graph.
pub(crate) fn directions(network: &NetworkPlan) -> Vec<Vec<Direction>> {
    let distances = distances(network);
    let mut directions = vec![Vec::new(); network.switches.len()];
    let hosts = network.hosts.len();
    for cable in &network.cables {
        for (from, to) in [(cable.a, cable.b), (cable.b, cable.a)] {
            let Some(ports) = (from as usize).checked_sub(hosts).and_then(|switch| directions.get_mut(switch)) else {
                continue;
            };
            let (here, there) = (distances[from as usize], distances[to as usize]);
            ports.push(match there.cmp(&here) {
                _ if network.is_host(to) => Direction::Host,
                std::cmp::Ordering::Greater => Direction::Up,
                std::cmp::Ordering::Less => Direction::Down,
                std::cmp::Ordering::Equal => Direction::Across,
            });
        }
    }
    directions
}

/// Cables to the nearest host, for each node.
fn distances(network: &NetworkPlan) -> Vec<u32> {
    let mut neighbours = vec![Vec::new(); network.nodes()];
    for cable in &network.cables {
        neighbours[cable.a as usize].push(cable.b);
        neighbours[cable.b as usize].push(cable.a);
    }
    let mut distances = vec![u32::MAX; network.nodes()];
    let mut edge: Vec<NodeId> = (0..network.hosts.len() as NodeId).collect();
    let mut distance = 0;
    while !edge.is_empty() {
        let mut next = Vec::new();
        for node in edge {
            if distances[node as usize] == u32::MAX {
                distances[node as usize] = distance;
                next.extend(&neighbours[node as usize]);
            }
        }
        distance += 1;
        edge = next;
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_leaf_and_a_spine() {
        let network = testing::scenario().network;
        // leaf0: host0, host1, spine0; spine0: leaf0, leaf1; leaf1: spine0, host2.
        let [leaf0, spine0, leaf1] = &directions(&network)[..] else { panic!("three switches") };
        assert_eq!(leaf0[..], [Direction::Host, Direction::Host, Direction::Up]);
        assert_eq!(spine0[..], [Direction::Down, Direction::Down]);
        assert_eq!(leaf1[..], [Direction::Up, Direction::Host]);
    }

    #[test]
    fn a_dumbbell_has_a_link_across() {
        let mut network = testing::scenario().network;
        network.switches.truncate(2);
        network.cables.truncate(3);
        network.cables.push(testing::cable(2, 4));
        let [left, right] = &directions(&network)[..] else { panic!("two switches") };
        assert_eq!(left[..], [Direction::Host, Direction::Host, Direction::Across]);
        assert_eq!(right[..], [Direction::Across, Direction::Host]);
    }
}
