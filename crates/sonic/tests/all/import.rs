//! Switch files made from configurations.

use crate::predict::CONFIGS;
use crate::text;
use forebay_settings::read_switch;
use forebay_sonic::config::Config;
use forebay_sonic::device::Device;
use forebay_sonic::import::{Imported, import};
use forebay_sonic::predict::{Question, predict};
use forebay_tm::{Instant, Outcome, Packet, PacketId, Tm, Verdict, Wire};

fn imported(name: &str) -> Imported {
    let config = Config::parse(name, &text(name)).unwrap();
    let device = Device::new(&config, config.chip(None).unwrap());
    import(&device, name).unwrap()
}

/// Packets of 64 bytes that a lone queue takes.
fn fill(tm: &mut Tm, queue: u32) -> u64 {
    for number in 1.. {
        let packet = Packet { id: PacketId(number), bytes: 64, queue, ..Packet::default() };
        match tm.offer(Instant::ZERO, &packet, Wire::Busy) {
            Outcome::Verdict(Verdict::Queued { .. }) => {}
            other => {
                assert!(matches!(other, Outcome::Verdict(Verdict::Dropped { .. })), "{other:?}");
                return number;
            }
        }
    }
    unreachable!()
}

#[test]
fn switch_files_drop_where_the_prediction_does() {
    for name in CONFIGS {
        let file = format!("configs/{name}.json");
        let imported = imported(&file);
        let switch =
            read_switch("switch.toml", &imported.toml).unwrap_or_else(|error| panic!("{error}\n{}", imported.toml));
        let config = Config::parse(name, &text(&file)).unwrap();
        let device = Device::new(&config, config.chip(None).unwrap());
        let predictions = predict(&device, &Question { packet: 64, others: vec![0] }).unwrap();
        let profile = config.queues[&(0, 1)];
        let prediction =
            predictions.iter().find(|of| of.side == "egress" && of.profile == config.profiles[profile].name);
        let shared = prediction.unwrap().cases[0].shared_cells;
        // The queue's minimum is left out, and the core tests a threshold before the packet is in: up to alpha packets more.
        let dropped = fill(&mut Tm::new(switch), 1);
        assert!((shared + 1..=shared + 9).contains(&dropped), "{name}: {dropped}, {shared}");
        assert!(imported.left_out.iter().all(|left_out| imported.toml.contains(left_out)), "{}", imported.toml);
    }
}

#[test]
fn what_is_left_out_is_said() {
    let small = imported("small.json");
    for expected in
        ["the ingress side", "egress_lossless_pool", "no limit", "minimums of queues", "trimming", "has no scheduler"]
    {
        assert!(small.left_out.iter().any(|left_out| left_out.contains(expected)), "{expected}: {:#?}", small.left_out);
    }
    assert!(small.toml.contains("alpha = [1.0, 1.0, 1.0, 1024.0, 1024.0, 8.0, 8.0]"), "{}", small.toml);
    assert!(small.left_out.iter().any(|left_out| left_out.contains("marking by AZURE_LOSSLESS at queue 3")));
}

#[test]
fn marking_is_written_if_all_queues_have_the_same() {
    let mut config: serde_json::Value = serde_json::from_str(&text("small.json")).unwrap();
    config["QUEUE"] = serde_json::json!({ "Ethernet0-8|0-6": { "wred_profile": "AZURE_LOSSLESS" } });
    let config = Config::parse("small.json", &config.to_string()).unwrap();
    let toml = import(&Device::new(&config, config.chip(None).unwrap()), "small.json").unwrap().toml;
    assert!(toml.contains("min = 1048576\nmax = 2097152\nprobability = 0.05\naction = \"mark-or-drop\""), "{toml}");
    read_switch("switch.toml", &toml).unwrap();
}

#[test]
fn strict_queues_are_first() {
    let mut config: serde_json::Value = serde_json::from_str(&text("small.json")).unwrap();
    config["SCHEDULER"]["scheduler.0"]["type"] = "STRICT".into();
    let config = Config::parse("small.json", &config.to_string()).unwrap();
    let toml = import(&Device::new(&config, config.chip(None).unwrap()), "small.json").unwrap().toml;
    assert!(toml.contains("groups = [[1], [0], [2, 3, 4, 5, 6]]"), "{toml}");
    read_switch("switch.toml", &toml).unwrap();
}

#[test]
fn nothing_to_import_is_an_error() {
    for (table, expected) in [("PORT", "no port is up"), ("BUFFER_QUEUE", "no queue has a profile")] {
        let mut config: serde_json::Value = serde_json::from_str(&text("small.json")).unwrap();
        config[table] = serde_json::json!({});
        let config = Config::parse("small.json", &config.to_string()).unwrap();
        let error = import(&Device::new(&config, config.chip(None).unwrap()), "small.json").unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
