//! The page as text: it stands alone, its data are whole, hostile names stay names, and empty runs make a page, too.

use crate::synthetic;
use forebay_report::{Amount, Detail, FlowPoint, NamedTable, Point, QueryPoint, Report, RunView, TimelineSeries, page};
use serde_json::Value;

/// The JSON inside the page.
fn data(html: &str) -> Value {
    let start = html.find("type=\"application/json\">").expect("data") + "type=\"application/json\">".len();
    let end = start + html[start..].find("</script>").expect("the data's end");
    serde_json::from_str(&html[start..end]).expect("the data parse")
}

#[test]
fn the_page_refers_to_nothing_outside_itself() {
    let html = page(&synthetic::seeded(2, 2_000, 1));
    for outside in ["http://", "https://", "src=", "@import", "url(//", "//cdn", "fetch(", "XMLHttpRequest", "import("]
    {
        assert!(!html.contains(outside), "{outside}");
    }
    // The one reference is the empty icon, which keeps browsers from asking for one.
    let tags = html.split("<script").next().unwrap();
    assert_eq!(tags.matches("href=").count(), 1);
    assert!(tags.contains("href=\"data:,\""));
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn the_data_are_those_of_the_runs() {
    let report = synthetic::seeded(2, 3_000, 1);
    let data = data(&page(&report));
    assert_eq!(data["runs"].as_array().unwrap().len(), 2);
    for (point, of) in report.points.iter().zip(data["runs"].as_array().unwrap()) {
        assert_eq!(of["label"], point.label.as_str());
        let run = &point.seeds[0];
        let all = &of["flows"][0][0];
        assert_eq!(all["all"], run.flows.len());
        assert_eq!(all["done"], run.flows.iter().filter(|flow| flow.fct_s.is_some()).count());
        // The thinned curve ends at the largest time, to its four digits and in microseconds.
        let largest = run.flows.iter().filter_map(|flow| flow.fct_s).fold(0.0, f64::max) * 1e6;
        let last = all["time"]["x"].as_array().unwrap().last().unwrap().as_f64().unwrap();
        assert!((last / largest - 1.0).abs() < 1e-3, "{last} of {largest}");
        // The buckets part the flows.
        let parts: u64 = (1..4).map(|bucket| of["flows"][0][bucket]["all"].as_u64().unwrap()).sum();
        assert_eq!(parts, run.flows.len() as u64);
        assert_eq!(of["queries"][0]["all"], run.queries.len());
        assert_eq!(of["drops"].as_array().unwrap().len(), run.drops.len());
    }
    let ideal = &data["ideals"][0][0];
    assert_eq!(ideal["all"], report.points.iter().map(|point| point.seeds[0].flows.len()).sum::<usize>());
    assert!(ideal["time"]["stats"]["p50"].as_f64() < data["runs"][0]["flows"][0][0]["time"]["stats"]["p50"].as_f64());
    assert_eq!(data["flowGroups"], serde_json::json!(["All flows", "web search", "incast"]));
    let series = &data["timeline"]["runs"][0][0]["series"][0];
    let used: Vec<u64> = series["used"].as_array().unwrap().iter().map(|used| used.as_u64().unwrap()).collect();
    let points = &report.points[0].seeds[0].timeline[0].points;
    assert!(used.len() <= 2_000);
    assert_eq!(used.iter().max(), points.iter().map(|point| &point.1).max());
    assert_eq!(series["drops"].as_array().unwrap().last().unwrap(), points.last().unwrap().4);
}

#[test]
fn hostile_names_stay_names() {
    let nasty = "</script><script>alert(1)</script><!--\"'&";
    let run = RunView {
        detail: Detail::default(),
        seed: 1,
        facts: vec![(nasty.into(), nasty.into())],
        flows: vec![FlowPoint { bytes: 10, fct_s: Some(1.0), slowdown: Some(2.0), ..FlowPoint::default() }],
        workloads: vec![nasty.into()],
        queries: vec![QueryPoint { qct_s: Some(1.0), ..QueryPoint::default() }],
        timeline: vec![TimelineSeries { name: nasty.into(), size: 10, points: vec![(0.0, 1, 1, None, 0)] }],
        drops: vec![(nasty.into(), 3)],
        tables: vec![NamedTable { title: nasty.into(), header: vec![nasty.into()], rows: vec![vec![nasty.into()]] }],
        occupancy: vec![(nasty.into(), 0.1, 0.2, 0.3)],
        cost: vec![(nasty.into(), Amount::Count(1.0))],
    };
    let point = Point { label: nasty.into(), seeds: vec![run.clone(), RunView { seed: 2, ..run }] };
    let report =
        Report { title: nasty.into(), subtitle: nasty.into(), points: vec![point.clone(), point], ..Report::default() };
    let html = page(&report);
    assert!(!html.contains("<script>alert") && !html.contains("<!--"));
    let harmless = page(&Report::default());
    for tag in ["<script", "</script"] {
        assert_eq!(html.matches(tag).count(), harmless.matches(tag).count(), "{tag}");
    }
    let data = data(&html);
    assert_eq!(data["runs"][0]["label"], nasty);
    assert_eq!(data["timeline"]["names"][0], nasty);
    assert!(html.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--&quot;&#39;&amp;"));
}

#[test]
fn nothing_makes_a_page_too() {
    let html = page(&Report::default());
    assert!(html.contains("There are no runs in this report."));
    assert_eq!(data(&html)["runs"], serde_json::json!([]));

    let empty = Report {
        title: "Empty".into(),
        points: vec![Point { label: "a".into(), seeds: vec![RunView::default()] }],
        ..Report::default()
    };
    let html = page(&empty);
    assert!(html.contains("<h1>Empty</h1>") && html.contains("id=\"compare\""));
    assert_eq!(data(&html)["timeline"]["names"], serde_json::json!([]));

    // Flows none of which finished, a buffer of no size, numbers that are none.
    let odd = RunView {
        flows: vec![FlowPoint { bytes: 0, ..FlowPoint::default() }],
        queries: vec![QueryPoint { qct_s: Some(f64::NAN), ..QueryPoint::default() }],
        timeline: vec![TimelineSeries { name: "s".into(), size: 0, points: vec![(0.0, 0, 0, Some(f64::INFINITY), 0)] }],
        occupancy: vec![("s".into(), f64::NAN, f64::NAN, f64::NAN)],
        ..RunView::default()
    };
    let point = Point { seeds: vec![odd], ..Point::default() };
    let html = page(&Report { points: vec![point], ..Report::default() });
    assert!(html.contains("Unfinished flows"));
    assert_eq!(data(&html)["runs"][0]["flows"][0][0]["done"], 0);
}

#[test]
fn the_tables_are_there_without_a_script() {
    let html = page(&synthetic::seeded(3, 2_000, 4));
    let before = html.split("<script").next().unwrap();
    assert!(before.contains("<noscript>"));
    assert!(
        before.contains("dt alpha=1</th>") && before.contains("class=\"best\"") && before.contains("class=\"better\"")
    );
    assert!(before.contains("Busiest ports") && before.contains("CPU seconds"));
    assert!(before.contains("<dt>seed</dt><dd>1 to 4</dd>"), "the seeds are a fact");
}

#[test]
fn the_seeds_of_a_point_are_shown_together_and_one_by_one() {
    let report = synthetic::seeded(2, 1_000, 3);
    let data = data(&page(&report));
    assert_eq!(
        (&data["seeds"], &data["singles"], &data["paired"]),
        (&3.into(), &serde_json::json!([1, 2, 3]), &true.into())
    );
    for (point, of) in report.points.iter().zip(data["runs"].as_array().unwrap()) {
        let all: usize = point.seeds.iter().map(|run| run.flows.len()).sum();
        assert_eq!((&of["flows"][0][0]["all"], &of["seeds"]), (&all.into(), &3.into()));
        for (run, single) in point.seeds.iter().zip(of["singles"].as_array().unwrap()) {
            assert_eq!(single["flows"][0][0]["all"], run.flows.len());
            assert_eq!(single["drops"][0][1], serde_json::json!([run.drops[0].1 as f64, null]));
        }
        // A mean over seeds lies between theirs.
        let means: Vec<f64> = of["singles"]
            .as_array()
            .unwrap()
            .iter()
            .map(|single| single["flows"][0][0]["time"]["stats"]["mean"].as_f64().unwrap())
            .collect();
        let mean = of["flows"][0][0]["time"]["seeds"]["mean"][0].as_f64().unwrap();
        assert!((mean - means.iter().sum::<f64>() / 3.0).abs() < mean * 1e-3, "{mean} of {means:?}");
    }
    // Buffers over time and what happened inside are kept of the first seeds, each by itself.
    for inside in [&data["timeline"]["runs"], &data["details"]] {
        let seeds = |point: &Value| point.as_array().unwrap().iter().map(|run| run["seed"].clone()).collect::<Vec<_>>();
        assert_eq!(inside.as_array().unwrap().iter().map(seeds).collect::<Vec<_>>(), [[1, 2, 3], [1, 2, 3]]);
    }
    let measure = &data["measures"][0];
    assert_eq!(measure["name"], "Mean query completion time");
    assert_eq!(measure["differences"][0][0][0], 0.0);
    let [there, back] = [&measure["differences"][0][1], &measure["differences"][1][0]];
    assert_eq!(there[0].as_f64(), back[0].as_f64().map(|mean| -mean));
}

/// How many bytes the bands in a part of the data take.
fn bands_in(value: &Value) -> usize {
    match value {
        Value::Object(parts) => {
            parts.iter().map(|(name, part)| if name == "band" { part.to_string().len() } else { bands_in(part) }).sum()
        }
        Value::Array(parts) => parts.iter().map(bands_in).sum(),
        _ => 0,
    }
}

#[test]
fn many_points_with_many_seeds_stay_below_six_megabytes() {
    let html = page(&synthetic::seeded(30, 200, 20));
    assert!(html.len() < 6_000_000, "{} bytes", html.len());
    let data = data(&html);
    // Bands are a small part of it.
    let bands: usize = data["runs"].as_array().unwrap().iter().map(bands_in).sum();
    assert!((100_000..600_000).contains(&bands), "{bands} bytes of bands");
    let single = data["singles"].as_array().unwrap().len();
    assert!((1..20).contains(&single), "{single} seeds");
}

#[test]
fn ten_runs_of_a_hundred_thousand_flows_stay_below_three_megabytes() {
    let html = page(&synthetic::seeded(10, 100_000, 1));
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(page(&synthetic::seeded(2, 1_000, 3)), page(&synthetic::seeded(2, 1_000, 3)));
}
