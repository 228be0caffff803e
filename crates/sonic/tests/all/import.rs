//! Switch files made from configurations.

use crate::predict::CONFIGS;
use crate::text;
use forebay_settings::SwitchFile;
use forebay_sonic::config::Config;
use forebay_sonic::device::Device;
use forebay_sonic::import::{Imported, import, import_live};
use forebay_sonic::predict::{Question, predict};
use forebay_tm::{Instant, Mmu, MmuConfig, Outcome, Packet, PacketId, Reason, Side, Verdict, View as _, Wire};

fn imported(name: &str) -> Imported {
    let config = Config::parse(name, &text(name)).unwrap();
    let device = Device::new(&config, config.chip(None).unwrap());
    import(&device, name).unwrap()
}

/// Both sides as `forebay replay` reads them.
fn mmu(toml: &str) -> Mmu {
    let file = SwitchFile::parse("switch.toml", toml).unwrap();
    let (switch, ingress) = file.sides().unwrap_or_else(|error| panic!("{error}\n{toml}"));
    Mmu::new(MmuConfig { switch: switch.into_inner(), ingress: ingress.unwrap().config }).unwrap()
}

/// Packets of 64 bytes from port 0 to a queue of another port: the packet that asks for pause, the one that is dropped,
/// and why.
fn fill(mmu: &mut Mmu, group: u8, queue: u32) -> (Option<u64>, u64, Reason) {
    let mut pause = None;
    for number in 1.. {
        let packet = Packet { id: PacketId(number), bytes: 64, port: 1, queue, group, ..Packet::default() };
        let outcome = mmu.offer(Instant::ZERO, &packet, Wire::Busy);
        pause = pause.or(mmu.requests().next().map(|_| number));
        match outcome {
            Outcome::Verdict(Verdict::Queued { .. } | Verdict::Trimmed { .. }) => {}
            Outcome::Verdict(Verdict::Dropped { reason }) => return (pause, number, reason),
            other => panic!("{other:?}"),
        }
    }
    unreachable!()
}

#[test]
fn switch_files_pause_and_drop_where_the_prediction_does() {
    for name in CONFIGS {
        let file = format!("configs/{name}.json");
        let imported = imported(&file);
        assert!(imported.left_out.iter().all(|left_out| imported.toml.contains(left_out)), "{}", imported.toml);
        let config = Config::parse(name, &text(&file)).unwrap();
        let device = Device::new(&config, config.chip(None).unwrap());
        let predictions = predict(&device, &Question { packet: 64, others: vec![0] }).unwrap();
        let case = |side: &str, profile: usize| {
            let name = &config.profiles[profile].name;
            let of = predictions.iter().find(|of| of.side == side && of.profile == *name);
            of.unwrap_or_else(|| panic!("{side} {name}")).cases[0].clone()
        };
        // A lossy queue: the side with the lower limit drops, to the packet.
        let queue = case("egress", config.queues[&(1, 0)]).drop.unwrap().packets;
        let group = case("ingress", config.groups[&(0, 0)]).drop.unwrap().packets;
        let toml = without(&imported.toml, &["[ecn]", "[trim]"]);
        let (_, dropped, reason) = fill(&mut mmu(&toml), 0, 0);
        assert_eq!(dropped, queue.min(group), "{name}: {reason:?}");
        assert_eq!(reason.side() == Side::Ingress, group < queue, "{name}: {reason:?}");
        // A lossless class, up to the pause.
        if let Some(profile) = config.groups.get(&(0, 3)) {
            let (pause, dropped, reason) = fill(&mut mmu(&toml), 3, 3);
            let case = case("ingress", *profile);
            assert_eq!(pause, case.pause.map(|point| point.packets), "{name}");
            assert_eq!(dropped, case.drop.unwrap().packets, "{name}: {reason:?}");
        }
    }
}

