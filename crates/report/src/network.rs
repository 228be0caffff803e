//! The network as a drawing: hosts below, tiers of switches above each other.

use crate::html::escape;
use crate::{NetworkView, number};
use std::fmt::Write as _;

/// Nodes of a row that are drawn; more become one that says how many there are.
const MOST_IN_ROW: usize = 96;
const WIDTH: f64 = 960.0;
const ROW: f64 = 74.0;
/// Failures whose times stand in the drawing; all of them stand below it, up to the second number.
const MOST_TIMES: usize = 4;
const MOST_TOLD: usize = 24;

/// The class of what fails.
fn class_of(changes: &[(f64, bool)]) -> &'static str {
    if changes.is_empty() { "" } else { " fails" }
}

/// Where each node is; `None` if it is not drawn.
fn places(network: &NetworkView) -> (Vec<Option<(f64, f64)>>, f64) {
    let mut tiers: Vec<u32> = network.nodes.iter().map(|node| node.level).collect();
    tiers.sort_unstable();
    tiers.dedup();
    let height = ROW * tiers.len() as f64;
    let mut places = vec![None; network.nodes.len()];
    for (row, level) in tiers.iter().rev().enumerate() {
        let of_row: Vec<usize> = (0..network.nodes.len()).filter(|node| network.nodes[*node].level == *level).collect();
        let shown = of_row.len().min(MOST_IN_ROW);
        for (place, node) in of_row.iter().take(shown).enumerate() {
            let x = WIDTH * (place as f64 + 0.5) / shown as f64;
            places[*node] = Some((x, ROW * (row as f64 + 0.5)));
        }
    }
    (places, height)
}

/// Failures and repairs in words: when it fails and when it is back.
fn told(changes: &[(f64, bool)]) -> String {
    let time = |seconds: f64| number::time(seconds);
    let one = |(at, up): &(f64, bool)| format!("{} at {}", if *up { "is back" } else { "fails" }, time(*at));
    changes.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What fails, and when, one sentence for each.
fn failures(network: &NetworkView) -> Vec<String> {
    let name = |node: usize| network.nodes.get(node).map_or("", |node| &node.name);
    let nodes = network.nodes.iter().map(|node| (node.name.clone(), &node.changes));
    let links = network.links.iter().map(|link| (format!("{} \u{2013} {}", name(link.a), name(link.b)), &link.changes));
    let fails = nodes.chain(links).filter(|(_, changes)| !changes.is_empty());
    fails.map(|(name, changes)| format!("{name} {}.", told(changes))).collect()
}

/// The drawing; empty if there is nothing to draw.
pub(crate) fn drawing(network: &NetworkView) -> String {
    if network.nodes.is_empty() {
        return String::new();
    }
    let (places, height) = places(network);
    let mut text = format!(
        "<svg class=\"network\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"The network: {}\">",
        escape(&network.summary)
    );
    let fastest = network.links.iter().map(|link| link.rate_bps).fold(1.0, f64::max);
    for link in &network.links {
        let (Some(Some(a)), Some(Some(b))) = (places.get(link.a), places.get(link.b)) else { continue };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "<path class=\"cable{}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke-width=\"{:.1}\"/>",
            class_of(&link.changes),
            a.0,
            a.1,
            b.0,
            b.1,
            1.0 + 1.5 * link.rate_bps / fastest
        );
    }
    let in_row = |level: u32| network.nodes.iter().filter(|node| node.level == level).count();
    for (node, place) in network.nodes.iter().zip(&places) {
        let Some((x, y)) = place else { continue };
        let (size, class) = if node.is_host { (5.0, "host") } else { (9.0, "switch") };
        let _ = write!(
            text,
            "<rect class=\"{class}{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" rx=\"2\"><title>{}</title></rect>",
            class_of(&node.changes),
            x - size,
            y - size,
            2.0 * size,
            2.0 * size,
            escape(&node.name)
        );
        if in_row(node.level) <= 16 {
            let below = if node.is_host { 18.0 } else { -14.0 };
            let _ = write!(text, "<text x=\"{x:.1}\" y=\"{:.1}\">{}</text>", y + below, escape(&node.name));
        }
    }
    text += &times(network, &places);
    text + "</svg>"
}

