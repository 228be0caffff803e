//! Tests of routes and of the choice among equal ones.

use super::*;
use crate::network::CablePlan;
use crate::topology::{Dumbbell, FatTree, LeafSpine, TopologySettings as _};
use forebay_tm::Instant;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn leaf_spine() -> NetworkPlan {
    LeafSpine { leaves: 3, spines: 2, hosts_per_leaf: 4, parallel: 2, ..LeafSpine::default() }.plan().unwrap()
}

fn fat_tree(k: usize) -> NetworkPlan {
    FatTree { k, ..FatTree::default() }.plan().unwrap()
}

fn down(plan: &NetworkPlan, elements: &[Element]) -> Alive {
    let mut alive = Alive::all(plan);
    for element in elements {
        alive.apply(&Change { at: Instant::ZERO, element: *element, up: false });
    }
    alive
}

fn routes(plan: &NetworkPlan, alive: &Alive) -> Routes {
    let ports = Ports::new(plan);
    Routes::new(plan, &ports, &Addresses::new(plan, &ports), alive)
}

#[test]
fn ports_follow_the_order_of_the_cables() {
    let plan = Dumbbell { left: 2, right: 1, ..Dumbbell::default() }.plan().unwrap();
    let ports = Ports::new(&plan);
    let peers = |node| ports.of(node).iter().map(|port| port.peer).collect::<Vec<_>>();
    assert_eq!(peers(3), [0, 1, 4]);
    assert_eq!(peers(4), [2, 3]);
    assert_eq!(ports.of(4)[1].link, DirectedLink { cable: 3, forward: false });
}

#[test]
fn a_leaf_sends_up_on_all_uplinks_and_down_on_one() {
    let plan = leaf_spine();
    let routes = routes(&plan, &Alive::all(&plan));
    assert_eq!(routes.ports(0, 2), [2], "a host of its own");
    assert_eq!(routes.ports(0, 4), [4, 5, 6, 7], "two spines, two cables to each");
    assert_eq!(routes.ports(3, 4), [2, 3], "from a spine, both cables to the leaf");
    assert_eq!(routes.ports(4, 11), [4, 5]);
}

#[test]
fn fat_tree_port_sets_are_those_of_the_tiers() {
    let k = 8;
    let plan = fat_tree(k);
    let routes = routes(&plan, &Alive::all(&plan));
    let half = k / 2;
    let (edges, hosts_per_pod) = (k * half, half * half);
    let up: Vec<u16> = (half as u16..k as u16).collect();
    for host in 0..plan.hosts.len() {
        let (pod, edge) = (host / hosts_per_pod, host / half);
        for switch in 0..plan.switches.len() {
            let expected = if switch < edges {
                if switch == edge { vec![(host % half) as u16] } else { up.clone() }
            } else if switch < 2 * edges {
                if (switch - edges) / half == pod { vec![(edge % half) as u16] } else { up.clone() }
            } else {
                vec![pod as u16]
            };
            assert_eq!(routes.ports(switch, host as u32), expected, "switch {switch}, host {host}");
        }
    }
}

#[test]
fn paths_are_shortest_and_connected() {
    let plan = fat_tree(4);
    let ports = Ports::new(&plan);
    let routes = routes(&plan, &Alive::all(&plan));
    // Same edge, same pod, other pod.
    for (to, links) in [(0, 0), (1, 2), (2, 4), (4, 6), (15, 6)] {
        let mut choices = 0;
        let path = routes.path(&plan, &ports, (0, to), |_, ports| {
            choices += 1;
            ports[choices % ports.len()]
        });
        let path = path.unwrap();
        assert_eq!(path.len(), links, "to {to}");
        let mut at = 0;
        for link in &path {
            let cable = plan.cables[link.cable];
            let (from, next) = if link.forward { (cable.a, cable.b) } else { (cable.b, cable.a) };
            assert_eq!(from, at);
            at = next;
        }
        assert_eq!(at, to);
    }
}

