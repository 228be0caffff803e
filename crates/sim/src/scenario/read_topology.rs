//! The `[topology]` table.

use crate::network::{NetworkPlan, SwitchPlan};
use crate::topology::{Dumbbell, FatTree, Graph, GraphHosts, GraphLink, LeafSpine, Single, Topology, Wire};
use forebay_settings::{Diagnostic, Table, Value};
use forebay_tm::{Duration, Rate};

/// What a topology is, in one line.
pub(super) fn about(kind: &str) -> &'static str {
    match kind {
        "single" => "hosts around one switch",
        "dumbbell" => "two switches with hosts on either side of one link",
        "leaf-spine" => "leaves with hosts, each with links to all spines",
        "fat-tree" => "three tiers: edge, aggregation and core, by the number of ports k",
        "graph" => "switches, hosts and links by name, one by one",
        _ => "",
    }
}

/// The keys of a topology, with `kind`.
pub(super) fn keys_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "single" => &["kind", "hosts", "rate", "delay"],
        "dumbbell" => &["kind", "left", "right", "rate", "delay", "bottleneck_rate", "bottleneck_delay"],
        "leaf-spine" => &[
            "kind",
            "leaves",
            "spines",
            "hosts_per_leaf",
            "parallel",
            "rate",
            "delay",
            "host_rate",
            "host_delay",
            "uplink_rate",
            "uplink_delay",
        ],
        "fat-tree" => &[
            "kind",
            "k",
            "oversubscription",
            "rate",
            "delay",
            "host_rate",
            "host_delay",
            "aggregation_rate",
            "aggregation_delay",
            "core_rate",
            "core_delay",
        ],
        _ => &["kind", "switch", "host", "hosts", "link", "rate", "delay"],
    }
}

/// Reads the table, and makes the network.
pub(super) fn read(root: &Table<'_>) -> Result<(Topology, NetworkPlan), Diagnostic> {
    let Some(table) = root.table("topology")? else {
        return Err(Diagnostic {
            problem: "this table is missing".into(),
            remedy: "add the line [topology], and below it kind = \"leaf-spine\" and its keys".into(),
            ..root.missing("topology", "")
        });
    };
    let words: Vec<(&str, &str)> = Topology::NAMES.iter().map(|name| (*name, *name)).collect();
    let kind = table.need("kind", "kind = \"leaf-spine\"")?.word(&words)?;
    let elsewhere = |key: &str| Topology::NAMES.iter().any(|kind| keys_of(kind).contains(&key));
    table.allow(keys_of(kind), elsewhere, kind)?;
    let topology = match kind {
        "single" => Topology::Single(Single {
            hosts: table.need("hosts", "hosts = 8")?.number()?,
            wire: wire(&table, "rate", "delay", None)?,
        }),
        "dumbbell" => Topology::Dumbbell(Dumbbell {
            left: table.need("left", "left = 4")?.number()?,
            right: table.need("right", "right = 4")?.number()?,
            edge: wire(&table, "rate", "delay", None)?,
            bottleneck: Wire {
                rate: rate(&table.need("bottleneck_rate", "bottleneck_rate = \"10Gbps\"")?)?,
                delay: delay_of(&table, "bottleneck_delay", Some("delay"))?,
            },
        }),
        "leaf-spine" => Topology::LeafSpine(LeafSpine {
            leaves: table.need("leaves", "leaves = 4")?.number()?,
            spines: table.need("spines", "spines = 2")?.number()?,
            hosts_per_leaf: table.need("hosts_per_leaf", "hosts_per_leaf = 16")?.number()?,
            parallel: table.get("parallel").map_or(Ok(1), |value| value.number())?,
            host: wire(&table, "host_rate", "host_delay", Some(("rate", "delay")))?,
            uplink: wire(&table, "uplink_rate", "uplink_delay", Some(("rate", "delay")))?,
        }),
        "fat-tree" => {
            let tier = |rate, delay| wire(&table, rate, delay, Some(("rate", "delay")));
            Topology::FatTree(FatTree {
                k: table.need("k", "k = 8")?.number()?,
                oversubscription: table.get("oversubscription").map_or(Ok(1), |value| value.number())?,
                host: tier("host_rate", "host_delay")?,
                aggregation: tier("aggregation_rate", "aggregation_delay")?,
                core: tier("core_rate", "core_delay")?,
            })
        }
        _ => Topology::Graph(graph(&table)?),
    };
    // A key that every tier overrides would do nothing.
    for (common, own) in [("rate", "_rate"), ("delay", "_delay")] {
        let tiers: Vec<&&str> = keys_of(kind).iter().filter(|key| key.ends_with(own)).collect();
        let all_given = matches!(kind, "leaf-spine" | "fat-tree") && tiers.iter().all(|key| table.has(key));
        if let (true, Some(value)) = (all_given, table.get(common)) {
            return Err(value.error("every tier has its own, so this does nothing", "remove it"));
        }
    }
    let plan = topology.plan().map_err(|error| match error.key.as_str() {
        "" => table.error(error.problem, error.remedy),
        key => table.locate(key, error.problem, error.remedy),
    })?;
    Ok((topology, plan))
}

