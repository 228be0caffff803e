//! `switch.sonic`: switches of a scenario that are made from a SONiC configuration.

use crate::common::{assert_conserved, dropped, everything, run_scenario};
use crate::on_threads::run_on;
use forebay_settings::SwitchFile;
use forebay_sim::scenario::{Scenario, WatchdogAction, describe};
use forebay_sonic::config::Config;
use forebay_sonic::device::Device;
use forebay_sonic::import::import_ports;
use forebay_tm::{Duration, Rate};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sonic/tests/data");

fn configuration(name: &str) -> String {
    format!("{DATA}/{name}.json")
}

/// A rack in which everyone sends to host 0 in a class.
fn rack(sonic: &str, hosts: usize, class: u8, more: &str) -> String {
    format!(
        r#"seed = 1
        duration = "100us"
        drain = "100ms"
        [topology]
        kind = "single"
        hosts = {hosts}
        rate = "100Gbps"
        delay = "200ns"
        [switch]
        sonic = "{sonic}"
        {more}
        [transport.rdma]
        kind = "dcqcn"
        [[workload]]
        kind = "incast"
        request = "{request}MB"
        fan_in = {fan_in}
        rate = 20000
        allow_overload = true
        transport = "rdma"
        class = {class}
        "#,
        request = 3 * (hosts - 1),
        fan_in = hosts - 1
    )
}

fn read(text: &str) -> Result<Scenario, String> {
    Scenario::read("rack.toml", text, &[]).map_err(|error| error.to_string())
}

