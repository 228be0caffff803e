//! A run gives the same bytes on any number of threads.

use crate::common;

use crate::on_threads::{drawn, run_on};
use common::{POLICIES, TRANSPORTS, overload, scenario};
use forebay_sim::engine::World;
use forebay_sim::measure::ParallelCost;
use forebay_sim::workload;
use proptest::prelude::*;

/// Runs on one thread and on these numbers of threads, and says how the last was shared.
fn assert_same(text: &str, threads: &[usize]) -> ParallelCost {
    let scenario = scenario(text);
    let (one, _) = run_on(1, &scenario);
    let mut last = ParallelCost::default();
    for count in threads {
        let (several, parallel) = run_on(*count, &scenario);
        last = parallel.unwrap_or_else(|| panic!("{count} threads were one\n{text}"));
        assert!(last.crossings > 0 && last.critical < last.events, "{last:?}\n{text}");
        if one != several {
            let differs = one.lines().zip(several.lines()).enumerate().find(|(_, (one, other))| one != other);
            panic!("{count} threads differ from one: {differs:?}\n{text}");
        }
    }
    last
}

/// The racks of [`overload`], but four of them.
fn four_racks(seed: u64, policy: &str, transport: (&str, &str), more: &str) -> String {
    overload(seed, policy, transport, more).replace("leaves = 2", "leaves = 4").replace("per_leaf = 4", "per_leaf = 2")
}

#[test]
fn every_transport_and_policy() {
    for (number, transport) in TRANSPORTS.iter().enumerate() {
        let policy = POLICIES[number % POLICIES.len()].1;
        let trims = ["", "[trim]\nkind = \"ndp\"\nreturn_to_sender = true\nheader_capacity = 4\n"][number % 2];
        let text = four_racks(1, policy, *transport, &format!("{trims}[scheduler]\nkind = \"strict\"\n"));
        assert_same(&text, &[[2, 3, 8][number % 3]]);
    }
}

#[test]
fn failures_and_everything_that_is_measured() {
    let more = r#"
        [scheduler]
        kind = "strict"
        [[failure]]
        at = "100us"
        until = "250us"
        link = ["leaf0", "spine1"]
        [[failure]]
        at = "150us"
        until = "300us"
        switch = "spine0"
        [[failure]]
        at = "320us"
        until = "380us"
        link = ["host2", "leaf1"]
        [[failure]]
        at = "390us"
        until = "700us"
        switch = "leaf3"
        [routing]
        reroute = "20us"
        [measure]
        sample = "3us"
        from = "50us"
        timeline = "all"
        queues = "all"
        breakdown = true
        trace_flows = [0, 1, 2, 3, 50, 51]
        trace_switches = ["leaf1"]
        "#;
    for (number, transport) in [1, 5, 8].into_iter().zip([TRANSPORTS[1], TRANSPORTS[5], TRANSPORTS[8]]) {
        assert_same(&four_racks(2, POLICIES[number].1, transport, more), &[2, 4]);
    }
}

/// Without failures and traces packets are on links long before they are sent: see `switch/fifo.rs`.
#[test]
fn fifo_switches_of_three_tiers() {
    for (seed, transport) in [(1, "[transport.dctcp]\nstack = \"rfc\""), (2, "[transport.cubic]")] {
        let text = format!(
            r#"
            seed = {seed}
            duration = "200us"
            drain = "20ms"
            [topology]
            kind = "fat-tree"
            k = 4
            rate = "10Gbps"
            delay = "1us"
            [switch]
            buffer = "100KB"
            [policy]
            kind = "dt"
            alpha = 1.0
            [ecn]
            kind = "step"
            threshold = "30KB"
            {transport}
            [[workload]]
            name = "all-at-once"
            kind = "permutation"
            bytes = "80KB"
            [[workload]]
            kind = "incast"
            request = "60KB"
            fan_in = 6
            arrivals = "periodic"
            rate = 5000
            [measure]
            sample = "7us"
            progress = ["all-at-once"]
            timeline = ["core0", "edge1"]
            "#
        );
        let parallel = assert_same(&text, &[2, 3, 8]);
        assert_eq!((parallel.threads, parallel.lookahead), (8, 1_000_800));
    }
}

