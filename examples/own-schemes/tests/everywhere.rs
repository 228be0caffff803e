//! The schemes of this crate in the core, in replays, in the simulator, in a sweep beside built-in ones and in the live
//! switch. Captures and scenarios are written out here, like in tests of the workspace: this crate has only what its
//! users have.

use forebay_tm::admit::{DynamicThresholdsConfig, PolicyConfig};
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::{PifoConfig, SchedulerConfig};
use forebay_tm::{Bytes, Duration, Instant, Outcome, Packet, PacketId, Tm, TmConfig, Verdict, Wire};
use own_schemes::{AgedConfig, BandsConfig, PerPortThresholdsConfig, PoolStepConfig};
use own_schemes::{marking, policy, rank, scheduler};
use std::path::Path;
use std::process::Command;

/// Runs a command, which ends well, and returns what it prints.
fn run(directory: &Path, arguments: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_own-schemes"))
        .args(arguments.split(' '))
        .current_dir(directory)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn read(directory: &Path, name: &str) -> String {
    std::fs::read_to_string(directory.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn in_the_core() {
    let outcomes = |chosen: PolicyConfig| {
        let mut config = TmConfig::new(vec!["10Gbps".parse().unwrap(); 4], "60KB".parse().unwrap());
        config.policy = chosen;
        let mut tm = Tm::new(config.validate().unwrap());
        let packet = |id| Packet { id: PacketId(id), bytes: 1_500, port: (id % 3) as u32, ..Packet::default() };
        (0..100).map(|id| tm.offer(Instant::ZERO, &packet(id), Wire::Busy)).collect::<Vec<_>>()
    };
    // With one queue per port it is DT.
    assert_eq!(
        outcomes(policy(PerPortThresholdsConfig::default())),
        outcomes(PolicyConfig::DynamicThresholds(DynamicThresholdsConfig::default()))
    );
}

/// A switch with one port, and packets of these ranks, 1 ns after each other, that wait in it.
fn waiting(config: impl FnOnce(&mut TmConfig), ranks: &[u64]) -> (Tm, Vec<Outcome>) {
    let mut all = TmConfig::new(vec!["10Gbps".parse().unwrap()], "60KB".parse().unwrap());
    config(&mut all);
    let mut tm = Tm::new(all.validate().unwrap());
    let packet =
        |id: usize| Packet { id: PacketId(id as u64), bytes: 1_000, rank: ranks[id], ect: true, ..Packet::default() };
    let at = |id: usize| Instant::ZERO + Duration::from_ps(1_000 * id as u64);
    let outcomes = (0..ranks.len()).map(|id| tm.offer(at(id), &packet(id), Wire::Busy)).collect();
    (tm, outcomes)
}

/// The packets in the order in which they leave.
fn order(tm: &mut Tm) -> Vec<u64> {
    let now = Instant::ZERO + Duration::from_us(1);
    core::iter::from_fn(|| tm.dequeue(now, 0)).map(|departure| departure.id.0).collect()
}

#[test]
fn a_scheduler_and_its_packets_when_settings_change() {
    let ranks = [50, 5, 60, 7, 70];
    let bands = |bound| move |config: &mut TmConfig| config.scheduler = scheduler(BandsConfig { bound });
    assert_eq!(order(&mut waiting(bands(10), &ranks).0), [1, 3, 0, 2, 4]);
    assert_eq!(order(&mut waiting(bands(0), &ranks).0), [0, 1, 2, 3, 4], "one band is a FIFO");
    let (mut tm, _) = waiting(bands(10), &ranks);
    let mut config = (**forebay_tm::View::config(&tm)).clone();
    config.scheduler = scheduler(BandsConfig { bound: 1_000 });
    tm.reconfigure(config.clone()).unwrap();
    tm.offer(
        Instant::ZERO + Duration::from_us(1),
        &Packet { id: PacketId(5), bytes: 1, rank: 99, ..Packet::default() },
        Wire::Busy,
    );
    assert!(tm.is_consistent());
    config.scheduler = SchedulerConfig::Fifo;
    assert!(tm.reconfigure(config).is_err(), "packets wait in the order of bands");
    assert_eq!(order(&mut tm), [1, 3, 5, 0, 2, 4]);
}

#[test]
fn a_rank_function_in_a_built_in_scheduler() {
    let by = |rank: RankConfig| {
        let pifo = SchedulerConfig::Pifo(PifoConfig { capacity: 64 });
        order(&mut waiting(|config| (config.scheduler, config.rank) = (pifo, rank), &[3, 2, 2, 0, 9]).0)
    };
    let aged = |per_byte| by(rank(AgedConfig { per_byte }));
    assert_eq!(aged(Duration::from_us(1)), by(RankConfig::Srpt), "no time passes");
    assert_eq!(aged(Duration::from_ps(10)), [0, 1, 2, 3, 4], "the time of arrival is all that counts");
}

#[test]
fn a_marking_rule() {
    let rule = |config: &mut TmConfig| config.mark = Some(marking(PoolStepConfig { threshold: Bytes::new(3_000) }));
    let marked = waiting(rule, &[0; 5]).1.into_iter().map(|o| o.verdict() == Verdict::Queued { marked: true });
    assert_eq!(marked.collect::<Vec<_>>(), [false, false, false, true, true]);
}

const SWITCH: &str = "ports = 2\nrate = \"10Gbps\"\nbuffer = \"12KB\"\nqueues = 2\n[scheduler]\nkind = \"rr\"\n";

#[test]
fn in_replays_with_errors_and_explanations() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let rows: String = (0..40).map(|n| format!("{n},1000,0,{}\n", n % 2)).collect();
    std::fs::write(path.join("arrivals.csv"), format!("time_ps,bytes,port,queue\n{rows}")).unwrap();
    std::fs::write(path.join("own.toml"), format!("{SWITCH}[policy]\nkind = \"per-port\"\nalpha = 1.0\n")).unwrap();
    std::fs::write(path.join("dt.toml"), format!("{SWITCH}[policy]\nkind = \"dt\"\nalpha = 0.5\n")).unwrap();
    for name in ["own", "dt"] {
        run(path, &format!("replay {name}.toml arrivals.csv -o {name}.csv -q"));
    }
    // Both queues of the port are busy from the second packet on: half of alpha for each.
    let lines = |name: &str| read(path, name).lines().skip(5).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines("own.csv"), lines("dt.csv"));
    assert!(run(path, "replay own.toml arrivals.csv --explain 30").contains("The threshold of per-port was"));
    let compared = run(path, "replay own.toml arrivals.csv --compare dt,per-port");
    assert!(compared.contains("per-port") && compared.contains("dt"), "{compared}");
    assert!(run(path, "list policies").contains("per-port"));
    assert!(run(path, "list transports").contains("gentle"));
    assert!(run(path, "list schedulers").contains("bands"));
    // Bands of computed ranks, with marks: files have all four, and the writer gives back what was read.
    let text = "ports = 2\nrate = \"10Gbps\"\nbuffer = \"12KB\"\n[policy]\nkind = \"per-port\"\nalpha = 1.0\n[scheduler]\nkind = \"bands\"\n\
        bound = 500\nrank = \"aged\"\nper_byte = \"1us\"\n[ecn]\nkind = \"pool-step\"\nthreshold = \"2KB\"\n";
    std::fs::write(path.join("all.toml"), text).unwrap();
    let one = |n: u32| format!("{n},1000,0,0,1,{}\n", 900 - 100 * n);
    std::fs::write(
        path.join("ranks.csv"),
        format!("time_ps,bytes,port,queue,ect,rank\n{}", (0..8).map(one).collect::<String>()),
    )
    .unwrap();
    run(path, "replay all.toml ranks.csv -o all.csv -q");
    // packet,verdict,reason,marked,start_ps,end_ps: ranks below 500 go first, and who finds 2KB in the buffer is
    // marked.
    let verdicts = read(path, "all.csv");
    let rows: Vec<Vec<&str>> = verdicts.lines().skip(1).map(|row| row.split(',').collect()).collect();
    let mut sent: Vec<(u64, &str)> =
        rows.iter().filter(|row| row[1] == "sent").map(|row| (row[4].parse().unwrap(), row[0])).collect();
    sent.sort_unstable();
    assert_eq!(sent.iter().map(|(_, packet)| *packet).collect::<Vec<_>>(), ["0", "5", "6", "1", "2", "3", "4"]);
    let marked: Vec<&str> = rows.iter().filter(|row| row[3] == "1").map(|row| row[0]).collect();
    assert_eq!(marked, ["3", "4", "5", "6"]);
    // Wrong settings are told like those of built-in schemes.
    std::fs::write(path.join("wrong.toml"), format!("{SWITCH}[policy]\nkind = \"per-port\"\nalpa = 1.0\n")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_own-schemes"))
        .args(["replay", "wrong.toml", "arrivals.csv"])
        .current_dir(path)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("wrong.toml") && told.contains("alpa") && told.contains("alpha"), "{told}");
}

const SCENARIO: &str = r#"
seed = 1
duration = "1ms"
[topology]
kind = "single"
hosts = 8
rate = "10Gbps"
delay = "1us"
[switch]
buffer = "100KB"
[policy]
kind = "per-port"
alpha = 1.0
[scheduler]
kind = "fifo"
[transport.mine]
kind = "gentle"
keep = 0.8
rto_min = "1ms"
[[workload]]
kind = "incast"
request = "200KB"
fan_in = 6
rate = 4000
transport = "mine"
[sweep.grid]
"policy.kind" = ["per-port", "dt"]
"#;

#[test]
fn in_the_simulator_and_in_a_sweep_beside_built_in_ones() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("incast.toml"), SCENARIO).unwrap();
    for (out, more) in
        [("own", ""), ("own-again", ""), ("dt", " --set policy.kind=dt"), ("reno", " --set transport.mine.kind=reno")]
    {
        run(path, &format!("run incast.toml -q --csv --out {out}{more}"));
    }
    let flows = |name: &str| read(path, &format!("{name}/flows.csv"));
    assert_eq!(flows("own"), flows("own-again"), "the same run twice gives the same bytes");
    // With one queue per port it is DT: the same packets have the same fates.
    assert_eq!(flows("own"), flows("dt"));
    assert_ne!(flows("own"), flows("reno"), "another transport has other times");
    // The resolved scenario has all settings of both, and runs the same.
    let resolved = read(path, "own/scenario.toml");
    assert!(resolved.contains("kind = \"gentle\"") && resolved.contains("growth = 0.5"), "{resolved}");
    run(path, "run own/scenario.toml -q --csv --out resolved");
    assert_eq!(flows("own"), flows("resolved"));
    let table = run(path, "sweep incast.toml --seeds 1-2 --jobs 2 --out sweep");
    assert!(table.contains("per-port") && table.contains("dt"), "{table}");
}