#[test]
fn failures_are_routed_around() {
    let plan = leaf_spine();
    // Cables 12..24 are uplinks: leaf 0 to spine 0 (12, 13), to spine 1 (14, 15), then leaf 1.
    let one = routes(&plan, &down(&plan, &[Element::Cable(12)]));
    assert_eq!(one.ports(0, 4), [5, 6, 7]);
    assert_eq!(one.ports(3, 0), [1]);
    let pair = routes(&plan, &down(&plan, &[Element::Cable(12), Element::Cable(13)]));
    assert_eq!(pair.ports(0, 4), [6, 7]);
    assert_eq!(pair.ports(1, 0), [6, 7], "the other leaves avoid the spine for this leaf ...");
    assert_eq!(pair.ports(1, 8), [4, 5, 6, 7], "... and for no other");
    assert_eq!(pair.ports(3, 0), [2, 3, 4, 5], "a packet that is at the spine goes back down and around");
    let spine = routes(&plan, &down(&plan, &[Element::Switch(3)]));
    assert_eq!(spine.ports(0, 4), [6, 7]);
    assert!(spine.ports(3, 4).is_empty());
    let mut alive = down(&plan, &[Element::Switch(3)]);
    alive.apply(&Change { at: Instant::ZERO, element: Element::Switch(3), up: true });
    assert_eq!(alive, Alive::all(&plan));
}

#[test]
fn what_is_cut_off_has_no_ports() {
    let plan = leaf_spine();
    let ports = Ports::new(&plan);
    let host = routes(&plan, &down(&plan, &[Element::Cable(4)]));
    assert!((0..plan.switches.len()).all(|switch| host.ports(switch, 4).is_empty()));
    assert_eq!(host.ports(0, 5), [4, 5, 6, 7]);
    assert_eq!(host.path(&plan, &ports, (0, 4), |_, ports| ports[0]), None);
    assert_eq!(host.path(&plan, &ports, (4, 0), |_, ports| ports[0]), None);
    let leaf = routes(&plan, &down(&plan, &[Element::Switch(1)]));
    assert!((0..plan.switches.len()).all(|switch| leaf.ports(switch, 4).is_empty()));
    let both = routes(&plan, &down(&plan, &[Element::Switch(3), Element::Switch(4)]));
    assert_eq!(both.ports(0, 3), [3]);
    assert!(both.ports(0, 4).is_empty());
}

#[test]
fn large_networks_take_little_memory() {
    let plan = fat_tree(26);
    assert_eq!(plan.hosts.len(), 4_394);
    let routes = routes(&plan, &Alive::all(&plan));
    assert!(routes.memory() < 250_000, "{}", routes.memory());
    assert!(routes.pool.len() < 100, "{}", routes.pool.len());
}

/// The ports to a host by a search of its own: those whose far ends are nearer.
fn searched(plan: &NetworkPlan, alive: &Alive, switch: usize, host: u32) -> Vec<u16> {
    let ports = Ports::new(plan);
    let works = |port: &Port| {
        let there = (port.peer as usize).checked_sub(plan.hosts.len());
        alive.cable(port.link.cable) && there.is_none_or(|there| alive.switch(there))
    };
    let mut distances = vec![u32::MAX; plan.nodes()];
    distances[host as usize] = 0;
    let mut queue = VecDeque::from([host]);
    while let Some(node) = queue.pop_front() {
        let passes = node == host || !plan.is_host(node);
        for port in ports.of(node).iter().filter(|port| passes && works(port)) {
            if distances[port.peer as usize] == u32::MAX {
                distances[port.peer as usize] = distances[node as usize] + 1;
                queue.push_back(port.peer);
            }
        }
    }
    let here = distances[plan.switch_node(switch) as usize];
    if here == u32::MAX || !alive.switch(switch) {
        return Vec::new();
    }
    let nearer = |port: &Port| works(port) && distances[port.peer as usize] == here - 1;
    let all = ports.of(plan.switch_node(switch)).iter().enumerate();
    all.filter(|(_, port)| nearer(port)).map(|(number, _)| number as u16).collect()
}

