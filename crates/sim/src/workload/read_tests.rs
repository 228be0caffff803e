//! Tests of reading workloads from tables.

use super::testing::{leaf_spine, one_switch, transports};
use super::*;
use crate::network::NetworkPlan;
use forebay_settings::{Diagnostic, Document};

const BUFFER: u64 = 3_932_160;

fn read_in(text: &str, network: &NetworkPlan, directory: &Path) -> Result<WorkloadConfig, Diagnostic> {
    let mut transports = transports();
    transports.push(("dctcp".to_owned(), transports[0].1.clone()));
    let context = WorkloadContext {
        network,
        duration: Duration::from_us(100_000),
        transports: &transports,
        queues: 2,
        buffer: Bytes::new(BUFFER),
        directory,
    };
    read(&Document::parse("s.toml", text)?.root(), &context)
}

/// With a transport, in the network of the ABM evaluation.
fn try_read(text: &str) -> Result<WorkloadConfig, Diagnostic> {
    read_in(&format!("transport = \"reno\"\n{text}"), &leaf_spine(2, 32, 2, 4), Path::new("."))
}

fn good(text: &str) -> WorkloadConfig {
    try_read(text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

#[test]
fn a_poisson_workload() {
    let config = good(
        "kind = \"poisson\"\nname = \"web\"\nclass = 1\nstart = \"1ms\"\nstop = \"50ms\"\nsizes = \"websearch\"\n\
         load = 0.4\nload_of = \"uplinks\"\npattern = \"next-leaf\"",
    );
    assert_eq!((config.name.as_str(), config.class, config.transport), ("web", 1, 0));
    assert_eq!((config.start.ps(), config.stop.ps()), (1_000_000_000, 50_000_000_000));
    let WorkloadKind::Poisson(own) = &config.kind else { panic!("{config:?}") };
    assert_eq!(own.amount, Amount::Load { share: 0.4, of: LoadOf::Uplinks, with_headers: false });
    assert_eq!(own.pattern, Pattern { from: None, to: None, reach: Reach::NextRack });
    assert_eq!(own.sizes.mean(), 1_711_222.5);
}

#[test]
fn sizes_in_all_forms() {
    let mean = |sizes: &str| {
        let config = good(&format!("kind = \"on-off\"\nperiod = \"100ms\"\n{sizes}"));
        let WorkloadKind::OnOff(own) = config.kind else { panic!() };
        own.sizes.mean()
    };
    assert_eq!(mean("sizes = \"2MB\""), 2e6);
    assert_eq!(mean("sizes = 1500"), 1_500.0);
    assert_eq!(mean("sizes = { exponential = \"100KB\" }"), 1e5);
    assert_eq!(mean("sizes = { uniform = [\"1KB\", 3000] }"), 2_000.0);
    assert_eq!(mean("sizes = { points = [[\"1KB\", 0.5], [2000, 1.0]] }\ninterpolation = \"step\""), 1_500.0);
    assert_eq!(mean("sizes = { points = [[\"1KB\", 0.5], [2000, 1.0]] }"), 1_250.0);
    assert_eq!(mean("sizes = \"websearch_netbench\"").round(), 987_600.0);
    assert_eq!(mean("sizes = \"websearch\"\ninterpolation = \"step\""), {
        let points = SizeDistribution::bundled_as("websearch", Some(Interpolation::Step)).unwrap();
        points.mean()
    });
}

#[test]
fn hosts_in_all_forms() {
    let hosts = |text: &str| {
        let config = good(&format!("kind = \"permutation\"\nbytes = \"2MB\"\nhosts = {text}"));
        let WorkloadKind::Permutation(own) = config.kind else { panic!() };
        own.hosts.unwrap()
    };
    assert_eq!(hosts("\"all\"").len(), 64);
    assert_eq!(hosts("\"3-6\""), [3, 4, 5, 6]);
    assert_eq!(hosts("[7, \"1-2\", \"host9\", \"5\"]"), [7, 1, 2, 9, 5]);
    assert_eq!(hosts("\"leaf1\""), (32..64).collect::<Vec<_>>());
}

#[test]
fn requests_in_all_forms() {
    let incast = |text: &str| {
        let config = good(&format!("kind = \"incast\"\nrate_per_host = 2\nresponders = \"next-leaf\"\n{text}"));
        let WorkloadKind::Incast(own) = config.kind else { panic!() };
        own
    };
    // 30% of the buffer, from all 32 hosts of the next leaf.
    let own = incast("request = \"30%\"");
    assert_eq!((own.request.get(), own.fan_in, own.response(), own.rate_per_host), (1_179_648, 32, 36_864, 2.0));
    assert_eq!(incast("request_share = 0.3").request.get(), 1_179_648);
    assert_eq!(incast("request = \"1MB\"\nfan_in = 10").response(), 100_000);
    let total = good("kind = \"incast\"\nrate = 128\nrequest = 100\nfan_in = 3\nhosts = \"0-7\"");
    assert!(matches!(total.kind, WorkloadKind::Incast(own) if own.rate_per_host == 16.0));
}

#[test]
fn the_other_kinds() {
    for text in [
        "kind = \"permutation\"\nbytes = \"endless\"\nspread = \"10us\"",
        "kind = \"all-to-all\"\nbytes = \"1MB\"\nhosts = \"0-7\"\nevery = \"10ms\"",
        "kind = \"all-reduce\"\nbytes = \"1MB\"",
        "kind = \"all-reduce\"\nbytes = \"1MB\"\nalgorithm = \"double-binary-tree\"\nchunks = 8",
        "kind = \"long-lived\"\npairs = [[0, 40], [\"host1\", \"host2\"]]\ncount = 2",
        "kind = \"long-lived\"\npattern = \"inter-leaf\"\nfrom = \"leaf0\"",
        "kind = \"on-off\"\nsizes = \"30KB\"\nperiod = \"1ms\"\nphase = \"same\"\njitter = \"1us\"",
        "kind = \"request-response\"\nrequest = \"100B\"\nsizes = \"fb_kv_hkust\"\nclients = \"0-3\"\n\
         servers = \"4-7\"\n\
         think = \"1ms\"\nthink_time = \"constant\"\nsessions = 4",
        "kind = \"incast\"\narrivals = \"once\"\nhosts = [0]\nrequest = \"1MB\"",
    ] {
        let config = good(text);
        let plan = plan(&[config], &leaf_spine(2, 32, 2, 4), &transports(), 1);
        assert!(!plan.flows.is_empty() || !plan.sessions.is_empty(), "{text}");
        assert!(plan.flows.iter().all(|flow| flow.src != flow.dst && flow.src < 64 && flow.dst < 64), "{text}");
    }
}

/// A text, the line and the key of its mistake, and words of the problem and of the remedy.
type Mistake = (&'static str, usize, &'static str, &'static str, &'static str);

const MISTAKES: &[Mistake] = &[
    ("name = \"x\"", 1, "kind", "missing", "poisson"),
    ("kind = \"poison\"", 2, "kind", "\"poison\" is unknown", "did you mean \"poisson\"?"),
    ("kind = \"csv\"\npth = \"x\"", 3, "pth", "no such key", "did you mean path?"),
    ("kind = \"csv\"\nload = 1.0", 3, "load", "does nothing with kind = \"csv\"", "remove"),
    ("kind = \"csv\"\npath = \"no.csv\"", 3, "path", "there is no file ./no.csv", "directory"),
    ("kind = \"csv\"\nclass = 2", 3, "class", "there is no class 2: a port has 2 queues", "0 to 1"),
    ("kind = \"csv\"\nclasses = 2", 3, "classes", "does nothing with kind = \"csv\"", "remove"),
    ("kind = \"incast\"\nclass = 1\nclasses = 2", 4, "classes", "no 2 classes from 1 on", "1 to 1"),
    ("kind = \"incast\"\nclasses = \"any\"", 3, "classes", "\"any\" is unknown", "all"),
    ("kind = \"incast\"\nclasses = 0", 3, "classes", "0 is not enough", "at least 1"),
    ("kind = \"csv\"\nstart = \"1s\"", 3, "start", "stops at 100ms", "earlier"),
    ("kind = \"poisson\"\nload = 0.1", 1, "sizes", "missing", "websearch"),
    (
        "kind = \"poisson\"\nsizes = \"websaerch\"\nload = 0.1",
        3,
        "sizes",
        "no distribution",
        "did you mean \"websearch\"?",
    ),
    ("kind = \"poisson\"\nsizes = \"a.txt\"\nload = 0.1", 3, "sizes", "there is no file", "directory"),
    (
        "kind = \"poisson\"\nsizes = { uniform = [9, 8] }\nload = 0.1",
        3,
        "sizes.uniform",
        "9B is larger than 8B",
        "smallest",
    ),
    (
        "kind = \"poisson\"\nsizes = { points = [[1, 0.5], [2, 0.9]] }\nload = 0.1",
        3,
        "sizes.points",
        "does not reach 1",
        "add",
    ),
    (
        "kind = \"poisson\"\nsizes = \"9KB\"\ninterpolation = \"step\"\nload = 1",
        4,
        "interpolation",
        "no points",
        "remove",
    ),
    ("kind = \"poisson\"\nsizes = \"0B\"\nload = 0.1", 3, "sizes", "0B is not the size of a flow", "1 byte"),
    ("kind = \"poisson\"\nsizes = \"websearch\"", 1, "load", "missing", "load = 0.4"),
    ("kind = \"poisson\"\nsizes = \"websearch\"\nload = -1", 4, "load", "not above 0", "above 0"),
    ("kind = \"poisson\"\nsizes = \"websearch\"\nload = 0.1\nrate = 5", 5, "rate", "load, too", "either"),
    (
        "kind = \"poisson\"\nsizes = \"websearch\"\nload_of = \"uplinks\"\nrate = 5",
        4,
        "load_of",
        "nothing with a rate",
        "load",
    ),
    ("kind = \"poisson\"\nsizes = \"1B\"\nload = 0.5", 4, "load", "headers included", "allow_overload"),
    (
        "kind = \"poisson\"\nsizes = \"1KB\"\nrate = 1e12\nallow_overload = true",
        4,
        "rate",
        "100000000000 flows",
        "at most 50000000",
    ),
    (
        "kind = \"poisson\"\nsizes = \"1MB\"\nload = 0.1\nto = 3\nfrom = [3]",
        5,
        "to",
        "anybody to send to",
        "other hosts",
    ),
    ("kind = \"poisson\"\nsizes = \"1MB\"\nload = 0.1\nfrom = \"0-64\"", 5, "from", "no host 64", "0 to 63"),
    ("kind = \"poisson\"\nsizes = \"1MB\"\nload = 0.1\nfrom = \"laef0\"", 5, "from", "no host and no switch", "FORMS"),
    (
        "kind = \"poisson\"\nsizes = \"1MB\"\nload = 0.1\nfrom = [1, \"0-3\"]",
        5,
        "from",
        "host 1 is there twice",
        "once",
    ),
    ("kind = \"poisson\"\nsizes = \"1MB\"\nload = 0.1\nfrom = \"spine0\"", 5, "from", "no hosts at spine0", "FORMS"),
    ("kind = \"poisson\"\nsizes = \"1MB\"\nload = 0.1\nfrom = []", 5, "from", "no hosts in this set", "FORMS"),
    ("kind = \"incast\"\nrequest = \"30%\"\nrate = 1\nfan_in = 64", 5, "fan_in", "only 63 to ask", "at most 63"),
    (
        "kind = \"incast\"\nrequest = 9\nrate = 1\nservers_per_host = 0",
        5,
        "servers_per_host",
        "cannot have 0",
        "1 to 1024",
    ),
    ("kind = \"incast\"\nrequest = \"x%\"\nrate = 1", 3, "request", "share of the buffer, 3.93216MB", "30%"),
    ("kind = \"incast\"\nrequest = 9\nrate = 1\narrivals = \"once\"", 4, "rate", "nothing with arrivals", "remove"),
    ("kind = \"incast\"\nrequest = 9", 1, "rate", "missing", "rate"),
    ("kind = \"permutation\"\nbytes = 9\nhosts = [4]", 4, "hosts", "at least two", "more"),
    ("kind = \"all-reduce\"\nbytes = 63", 3, "bytes", "63B cannot be cut into 64 parts", "a byte for each host"),
    ("kind = \"all-reduce\"\nbytes = 999\nchunks = 2", 4, "chunks", "a ring cuts", "remove"),
    ("kind = \"all-to-all\"\nbytes = 999\nevery = \"0s\"", 4, "every", "is 0", "1ms"),
    ("kind = \"all-to-all\"\nbytes = 999\nevery = \"1ns\"", 4, "every", "flows", "at most"),
    ("kind = \"long-lived\"\npairs = [[0, 0]]", 3, "pairs", "sends to itself", "another"),
    ("kind = \"long-lived\"\npairs = [[0, 1]]\nto = 5", 4, "to", "there are pairs, too", "either"),
    ("kind = \"long-lived\"\npairs = 7", 3, "pairs", "not a list of pairs", "such as"),
    (
        "kind = \"request-response\"\nrequest = 9\nsizes = 9\nclients = 3\nservers = 3",
        6,
        "servers",
        "no server but itself",
        "another",
    ),
];

#[test]
fn mistakes_are_explained_where_they_stand() {
    for (text, line, field, problem, remedy) in MISTAKES {
        let error = try_read(text).expect_err(text);
        assert_eq!((error.line, error.field.as_str()), (Some(*line), *field), "{text}\n{error}");
        assert!(error.problem.contains(problem), "{text}\n{error}");
        let remedy = if *remedy == "FORMS" { "write \"all\"" } else { remedy };
        assert!(error.remedy.contains(remedy), "{text}\n{error}");
    }
}

#[test]
fn a_load_that_no_link_can_carry() {
    // Four hosts send to one at 30% of their links each.
    let text = "kind = \"poisson\"\nsizes = \"1MB\"\nload = 0.3\nfrom = \"1-4\"\nto = 0";
    let error = try_read(text).unwrap_err();
    assert!(
        error.problem.starts_with("the link from leaf0 to host0 would have to carry 123.3% of the rate"),
        "{error}"
    );
    assert_eq!(error.line, Some(4));
    good(&format!("{text}\nallow_overload = true"));
    // Half of the traffic of 32 hosts over 8 uplinks.
    let error = try_read("kind = \"poisson\"\nsizes = \"1MB\"\nload = 0.6").unwrap_err();
    assert!(error.problem.starts_with("the 8 links from leaf0 to other switches"), "{error}");
}

#[test]
fn one_switch_has_no_racks_to_tell_apart() {
    let network = one_switch(4);
    let read = |text: &str| read_in(&format!("transport = \"dctcp\"\n{text}"), &network, Path::new(".")).unwrap_err();
    let poisson = "kind = \"poisson\"\nsizes = \"1MB\"\nload = 0.3\n";
    assert!(read(&format!("{poisson}pattern = \"next-leaf\"")).problem.contains("same switch"));
    assert!(
        read(&format!("{poisson}load_of = \"uplinks\"")).problem.contains("switch0 has no links to other switches")
    );
}

#[test]
fn transports_are_found_by_name() {
    let network = one_switch(4);
    let read = |text: &str| read_in(text, &network, Path::new("."));
    let workload = "kind = \"permutation\"\nbytes = 9\n";
    assert_eq!(read(&format!("{workload}transport = \"dctcp\"")).unwrap().transport, 1);
    let error = read(&format!("{workload}transport = \"dctp\"")).unwrap_err();
    assert!(error.line == Some(3) && error.remedy == "did you mean \"dctcp\"?", "{error}");
    assert!(read(workload).unwrap_err().remedy.contains("transport = \"reno\""));
}

#[test]
fn files_are_found_beside_the_scenario() {
    let directory = std::env::temp_dir().join(format!("forebay-workload-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("f.csv"), "start_s,src,dst,bytes\n0.01,0,1,100\n0.2,1,0,100\n").unwrap();
    std::fs::write(directory.join("sizes.csv"), "bytes,probability\n100,0.5\n200,0.7\n").unwrap();
    let network = one_switch(4);
    let read = |text: &str| read_in(&format!("transport = \"reno\"\n{text}"), &network, &directory);
    let late = read("kind = \"csv\"\npath = \"f.csv\"").unwrap_err();
    let cut = read("kind = \"csv\"\npath = \"f.csv\"\nstop = \"50ms\"");
    let short = read("kind = \"poisson\"\nload = 0.1\nsizes = \"sizes.csv\"").unwrap_err();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(late.line == Some(3) && late.file.ends_with("f.csv"), "{late}");
    assert!(late.problem.contains("over, after 100ms"), "{late}");
    assert!(matches!(cut.unwrap().kind, WorkloadKind::Csv(own) if own.flows.len() == 1));
    assert!(short.line == Some(3) && short.problem.contains("last probability is 0.7"), "{short}");
}
