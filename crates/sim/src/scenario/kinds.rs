//! What can be named in a scenario: the kinds that the readers know, for people who look for one.

use super::read_topology;
use crate::topology::{self, TopologyKind};
use crate::transport::{Stack, TransportKind};
use crate::workload::{self, BUNDLED, SizeDistribution, WorkloadEntry};
use forebay_settings::Kind;
use forebay_tm::described::Choice as _;

/// The topologies.
pub fn topologies() -> Vec<Kind> {
    let kind = |kind: TopologyKind| Kind::new(kind.name, kind.about, &read_topology::keys_of(kind));
    topology::kinds().into_iter().map(kind).collect()
}

/// The transports, with the keys of Linux's stack where operating systems have them.
pub fn transports() -> Vec<Kind> {
    let kind = |kind: TransportKind| {
        let keys = [kind.own_keys(Stack::Linux), kind.common_keys(Stack::Linux)].concat();
        Kind::new(kind.name(), kind.about(), &keys)
    };
    TransportKind::names().into_iter().filter_map(TransportKind::named).map(kind).collect()
}

/// The workloads.
pub fn workloads() -> Vec<Kind> {
    let kind = |entry: &WorkloadEntry| Kind::new(entry.name, entry.about, &entry.keys());
    workload::entries().iter().map(kind).collect()
}

/// The distributions of flow sizes that come with Forebay.
pub fn distributions() -> Vec<Kind> {
    let kind = |(name, text): &(&'static str, &str)| {
        let mean = SizeDistribution::bundled(name).map_or(0.0, |sizes| sizes.mean());
        // The first line ends with what it is, behind where it is from.
        let source = text.lines().next().and_then(|line| line.split_once("source: ")).map_or("", |(_, source)| source);
        let what = source.split_once("; ").map_or(source, |(_, what)| what);
        Kind::new(name, format!("mean {:.1} KB; {what}", mean / 1e3), &[])
    };
    BUNDLED.iter().map(kind).collect()
}