/// Connections that are kept, which the receiver has to know of; a transport on what applications write.
#[test]
fn kept_connections() {
    let kept = ("cubic", "connections = \"kept\"\nrto_min = \"200us\"\nrto_initial = \"200us\"");
    assert_same(&four_racks(3, POLICIES[3].1, kept, "[scheduler]\nkind = \"rr\"\n"), &[2, 4]);
}

/// Flows that start when others have arrived.
#[test]
fn flows_that_wait_for_others() {
    let text = r#"
        duration = "100us"
        drain = "20ms"
        [topology]
        kind = "leaf-spine"
        leaves = 3
        spines = 2
        hosts_per_leaf = 2
        rate = "100Gbps"
        delay = "500ns"
        [routing]
        kind = "spray-round-robin"
        [switch]
        buffer = "100KB"
        [policy]
        kind = "cp"
        [trim]
        kind = "ndp"
        [transport.ndp]
        [[workload]]
        kind = "all-reduce"
        bytes = "200KB"
        "#;
    assert_same(text, &[2, 3]);
}

/// Chips with deflection, recirculation and a control loop between their pipelines, and sprayed packets.
#[test]
fn chips() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/examples/tofino-trimming.toml");
    let text =
        std::fs::read_to_string(path).unwrap().replace("500us", "40us").replace("drain = \"20ms\"", "drain = \"1ms\"");
    assert_same(&text, &[4]);
}

/// The epoch moves on while nothing happens, and while timers lie beyond it.
/// Frames of priority flow control cross between partitions, too.
#[test]
fn switches_that_pause() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/examples/lossless-incast.toml");
    let text = std::fs::read_to_string(path).unwrap().replace("2ms", "700us").replace("6MB", "600KB");
    assert_same(&text, &[2]);
}

#[test]
fn longer_than_an_epoch() {
    let text = r#"
        duration = "40s"
        drain = "40s"
        [topology]
        kind = "dumbbell"
        left = 2
        right = 2
        rate = "1Mbps"
        bottleneck_rate = "1Mbps"
        delay = "1ms"
        [switch]
        buffer = "20KB"
        [policy]
        kind = "cs"
        [transport.reno]
        stack = "rfc"
        rto_initial = "30s"
        rto_min = "19s"
        rto_max = "100s"
        [[workload]]
        kind = "poisson"
        sizes = { uniform = ["10KB", "40KB"] }
        load = 0.3
        [measure]
        sample = "1s"
        "#;
    assert_same(text, &[2]);
}

/// The observer stops a run, and one that panics leaves no thread behind that waits.
#[test]
fn an_observer_ends_all_threads() {
    let scenario = scenario(&four_racks(1, POLICIES[3].1, TRANSPORTS[2], "[scheduler]\nkind = \"rr\"\n"));
    let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
    let world = || World::new(&scenario, &plan).split(&plan, 3);
    let mut looks = 0;
    let stopped = world().run(&mut |progress| {
        looks += 1;
        assert!(progress.unfinished > 0 && progress.now <= progress.duration);
        looks < 2
    });
    let whole = world().run(&mut |_| true);
    assert!(stopped.interrupted && !whole.interrupted);
    assert!(stopped.end < whole.end && stopped.cost.events < whole.cost.events);
    let panics = || world().run(&mut |_| panic!("on purpose"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
}

/// Random scenarios: so many of them, or as many as `FOREBAY_CASES` says.
fn cases() -> ProptestConfig {
    let cases = std::env::var("FOREBAY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24);
    ProptestConfig { cases, max_shrink_iters: 20, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    /// The fuzz target `threads` draws more of them.
    #[test]
    fn random_scenarios(bytes in proptest::collection::vec(any::<u8>(), 24)) {
        let text = drawn(&bytes);
        let scenario = scenario(&text);
        let (one, several) = (run_on(1, &scenario), run_on(4, &scenario));
        prop_assert!(several.1.is_some());
        prop_assert!(one.0 == several.0, "4 threads differ from one\n{}", text);
    }
}