/// When cables and nodes fail, beside the first few of them.
fn times(network: &NetworkView, places: &[Option<(f64, f64)>]) -> String {
    let place = |node: usize| places.get(node).copied().flatten();
    let cables =
        network.links.iter().filter(|link| !link.changes.is_empty()).enumerate().filter_map(|(number, link)| {
            let ((ax, ay), (bx, by)) = (place(link.a)?, place(link.b)?);
            // Cables cross in the middle: words beside neighbours stand at other heights.
            let share = [0.5, 0.35, 0.65][number % 3];
            Some((ax + share * (bx - ax), ay + share * (by - ay), 7.0, &link.changes))
        });
    let nodes = (0..network.nodes.len()).map(|node| (node, &network.nodes[node].changes));
    let nodes = nodes.filter(|(_, changes)| !changes.is_empty());
    let nodes = nodes.filter_map(|(node, changes)| place(node).map(|(x, y)| (x, y, 14.0, changes)));
    let mut text = String::new();
    for (x, y, gap, changes) in nodes.chain(cables).take(MOST_TIMES) {
        let (x, anchor) = if x < WIDTH / 2.0 { (x + gap, "start") } else { (x - gap, "end") };
        let _ = write!(
            text,
            "<text class=\"time\" x=\"{x:.1}\" y=\"{:.1}\" style=\"text-anchor:{anchor}\">{}</text>",
            y + 4.0,
            told(changes)
        );
    }
    text
}

/// The scenario as a section: the drawing, and what it says in words.
pub(crate) fn section(network: &NetworkView) -> String {
    let drawing = drawing(network);
    if drawing.is_empty() {
        return drawing;
    }
    let left_out = network.nodes.iter().map(|node| node.level).collect::<std::collections::BTreeSet<_>>().into_iter();
    let crowded = left_out
        .map(|level| network.nodes.iter().filter(|node| node.level == level).count())
        .filter(|count| *count > MOST_IN_ROW);
    let more: usize = crowded.map(|count| count - MOST_IN_ROW).sum();
    let more = if more > 0 { format!(" {more} more nodes are not drawn.") } else { String::new() };
    let failures = failures(network);
    let mut said = failures.iter().take(MOST_TOLD).map(|failure| format!(" {}", escape(failure))).collect::<String>();
    if failures.len() > MOST_TOLD {
        said += &format!(" And {} more failures.", failures.len() - MOST_TOLD);
    }
    if !failures.is_empty() {
        said = format!("<br><span class=\"failures\">{}</span>", said.trim_start());
    }
    format!("<div class=\"drawing\">{drawing}</div><p class=\"note\">{}.{more}{said}</p>", escape(&network.summary))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkView, NodeView};

    #[test]
    fn failures_stand_in_the_drawing_and_below_it() {
        let node =
            |name: &str, level| NodeView { name: name.into(), level, is_host: level == 0, ..NodeView::default() };
        let changes = vec![(0.002, false), (0.003, true)];
        let network = NetworkView {
            summary: "Two hosts".into(),
            nodes: vec![node("a", 0), node("b", 0), NodeView { changes: vec![(0.5, false)], ..node("top", 1) }],
            links: vec![
                LinkView { a: 0, b: 2, rate_bps: 1e9, changes },
                LinkView { a: 1, b: 2, rate_bps: 1e9, changes: Vec::new() },
            ],
        };
        let section = section(&network);
        let times: Vec<&str> =
            section.split("class=\"time\"").skip(1).map(|rest| rest.split(['>', '<']).nth(1).unwrap()).collect();
        assert_eq!(times, ["fails at 500 ms", "fails at 2.00 ms, is back at 3.00 ms"]);
        assert!(
            section.contains(">top fails at 500 ms. a \u{2013} top fails at 2.00 ms, is back at 3.00 ms.</span>"),
            "{section}"
        );
        assert_eq!(section.matches("fails\"").count(), 2, "one cable and one node");
        let calm = NetworkView { links: Vec::new(), nodes: vec![node("a", 0)], ..network };
        assert!(!super::section(&calm).contains("fail"));
    }
}