/// Six switches in a ring with two hosts each, and a relay over four of the hosts, 20 KB every 200 us.
const RELAY: &str = r#"
duration = "1ms"
[topology]
kind = "ring"
switches = 6
hosts_per_switch = 2
rate = "10Gbps"
delay = "1us"
[switch]
buffer = "100KB"
[policy]
kind = "dt"
alpha = 1.0
[transport.udp]
[[workload]]
kind = "relay"
bytes = "20KB"
every = "200us"
hosts = [0, 5, 11, 2]
[sweep.grid]
"workload.0.kind" = ["relay", "permutation"]
"topology.switches" = [6, 7]
"#;

#[test]
fn a_workload_and_a_topology_in_a_run_and_in_a_sweep() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("relay.toml"), RELAY).unwrap();
    for (out, file) in [("once", "relay.toml"), ("again", "relay.toml"), ("resolved", "once/scenario.toml")] {
        run(path, &format!("run {file} -q --csv --out {out}"));
    }
    let flows = |name: &str| read(path, &format!("{name}/flows.csv"));
    assert_eq!(flows("once"), flows("again"), "the same run twice gives the same bytes");
    assert_eq!(flows("once"), flows("resolved"), "the resolved scenario has all settings");
    assert!(read(path, "once/scenario.toml").contains("kind = \"ring\"\nswitches = 6\nhosts_per_switch = 2\n"));
    // Five relays of three flows each.
    let flows = flows("once");
    let mut lines = flows.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column =
        |name: &str| header.iter().position(|column| *column == name).unwrap_or_else(|| panic!("{name}: {header:?}"));
    let (start, end) = (column("start_ps"), column("end_ps"));
    let mut times: Vec<(u64, u64)> = lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|row| (row[start].parse().unwrap(), row[end].parse().unwrap()))
        .collect();
    times.sort_unstable();
    assert_eq!(times.len(), 15);
    for round in times.chunks(3) {
        assert!(
            round[0].1 == round[1].0 && round[1].1 == round[2].0,
            "each starts when the one before has arrived: {round:?}"
        );
    }
    let table = run(path, "sweep relay.toml --seeds 1-2 --jobs 2 --out sweep");
    assert!(table.contains("relay") && table.contains("permutation") && table.contains('7'), "{table}");
    // They are listed, and mistakes are told like those of built-in ones.
    assert!(run(path, "list topologies").contains("ring") && run(path, "list workloads").contains("relay"));
    for (from, to, told) in [
        ("switches = 6", "switches = 2", "2 switches make no ring"),
        ("switches = 6", "swiches = 6", "switches"),
        ("rate = \"10Gbps\"", "rate = \"0Gbps\"", "nothing would ever arrive"),
        ("bytes = \"20KB\"", "bytes = 0", "not the size of a flow"),
        ("bytes = \"20KB\"", "", "bytes"),
        ("hosts = [0, 5, 11, 2]", "hosts = [0, 55]", "there is no host 55"),
    ] {
        std::fs::write(path.join("wrong.toml"), RELAY.replacen(from, to, 1)).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_own-schemes"))
            .args(["run", "wrong.toml", "-q"])
            .current_dir(path)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{to}: {error}");
        assert!(error.contains("wrong.toml") && error.contains(told), "{to}: {error}");
    }
}

