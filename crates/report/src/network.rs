//! The network as a drawing: hosts below, tiers of switches above each other.

use crate::NetworkView;
use crate::html::escape;
use std::fmt::Write as _;

/// Nodes of a row that are drawn; more become one that says how many there are.
const MOST_IN_ROW: usize = 40;
const WIDTH: f64 = 960.0;
const ROW: f64 = 74.0;

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
            if link.fails { " fails" } else { "" },
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
            if node.fails { " fails" } else { "" },
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
    text + "</svg>"
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
    format!("<div class=\"drawing\">{drawing}</div><p class=\"note\">{}.{more}</p>", escape(&network.summary))
}