fn sound(text: &str) -> Scenario {
    read(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_switch_is_what_import_makes_of_its_ports() {
    let path = configuration("configs/td3-7050cx3-c32-t0");
    let scenario = sound(&rack(&path, 6, 3, ""));
    let config = Config::parse(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
    let device = Device::new(&config, config.chip(None).unwrap());
    let imported = import_ports(&device, &path, &["100Gbps".parse::<Rate>().unwrap(); 6]).unwrap();
    let (switch, ingress) = SwitchFile::parse("switch.toml", &imported.toml).unwrap().sides().unwrap();
    let setup = &scenario.switches[0];
    assert_eq!(setup.left_out, ["26 ports without a cable"]);
    let buffer = &setup.buffers[0];
    assert_eq!((&buffer.policy, &buffer.scheduler, &buffer.mark), (&switch.policy, &switch.scheduler, &switch.mark));
    assert_eq!((buffer.buffer, buffer.queues, buffer.cell), (switch.buffer, switch.queues, switch.cell));
    let side = setup.ingress.as_ref().unwrap();
    assert_eq!(Some(&side.file), ingress.as_ref());
    // The pool is that of the whole switch, and idle ports keep their minimums: 32732160 B less xoff, 64 PGs and 160
    // queues.
    assert_eq!(side.file.config.pools[0].shared, (32_732_160 - 1_622_016) / 256 - 64 * 18 - 160 * 7);
}

#[test]
fn it_pauses_and_loses_nothing_the_same_on_any_number_of_threads() {
    for name in ["td3-7050cx3-c32-t0", "th2-7260cx3-c64-t1"] {
        let scenario = sound(&rack(&configuration(&format!("configs/{name}")), 12, 3, "[ecn]\nkind = \"none\""));
        let result = run_scenario(&scenario);
        assert_conserved(&result, name);
        assert!(!result.pauses.requests.is_empty(), "{name}: nobody was paused");
        assert!(result.pauses.requests.iter().all(|request| request.group == 3), "{name}");
        assert_eq!(dropped(&result), 0, "{name}");
        assert_eq!(everything(&result), everything(&run_scenario(&scenario)), "{name}");
    }
}

#[test]
fn two_leaves_give_the_same_on_any_number_of_threads() {
    let path = configuration("configs/td3-7050cx3-c32-t0");
    let network = "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 6\n";
    let text = rack(&path, 12, 3, "")
        .replace("seed = 1", "seed = 2")
        .replace("kind = \"single\"\n        hosts = 12\n", network);
    let scenario = sound(&text);
    let (one, _) = run_on(1, &scenario);
    assert!(one.contains("group: 3"));
    for threads in [2, 3] {
        assert_eq!(one, run_on(threads, &scenario).0, "{threads} threads");
    }
}

#[test]
fn a_lossy_class_drops_where_the_lossless_one_pauses() {
    let result = run_scenario(&sound(&rack(&configuration("configs/td3-7050cx3-c32-t0"), 24, 0, "")));
    assert!(result.pauses.requests.is_empty() && dropped(&result) > 0);
}

#[test]
fn the_watchdog_is_the_one_of_the_configuration_unless_the_scenario_has_its_own() {
    let directory = std::env::temp_dir().join(format!("forebay-sonic-watchdog-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("config_db.json");
    let text = std::fs::read_to_string(configuration("configs/td3-7050cx3-c32-t0")).unwrap();
    let ports = (0..32).map(|port| {
        format!(
            "\"Ethernet{}\": {{\"action\": \"forward\", \"detection_time\": \"200\", \"restoration_time\": \"400\"}}",
            4 * port
        )
    });
    let table = format!("{{\"PFC_WD\": {{{}}},", ports.collect::<Vec<_>>().join(","));
    std::fs::write(&path, text.replacen('{', &table, 1)).unwrap();
    let watchdog = |more: &str| {
        let scenario = sound(&rack(&path.display().to_string(), 4, 3, more));
        scenario.switches[0].ingress.as_ref().unwrap().pfc.watchdog.unwrap()
    };
    let ms = |ms: u64| Duration::from_us(1_000 * ms);
    let of_configuration = watchdog("");
    assert_eq!((of_configuration.detect, of_configuration.restore), (ms(200), ms(400)));
    assert_eq!(of_configuration.action, WatchdogAction::Forward);
    assert_eq!(watchdog("[pfc]\nresponse = \"100ns\""), of_configuration);
    let own = watchdog("[pfc]\ndetect = \"1ms\"");
    assert_eq!((own.detect, own.action), (ms(1), WatchdogAction::Drop));
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_scenario_says_more_than_the_configuration() {
    let path = configuration("configs/td3-7050cx3-c32-t0");
    let other = configuration("configs/th2-7260cx3-c64-t1");
    let text = rack(
        &path,
        4,
        3,
        &format!(
            "[policy]\nkind = \"dt\"\nalpha = 1.0\n[switches.switch0]\nqueue_capacity = 9\n[tier.switch]\nsonic = \"{other}\""
        ),
    );
    let setup = &sound(&text).switches[0];
    // The tier is more special than [policy] of all, a single switch more than its tier.
    assert_eq!(setup.buffers[0].queue_capacity, Some(9));
    assert_eq!(setup.buffers[0].policy.name(), "pools");
    assert_eq!(setup.ingress.as_ref().unwrap().file.config.cell, 208);
    let own = sound(&rack(&path, 4, 3, "buffer = \"20MB\"\n[policy]\nkind = \"dt\"\nalpha = 1.0"));
    assert_eq!((own.switches[0].buffers[0].policy.name(), own.switches[0].buffers[0].buffer.get()), ("dt", 20_000_000));
    for text in [text, rack(&path, 4, 3, "[pfc]\nquanta = 100")] {
        let resolved = describe("rack.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(sound(&resolved).switches, sound(&text).switches);
        assert_eq!(describe("rack.toml", &resolved, &[]).unwrap(), resolved);
    }
}

/// What is refused, and what the message says of it.
#[test]
fn what_cannot_be_is_refused_at_its_line() {
    let td3 = configuration("configs/td3-7050cx3-c32-t0");
    let cases = [
        (rack("none.json", 4, 3, ""), "rack.toml:10: switch.sonic", "there is no file none.json"),
        (rack(DATA, 4, 3, ""), "switch.sonic", "cannot read"),
        (rack(&format!("{DATA}/hardware.csv"), 4, 3, ""), "switch.sonic", "hardware.csv:1:1"),
        (rack(&configuration("config_db_sample"), 4, 3, ""), "switch.sonic", "config_db_sample.json:"),
        (rack(&td3, 33, 3, ""), "switch.sonic", "needs 33 ports of 100Gbps, and it has 32 of 100Gbps"),
        (rack(&td3, 4, 3, "").replace("100Gbps", "25Gbps"), "switch.sonic", "needs 4 ports of 25Gbps"),
        (rack(&td3, 4, 7, ""), "class", "7"),
        (rack(&td3, 4, 3, "queues = 4"), "rack.toml:11: switch.queues", "remove it, or sonic"),
        (rack(&td3, 4, 3, "[ingress]"), "ingress", "remove it, or sonic"),
        (rack(&td3, 4, 3, "[mirror]\nkind = \"generic\""), "mirror", "remove it, or sonic"),
        (rack(&td3, 4, 3, "kind = \"tofino\"\nprogram = \"trim\""), "switch.kind", "remove it, or sonic"),
        (rack(&td3, 4, 3, "sonic_chip = \"td9\""), "switch.sonic_chip", "td"),
        (rack(&td3, 4, 3, "").replace("sonic =", "sonic_chip = \"td3\" #"), "switch.sonic_chip", "add sonic"),
        (rack(&td3, 4, 3, "").replace(&format!("\"{td3}\""), "7"), "switch.sonic", "give text in quotes"),
    ];
    for (text, place, words) in cases {
        let error = read(&text).expect_err(words);
        assert!(error.contains(place) && error.contains(words), "{place} and {words} are not in:\n{error}");
    }
}

/// A switch that trims has an ingress side as any other.
#[test]
fn switches_trim_and_pause() {
    let path = configuration("configs/spc5-sn5640-c512s2-t1-trim");
    for text in [rack(&path, 4, 3, ""), rack(&configuration("small"), 3, 3, "")] {
        let both = sound(&text);
        let setup = &both.switches[0];
        assert!(setup.ingress.is_some() && setup.buffers[0].trim.is_some());
        assert_conserved(&run_scenario(&both), "trimming");
    }
    let ndp = format!("{}\n[trim]\nkind = \"ndp\"\nsize = 64", rack(&configuration("small"), 3, 3, ""));
    let error = read(&ndp).expect_err("it has a queue of headers, and pauses");
    assert!(error.contains("switch.sonic") && error.contains("has queues of headers"), "{error}");
}
