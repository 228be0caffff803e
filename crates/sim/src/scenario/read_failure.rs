//! The `[[failure]]` tables: what fails when, and when it is repaired.

use super::{Change, Element};
use crate::network::{NetworkPlan, NodeId};
use forebay_settings::{Diagnostic, Table, Value, nearest};
use forebay_tm::Instant;

/// The node of a name.
fn node(plan: &NetworkPlan, value: &Value<'_>, switches_only: bool) -> Result<NodeId, Diagnostic> {
    let name = value.text()?;
    let first = if switches_only { plan.hosts.len() } else { 0 };
    let mut nodes = (first..plan.nodes()).map(|node| node as NodeId);
    nodes.clone().find(|node| plan.name(*node) == name).ok_or_else(|| {
        let what = if switches_only { "switch" } else { "host or switch" };
        let known: Vec<&str> = nodes.by_ref().map(|node| plan.name(node)).collect();
        let remedy = match nearest(name, &known) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("name a {what} of the topology, such as \"{}\"", plan.name(plan.switch_node(0))),
        };
        value.error(format!("the topology has no {what} \"{name}\""), remedy)
    })
}

/// The index of a switch by its name.
pub(super) fn switch(plan: &NetworkPlan, value: &Value<'_>) -> Result<usize, Diagnostic> {
    node(plan, value, true).map(|node| node as usize - plan.hosts.len())
}

fn cable(plan: &NetworkPlan, table: &Table<'_>, value: &Value<'_>) -> Result<usize, Diagnostic> {
    let ends = value.list().unwrap_or_default();
    let [a, b] = ends.as_slice() else {
        return Err(value.error("a link has two ends", "give a list of two names, such as [\"leaf0\", \"spine1\"]"));
    };
    let (a, b) = (node(plan, a, false)?, node(plan, b, false)?);
    let between = |cable: &crate::network::CablePlan| (cable.a, cable.b) == (a, b) || (cable.a, cable.b) == (b, a);
    let cables: Vec<usize> = (0..plan.cables.len()).filter(|index| between(&plan.cables[*index])).collect();
    if cables.is_empty() {
        let ends = plan.cables.iter().filter(|cable| cable.a == a || cable.b == a);
        let peers = ends.map(|cable| if cable.a == a { cable.b } else { cable.a });
        // Links between switches fail more often in scenarios than those of hosts.
        let remedy = peers.min_by_key(|peer| plan.is_host(*peer)).map_or_else(String::new, |peer| {
            format!("name two nodes with a link, such as [\"{}\", \"{}\"]", plan.name(a), plan.name(peer))
        });
        let problem = format!("there is no link between {} and {}", plan.name(a), plan.name(b));
        return Err(value.error(problem, remedy));
    }
    let Some(index) = table.get("index") else { return Ok(cables[0]) };
    cables.get(index.number::<usize>()?).copied().ok_or_else(|| {
        let (count, verb) = (cables.len(), if cables.len() == 1 { "is" } else { "are" });
        index.error(format!("there {verb} {count} such links"), format!("give 0 to {}", count - 1))
    })
}

/// Reads all failures; the changes are in order of time, repairs before failures of the same time.
pub(super) fn read(root: &Table<'_>, plan: &NetworkPlan) -> Result<Vec<Change>, Diagnostic> {
    let mut changes: Vec<Change> = Vec::new();
    // What fails, from when, until when.
    let mut outages: Vec<(Element, Instant, Instant)> = Vec::new();
    for table in root.tables("failure")? {
        table.allow(&["at", "until", "link", "index", "switch"], |_| false, "")?;
        let at = Instant::from_ps(table.need("at", "at = \"5ms\"")?.duration()?.ps());
        let element = match (table.get("link"), table.get("switch")) {
            (Some(link), None) => Element::Cable(cable(plan, &table, &link)?),
            (None, Some(value)) => match table.get("index") {
                Some(index) => return Err(index.error("a switch has no index", "remove it, or give a link")),
                None => Element::Switch(switch(plan, &value)?),
            },
            (Some(_), Some(value)) => {
                return Err(value.error("a link fails here already", "write another [[failure]] for the switch"));
            }
            (None, None) => return Err(table.missing("link", "link = [\"leaf0\", \"spine1\"], or switch = \"leaf0\"")),
        };
        let until = match table.get("until") {
            None => Instant::NEVER,
            Some(value) => match Instant::from_ps(value.duration()?.ps()) {
                until if until > at => until,
                until => {
                    let problem = format!("the repair, at {until}, does not come after the failure, at {at}");
                    return Err(value.error(problem, "give a later time"));
                }
            },
        };
        if outages.iter().any(|(other, from, to)| *other == element && at < *to && *from < until) {
            return Err(table.key_error("at", "this has failed already at that time", "give a time after its repair"));
        }
        outages.push((element, at, until));
        changes.push(Change { at, element, up: false });
        if until != Instant::NEVER {
            changes.push(Change { at: until, element, up: true });
        }
    }
    changes.sort_by_key(|change| (change.at, !change.up));
    Ok(changes)
}
