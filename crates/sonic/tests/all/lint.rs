//! The linter: shipped configurations, and broken ones.

use crate::predict::CONFIGS;
use crate::text;
use forebay_settings::SwitchFile;
use forebay_sonic::chip::{CHIPS, Chip};
use forebay_sonic::config::Config;
use forebay_sonic::device::Device;
use forebay_sonic::findings::{Finding, Severity};
use forebay_sonic::import::import;
use forebay_sonic::lint::{lint, sarif};
use forebay_sonic::predict::{Question, predict};
use forebay_tm::random::Random;
use serde_json::{Value, json};

fn findings(file: &str, text: &str) -> Vec<Finding> {
    lint(&Config::parse(file, text).unwrap(), None).unwrap()
}

#[test]
fn shipped_configurations_raise_no_alarm() {
    let notes = [
        ("td3-7050cx3-c32-t0", vec!["headroom-overcommitted"]),
        ("th2-7260cx3-c64-t1", vec!["headroom-overcommitted", "ecn-weak-at-pause"]),
        ("th5-7060x6-o128-t1", vec!["headroom-overcommitted"]),
        ("spc5-sn5640-c512s2-t1-trim", vec!["ecn-never"; 4]),
    ];
    assert_eq!(notes.each_ref().map(|(name, _)| *name), CONFIGS);
    for (name, expected) in notes {
        let found = findings(name, &text(&format!("configs/{name}.json")));
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
        assert!(found.iter().all(|finding| finding.severity == Severity::Note), "{name}: {found:#?}");
        assert_eq!(rules, expected, "{name}: {found:#?}");
    }
    let th2 = findings("th2", &text("configs/th2-7260cx3-c64-t1.json"));
    // At 20188 cells of 208 B: 5% * (4199104 - 2000000) / 8000000.
    assert!(th2[1].why.contains("1.37% at the 4199104 B"), "{}", th2[1].why);
}

#[test]
fn the_small_configuration_has_nothing_to_find() {
    let found = findings("small.json", &text("small.json"));
    assert_eq!(found, []);
    // The PGs of Ethernet8 are made from its speed, cable and pfc_enable.
    assert_eq!(Config::parse("small.json", &text("small.json")).unwrap().made_groups, 2);
}

/// A change of the small configuration: a path, and what stands there instead (nothing: it is removed), and the rule
/// that finds it. `refused`
/// is for files that cannot be read at all.
type Broken = (&'static str, Option<Value>, &'static str);

const REFUSED: &str = "refused";

fn broken_values() -> Vec<Broken> {
    [broken_pools(), broken_bindings()].concat()
}

fn value(path: &'static str, value: &str, rule: &'static str) -> Broken {
    (path, Some(json!(value)), rule)
}

