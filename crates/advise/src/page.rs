//! A page that stands alone: pools as a picture, what each class can get, and the advice.

use crate::{Advice, GoalAdvice, Shown};
use forebay_sonic::config::Direction;
use forebay_sonic::device::Device;
use forebay_sonic::predict::{Case, Prediction};
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:62rem;padding:0 1rem;color:#1b1f24;background:#fff}\
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}h3{font-size:1rem;margin-bottom:.3rem}\
table{border-collapse:collapse;margin:.6rem 0;font-variant-numeric:tabular-nums}\
th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #d8dee4}th:first-child,td:first-child,th.left{text-align:left}\
.bar{display:flex;height:1.6rem;border-radius:4px;overflow:hidden;background:#eef1f4}\
.bar span{display:block;overflow:hidden;white-space:nowrap;font-size:.75rem;line-height:1.6rem;text-indent:.4rem;color:#fff}\
.shared{background:#2f6fb0}.headroom{background:#b4582c}.minimum{background:#5f6b76}.free{background:#eef1f4}\
.legend span{display:inline-block;width:.8rem;height:.8rem;border-radius:2px;margin:0 .3rem 0 1rem;vertical-align:-.1rem}\
.words th,.words td{text-align:left;vertical-align:top}.words th:last-child,.words td:last-child{text-align:right}\
.met{color:#1a7f37}.missed{color:#b42318}pre{background:#f6f8fa;padding:.8rem;overflow:auto;max-height:24rem;border-radius:6px}\
details{margin:.3rem 0}td .bar{width:12rem}.scroll{overflow-x:auto}\
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
        "<p>{}, {up} of {} ports up. Cells of {} B, {}.</p>",
        safe(&chip.about),
        config.ports.len(),
        chip.cell,
        match chip.partitions {
            1 => "the memory in one piece".to_owned(),
            partitions => format!("{partitions} partitions of the memory"),
        }
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

/// The cells of a pool: shared, headroom and minimums, of all partitions.
fn pool_cells(device: &Device<'_>, place: usize) -> Option<[u64; 3]> {
    let (config, chip) = (device.config, &device.chip);
    let shared = device.shared(place).ok()?.cells.saturating_mul(chip.partitions);
    let of_pool = |profile: &usize| config.profiles[*profile].pool == place;
    let groups = config.groups.values().filter(|profile| of_pool(profile));
    let minimums = groups.map(|profile| chip.group(&config.profiles[*profile].bytes, 0).minimum);
    let queues = config.queues.values().filter(|profile| of_pool(profile));
    let of_queues = queues.map(|profile| chip.queue(&config.profiles[*profile].bytes).minimum);
    let minimum = minimums.chain(of_queues).fold(0, u64::saturating_add);
    let headroom = chip.headroom_pool(&config.pools[place].bytes).unwrap_or(0).saturating_mul(chip.partitions);
    Some([shared, headroom, minimum])
}

fn pools(device: &Device<'_>) -> String {
    let mut html = "<h2>Pools</h2>\n<p class=\"legend\">Bars have one scale:<span class=\"shared\"></span>shared\
                    <span class=\"headroom\"></span>headroom<span class=\"minimum\"></span>minimums</p>\n"
        .to_owned();
    let config = device.config;
    let all_of = |cells: &[u64; 3]| cells.iter().copied().fold(0, u64::saturating_add);
    let pools: Vec<Option<[u64; 3]>> = (0..config.pools.len()).map(|place| pool_cells(device, place)).collect();
    let largest = pools.iter().flatten().map(all_of).max().unwrap_or(1);
    for (pool, cells) in config.pools.iter().zip(&pools) {
        let side = match pool.direction {
            Direction::Ingress => "ingress",
            Direction::Egress => "egress",
            Direction::Both => "both sides",
        };
        let _ = writeln!(html, "<h3>{} ({side})</h3>", safe(&pool.name));
        let Some(cells) = cells else {
            html.push_str("<p>Its cells are not known.</p>\n");
            continue;
        };
        let names = [("shared", "shared"), ("headroom", "of headroom"), ("minimum", "of minimums")];
        let bar: String =
            names.iter().zip(cells).map(|((class, _), cells)| part(class, *cells, largest, class)).collect();
        let words: Vec<String> = names
            .iter()
            .zip(cells)
            .filter(|(_, cells)| **cells > 0)
            .map(|((_, words), cells)| format!("{cells} {words}"))
            .collect();
        let all = all_of(cells);
        let bytes = rounded(all.saturating_mul(u64::from(device.chip.cell)));
        let _ = writeln!(html, "<div class=\"bar\">{bar}</div>\n<p>{bytes}, {all} cells: {}.</p>", words.join(", "));
    }
    html
}

/// Bytes with three digits.
pub(crate) fn rounded(bytes: u64) -> String {
    forebay_tm::Bytes::new(three_digits(bytes)).to_string()
}

fn three_digits(number: u64) -> u64 {
    let unit = 10_u64.pow(number.max(1).ilog10().saturating_sub(2));
    number.saturating_add(unit / 2) / unit * unit
}

/// Whether two profiles are the same to whoever uses them.
fn is_alike(one: &Prediction, two: &Prediction) -> bool {
    (one.side, one.lossless, &one.pool, &one.cases) == (two.side, two.lossless, &two.pool, &two.cases)
}

fn classes(predictions: &[Prediction]) -> String {
    let mut html = "<h2>What each class can get</h2>\n<p>Of one partition of its pool, by how many others of the same \
                    profile are congested: the bytes at which it pauses or drops, how \
                    long its port takes to send what is there then, and how much of a burst from ten ports at once comes \
                    before the first packet is paused or dropped (-: there is no closed form). Profiles with the same \
                    numbers are together.</p>\n"
        .to_owned();
    let mut alike: Vec<Vec<&Prediction>> = vec![];
    for of in predictions {
        match alike.iter_mut().find(|known| is_alike(known[0], of)) {
            Some(known) => known.push(of),
            None => alike.push(vec![of]),
        }
    }
    for of in alike {
        html.push_str(&class(&of));
    }
    html
}

/// Profiles that are alike.
fn class(alike: &[&Prediction]) -> String {
    let first = alike[0];
    let (kind, what) = match (first.side, first.lossless) {
        ("ingress", true) => ("lossless", "PG"),
        ("ingress", false) => ("lossy", "PG"),
        _ => ("", "queue"),
    };
    let names: Vec<String> = alike.iter().map(|of| safe(&of.profile)).collect();
    let users: usize = alike.iter().map(|of| of.count).sum();
    let mut html = format!(
        "<h3>{}</h3>\n<p>{users} {kind} {what}{} in {}, such as {}</p>\n",
        names.join(", "),
        if users == 1 { "" } else { "s" },
        safe(&first.pool),
        safe(&first.first)
    );
    html.push_str(
        "<div class=\"scroll\"><table><tr><th>others</th><th class=\"left\">share</th><th>pause</th><th>drop</th>\
         <th>drains in</th><th>burst of 10 ports</th></tr>\n",
    );
    first.cases.iter().for_each(|case| html.push_str(&row(first, case)));
    html.push_str("</table></div>\n<details><summary>Why</summary><pre>");
    html.push_str(&safe(&first.derivation.join("\n")));
    html.push_str("</pre></details>\n");
    html
}

fn row(of: &Prediction, case: &Case) -> String {
    let bytes = |bytes: Option<u64>| bytes.map_or("-".to_owned(), rounded);
    let bar = part("shared", case.shared_cells, of.pool_cells, "");
    format!(
        "<tr><td>{}</td><td><div class=\"bar\">{bar}</div></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        case.others,
        bytes(case.pause.map(|point| point.bytes)),
        bytes(case.drop.map(|point| point.bytes)),
        forebay_tm::Duration::from_ps(three_digits(case.drain_ns).saturating_mul(1_000)),
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
            let count = advice.patch.len();
            let _ = writeln!(
                html,
                "<details><summary>Patch for config apply-patch: {count} operation{}</summary><pre>{}</pre></details>",
                if count == 1 { "" } else { "s" },
                safe(&patch)
            );
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
            "<p>Others: what a congested queue of the others holds or gets then, compared with now.</p>\n<div class=\"scroll\"><table class=\"words\"><tr><th>change</th><th>closed form</th><th>trial</th><th>others</th></tr>\n",
        );
        for candidate in goal.candidates.iter().take(10) {
            let _ = writeln!(
                html,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                safe(&candidate.change).replace("-&gt;", "→"),
                safe(&candidate.closed_form),
                candidate.trial.as_ref().map_or("not tried".to_owned(), verdict),
                candidate.cost_for_others.map_or("-".to_owned(), crate::percent)
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