/// A rate that is not zero.
pub(super) fn rate(value: &Value<'_>) -> Result<Rate, Diagnostic> {
    let rate = value.rate()?;
    if rate.bps() == 0 {
        return Err(value.error("nothing would ever arrive at this rate", Rate::FORMS));
    }
    Ok(rate)
}

/// A delay that light could need on earth, not a slip of the unit.
pub(super) fn delay(value: &Value<'_>) -> Result<Duration, Diagnostic> {
    let delay = value.duration()?;
    if delay > Duration::from_us(1_000_000) {
        return Err(value.error(format!("a delay of {delay} is too long"), "give 1s at most, such as \"1us\""));
    }
    Ok(delay)
}

fn delay_of(table: &Table<'_>, key: &str, general: Option<&str>) -> Result<Duration, Diagnostic> {
    match table.get(key).or_else(|| general.and_then(|general| table.get(general))) {
        Some(value) => delay(&value),
        None => Err(table.missing(key, &format!("{key} = \"1us\""))),
    }
}

/// A rate and a delay, or those that are given for all.
fn wire(table: &Table<'_>, rate_key: &str, delay_key: &str, general: Option<(&str, &str)>) -> Result<Wire, Diagnostic> {
    let value = table.get(rate_key).or_else(|| general.and_then(|(general, _)| table.get(general)));
    let value = value.ok_or_else(|| table.missing(rate_key, &format!("{rate_key} = \"100Gbps\"")))?;
    Ok(Wire { rate: rate(&value)?, delay: delay_of(table, delay_key, general.map(|(_, general)| general))? })
}

fn graph(table: &Table<'_>) -> Result<Graph, Diagnostic> {
    // A rate and a delay may be given once for all, in [topology].
    let wire = |element: &Table<'_>| -> Result<Wire, Diagnostic> {
        let value = element.get("rate").or_else(|| table.get("rate"));
        let value = value.ok_or_else(|| element.missing("rate", "rate = \"100Gbps\""))?;
        let delay_value = element.get("delay").or_else(|| table.get("delay"));
        let delay_value = delay_value.ok_or_else(|| element.missing("delay", "delay = \"1us\""))?;
        Ok(Wire { rate: rate(&value)?, delay: delay(&delay_value)? })
    };
    let name = |element: &Table<'_>, key: &str, example: &str| -> Result<String, Diagnostic> {
        Ok(element.need(key, example)?.text()?.to_owned())
    };
    let mut graph = Graph::default();
    for element in table.tables("switch")? {
        element.allow(&["name", "tier"], |_| false, "")?;
        let tier = element.get("tier").map_or(Ok("switch"), |value| value.text())?.to_owned();
        graph.switches.push(SwitchPlan { name: name(&element, "name", "name = \"a\"")?, tier });
    }
    for element in table.tables("host")? {
        element.allow(&["name"], |_| false, "")?;
        graph.named_hosts.push(name(&element, "name", "name = \"server\"")?);
    }
    for element in table.tables("hosts")? {
        element.allow(&["switch", "count", "rate", "delay"], |_| false, "")?;
        graph.hosts.push(GraphHosts {
            switch: name(&element, "switch", "switch = \"a\"")?,
            count: element.need("count", "count = 8")?.number()?,
            wire: wire(&element)?,
        });
    }
    for element in table.tables("link")? {
        element.allow(&["from", "to", "rate", "delay", "count"], |_| false, "")?;
        graph.links.push(GraphLink {
            from: name(&element, "from", "from = \"a\"")?,
            to: name(&element, "to", "to = \"b\"")?,
            wire: wire(&element)?,
            count: element.get("count").map_or(Ok(1), |value| value.number())?,
        });
    }
    Ok(graph)
}