/// Wrong types, pools and profiles.
fn broken_pools() -> Vec<Broken> {
    vec![
        // Wrong types.
        ("BUFFER_POOL", Some(json!("x")), REFUSED),
        ("BUFFER_POOL", Some(json!([])), REFUSED),
        ("BUFFER_POOL", Some(Value::Null), REFUSED),
        ("BUFFER_POOL/ingress_lossless_pool", Some(json!(5)), REFUSED),
        ("BUFFER_POOL/ingress_lossless_pool/size", Some(json!({ "a": {} })), REFUSED),
        ("BUFFER_POOL/ingress_lossless_pool/size", Some(Value::Null), REFUSED),
        ("BUFFER_POOL/ingress_lossless_pool/size", Some(json!([["1"]])), REFUSED),
        ("BUFFER_POOL/ingress_lossless_pool/size", Some(json!(1.5)), "value-invalid"),
        ("BUFFER_POOL/ingress_lossless_pool/size", Some(json!(["1", "2"])), "value-invalid"),
        value("BUFFER_POOL/ingress_lossless_pool/size", "many", "value-invalid"),
        value("BUFFER_POOL/ingress_lossless_pool/size", "-5", "value-invalid"),
        value("BUFFER_POOL/ingress_lossless_pool/size", "99999999999999999999999", "value-invalid"),
        value("BUFFER_POOL/ingress_lossless_pool/size", "32732160 ", "number-blanks"),
        // Pools.
        ("BUFFER_POOL", None, "table-missing"),
        ("BUFFER_PROFILE", None, "table-missing"),
        ("PORT", None, "table-missing"),
        ("BUFFER_POOL/ingress_lossless_pool/size", None, "value-invalid"),
        value("BUFFER_POOL/ingress_lossless_pool/size", "0", "value-invalid"),
        value("BUFFER_POOL/ingress_lossless_pool/size", "56441610000", "pool-exceeds-memory"),
        value("BUFFER_POOL/ingress_lossless_pool/size", "18446744073709551615", "pool-exceeds-memory"),
        value("BUFFER_POOL/ingress_lossless_pool/size", "1622020", "pool-impossible"),
        value("BUFFER_POOL/ingress_lossless_pool/xoff", "32732160", "xoff-exceeds-size"),
        value("BUFFER_POOL/ingress_lossless_pool/xoff", "100000", "headroom-pool-too-small"),
        value("BUFFER_POOL/ingress_lossless_pool/type", "inngress", "value-invalid"),
        value("BUFFER_POOL/ingress_lossless_pool/mode", "adaptive", "value-invalid"),
        value("BUFFER_POOL/egress_lossless_pool/size", "20000000", "egress-pool-small"),
        value("BUFFER_POOL/egress_lossy_pool/size", "100", "minimums-exceed-pool"),
        // Profiles.
        value("BUFFER_PROFILE/egress_lossy_profile/pool", "no_such_pool", "reference-missing"),
        ("BUFFER_PROFILE/egress_lossy_profile/pool", None, "value-invalid"),
        value("BUFFER_PROFILE/egress_lossy_profile/pool", "[BUFFER_POOL|egress_lossy_pool]", "old-reference"),
        value("BUFFER_PROFILE/egress_lossy_profile/dynamic_th", "8", "value-invalid"),
        value("BUFFER_PROFILE/egress_lossy_profile/dynamic_th", "9497600", "value-invalid"),
        value("BUFFER_PROFILE/egress_lossy_profile/dynamic_th", "-8", "alpha-minus-8"),
        value("BUFFER_PROFILE/egress_lossy_profile/static_th", "1000", "value-invalid"),
        ("BUFFER_PROFILE/egress_lossy_profile/dynamic_th", None, "value-invalid"),
        value("BUFFER_PROFILE/egress_lossless_profile/static_th", "3", "static-th-tiny"),
        value("BUFFER_PROFILE/egress_lossless_profile/static_th", "1000000", "lossless-dropped-at-egress"),
        value("BUFFER_PROFILE/pg_lossless_100000_40m_profile/xoff", "0", "headroom-zero"),
        value("BUFFER_PROFILE/pg_lossless_100000_40m_profile/xoff", "4000", "headroom-too-small"),
        value("BUFFER_PROFILE/q_trim_profile/packet_discard_action", "cut", "value-invalid"),
    ]
}

