//! A page that stands alone: pools as a picture, what each class can get, and the advice.

use crate::{Advice, GoalAdvice, Shown};
use forebay_sonic::config::Direction;
use forebay_sonic::device::Device;
use forebay_sonic::predict::{Case, Prediction};
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:62rem;padding:0 1rem;color:#1b1f24;background:#fff}\
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}h3{font-size:1rem;margin-bottom:.3rem}\
table{border-collapse:collapse;margin:.6rem 0;font-variant-numeric:tabular-nums}\
th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #d8dee4}th:first-child,td:first-child{text-align:left}\
.bar{display:flex;height:1.6rem;border-radius:4px;overflow:hidden;background:#eef1f4}\
.bar span{display:block;overflow:hidden;white-space:nowrap;font-size:.75rem;line-height:1.6rem;text-indent:.4rem;color:#fff}\
.shared{background:#2f6fb0}.headroom{background:#b4582c}.minimum{background:#5f6b76}.free{background:#eef1f4}\
.legend span{display:inline-block;width:.8rem;height:.8rem;border-radius:2px;margin:0 .3rem 0 1rem;vertical-align:-.1rem}\
.met{color:#1a7f37}.missed{color:#b42318}pre{background:#f6f8fa;padding:.8rem;overflow:auto;border-radius:6px}\
details{margin:.3rem 0}.scroll{overflow-x:auto}\
@media(prefers-color-scheme:dark){body{background:#14181d;color:#dde3ea}th,td{border-color:#333b44}.bar,.free{background:#28303a}pre{background:#1d232a}\
.met{color:#57c27a}.missed{color:#ff8a7a}}";

/// Text for HTML.
fn safe(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The page.
pub fn page(device: &Device<'_>, predictions: &[Prediction], advice: Option<&Advice>) -> String {
    let (config, chip) = (device.config, &device.chip);
    let title = format!("Buffers of {}", if config.hwsku.is_empty() { "a switch" } else { &config.hwsku });
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{0}</title><style>{STYLE}</style></head><body>\n<h1>{0}</h1>\n",
        safe(&title)
    );
    let up = config.ports.iter().filter(|port| port.is_up).count();
    let _ = writeln!(
        html,
        "<p>{}, {up} of {} ports up. Cells of {} B, {} partition(s) of the memory.</p>",
        safe(&chip.about),
        config.ports.len(),
        chip.cell,
        chip.partitions
    );
    if let Some(advice) = advice {
        html.push_str(&advised(advice));
    }
    html.push_str(&pools(device));
    html.push_str(&classes(predictions));
    html.push_str("</body></html>\n");
    html
}

/// A part of a bar.
fn part(class: &str, cells: u64, all: u64, label: &str) -> String {
    if cells == 0 {
        return String::new();
    }
    let share = 100.0 * cells as f64 / all.max(1) as f64;
    let label = if share >= 8.0 { label } else { "" };
    format!("<span class=\"{class}\" style=\"width:{share:.3}%\" title=\"{label} {cells} cells\">{label}</span>")
}

fn pools(device: &Device<'_>) -> String {
    let mut html =
        "<h2>Pools</h2>\n<p class=\"legend\"><span class=\"shared\"></span>shared<span class=\"headroom\"></span>\
                    headroom<span class=\"minimum\"></span>minimums</p>\n"
            .to_owned();
    let (config, chip) = (device.config, &device.chip);
    for (place, pool) in config.pools.iter().enumerate() {
        let side = match pool.direction {
            Direction::Ingress => "ingress",
            Direction::Egress => "egress",
            Direction::Both => "both sides",
        };
        let Ok(derived) = device.shared(place) else {
            let _ = writeln!(html, "<h3>{} ({side})</h3><p>Its cells are not known.</p>", safe(&pool.name));
            continue;
        };
        let shared = derived.cells.saturating_mul(chip.partitions);
        let of_pool = |profile: &usize| config.profiles[*profile].pool == place;
        let groups = config.groups.values().filter(|profile| of_pool(profile));
        let minimums = groups.map(|profile| chip.group(&config.profiles[*profile].bytes, 0).minimum);
        let queues = config.queues.values().filter(|profile| of_pool(profile));
        let of_queues = queues.map(|profile| chip.queue(&config.profiles[*profile].bytes).minimum);
        let minimum = minimums.chain(of_queues).fold(0, u64::saturating_add);
        let headroom = chip.headroom_pool(&pool.bytes).unwrap_or(0).saturating_mul(chip.partitions);
        let all = shared.saturating_add(minimum).saturating_add(headroom);
        let _ = writeln!(
            html,
            "<h3>{} ({side})</h3>\n<div class=\"bar\">{}{}{}</div>\n<p>{all} cells: {shared} shared, {headroom} of headroom, {minimum} of minimums.</p>",
            safe(&pool.name),
            part("shared", shared, all, "shared"),
            part("headroom", headroom, all, "headroom"),
            part("minimum", minimum, all, "minimums")
        );
    }
    html
}

fn classes(predictions: &[Prediction]) -> String {
    let mut html = "<h2>What each class can get</h2>\n<p>Of one partition of its pool, by how many others of the same profile are congested.</p>\n".to_owned();
    for of in predictions {
        let kind = match (of.side, of.lossless) {
            ("ingress", true) => "lossless PG",
            ("ingress", false) => "lossy PG",
            _ => "queue",
        };
        let more = if of.count > 1 { format!(" and {} more", of.count - 1) } else { String::new() };
        let _ = writeln!(html, "<h3>{kind} {} ({}{more})</h3>", safe(&of.profile), safe(&of.first));
        html.push_str("<div class=\"scroll\"><table><tr><th>others</th><th>share</th><th>pause</th><th>drop</th><th>drains in</th><th>burst of 10 ports</th></tr>\n");
        for case in &of.cases {
            html.push_str(&row(of, case));
        }
        html.push_str("</table></div>\n<details><summary>Why</summary><pre>");
        html.push_str(&safe(&of.derivation.join("\n")));
        html.push_str("</pre></details>\n");
    }
    html
}

fn row(of: &Prediction, case: &Case) -> String {
    let bytes = |bytes: Option<u64>| bytes.map_or("-".to_owned(), |bytes| forebay_tm::Bytes::new(bytes).to_string());
    let bar = part("shared", case.shared_cells, of.pool_cells, "");
    format!(
        "<tr><td>{}</td><td><div class=\"bar\" style=\"width:12rem\">{bar}</div></td><td>{}</td><td>{}</td><td>{:.1} us</td><td>{}</td></tr>\n",
        case.others,
        bytes(case.pause.map(|point| point.bytes)),
        bytes(case.drop.map(|point| point.bytes)),
        case.drain_ns as f64 / 1e3,
        bytes(case.burst_bytes)
    )
}

fn advised(advice: &Advice) -> String {
    let mut html = "<h2>Advice</h2>\n".to_owned();
    for goal in &advice.goals {
        html.push_str(&of_goal(goal));
    }
    match serde_json::to_string_pretty(&advice.patch) {
        Ok(patch) if !advice.patch.is_empty() => {
            let _ = writeln!(html, "<h3>Patch for config apply-patch</h3>\n<pre>{}</pre>", safe(&patch));
        }
        _ => html.push_str("<p>Nothing to change.</p>\n"),
    }
    html
}

fn verdict(shown: &Shown) -> String {
    let (class, word) = if shown.met { ("met", "met") } else { ("missed", "missed") };
    format!("<b class=\"{class}\">{word}</b>: {}", safe(&shown.words))
}

fn of_goal(goal: &GoalAdvice) -> String {
    let mut html = format!(
        "<h3>{}</h3>\n<p>Now {}<br>With the patch {}</p>\n",
        safe(&goal.goal),
        verdict(&goal.before),
        verdict(&goal.after)
    );
    if !goal.candidates.is_empty() {
        html.push_str(
            "<div class=\"scroll\"><table><tr><th>change</th><th>closed form</th><th>trial</th><th>others</th></tr>\n",
        );
        for candidate in goal.candidates.iter().take(10) {
            let _ = writeln!(
                html,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                safe(&candidate.change),
                safe(&candidate.closed_form),
                candidate.trial.as_ref().map_or("not tried".to_owned(), verdict),
                candidate.cost_for_others.map_or("-".to_owned(), |cost| format!("{:+.0}%", 100.0 * cost))
            );
        }
        html.push_str("</table></div>\n");
    }
    for why in &goal.why {
        let _ = writeln!(html, "<p>{}</p>", safe(why));
    }
    for other in &goal.other_policies {
        let _ = writeln!(html, "<p>With {} on egress: {}</p>", other.policy, verdict(&other.trial));
    }
    html
}