/// A capture of frames that come at these microseconds.
fn capture(frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let words = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1]);
    for (us, frame) in frames {
        file.extend(words(&[1_790_000_000, *us, frame.len() as u32, frame.len() as u32]));
        file.extend(frame);
    }
    file
}

#[test]
fn in_the_live_switch() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut live = String::from("rate = \"100Mbps\"\nbuffer = \"30KB\"\n[policy]\nkind = \"per-port\"\nalpha = 0.5\n");
    for port in 0..2u8 {
        // Ethernet: to host 4, from host 1 or 2, a type that is local.
        let frame = |n: u32| {
            let mut frame = vec![2, 0, 0, 0, 0, 4, 2, 0, 0, 0, 0, port + 1, 0x88, 0xb5];
            frame.resize(200 + (n as usize * 37) % 1_300, 0);
            (n * 40, frame)
        };
        std::fs::write(path.join(format!("in{port}.pcap")), capture(&(0..200).map(frame).collect::<Vec<_>>())).unwrap();
        live.push_str(&format!("[[interface]]\nread = \"in{port}.pcap\"\n"));
    }
    live.push_str(
        "[[interface]]\nwrite = \"out.pcap\"\n[[forwarding.entry]]\nmac = \"02:00:00:00:00:04\"\nport = \"port2\"\n\
         [live]\nout = \"results\"\noverhead = 0\n",
    );
    std::fs::write(path.join("live.toml"), live).unwrap();
    run(path, "live live.toml");
    let switch = |policy: &str| {
        format!("ports = 3\nrate = \"100Mbps\"\nbuffer = \"30KB\"\n[policy]\nkind = \"{policy}\"\nalpha = 0.5\n")
    };
    for policy in ["per-port", "dt"] {
        std::fs::write(path.join("switch.toml"), switch(policy)).unwrap();
        run(path, &format!("replay switch.toml results/arrivals.csv -o {policy}.csv -q"));
        assert_eq!(read(path, "results/verdicts.csv"), read(path, &format!("{policy}.csv")), "{policy}");
    }
    assert!(read(path, "results/verdicts.csv").contains("threshold"), "something was dropped");
}