/// A switch file without some of its tables.
fn without(toml: &str, heads: &[&str]) -> String {
    let mut keeps = true;
    let lines = toml.lines().filter(|line| {
        if line.starts_with('[') {
            keeps = !heads.contains(line);
        }
        keeps
    });
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn trimming_marking_and_both_sides_are_written() {
    let trim = imported("configs/spc5-sn5640-c512s2-t1-trim.json");
    assert!(trim.toml.contains("kind = \"to-queue\"\nsize = 256\nqueue = 6"), "{}", trim.toml);
    let mut switch = mmu(&trim.toml);
    // Queue 1 has alpha 2^-7, and its packets are cut from then on.
    let mut trimmed = 0;
    for number in 0..20_000 {
        let packet = Packet { id: PacketId(number), bytes: 4_000, port: 1, queue: 1, ..Packet::default() };
        let outcome = switch.offer(Instant::ZERO, &packet, Wire::Busy);
        trimmed += u64::from(matches!(outcome, Outcome::Verdict(Verdict::Trimmed { .. })));
    }
    assert!(trimmed > 1_000 && switch.is_consistent());
    let counters = switch.egress().queue_counters(switch.egress().queue_index(1, 6));
    assert_eq!((counters.waiting.packets, switch.egress().pool_counters().trimmed.packets), (trimmed, trimmed));
}

#[test]
fn what_is_left_out_is_said() {
    let small = imported("small.json");
    for expected in ["the new DSCP", "has no scheduler"] {
        assert!(small.left_out.iter().any(|left_out| left_out.contains(expected)), "{expected}: {:#?}", small.left_out);
    }
    assert!(small.toml.contains("alpha = [1.0, 1.0, 1.0, 1.0, 1.0, 8.0, 8.0]"), "{}", small.toml);
    assert!(small.toml.contains("fixed = [false, false, false, true, true, false, false]"), "{}", small.toml);
    assert!(small.toml.contains("kind = \"wred\"\non = [false, false, false, true"), "{}", small.toml);
    mmu(&small.toml);
}

/// What an operator of a box that trims may have, and no file of ours.
#[test]
fn trimming_that_is_not_the_same_everywhere_is_said() {
    let mut config: serde_json::Value = serde_json::from_str(&text("small.json")).unwrap();
    config["ACL_RULE"] = serde_json::json!({"T|R": {"PACKET_ACTION": "DISABLE_TRIM", "PRIORITY": "9"}, "T|S": {"PACKET_ACTION": "DROP"}});
    config["SWITCH_TRIMMING"]["GLOBAL"]["queue_index"] = "dynamic".into();
    config["TC_TO_QUEUE_MAP"]["OTHER"] = serde_json::json!({"0": "0", "6": "5"});
    config["PORT_QOS_MAP"]["Ethernet8"]["tc_to_queue_map"] = "OTHER".into();
    let config = Config::parse("small.json", &config.to_string()).unwrap();
    let device = Device::new(&config, config.chip(None).unwrap());
    let left_out = import(&device, "small.json").unwrap().left_out;
    for expected in ["1 rules of ACL_RULE with DISABLE_TRIM", "another trim queue, or none, by the maps of 1 ports"] {
        assert!(left_out.iter().any(|left_out| left_out.contains(expected)), "{expected}: {left_out:#?}");
    }
    // Queues by DSCP: those of most ports, and rules for what comes by the other.
    let live = import_live(&device, "small.json", None).unwrap().toml;
    let rule = |ingress: &str, dscp: u8, queue: u8| format!("[[classify]]\n{ingress}dscp = {dscp}\nqueue = {queue}\n");
    let (own, usual) = (rule("ingress = \"Ethernet8\"\n", 48, 5), rule("", 48, 6));
    assert!(live.find(&own).unwrap() < live.find(&usual).unwrap(), "{live}");
    // It has no queue 3 by this map: a packet of TC 3 is no other than one of TC 0.
    assert!(!live.contains(&rule("ingress = \"Ethernet8\"\n", 3, 3)), "{live}");
    assert!(live.contains("[[classify]]\ningress = \"Ethernet8\"\nqueue = 0\n"), "{live}");
    assert!(live.contains("trim_dscp = 48\ntrim_lengths = \"kept\"\n") && live.contains("frame = 16384\n"), "{live}");
}

/// `PORT_QOS_MAP|global` is for ports without a map of their own.
#[test]
fn a_map_of_the_switch_is_that_of_ports_without_one() {
    let mut config: serde_json::Value = serde_json::from_str(&text("small.json")).unwrap();
    config["DSCP_TO_TC_MAP"]["WHOLE"] = serde_json::json!({"46": "6"});
    config["PORT_QOS_MAP"]["global"] = serde_json::json!({"dscp_to_tc_map": "WHOLE"});
    config["PORT_QOS_MAP"]["Ethernet4"].as_object_mut().unwrap().remove("dscp_to_tc_map");
    let config = Config::parse("small.json", &config.to_string()).unwrap();
    let maps: Vec<&str> = config.ports.iter().map(|port| port.maps["dscp_to_tc_map"].as_str()).collect();
    assert_eq!(maps, ["AZURE", "WHOLE", "AZURE"]);
}

/// Most ports have no profiles: what is written can be read.
#[test]
fn ports_without_profiles_have_a_pool() {
    let mut config: serde_json::Value = serde_json::from_str(&text("small.json")).unwrap();
    for port in 0..4 {
        config["PORT"][format!("Service{port}")] = serde_json::json!({"speed": "100000", "admin_status": "up"});
    }
    let config = Config::parse("small.json", &config.to_string()).unwrap();
    let imported = import(&Device::new(&config, config.chip(None).unwrap()), "small.json").unwrap();
    assert!(imported.left_out.iter().any(|left_out| left_out.contains("queue 0 has no profile")), "{}", imported.toml);
    mmu(&imported.toml);
}

#[test]
fn strict_queues_are_first() {
    let mut config: serde_json::Value = serde_json::from_str(&text("small.json")).unwrap();
    config["SCHEDULER"]["scheduler.0"]["type"] = "STRICT".into();
    let config = Config::parse("small.json", &config.to_string()).unwrap();
    let toml = import(&Device::new(&config, config.chip(None).unwrap()), "small.json").unwrap().toml;
    assert!(toml.contains("groups = [[1], [0], [2, 3, 4, 5, 6]]"), "{toml}");
    mmu(&toml);
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