/// Keys and bindings, ports and cables, numbers that nobody means, the watchdog.
fn broken_bindings() -> Vec<Broken> {
    vec![
        ("BUFFER_PG/Ethernet0|0-2,4", Some(json!({ "profile": "ingress_lossy_profile" })), "key-list"),
        ("BUFFER_PG/Ethernet0|4-3", Some(json!({ "profile": "ingress_lossy_profile" })), "key-invalid"),
        ("BUFFER_PG/Ethernet0|8", Some(json!({ "profile": "ingress_lossy_profile" })), "key-invalid"),
        ("BUFFER_PG/Ethernet0", Some(json!({ "profile": "ingress_lossy_profile" })), "key-invalid"),
        ("BUFFER_PG/Ethernet1|0", Some(json!({ "profile": "ingress_lossy_profile" })), "reference-missing"),
        ("BUFFER_PG/Ethernet0|0-3", Some(json!({ "profile": "ingress_lossy_profile" })), "defined-twice"),
        ("BUFFER_PG/Ethernet0|5", Some(json!({ "profile": "pg_lossless_100000_5m_profile" })), "lossless-without-pfc"),
        value("BUFFER_PG/Ethernet0|3-4/profile", "none_such", "reference-missing"),
        value("BUFFER_PG/Ethernet0|3-4/profile", "egress_lossless_profile", "wrong-side"),
        value("BUFFER_PG/Ethernet0|3-4/profile", "ingress_lossy_profile", "pfc-on-lossy-pg"),
        value("BUFFER_PG/Ethernet4|3-4/profile", "pg_lossless_100000_5m_profile", "headroom-of-other-cable"),
        value("BUFFER_PG/Ethernet0|3-4/profile", "q_trim_profile", "trim-on-pg"),
        value("BUFFER_QUEUE/Ethernet0-8|3-4/profile", "q_trim_profile", "trim-on-lossless"),
        ("BUFFER_QUEUE/Ethernet0-8|3-4", None, "lossless-queue-unbound"),
        // Ports and cables.
        value("CABLE_LENGTH/AZURE/Ethernet8", "0m", "lossless-profile-missing"),
        value("CABLE_LENGTH/AZURE/Ethernet8", "2000m", "lossless-profile-missing"),
        value("CABLE_LENGTH/AZURE/Ethernet8", "far", "value-invalid"),
        value("CABLE_LENGTH/AZURE/Ethernet9", "5m", "reference-missing"),
        ("PORT/Ethernet8/speed", None, "value-invalid"),
        value("PORT/Ethernet0/speed", "400000", "headroom-of-other-cable"),
        value("PORT/Ethernet8/admin_status", "maybe", "value-invalid"),
        value("PORT_QOS_MAP/Ethernet0/pfc_enable", "3,9", "value-invalid"),
        value("PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable", "3,4,5", "watchdog-out-of-step"),
        value("PORT_QOS_MAP/Ethernet0/dscp_to_tc_map", "NONE", "reference-missing"),
        // Counts and numbers that nobody means.
        ("BUFFER_PG/Ethernet100-999999999|5", Some(json!({ "profile": "ingress_lossy_profile" })), "reference-missing"),
        ("BUFFER_PG/Ethernet0|0-99999999999", Some(json!({ "profile": "ingress_lossy_profile" })), "key-invalid"),
        ("BUFFER_QUEUE/Ethernet0|16", Some(json!({ "profile": "egress_lossy_profile" })), "key-invalid"),
        value("BUFFER_PROFILE/egress_lossy_profile/size", "18446744073709551615", "minimums-exceed-pool"),
        ("DEVICE_METADATA", None, "chip-unknown"),
        value("BUFFER_PROFILE/ingress_lossy_profile/size", "18446744073709551615", "minimums-exceed-pool"),
        value("PORT/Ethernet0/mtu", "18446744073709551615", "value-invalid"),
        value("PORT/Ethernet0/mtu", "0", "value-invalid"),
        ("PORT/Ethernet0|3", Some(json!({ "speed": "100000" })), "key-invalid"),
        ("PORT/", Some(json!({ "speed": "100000" })), "key-invalid"),
        ("BUFFER_PG/ Ethernet0|5", Some(json!({ "profile": "ingress_lossy_profile" })), "reference-missing"),
        value("DEVICE_METADATA/localhost/buffer_model", "static", "value-invalid"),
        // The watchdog.
        ("PFC_WD/Ethernet0", Some(json!({ "action": "drop" })), "value-invalid"),
        ("PFC_WD/Ethernet0", Some(json!({ "action": "shoot", "detection_time": "200" })), "value-invalid"),
        ("PFC_WD/Ethernet0", Some(json!({ "detection_time": "99999999" })), "value-invalid"),
        ("PFC_WD/Ethernet0", Some(json!({ "detection_time": "soon" })), "value-invalid"),
        ("PFC_WD/Ethernet1", Some(json!({ "detection_time": "200" })), "reference-missing"),
    ]
}

