//! The network as a drawing: hosts below, tiers of switches above each other.

use crate::html::escape;
use crate::{NetworkView, number};
use std::fmt::Write as _;

/// Nodes of a row that are drawn; more become one that says how many there are.
const MOST_IN_ROW: usize = 96;
const WIDTH: f64 = 960.0;
const ROW: f64 = 74.0;
/// Failures that are told below the drawing, and numbered in it.
const MOST_TOLD: usize = 24;
/// About how wide a letter of a name is.
const LETTER: f64 = 6.2;

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
    let in_row = |level: u32| network.nodes.iter().filter(|node| node.level == level).count().min(MOST_IN_ROW);
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
        // Cables leave hosts upwards and switches up and down: names stand where none do, if there is room.
        let room = WIDTH / in_row(node.level) as f64;
        let long = LETTER * node.name.chars().count() as f64;
        let (dx, dy, anchor) = if node.is_host { (0.0, 18.0, "middle") } else { (14.0, 4.0, "start") };
        let needed = if node.is_host { long } else { 2.0 * (long + dx) };
        if needed <= room {
            let (x, y) = (x + dx, y + dy);
            let style = format!("style=\"text-anchor:{anchor}\"");
            let _ = write!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escape(&node.name));
        }
    }
    text += &rates(network, &places);
    text += &marks(network, &places);
    text + "</svg>"
}

/// The numbers of what fails, on it: the words below the drawing have the same.
fn marks(network: &NetworkView, places: &[Option<(f64, f64)>]) -> String {
    let place = |node: usize| places.get(node).copied().flatten();
    let nodes = (0..network.nodes.len()).filter(|node| !network.nodes[*node].changes.is_empty());
    let nodes = nodes.map(|node| place(node).map(|(x, y)| (x - 20.0, y)));
    let cables = network.links.iter().filter(|link| !link.changes.is_empty()).enumerate();
    let cables = cables.map(|(number, link)| {
        let ((ax, ay), (bx, by)) = (place(link.a)?, place(link.b)?);
        // Cables cross in the middle: numbers on neighbours stand at other heights.
        let share = [0.5, 0.35, 0.65][number % 3];
        Some((ax + share * (bx - ax), ay + share * (by - ay)))
    });
    let mut text = String::new();
    for (number, place) in nodes.chain(cables).enumerate().take(MOST_TOLD) {
        let Some((x, y)) = place else { continue };
        let _ = write!(
            text,
            "<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\"/><text class=\"mark\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            y + 3.5,
            number + 1
        );
    }
    text
}

/// The rates of the links between neighbouring rows, at the left edge.
fn rates(network: &NetworkView, places: &[Option<(f64, f64)>]) -> String {
    let place = |node: usize| places.get(node).copied().flatten();
    let mut rows: Vec<(f64, f64, f64)> = Vec::new();
    for link in &network.links {
        let (Some((_, ay)), Some((_, by))) = (place(link.a), place(link.b)) else { continue };
        let middle = (ay + by) / 2.0;
        match rows.iter_mut().find(|(y, ..)| *y == middle) {
            Some((_, least, most)) => (*least, *most) = (least.min(link.rate_bps), most.max(link.rate_bps)),
            None => rows.push((middle, link.rate_bps, link.rate_bps)),
        }
    }
    let mut text = String::new();
    for (y, least, most) in rows {
        let rate = if least == most {
            number::rate(most)
        } else {
            format!("{} to {}", number::rate(least), number::rate(most))
        };
        let _ = write!(text, "<text class=\"rate\" x=\"2\" y=\"{:.1}\">{rate}</text>", y + 4.0);
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
    let told = failures.iter().take(MOST_TOLD).zip(1..);
    let mut said =
        told.map(|(failure, number)| format!(" <b>{number}</b>&nbsp;{}", escape(failure))).collect::<String>();
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
    fn failures_are_numbered_in_the_drawing_and_told_below_it() {
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
        let marks = section.split("<text class=\"mark\"").skip(1).map(|rest| rest.split(['>', '<']).nth(1).unwrap());
        assert_eq!(marks.collect::<Vec<_>>(), ["1", "2"]);
        assert!(section.contains(">1 Gb/s</text>"), "{section}");
        assert!(
            section.contains(
                "<b>1</b>&nbsp;top fails at 500 ms. <b>2</b>&nbsp;a \u{2013} top fails at 2.00 ms, is back at 3.00 ms.</span>"
            ),
            "{section}"
        );
        assert_eq!(section.matches("fails\"").count(), 2, "one cable and one node");
        let calm = NetworkView { links: Vec::new(), nodes: vec![node("a", 0)], ..network };
        assert!(!super::section(&calm).contains("fail"));
    }
}
