//! Advice that works: the patched configuration meets the goal that the old one missed.

use crate::text;
use forebay_advise::{Advice, Goal, Measured, Traffic, Watermarks, advise, apply, read_goals};
use forebay_sim::scenario::Scenario;
use forebay_sim::{engine, workload};
use forebay_sonic::config::Config;
use forebay_sonic::lint::lint;
use forebay_tm::{Bytes, Duration};

const TD3: &str = "configs/td3-7050cx3-c32-t0.json";

fn advice(config: &str, goals: &[Goal]) -> Advice {
    advise(config, &text(config), None, goals).unwrap_or_else(|error| panic!("{error}"))
}

fn goals(name: &str) -> Vec<Goal> {
    let path = format!("{}/tests/goals/{name}", env!("CARGO_MANIFEST_DIR"));
    read_goals(&path, &std::fs::read_to_string(&path).unwrap()).unwrap()
}

/// What docs/operators.md shows of a case.
fn is_documented(advice: &Advice) {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operators.md")).unwrap();
    for goal in &advice.goals {
        let change = goal.candidates.first().map_or("", |best| &best.change);
        for words in [&goal.goal, &goal.before.words, &goal.after.words, change] {
            let words = words.replace(env!("CARGO_MANIFEST_DIR"), "crates/advise");
            assert!(docs.contains(&words), "docs/operators.md does not have \"{words}\"");
        }
    }
}

#[test]
fn an_incast_that_drops_under_the_shipped_settings_is_absorbed() {
    let advice = advice(TD3, &goals("incast.toml"));
    let goal = &advice.goals[0];
    assert!(!goal.before.met && goal.after.met && advice.is_complete(), "{goal:#?}");
    // Less for each lets more of a burst in: the others hold less than before.
    assert_eq!(advice.patch.len(), 1);
    assert_eq!(advice.patch[0].path, "/BUFFER_PROFILE/egress_lossy_profile/dynamic_th");
    assert!(goal.candidates[0].cost_for_others.unwrap() < 0.0);
    // The patch is what was tried.
    let config = serde_json::from_str(&text(TD3)).unwrap();
    let patched = apply(&config, &advice.patch).unwrap();
    let again = advise("patched", &patched.to_string(), None, &goals("incast.toml")).unwrap();
    assert!(again.goals[0].before.met && again.patch.is_empty());
    is_documented(&advice);
}

#[test]
fn ecn_that_never_marks_is_bound_to_its_queue() {
    let advice = advice(TD3, &goals("ecn.toml"));
    let goal = &advice.goals[0];
    assert!(goal.before.words.starts_with("0 of "), "{}", goal.before.words);
    assert!(!goal.before.met && goal.after.met, "{goal:#?}");
    assert!(advice.patch.iter().all(|change| change.path.ends_with("|0/wred_profile")), "{:?}", advice.patch);
    is_documented(&advice);
}