fn broken_qos() -> Vec<Broken> {
    let text = |path, value: &str, rule| (path, Some(json!(value)), rule);
    vec![
        text("WRED_PROFILE/AZURE_LOSSLESS/ecn", "ecn_none", "wred-drops-lossless"),
        text("WRED_PROFILE/AZURE_LOSSLESS/ecn", "on", "value-invalid"),
        text("WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", "3000000", "wred-inverted"),
        text("WRED_PROFILE/AZURE_LOSSLESS/green_max_threshold", "30000000", "ecn-weak-at-pause"),
        text("WRED_PROFILE/AZURE_LOSSLESS/green_drop_probability", "500", "value-invalid"),
        ("WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", None, "ecn-without-thresholds"),
        ("WRED_PROFILE/AZURE_LOSSLESS", Some(json!({ "ecn": "ecn_all" })), "ecn-not-enabled"),
        (
            "WRED_PROFILE/AZURE_LOSSLESS",
            Some(json!({ "ecn": "ecn_all", "wred_green_enable": "true", "green_min_threshold": "20000000",
 "green_max_threshold": "20000001" })),
            "ecn-after-pause",
        ),
        text("WRED_PROFILE/AZURE_LOSSLESS/wred_green_enable", "yes", "value-invalid"),
        text("QUEUE/Ethernet0-8|0-1/scheduler", "scheduler.9", "reference-missing"),
        ("SCHEDULER/scheduler.port/cir", None, "pir-without-cir"),
        text("SCHEDULER/scheduler.port/cir", "99999999999999", "cir-above-pir"),
        text("SCHEDULER/scheduler.0/type", "FIFO", "value-invalid"),
        text("SCHEDULER/scheduler.0/weight", "0", "value-invalid"),
        ("SCHEDULER/scheduler.0/weight", None, "weight-missing"),
        text("DSCP_TO_TC_MAP/AZURE/0", "99", "value-invalid"),
        text("DSCP_TO_TC_MAP/AZURE/x", "1", "value-invalid"),
        ("SWITCH_TRIMMING", None, "trim-without-table"),
        ("SWITCH_TRIMMING/GLOBAL/size", None, "trim-incomplete"),
        text("SWITCH_TRIMMING/GLOBAL/size", "9100", "trim-size"),
        text("SWITCH_TRIMMING/GLOBAL/size", "128", "trim-size-portable"),
        text("SWITCH_TRIMMING/GLOBAL/dscp_value", "64", "value-invalid"),
        text("SWITCH_TRIMMING/GLOBAL/dscp_value", "from-tc", "trim-incomplete"),
        text("SWITCH_TRIMMING/GLOBAL/queue_index", "9", "trim-queue-missing"),
        text("SWITCH_TRIMMING/GLOBAL/queue_index", "1", "trim-queue-trims"),
        text("SWITCH_TRIMMING/GLOBAL/queue_index", "six", "value-invalid"),
        (
            "SWITCH_TRIMMING/GLOBAL",
            Some(json!({ "size": "256", "dscp_value": "0", "queue_index": "dynamic" })),
            "trim-back",
        ),
        (
            "SWITCH_TRIMMING/GLOBAL",
            Some(json!({ "size": "256", "dscp_value": "from-tc", "tc_value": "6", "queue_index": "6" })),
            "trim-map-missing",
        ),
        text("BUFFER_PROFILE/egress_lossy_profile/dynamic_th", "-7", "trim-queue-small"),
    ]
}

/// The small configuration with a change.
fn changed(path: &str, value: Option<Value>) -> String {
    let mut config: Value = serde_json::from_str(&text("small.json")).unwrap();
    let parts: Vec<&str> = path.split('/').collect();
    let (last, tables) = parts.split_last().unwrap();
    let mut at = config.as_object_mut().unwrap();
    for part in tables {
        at = at.entry(*part).or_insert_with(|| json!({})).as_object_mut().unwrap();
    }
    match value {
        Some(value) => drop(at.insert((*last).to_owned(), value)),
        None => assert!(at.remove(*last).is_some(), "{path} is not there"),
    }
    config.to_string()
}

/// What is imported of a configuration can be read, whatever is wrong with it; or it is refused.
fn is_readable(config: &Config, what: &str) {
    for chip in ["td3", "spc3", "th5", "q3d"] {
        match import(&Device::new(config, Chip::by_name(chip).unwrap()), "broken.json") {
            Ok(imported) => {
                let sides = SwitchFile::parse("switch.toml", &imported.toml).and_then(|file| file.sides());
                assert!(sides.is_ok(), "{what} on {chip}: {}", sides.unwrap_err());
            }
            Err(error) => assert!(error.to_string().contains("help: "), "{what}: {error}"),
        }
    }
}

