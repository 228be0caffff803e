//! The page in a real browser: every plot is drawn, every control works, and no script fails.
//!
//! Needs `chromium`. Where it is missing the tests pass without looking, unless `FOREBAY_TEST` is 1, as in `./test`.

use crate::synthetic;
use forebay_report::{LossPoint, Point, Report, RunView, page};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const DRIVE: &str = include_str!("drive.js");
const PATIENCE: Duration = Duration::from_secs(90);

fn has_chromium() -> bool {
    let found = Command::new("chromium").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    let must = std::env::var("FOREBAY_TEST").is_ok_and(|value| value == "1");
    assert!(found || !must, "chromium is missing; ./test installs it");
    found
}

/// What the browser makes of a page; `None` without a browser.
fn dom(html: &str) -> Option<String> {
    if !has_chromium() {
        return None;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("report.html");
    std::fs::write(&file, html).expect("the page is written");
    let text = run(&file, dir.path());
    assert!(text.contains("</html>"), "the browser gave no page: {text}");
    Some(text)
}

fn run(file: &Path, dir: &Path) -> String {
    let out = dir.join("dom.html");
    let mut browser = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=1280,3000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .stdout(std::fs::File::create(&out).expect("a file"))
        .stderr(Stdio::null())
        .spawn()
        .expect("chromium starts");
    let start = Instant::now();
    while browser.try_wait().expect("chromium runs").is_none() {
        if start.elapsed() > PATIENCE {
            browser.kill().expect("chromium ends");
            browser.wait().expect("chromium has ended");
            panic!("chromium took more than {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::read_to_string(&out).expect("the browser's page")
}

/// The text of an element that holds nothing but text.
fn text_of<'a>(dom: &'a str, opening: &str) -> &'a str {
    let start = dom.find(opening).unwrap_or_else(|| panic!("no {opening}"));
    let start = start + dom[start..].find('>').expect("the tag's end") + 1;
    &dom[start..start + dom[start..].find('<').expect("the text's end")]
}

fn assert_no_errors(dom: &str) {
    assert_eq!(text_of(dom, "<div id=\"errors\""), "");
}

/// The page with a script that uses its controls, and what that script reports.
fn driven(html: &str) -> Option<Value> {
    let dom = dom(&html.replace("</body>", &format!("<script>{DRIVE}</script></body>")))?;
    assert_no_errors(&dom);
    let outcome = text_of(&dom, "<pre id=\"outcome\"");
    Some(serde_json::from_slice(&base64(outcome)).expect("the outcome parses"))
}

/// The bytes of a text in base 64.
fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| {
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".iter().position(|of| *of == byte)
    };
    let digits: Vec<u32> = text.bytes().filter_map(digit).map(|value| u32::try_from(value).expect("6 bits")).collect();
    let mut bytes = Vec::new();
    for four in digits.chunks(4) {
        let bits = (0..4).fold(0, |bits, k| bits << 6 | four.get(k).copied().unwrap_or(0));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}

/// The map of queues leads to who held the buffer, hurt flows are split, traced flows and collectives are drawn.
fn assert_inside(outcome: &Value) {
    let map = |key: &str| outcome["map"][key].as_str().unwrap();
    assert!(outcome["map"]["cells"].as_u64().unwrap() > 5, "{}", outcome["map"]);
    // It begins with the worst stretch, and a click on a red bar explains that one.
    for text in [map("first"), map("clicked")] {
        assert!(text.contains("dropped: ") && text.contains("Who held the buffer at "), "{text}");
        assert!(text.contains("All of class 1") && text.contains("flow 3 (incast"), "{text}");
    }
    assert_ne!(map("first"), map("clicked"));
    assert!(!map("clicked").starts_with(map("moved")), "the arrow keys move");
    assert!(map("drop").contains("The queue had ") && map("drop").contains("its threshold "), "{}", map("drop"));
    assert!(outcome["worst"].as_str().unwrap().contains("3 dropped, 3 sent again"), "{}", outcome["worst"]);
    assert!(outcome["map"]["changes"].as_u64().unwrap() >= 3, "failures are marked on every time axis");
    assert_eq!(outcome["covered"], 0, "names of failures cover something");
    assert_eq!(outcome["hurt"], serde_json::json!([50, 10]), "five parts of ten flows");
    let tip = outcome["tips"]["hurt"].as_str().unwrap();
    assert!(tip.contains("timeout") && tip.contains("at leaf0"), "{tip}");
    assert_eq!((&outcome["lines"]["traced"], &outcome["collectives"]), (&3.into(), &15.into()));
    assert_eq!(outcome["network"], serde_json::json!([12, 3]), "a switch and two cables fail");
    // A click on a flow leads to its drop.
    let own = outcome["ownDrop"].as_str().unwrap();
    assert!(own.starts_with("The first of this flow: at ") && own.contains("flow 9"), "{own}");
}

#[test]
fn every_plot_is_drawn_and_every_control_works() {
    let Some(outcome) = driven(&page(&synthetic::seeded(3, 5_000, 1))) else { return };
    assert_eq!(outcome["errors"], "");
    assert_eq!(outcome["bad"], serde_json::json!([]));
    // A line per run, and one for the empty network.
    for (id, lines) in [("fct", 4), ("sizes", 3), ("qct", 3), ("timeline", 3)] {
        assert_eq!(outcome["lines"][id], lines, "{id}");
        assert_eq!(outcome["zooms"][id], serde_json::json!([true, true, true, true]), "zoom, reset and keys of {id}");
        let tip = outcome["tips"][id].as_str().unwrap();
        assert!(tip.contains(if id == "timeline" { "Longest queue" } else { "abm alpha=0.5" }), "{id}: {tip}");
    }
    assert!(outcome["tips"]["drops"].as_str().unwrap().contains("above the threshold"));
    // Three runs, each with drops for three reasons and three tiers.
    assert_eq!((&outcome["bars"], &outcome["rings"], &outcome["drops"]), (&9.into(), &9.into(), &1.into()));
    assert!(outcome["options"].as_u64().unwrap() > 30);
    assert_eq!(outcome["hidden"], serde_json::json!([1, "false"]));
    // The map, the timeline and the flows that were hurt have their own choice of runs; the others have nothing left to
    // draw.
    assert_eq!(outcome["allHidden"], 7);
    assert_inside(&outcome);
    assert_eq!(outcome["again"], true);
    assert_eq!(outcome["labelled"], true);
    let keys = [["dt alpha=1", "abm alpha=0.5"], ["Its threshold", "Buffer: "], ["buffer full", "link failed"]];
    for (saved, keys) in outcome["saved"].as_array().unwrap().iter().zip(keys) {
        let saved = saved.as_str().unwrap();
        assert!(saved.starts_with("<svg ") && keys.iter().all(|key| saved.contains(key)), "{keys:?}");
        assert!(!saved.contains("var(--"), "colours are written out");
    }
    assert_eq!(outcome["saved"].as_array().unwrap().len(), 3);
    let sorted: Vec<f64> = outcome["sorted"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
    assert!(sorted.len() == 3 && sorted.is_sorted(), "{sorted:?}");
}

/// Every curve of several seeds has a band in its colour, and the plot says what it is.
fn assert_bands(bands: &Value) {
    for plot in ["fct", "sizes", "qct", "tail"] {
        let of = &bands[plot];
        assert_eq!((&of["many"], &of["wide"]), (&3.into(), &3.into()), "{plot}: {of}");
        let key = of["keys"][0].as_str().unwrap();
        assert!(key.contains("95% confidence interval over seeds, where there are at least 3"), "{plot}: {key}");
        assert!(of["tip"].as_str().unwrap().contains(" to "), "{plot}: {of}");
        for colours in of["colours"].as_array().unwrap() {
            assert_eq!(colours[0], colours[1], "{plot}");
        }
    }
    assert_eq!((&bands["seed"]["many"], &bands["seed"]["keys"]), (&0.into(), &serde_json::json!([])));
}

/// All seeds together, then one by one, with another baseline, and back.
#[test]
fn seeds_and_baselines_can_be_chosen() {
    let Some(outcome) = driven(&page(&synthetic::seeded(3, 2_000, 4))) else { return };
    assert_eq!(outcome["errors"], "");
    assert_eq!(outcome["bad"], serde_json::json!([]));
    for (id, lines) in [("fct", 4), ("sizes", 3), ("qct", 3)] {
        assert_eq!(outcome["lines"][id], lines, "{id}");
    }
    // Two points beside the baseline, each with a bar, a dot and its ends; every run has whiskers on its drops.
    assert_eq!((&outcome["intervals"], &outcome["whiskers"]), (&2.into(), &3.into()));
    assert_bands(&outcome["bands"]);
    // Three points, a row each, with means: all, seed 1, all again; baseline abm, then dt again.
    let table = |step: &str| outcome["tables"][step].as_str().unwrap().to_owned();
    assert!(table("written").contains('\u{b1}') && table("written").contains("better"), "{}", table("written"));
    assert_eq!(table("written"), table("again"), "the script writes what the page had");
    assert!(!table("seed").contains('\u{b1}') && !table("seed").contains("better"), "{}", table("seed"));
    assert_ne!(table("baseline"), table("written"));
    // What is decided stands above the table, for all seeds and the chosen baseline.
    let verdicts = |step: &str| outcome["verdicts"][step].as_str().unwrap();
    assert!(
        verdicts("written").contains(
            "fb against dt alpha=1: better (short p50 slowdown, drops and losses); lower (max occupancy). No significant difference"
        ),
        "{}",
        verdicts("written")
    );
    assert_eq!(verdicts("again"), verdicts("written"));
    assert!(verdicts("seed").contains("Seed 1 alone does not tell"), "{}", verdicts("seed"));
    // Captions follow the choice.
    let note = |step: &str, id: &str| outcome["captions"][step][id].as_str().unwrap().to_owned();
    for (id, words) in [("drops", "95% confidence interval"), ("occupancy", "means over seeds")] {
        assert!(note("written", id).contains(words) && !note("seed", id).contains(words), "{}", note("seed", id));
    }
    assert!(note("seed", "difference").contains("of all 4 seeds, whatever seed is chosen"));
    assert!(!outcome["notes"]["seed"].as_str().unwrap().contains("excludes zero"), "{}", outcome["notes"]);
    assert!(verdicts("baseline").contains("dt alpha=1 against fb"), "{}", verdicts("baseline"));
    assert!(outcome["notes"]["seed"].as_str().unwrap().contains("Seed 1 alone"), "{}", outcome["notes"]);
    assert!(outcome["notes"]["baseline"].as_str().unwrap().contains("difference from fb"), "{}", outcome["notes"]);
    // The inside of a run is that of the first seed, or of the one that is chosen.
    let map = |step: &str| outcome["maps"][step].as_u64().unwrap();
    assert!(map("written") == map("seed") && map("seed") != map("second") && map("again") == map("seed"));
    // The first baseline is not a row of its own plot; another one is not, either.
    let row_names = |step: &str| outcome["rows"][step].to_string();
    assert!(row_names("written").contains("fb") && !row_names("written").contains("dt alpha=1"));
    assert!(row_names("baseline").contains("dt alpha=1") && !row_names("baseline").contains("\"fb"));
}

/// Drops and losses are recorded, queues are not; the first seed of the first run has no drops.
fn as_readers_have_it() -> Report {
    let mut report = synthetic::seeded(3, 1_000, 4);
    for (point, run) in
        report.points.iter_mut().enumerate().flat_map(|(at, point)| point.seeds.iter_mut().map(move |run| (at, run)))
    {
        run.detail.queues.clear();
        run.detail.losses = (0..50)
            .map(|number| LossPoint {
                at_s: 0.012 + 1e-6 * f64::from(number),
                place: "on leaf0\u{2192}spine1".into(),
                flow: format!("flow {}", number % 20).into(),
                workload: "incast".into(),
            })
            .collect();
        if (point, run.seed) == (0, 1) {
            run.detail.drops.clear();
            run.detail.losses.clear();
        }
        // The mean is 434.5, and one run has none: of that no share can be told.
        let packets = if point == 2 && run.seed == 1 { 0 } else { 434 + (run.seed - 1) / 2 };
        run.drops = vec![("above the threshold".into(), packets)];
    }
    report
}

#[test]
fn a_reader_finds_the_drops_their_thresholds_and_the_failure() {
    let Some(outcome) = driven(&page(&as_readers_have_it())) else { return };
    assert_eq!((&outcome["errors"], &outcome["bad"]), (&"".into(), &serde_json::json!([])));
    // The first seed with drops, which stands in the titles, and the one that is chosen.
    let about = |step: &str, id: &str| outcome["abouts"][step][id].as_str().unwrap().to_owned();
    assert_eq!(
        (about("written", "map"), about("written", "hurt")),
        ("dt alpha=1, seed 2".into(), "dt alpha=1, seed 2".into())
    );
    assert_eq!(
        (about("written", "timeline"), about("written", "fct")),
        ("dt alpha=1, seed 2".into(), "all 4 seeds".into())
    );
    for id in ["map", "timeline", "hurt"] {
        assert_eq!(about("seed", id), "dt alpha=1, seed 1");
    }
    assert_eq!((about("second", "fct"), about("second", "difference")), ("seed 2".into(), "all 4 seeds".into()));
    // Nothing is drawn where nothing is known, and drops say how long queue and threshold were.
    let map = |key: &str| outcome["map"][key].as_u64().unwrap();
    assert!(map("unknown") == 6 && map("lines") == 0 && map("dots") > 0, "{}", outcome["map"]);
    let text = |key: &str| outcome["map"][key].as_str().unwrap();
    assert!(text("first").contains("the length was not recorded"), "{}", text("first"));
    assert!(text("drop").contains("its threshold ") && text("drop").contains("flow 9"), "{}", text("drop"));
    assert!(outcome["map"]["keys"].to_string().contains("Length not recorded"), "{}", outcome["map"]["keys"]);
    // What links lost is the last row.
    assert!(
        outcome["map"]["names"].to_string().contains("\"failed links and switches\",\"50 lost\""),
        "{}",
        outcome["map"]["names"]
    );
    assert!(text("last").starts_with("failed links and switches"), "{}", text("last"));
    let losers = text("losers");
    assert!(losers.contains("All of incast11100.0%") && losers.contains("other flows of incast3"), "{losers}");
    // Another baseline changes no mean, and makes no counts of shares.
    assert_eq!(outcome["means"]["written"], outcome["means"]["baseline"]);
    assert_eq!(outcome["means"]["written"][0][5], "435 \u{b1} 0.92");
    for step in ["written", "baseline"] {
        let differences = outcome["differences"][step].as_array().unwrap().iter();
        let drops: Vec<&str> = differences.map(|row| row[5].as_str().unwrap()).collect();
        assert!(drops.iter().all(|text| !text.contains('%')), "{drops:?}");
    }
    assert!(
        outcome["verdicts"]["written"].as_str().unwrap().contains("o significant difference"),
        "{}",
        outcome["verdicts"]
    );
}

#[test]
fn two_seeds_have_no_bands() {
    let Some(dom) = dom(&page(&synthetic::seeded(2, 500, 2))) else { return };
    assert_no_errors(&dom);
    assert!(dom.contains("class=\"line") && !dom.contains("<path class=\"interval\""));
}

#[test]
fn empty_runs_give_a_page_that_says_so() {
    let point = |label: &str| Point { label: label.into(), seeds: vec![RunView::default()] };
    let points = vec![point("a"), point("b")];
    let Some(dom) = dom(&page(&Report { title: "Empty".into(), points, ..Report::default() })) else { return };
    assert_no_errors(&dom);
    assert!(dom.contains(
        "Not recorded in these runs: flows, queries, drops and losses by reason, buffer occupancy, buffers over time."
    ));
    assert!(!dom.contains("<figure"));
}

#[test]
fn a_report_without_runs_does_not_fail() {
    let Some(dom) = dom(&page(&Report::default())) else { return };
    assert_no_errors(&dom);
}

#[test]
fn runs_that_hardly_measured_anything_are_drawn() {
    let mut report = synthetic::seeded(2, 40, 1);
    // One has a single flow of its own and no queries, the other nothing that finished.
    let [first, second] = report.points.as_mut_slice() else { panic!("two") };
    let (first, second) = (&mut first.seeds[0], &mut second.seeds[0]);
    first.flows.truncate(1);
    first.queries.clear();
    first.timeline[0].points.truncate(1);
    first.occupancy.truncate(1);
    for flow in &mut second.flows {
        (flow.fct_s, flow.slowdown) = (None, None);
    }
    second.timeline.iter_mut().flat_map(|series| &mut series.points).for_each(|point| point.3 = None);
    let Some(dom) = dom(&page(&report)) else { return };
    assert_no_errors(&dom);
    assert!(!dom.contains("=\"NaN") && dom.matches("class=\"plot").count() >= 5);
}

#[test]
fn hostile_names_do_nothing() {
    let nasty = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">";
    let mut report = synthetic::seeded(2, 500, 1);
    report.title = "Sound".into();
    for point in &mut report.points {
        point.label = nasty.into();
        let run = &mut point.seeds[0];
        run.workloads[0] = nasty.into();
        run.timeline[0].name = nasty.into();
        run.drops[0].0 = nasty.into();
        run.occupancy[0].0 = nasty.into();
    }
    let Some(dom) = dom(&page(&report)) else { return };
    assert_no_errors(&dom);
    assert_eq!(text_of(&dom, "<title"), "Sound");
    assert!(!dom.contains("<img"));
}

#[test]
fn an_error_in_a_script_is_shown() {
    let html = page(&synthetic::seeded(1, 100, 1))
        .replace("</body>", "<script>throw new Error('on purpose');</script></body>");
    let Some(dom) = dom(&html) else { return };
    assert!(text_of(&dom, "<div id=\"errors\"").contains("on purpose"));
    let tag = &dom[dom.find("<div id=\"errors\"").unwrap()..];
    assert!(!tag[..tag.find('>').unwrap()].contains("hidden"));
}