/// Who asked for pause in a rack whose switch is made from a configuration: PG by PG.
fn pauses_in_a_rack(config: &serde_json::Value) -> [usize; 8] {
    let directory = std::env::temp_dir().join(format!("forebay-advise-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("config_db.json");
    std::fs::write(&path, config.to_string()).unwrap();
    let pairs: Vec<String> = (1..=20).map(|host| format!("[{host}, 0]")).collect();
    // A seed, a cable and a beginning that the advice has not seen.
    let text = format!(
        "seed = 77\nduration = \"400us\"\ndrain = \"1ms\"\n[topology]\nkind = \"single\"\nhosts = 28\nrate = \"100Gbps\"\ndelay = \"100ns\"\n[switch]\n\
         sonic = \"{}\"\n[transport.rdma]\nkind = \"dcqcn\"\n[[workload]]\nkind = \"long-lived\"\nclass = 3\npairs = [{}]\nspread = \"20us\"\n\
         [[workload]]\nkind = \"incast\"\nclass = 4\nhosts = [27]\nfrom = [22, 23, 24, 25]\nrequest = \"16MB\"\narrivals = \"once\"\nstart = \"120us\"\n",
        path.display(),
        pairs.join(", ")
    );
    let scenario = Scenario::read("rack.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
    let result = engine::run(&scenario, &plan, &mut |_| true);
    std::fs::remove_dir_all(&directory).unwrap();
    let mut pauses = [0; 8];
    result.pauses.requests.iter().for_each(|request| pauses[usize::from(request.group)] += 1);
    pauses
}

#[test]
fn a_lossless_class_no_longer_pauses_its_neighbours() {
    let goals = goals("neighbours.toml");
    let advice = advice(TD3, &goals);
    let goal = &advice.goals[0];
    assert!(!goal.before.met && goal.after.met && advice.is_complete(), "{goal:#?}");
    assert!(goal.before.spread.unwrap().half.is_some_and(|half| half > 0.0));
    is_documented(&advice);
    let config: serde_json::Value = serde_json::from_str(&text(TD3)).unwrap();
    let patched = apply(&config, &advice.patch).unwrap();
    // It is a configuration that the switch takes: every PG has one profile, and nothing is wrong with it.
    let (was, is) = [&config, &patched].map(|config| Config::parse("config", &config.to_string()).unwrap()).into();
    assert_eq!(was.groups.keys().collect::<Vec<_>>(), is.groups.keys().collect::<Vec<_>>());
    assert_eq!(lint(&was, None).unwrap().len(), lint(&is, None).unwrap().len());
    let (before, after) = (pauses_in_a_rack(&config), pauses_in_a_rack(&patched));
    assert!(before[4] > 0 && after[4] == 0, "{before:?} {after:?}");
}

#[test]
fn a_trace_that_loses_packets_loses_none_with_the_patch() {
    let advice = advice(TD3, &goals("trace.toml"));
    let goal = &advice.goals[0];
    assert!(!goal.before.met && goal.after.met && advice.is_complete(), "{goal:#?}");
    assert_eq!(advice.patch.len(), 1);
    // The other queue of the trace pays for it.
    assert!(goal.candidates[0].cost_for_others.unwrap() < 0.0);
    is_documented(&advice);
}

#[test]
fn watermarks_and_half_as_much_again() {
    let advice = advice(TD3, &goals("watermarks.toml"));
    let met: Vec<bool> = advice.goals.iter().map(|goal| goal.before.met).collect();
    assert!(met == [true, false] && advice.is_complete(), "{advice:#?}");
    is_documented(&advice);
    // What was measured fits, since it was measured: one percent of it does, too.
    let Goal::Measured { queue, traffic: Measured::Watermarks { marks, .. } } = goals("watermarks.toml").remove(1)
    else {
        panic!("the second goal is about watermarks");
    };
    let share = |percent| {
        let traffic = Measured::Watermarks { marks: marks.clone(), percent };
        advise(TD3, &text(TD3), None, &[Goal::Measured { queue, traffic }]).unwrap().goals.remove(0)
    };
    assert!(share(100).before.met && share(1).before.met);
    // A hundred times as much fits no buffer: what is nearest is said.
    assert!(share(10_000).why[0].contains("the nearest"));
}

#[test]
fn watermarks_and_traces_that_are_none_are_refused() {
    let refused = |text: &str, line: Option<usize>, problem: &str| {
        let error = Watermarks::read("marks.txt", text).unwrap_err();
        assert!(error.line == line && error.problem.contains(problem), "{error}");
    };
    refused("", None, "no line of columns");
    refused("Port UC0 UX1\n", Some(1), "\"UX1\" is no column");
    refused("Port,PG0,UC1\n", Some(1), "\"UC1\" is no column");
    refused("Port UC0 UC1\n---- ---- ----\nEthernet0 5\n", Some(3), "1 values for 2 columns");
    refused("Port UC0\nEthernet0 -5\n", Some(2), "\"-5\" is no number of bytes");
    refused("Port UC0\nEthernet0 99999999999999\n", Some(2), "is no number of bytes");
    refused("Port UC0\nEthernet0 0\nEthernet4 N/A\n", None, "all watermarks are 0");
    let of = |marks: &str, queue| {
        let traffic = Measured::Watermarks { marks: Watermarks::read("marks.txt", marks).unwrap(), percent: 100 };
        advise(TD3, &text(TD3), None, &[Goal::Measured { queue, traffic }]).unwrap_err().to_string()
    };
    let unknown = of("Port,UC0\nEthernet0,5000\nEthernet3,5000\n", 0);
    assert!(unknown.contains("marks.txt:3") && unknown.contains("no port Ethernet3 that is up"), "{unknown}");
    assert!(of("Port UC0\nEthernet0 5000\n", 1).contains("no packet of the traffic goes to queue 1"));
    assert!(of("Port UC15\nEthernet0 5000\n", 0).contains("ports have no queue 15"));
    assert!(of("Port PG6\nEthernet0 5000\n", 0).contains("no queue's packets are charged to PG 6"));
    let directory = std::env::temp_dir().join(format!("forebay-trace-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("arrivals.csv");
    let trace = |arrivals: &str| {
        std::fs::write(&path, arrivals).unwrap();
        let goal = Goal::Measured { queue: 0, traffic: Measured::Trace(path.clone()) };
        advise(TD3, &text(TD3), None, &[goal]).unwrap_err().to_string()
    };
    let no_port = trace("time_ps,bytes,port,queue,in_port\n0,64,99,0,1\n");
    assert!(no_port.contains("arrivals.csv:2: port") && no_port.contains("99"), "{no_port}");
    assert!(trace("time_ps,bytes,port,queue\n0,64,1,0\n").contains("in_port"));
    assert!(trace("time_ps,bytes,port,queue,in_port\n0,64,1,1,1\n").contains("no packet of the traffic"));
    let goals = |text: &str| read_goals(&directory.join("goals.toml").display().to_string(), text).unwrap_err();
    let missing = goals("[[goal]]\nkind = \"watermarks\"\nqueue = 0\nfile = \"nowhere.txt\"\n").to_string();
    assert!(missing.contains("nowhere.txt"), "{missing}");
    let times = "[[goal]]\nkind = \"watermarks\"\nqueue = 0\nfile = \"arrivals.csv\"\ntimes = 0\n";
    assert_eq!(goals(times).line, Some(5));
    assert_eq!(goals("[[goal]]\nkind = \"trace\"\nqueue = 0\n").field, "goal.0.arrivals");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_scenario_that_loses_packets_loses_none_with_the_patch() {
    let advice = advice(TD3, &goals("scenario.toml"));
    let goal = &advice.goals[0];
    assert!(!goal.before.met && goal.after.met && advice.is_complete(), "{goal:#?}");
    assert_eq!(advice.patch.len(), 1);
    is_documented(&advice);
}

#[test]
fn a_scenario_that_pauses_is_paused_less_by_what_is_searched() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("s.toml");
    let rack = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goals/rack.toml")).unwrap();
    let own = rack.replace("kind = \"dctcp\"", "kind = \"dcqcn\"").replace("class = 0", "class = 3");
    // Nobody else sends: what 16 servers send at once is more than a PG may have of the pool.
    let own = own[..own.rfind("[[workload]]").unwrap()].replace("initial_window = \"flow\"\n", "");
    std::fs::write(&file, own.replace("1600KB", "60MB")).unwrap();
    let advice = advice(TD3, &[Goal::Scenario { queue: 3, file: file.clone() }]);
    let goal = &advice.goals[0];
    assert!(goal.before.words.starts_with("PG 3 asks for pause"), "{goal:#?}");
    assert!(goal.candidates.iter().any(|candidate| candidate.change.contains("PG 3")), "{goal:#?}");
    let refused = |text: &str| {
        std::fs::write(&file, text).unwrap();
        advise(TD3, &self::text(TD3), None, &[Goal::Scenario { queue: 0, file: file.clone() }]).unwrap_err().to_string()
    };
    assert!(refused(&rack.replace("class = 0", "class = 2")).contains("no flow of the scenario has class 0"));
    let own_buffer = refused(&format!("{rack}\n[switch]\nqueues = 2\n"));
    assert!(own_buffer.contains("s.toml:") && own_buffer.contains("switch.queues"), "{own_buffer}");
    std::fs::remove_file(&file).unwrap();
    let missing = advise(TD3, &text(TD3), None, &[Goal::Scenario { queue: 0, file: file.clone() }]).unwrap_err();
    assert!(missing.to_string().contains("s.toml"), "{missing}");
}

/// Leaves that are made from the configuration, and a spine that another one is for.
#[test]
fn switches_of_another_configuration_stay_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
    let (own, other) = (at("own.json").display().to_string(), text(TD3));
    write("own.json", &other);
    write("other.json", &other.replace("Arista-7050CX3-32S-C32", "another-C32"));
    let fabric = "seed = 1\nduration = \"1500us\"\ndrain = \"5ms\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\n\
                  hosts_per_leaf = 8\nrate = \"100Gbps\"\ndelay = \"200ns\"\n[transport.load]\nkind = \"udp\"\n\
                  [[workload]]\nkind = \"long-lived\"\npairs = [[8, 0], [9, 1], [10, 2]]\ntransport = \"load\"\n";
    let run = |tables: &str, changes: &dyn Fn(&mut serde_json::Value)| {
        write("s.toml", &format!("{fabric}{tables}"));
        let mut config = serde_json::from_str(&other).unwrap();
        changes(&mut config);
        advise(&own, &config.to_string(), None, &[Goal::Scenario { queue: 0, file: at("s.toml") }])
    };
    let words = |tables: &str, changes: &dyn Fn(&mut serde_json::Value)| {
        run(tables, changes).unwrap_or_else(|error| panic!("{error}")).goals[0].before.words.clone()
    };
    let as_it_is = |_: &mut serde_json::Value| {};
    // What three hosts send to one uplink is lost at the leaf: with a smaller alpha, more of it.
    let less = |config: &mut serde_json::Value| {
        config["BUFFER_PROFILE"]["egress_lossy_profile"]["dynamic_th"] = "-4".into();
    };
    let both = "[switch]\nsonic = \"own.json\"\n";
    let leaves = "[tier.leaf]\nsonic = \"own.json\"\n[tier.spine]\nsonic = \"other.json\"\nsonic_chip = \"td3\"\n";
    let spine = "[tier.leaf]\nsonic = \"other.json\"\nsonic_chip = \"td3\"\n[tier.spine]\nsonic = \"own.json\"\n";
    let rest = "[tier.spine]\nsonic = \"other.json\"\nsonic_chip = \"td3\"\n";
    for tables in [both, leaves, rest] {
        assert_ne!(words(tables, &as_it_is), words(tables, &less), "{tables}");
    }
    assert_eq!(words(spine, &as_it_is), words(spine, &less), "the leaves have another configuration");
    assert_eq!(words(leaves, &less), words(both, &less), "the spine has enough");
    for (tables, why) in [
        ("[switch]\nsonic = \"other.json\"\nsonic_chip = \"td3\"\n", "[switch] is made from"),
        (
            "[tier.leaf]\nsonic = \"other.json\"\nsonic_chip = \"td3\"\n[tier.spine]\nsonic = \"other.json\"\nsonic_chip = \"td3\"\n",
            "each has a configuration of its own",
        ),
    ] {
        let error = run(tables, &as_it_is).unwrap_err().to_string();
        assert!(error.contains("s.toml") && error.contains(why) && error.contains("sonic ="), "{error}");
    }
}

#[test]
fn headroom_follows_the_cable() {
    let long = Goal::Lossless { queue: 3, senders: 12, cable: Some(2_000) };
    let advice = advice(TD3, &[Goal::Lossless { queue: 3, senders: 12, cable: None }, long]);
    assert!(advice.goals[0].before.met && !advice.goals[1].before.met && advice.is_complete(), "{advice:#?}");
    // The pool has to grow, too: it is what was missing.
    assert!(advice.patch.iter().any(|change| change.path == "/BUFFER_POOL/ingress_lossless_pool/xoff"));
}

#[test]
fn loads_without_pause() {
    let load = |percent, sizes: &str| Goal::NoPause {
        queue: 3,
        traffic: Traffic::Load { percent, sizes: sizes.to_owned() },
        from: None,
    };
    let light = advice(TD3, &[load(20, "websearch")]);
    assert!(light.goals[0].before.met && light.patch.is_empty());
    let error = advise(TD3, &text(TD3), None, &[load(20, "webserach")]).unwrap_err().to_string();
    assert!(error.contains("sizes") && error.contains("webserach"), "{error}");
}

#[test]
fn what_no_setting_reaches_is_said() {
    let burst = Goal::Burst { queue: 0, senders: 16, bytes: Bytes::new(4_000_000), congested: 4, with: 0 };
    let advice = advice(TD3, &[burst]);
    let goal = &advice.goals[0];
    assert!(!advice.is_complete() && advice.patch.is_empty());
    assert!(goal.why[0].contains("the nearest: egress_lossy_profile"), "{:?}", goal.why);
    let others: Vec<&str> = goal.other_policies.iter().map(|other| other.policy).collect();
    assert_eq!(others, ["fb", "abm", "occamy"]);
}

#[test]
fn other_policies_pause_as_well_or_lose() {
    let traffic = Traffic::Burst { senders: 24, bytes: Bytes::new(16_000_000) };
    let goal = Goal::NoPause { queue: 3, traffic, from: None };
    let advice = advice(TD3, &[goal]);
    let goal = &advice.goals[0];
    assert!(!advice.is_complete() && goal.why[0].contains("the nearest"), "{:?}", goal.why);
    let others: Vec<&str> = goal.other_policies.iter().map(|other| other.policy).collect();
    assert_eq!(others, ["fb", "abm", "occamy"]);
    // The pool of lossless queues has no limits of its own, these policies have: they lose packets. DT as the chip has
    // it pauses and loses nothing.
    assert!(!goal.before.words.contains("lost"), "{}", goal.before.words);
    for other in &goal.other_policies {
        assert!(!other.trial.met, "{other:?}");
        assert!(other.trial.words.contains("lost") || other.trial.spread.unwrap().mean > 0.0, "{other:?}");
    }
    assert!(goal.other_policies.iter().any(|other| other.trial.words.contains("packets are lost")), "{goal:?}");
}

#[test]
fn minimums_and_delays() {
    let goals = [
        Goal::Isolate { queue: 1, from: 0, minimum: Bytes::new(30_000) },
        Goal::Latency { queue: 0, below: Duration::from_ps(500_000_000) },
    ];
    let advice = advice(TD3, &goals);
    assert!(advice.is_complete(), "{advice:#?}");
    assert!(advice.goals.iter().any(|goal| !goal.before.met));
}

#[test]
fn goals_that_cannot_be_tried_are_refused() {
    let refused = |goal: Goal, expected: &str| {
        let error = advise(TD3, &text(TD3), None, &[goal]).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    let burst = |queue, congested| Goal::Burst { queue, senders: 4, bytes: Bytes::new(1_000), congested, with: 0 };
    refused(burst(3, 0), "no-pause");
    let lossless = |queue, senders| Goal::Lossless { queue, senders, cable: None };
    refused(lossless(0, 4), "is lossy");
    refused(lossless(3, 32), "takes 33 ports of 100Gbps, and 32 are up");
    refused(lossless(9, 4), "there is no queue 9");
    refused(burst(0, 40), "a partition has 32");
    refused(burst(9, 0), "there is no queue 9");
    let files = [
        ("", "there is no goal"),
        ("[[goal]]\nkind = \"no-pause\"\nload = 0.5", "queue"),
        ("[[goal]]\nkind = \"no-pause\"\nqueue = 3", "load = 0.5"),
        ("[[goal]]\nkind = \"no-pause\"\nqueue = 3\nload = 1.5", "no load of a port"),
        ("[[goal]]\nkind = \"no-pause\"\nqueue = 3\nload = 0.5\nbytes = 1", "bytes"),
        ("[[goal]]\nkind = \"no-pause\"\nqueue = 3\nload = 0.5\ncongested = 3", "add from"),
        ("[[goal]]\nkind = \"no-pause\"\nqueue = 3\nload = 0.5\nfrom = 3\ncongested = 3", "not another queue"),
        ("[[goal]]\nkind = \"lossless\"\nqueue = 3\nsenders = 1", "cannot congest"),
        ("[[goal]]\nkind = \"lossless\"\nqueue = 3\nsenders = 4\ncable = 0", "no cable"),
        ("[[goal]]\nkind = \"brust\"", "is unknown"),
        ("[[goal]]\nkind = \"burst\"\nqueue = 0\nsenders = 1\nbytes = 1", "cannot congest"),
        ("[[goal]]\nkind = \"burst\"\nqueue = 0\nsenders = 2\nbytes = 0", "no burst"),
        ("[[goal]]\nkind = \"burst\"\nqueue = 16\nsenders = 2\nbytes = 1", "no such queue"),
        ("[[goal]]\nkind = \"burst\"\nsenders = 2\nbytes = 1", "missing"),
        ("[[goal]]\nkind = \"isolate\"\nqueue = 1\nfrom = 1\nminimum = 1", "isolated from itself"),
        ("[[goal]]\nkind = \"latency\"\nqueue = 0\nbelow = \"1MB\"", "1MB"),
        ("[[goal]]\nkind = \"marks\"\nqueue = 0\nabove = 1", "no such key"),
        ("goal = 3", "list of tables"),
        ("[[goals]]", "did you mean goal?"),
        ("kind = burst", "quotes"),
    ];
    for (text, expected) in files {
        let error = read_goals("goals.toml", text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