#[test]
fn no_broken_configuration_is_passed_over() {
    let all: Vec<Broken> = broken_values().into_iter().chain(broken_qos()).collect();
    // docs/operators.md has the number.
    assert_eq!(all.len(), 110);
    let docs = include_str!("../../../../docs/operators.md");
    assert!(docs.contains(&format!("{} broken configurations", all.len())), "{}", all.len());
    for (path, value, rule) in all {
        let what = format!("{path} = {value:?}");
        match Config::parse("broken.json", &changed(path, value)) {
            Err(error) => assert!(rule == REFUSED && error.to_string().contains("help: "), "{what}: {error}"),
            Ok(config) => {
                let found = lint(&config, None).unwrap();
                is_readable(&config, &what);
                assert!(found.iter().any(|finding| finding.rule == rule), "{what}: {found:#?}");
                for finding in &found {
                    let texts = [&finding.why, &finding.effect, &finding.cure];
                    assert!(
                        texts.iter().all(|text| !text.is_empty()) && !finding.keys.is_empty(),
                        "{what}: {finding:?}"
                    );
                }
            }
        }
    }
}

/// Every place of a value.
fn places(value: &Value, path: &str, list: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}/{key}") };
        places(value, &path, list);
        list.push(path);
    }
}

#[test]
fn no_change_makes_it_panic() {
    let mut all = vec![];
    places(&serde_json::from_str(&text("small.json")).unwrap(), "", &mut all);
    let (huge, most) = (i64::MAX.to_string(), u64::MAX.to_string());
    let values =
        ["", "0", "1", "-1", "-8", "7", "64", "99999999", "10000000000000", &huge, &most, "a|b", "3-4", "[", "NULL"];
    let chips: Vec<&str> = CHIPS.iter().map(|chip| chip.name.as_str()).collect();
    let mut predicted = 0;
    for seed in 0..3_000 {
        let mut random = Random::stream(seed, "changes", 0);
        let mut one = || random.below(u64::MAX);
        let (place, value, chip) =
            (one() as usize % all.len(), one() as usize % (values.len() + 1), one() as usize % chips.len());
        let changed = changed(&all[place], values.get(value).map(|value| json!(value)));
        let Ok(config) = Config::parse("changed.json", &changed) else { continue };
        lint(&config, Some(chips[chip])).unwrap();
        let device = Device::new(&config, Chip::by_name(chips[chip]).unwrap());
        drop(import(&device, "changed.json"));
        if seed % 10 == 0 {
            predicted += usize::from(predict(&device, &Question { packet: 9_100, others: vec![0, 3] }).is_ok());
        }
    }
    assert!(predicted > 100, "{predicted}");
}

#[test]
fn files_that_are_no_configuration_are_refused() {
    let deep = "[".repeat(100_000);
    let nested = format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    let twice = r#"{"PORT": {}, "PORT": {}}"#;
    for text in ["", "{", "[]", "null", "5", "{}", "{\"VLAN\": {}}", "\u{0}", &deep, &nested, twice, "{\"PORT\": {}} x"]
    {
        let error = Config::parse("broken.json", text).unwrap_err().to_string();
        assert!(error.starts_with("error: broken.json") && error.contains("help: "), "{error}");
    }
    let config = Config::parse("small.json", &text("small.json")).unwrap();
    assert!(lint(&config, Some("th9")).unwrap_err().to_string().contains("no such chip"));
}

#[test]
fn sarif_has_every_finding_with_its_keys() {
    let found = findings("broken.json", &changed("BUFFER_POOL/ingress_lossless_pool/size", Some(json!("56441610000"))));
    let log = sarif("broken.json", &found);
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!((log["version"].as_str(), results.len()), (Some("2.1.0"), found.len()));
    assert_eq!(results[0]["level"], "error");
    let place = &results[0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
    assert_eq!(place, "BUFFER_POOL|ingress_lossless_pool");
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["id"] == "pool-exceeds-memory"));
}

#[test]
fn the_page_has_every_rule() {
    let page = std::fs::read_to_string(crate::data("../../../../docs/operators.md")).unwrap();
    let rules =
        broken_values().into_iter().chain(broken_qos()).map(|(_, _, rule)| rule).filter(|rule| *rule != REFUSED);
    for rule in rules {
        assert!(page.contains(&format!("`{rule}`")), "{rule}");
    }
}
