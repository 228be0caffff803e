//! What a page says of a run's scenario: facts in words, the network, failures.

use forebay_report::{LinkView, Meaning, NetworkView, NodeView};
use forebay_results::{RunDirectory, Table};
use forebay_settings::choices;
use forebay_sim::scenario::{Element, Scenario};
use forebay_tm::admit::PolicyConfig;
use forebay_tm::described::Choice;
use std::collections::{BTreeMap, HashMap};

/// A table of a resolved scenario: its head, and its keys with their values.
type Section = (String, Vec<(String, String)>);

/// The tables of a resolved scenario in order. It is written by us: a line is a head, or a key and its value.
fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix('[') {
            sections.push((head.trim_matches(['[', ']']).to_owned(), Vec::new()));
        } else if let (Some((key, value)), Some((_, keys))) = (line.split_once(" = "), sections.last_mut()) {
            keys.push((key.to_owned(), value.trim_matches('"').to_owned()));
        }
    }
    sections
}

fn value<'a>(section: &'a Section, key: &str) -> Option<&'a str> {
    section.1.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

/// The settings of the last part of a head, such as `policy`, for all switches and for those that have others.
fn settings(sections: &[Section], last: &str, with_keys: bool) -> Option<String> {
    let found = sections.iter().filter(|(head, _)| head == last || head.ends_with(&format!(".{last}")));
    let told = found.filter(|(head, _)| !head.starts_with("nic.")).filter_map(|section| {
        let kind = value(section, "kind")?;
        let keys = section.1.iter().filter(|(key, _)| with_keys && key != "kind");
        let keys: Vec<String> = keys.map(|(key, value)| format!("{key}={value}")).collect();
        let of = section.0.strip_suffix(last).unwrap_or_default().trim_end_matches('.');
        let of = if of.is_empty() { String::new() } else { format!("{of}: ") };
        Some(format!("{of}{kind} {}", keys.join(" ")).trim_end().to_owned())
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// What is said of a workload: its name, and how much it asks for.
fn workload(section: &Section) -> String {
    let kind = value(section, "kind").unwrap_or_default();
    let name = value(section, "name").unwrap_or(kind);
    let amounts = ["load", "rate", "sizes", "fan_in", "bytes", "transport"].iter();
    let amounts: Vec<String> = amounts.filter_map(|key| Some(format!("{key} {}", value(section, key)?))).collect();
    let name = if name == kind { kind.to_owned() } else { format!("{name} ({kind})") };
    if amounts.is_empty() { name } else { format!("{name}: {}", amounts.join(", ")) }
}

/// The scenario in words.
pub(crate) fn facts(run: &RunDirectory) -> Vec<(String, String)> {
    let Ok(text) = run.scenario_text() else { return Vec::new() };
    let sections = sections(&text);
    let all = |head: &str, said: fn(&Section) -> String| {
        let said: Vec<String> = sections.iter().filter(|(known, _)| known == head).map(said).collect();
        (!said.is_empty()).then(|| said.join("; "))
    };
    let switch = sections.iter().find(|(head, _)| head == "switch");
    let buffer = switch.and_then(|switch| {
        let whole = value(switch, "buffer").map(str::to_owned);
        whole.or_else(|| Some(format!("{} per port and Gb/s", value(switch, "buffer_per_port_per_gbps")?)))
    });
    let transports = sections.iter().filter_map(|section| {
        let name = section.0.strip_prefix("transport.")?.trim_matches('"');
        let kind = value(section, "kind")?;
        Some(if name == kind { kind.to_owned() } else { format!("{name} ({kind})") })
    });
    let transports: Vec<String> = transports.collect();
    [
        ("policy", settings(&sections, "policy", true)),
        ("buffer", buffer),
        ("scheduler", settings(&sections, "scheduler", false)),
        ("transports", (!transports.is_empty()).then(|| transports.join(", "))),
        ("workloads", all("workload", workload)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

/// What the settings of policies mean.
pub(crate) fn meanings() -> Vec<Meaning> {
    let of_policy = |mut policy: PolicyConfig| {
        let kind = policy.name();
        let fields = policy.settings().map(|settings| settings.fields()).unwrap_or_default();
        fields.iter().map(move |field| Meaning {
            fact: "policy".to_owned(),
            kind: kind.to_owned(),
            key: field.key.to_owned(),
            meaning: field.about.to_owned(),
        })
    };
    choices().into_iter().flat_map(of_policy).collect()
}

/// Whether a switch fails in a run, or has to be taken to do so.
pub(crate) fn switches_fail(run: &RunDirectory) -> bool {
    let Ok(text) = run.scenario_text() else { return true };
    sections(&text).iter().any(|section| section.0 == "failure" && value(section, "switch").is_some())
}

/// Failures and repairs: the time in seconds, and what.
pub(crate) fn changes(scenario: &Scenario) -> Vec<(f64, String)> {
    let network = &scenario.network;
    let node = |node: u32| {
        let hosts = network.hosts.len();
        match network.hosts.get(node as usize) {
            Some(name) => name.clone(),
            None => network.switches[node as usize - hosts].name.clone(),
        }
    };
    let told = |change: &forebay_sim::scenario::Change| {
        let what = match change.element {
            Element::Cable(cable) => {
                format!("{} \u{2013} {}", node(network.cables[cable].a), node(network.cables[cable].b))
            }
            Element::Switch(switch) => network.switches[switch].name.clone(),
        };
        (change.at.ps() as f64 / 1e12, format!("{what} {}", if change.up { "is back" } else { "fails" }))
    };
    scenario.changes.iter().map(told).collect()
}

/// How far each node is from the nearest host, in cables.
fn levels(nodes: usize, hosts: &[usize], links: &[(usize, usize)]) -> Vec<u32> {
    let mut levels = vec![u32::MAX; nodes];
    let mut edge = hosts.to_vec();
    let mut level = 0;
    while !edge.is_empty() {
        edge.iter().for_each(|node| levels[*node] = level);
        level += 1;
        let next = links.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).filter(|(from, _)| edge.contains(from));
        let mut next: Vec<usize> = next.map(|(_, to)| to).filter(|to| levels[*to] == u32::MAX).collect();
        next.sort_unstable();
        next.dedup();
        edge = next;
    }
    levels
}

/// A rate as people write it.
fn rate(bps: f64) -> String {
    if bps >= 1e9 { format!("{} Gb/s", bps / 1e9) } else { format!("{} Mb/s", bps / 1e6) }
}

/// The network of a run, as its table has it.
pub(crate) fn network(topology: &Table, scenario: Option<&Scenario>) -> NetworkView {
    let text = |name: &str, row| topology.column(name).and_then(|column| column.text(row)).unwrap_or_default();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut nodes: Vec<NodeView> = Vec::new();
    let mut tiers: BTreeMap<&str, usize> = BTreeMap::new();
    for row in 0..topology.rows() {
        let name = text("node", row);
        numbers.entry(name).or_insert_with(|| {
            *tiers.entry(text("tier", row)).or_default() += 1;
            let is_host = topology.column("is_host").and_then(|column| column.bool(row)).unwrap_or_default();
            nodes.push(NodeView { name: name.to_owned(), is_host, ..NodeView::default() });
            nodes.len() - 1
        });
    }
    let mut links = Vec::new();
    let mut rates: Vec<f64> = Vec::new();
    for row in 0..topology.rows() {
        let (a, b) = (numbers[text("node", row)], numbers.get(text("peer", row)).copied().unwrap_or_default());
        let rate_bps = topology.column("rate_bps").and_then(|column| column.number(row)).unwrap_or_default();
        if !rates.contains(&rate_bps) {
            rates.push(rate_bps);
        }
        if a < b {
            links.push(LinkView { a, b, rate_bps, changes: Vec::new() });
        }
    }
    let ends: Vec<(usize, usize)> = links.iter().map(|link| (link.a, link.b)).collect();
    let hosts: Vec<usize> = (0..nodes.len()).filter(|node| nodes[*node].is_host).collect();
    for (node, level) in nodes.iter_mut().zip(levels(ends.len().max(numbers.len()), &hosts, &ends)) {
        node.level = level;
    }
    for change in scenario.iter().flat_map(|scenario| &scenario.changes) {
        let told = (change.at.ps() as f64 / 1e12, change.up);
        match change.element {
            Element::Switch(switch) => {
                let node = hosts.len() + switch;
                nodes.iter_mut().skip(node).take(1).for_each(|node| node.changes.push(told));
            }
            Element::Cable(cable) => {
                let plan = scenario.map(|scenario| &scenario.network.cables[cable]);
                let is_it = |link: &&mut LinkView| {
                    plan.is_some_and(|plan| {
                        (plan.a.min(plan.b) as usize, plan.a.max(plan.b) as usize) == (link.a, link.b)
                    })
                };
                links.iter_mut().filter(is_it).for_each(|link| link.changes.push(told));
            }
        }
    }
    let changes = nodes.iter_mut().map(|node| &mut node.changes).chain(links.iter_mut().map(|link| &mut link.changes));
    changes.for_each(|changes| changes.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let tiers: Vec<String> = tiers.iter().map(|(tier, count)| format!("{count} {tier}")).collect();
    rates.sort_by(f64::total_cmp);
    let rates: Vec<String> = rates.into_iter().map(rate).collect();
    NetworkView { summary: format!("Nodes: {}; links of {}", tiers.join(", "), rates.join(", ")), nodes, links }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"x\"\n\n[switch]\nbuffer = \"1MB\"\n\n[policy]\nkind = \"dt\"\nalpha = [8.0, 1.0]\n\n[tier.\"spine\".policy]\nkind = \"cs\"\n\n\
                        [transport.\"fast\"]\nkind = \"dctcp\"\n\n[[workload]]\nname = \"web\"\nkind = \"poisson\"\nload = 0.4\n";

    #[test]
    fn settings_are_told_in_words() {
        let sections = sections(TEXT);
        assert_eq!(settings(&sections, "policy", true).unwrap(), "dt alpha=[8.0, 1.0]; tier.\"spine\": cs");
        assert_eq!(workload(sections.last().unwrap()), "web (poisson): load 0.4");
        assert_eq!(settings(&sections, "scheduler", false), None);
    }

    #[test]
    fn nodes_are_as_high_as_they_are_far_from_hosts() {
        assert_eq!(levels(5, &[0, 1], &[(0, 2), (1, 3), (2, 4), (3, 4)]), [0, 0, 1, 1, 2]);
    }
}