/// A network of so many switches with these cables between them, and a host for each number at that switch.
fn graph(switches: usize, between: &[(usize, usize)], hosts: &[usize]) -> NetworkPlan {
    let mut plan = leaf_spine();
    let cable = plan.cables[0];
    let node = |switch: usize| (hosts.len() + switch % switches) as u32;
    plan.hosts = (0..hosts.len()).map(|_| plan.hosts[0].clone()).collect();
    plan.switches = (0..switches).map(|_| plan.switches[0].clone()).collect();
    let of_hosts = hosts.iter().enumerate().map(|(host, switch)| (host as u32, node(*switch)));
    let others = between.iter().map(|(a, b)| (node(*a), node(*b))).filter(|(a, b)| a != b);
    plan.cables = of_hosts.chain(others).map(|(a, b)| CablePlan { a, b, ..cable }).collect();
    plan
}

proptest! {
    #[test]
    fn classes_give_the_ports_of_a_search_for_each_host(
        switches in 1usize..8,
        between in proptest::collection::vec((0usize..8, 0usize..8), 0..24),
        hosts in proptest::collection::vec(0usize..8, 1..10),
        dead_cables in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6),
        dead_switches in proptest::collection::vec(0usize..8, 0..2),
    ) {
        let plan = graph(switches, &between, &hosts);
        let cables = dead_cables.iter().map(|cable| Element::Cable(cable.index(plan.cables.len())));
        let dead: Vec<Element> = cables.chain(dead_switches.iter().map(|switch| Element::Switch(switch % switches))).collect();
        let alive = down(&plan, &dead);
        let (ports, routes) = (Ports::new(&plan), routes(&plan, &alive));
        let addresses = Addresses::new(&plan, &ports);
        for switch in 0..switches {
            let next_hops = routes.of_switch(switch);
            for host in 0..plan.hosts.len() as u32 {
                let expected = searched(&plan, &alive, switch, host);
                prop_assert_eq!(routes.ports(switch, host), &expected[..], "switch {}, host {}", switch, host);
                let to = addresses.of_hosts[host as usize];
                let one = |number: usize| next_hops.port(to, |count| {
                    assert_eq!(count, expected.len());
                    number
                });
                let all: Vec<u16> = (0..expected.len()).filter_map(one).map(|port| port as u16).collect();
                prop_assert_eq!(&all[..], &expected[..], "switch {}, host {}", switch, host);
                if expected.is_empty() {
                    prop_assert_eq!(one(0), None);
                }
            }
        }
    }
}

/// The chi-square statistic of counts that should be equal.
fn chi_square(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
}

/// A bound that a chi-square variable exceeds about once in 10,000 times (Wilson and Hilferty).
fn bound(freedom: usize) -> f64 {
    let n = freedom as f64;
    n * (1.0 - 2.0 / (9.0 * n) + 3.72 * (2.0 / (9.0 * n)).sqrt()).powi(3)
}

/// Numbers that look random.
fn scrambled(number: u32) -> u32 {
    (u64::from(number).wrapping_mul(0x2545_f491_4f6c_dd1d) >> 29) as u32
}

#[test]
fn choices_are_uniform() {
    for hash in [|flow| flow, scrambled] {
        for count in [2usize, 3, 4, 7, 8, 13, 16, 64] {
            for salt in [0, 1, 0xdead_beef] {
                let mut counts = vec![0; count];
                (0..100_000).for_each(|flow| counts[choose(hash(flow), salt, count)] += 1);
                assert!(chi_square(&counts) < bound(count - 1), "{count} {salt}: {counts:?}");
            }
        }
    }
}

#[test]
fn switches_in_a_row_choose_independently() {
    // Even salts that differ in one bit alone.
    for (one, two) in [(0, 1), (2, 3), (0, 1 << 31), (0x1234_5678, 0x9abc_def0), (7, 8)] {
        for count in [2usize, 4, 8] {
            let mut pairs = vec![0; count * count];
            (0..100_000u32).for_each(|flow| pairs[choose(flow, one, count) * count + choose(flow, two, count)] += 1);
            assert!(chi_square(&pairs) < bound(count * count - 1), "{one} {two} {count}: {pairs:?}");
        }
    }
}

#[test]
fn the_flows_of_one_uplink_use_all_uplinks_of_the_next_switch() {
    let mut second = BTreeSet::new();
    for flow in (0..1_000).filter(|flow| choose(*flow, 11, 13) == 5) {
        second.insert(choose(flow, 12, 13));
    }
    assert_eq!(second.len(), 13);
}
