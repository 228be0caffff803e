//! Files of live switches, sound and not.

use super::*;

const SOUND: &str = r#"buffer = "410KB"
rate = "100Mbps"
queues = 2
[policy]
kind = "dt"
alpha = 1.0
[scheduler]
kind = "rr"
[[interface]]
name = "h1"
[[interface]]
name = "h2"
rate = "1Gbps"
backend = "packet"
[forwarding]
storm = "5Mbps"
age = "60s"
[[forwarding.entry]]
mac = "02:00:00:00:00:0a"
port = "h2"
[[classify]]
dscp = 46
protocol = "tcp"
source = "10.0.0.0/24"
queue = 1
[rank]
from = "payload"
offset = 4
bytes = 2
[live]
backend = "xdp"
overhead = 20
idle = "wait"
trim_lengths = "kept"
[http]
listen = "127.0.0.1:9099"
"#;

#[test]
fn a_file_says_it_all() {
    let (config, text) = read("live.toml", SOUND, &[]).unwrap();
    assert_eq!(config.tm.rates.iter().map(|rate| rate.bps()).collect::<Vec<_>>(), [100_000_000, 1_000_000_000]);
    let linux = |name: &str, backend| Interface::Linux { name: name.to_owned(), backend: Some(backend) };
    assert_eq!(config.interfaces, [linux("h1", BackendKind::Xdp), linux("h2", BackendKind::Packet)]);
    let entries = vec![(Mac([2, 0, 0, 0, 0, 10]), 0, 1)];
    assert_eq!(
        config.forwarding,
        ForwardingConfig::Learn { age: Duration::from_us(60_000_000), entries, storm: Some(Rate::from_bps(5_000_000)) }
    );
    assert_eq!(config.treatment.rank, RankFrom::Payload { offset: 4, bytes: 2 });
    assert_eq!((config.treatment.trim_lengths, config.run.overhead, config.run.wait), (Lengths::Kept, 20, true));
    let (again, _) = read("live.toml", &text, &[]).unwrap();
    assert_eq!(again, config, "what is told as the settings is a file");
    let changes = [("policy.alpha".to_owned(), "0.25".to_owned())];
    let (changed, text) = read("live.toml", SOUND, &changes).unwrap();
    assert_ne!(changed.tm, config.tm);
    assert!(text.contains("alpha = 0.25"), "{text}");
}

#[test]
fn trimmed_packets_get_the_code_point_of_their_port() {
    let dscp = |text: &str| read("live.toml", text, &[]).map(|(config, _)| config.treatment.trim_dscp);
    assert_eq!(dscp(SOUND).unwrap(), [None, None]);
    let own = SOUND.replace("name = \"h1\"\n", "name = \"h1\"\ntrim_dscp = 7\n");
    assert_eq!(dscp(&own).unwrap(), [Some(7), None]);
    let both = own.replace("[live]\n", "[live]\ntrim_dscp = 46\n");
    assert_eq!(dscp(&both).unwrap(), [Some(7), Some(46)]);
    let error = dscp(&own.replace("trim_dscp = 7", "trim_dscp = 64")).unwrap_err().to_string();
    assert!(error.contains("live.toml:11: interface.0.trim_dscp") && error.contains("give 0 to 63"), "{error}");
}

#[test]
fn secrets_are_not_shown() {
    const TOKEN: &str = "a-token-that-nobody-knows";
    let written = SOUND.replace("[http]\n", &format!("[http]\ntoken = \"{TOKEN}\"\n"));
    let set = [("http.token".to_owned(), TOKEN.to_owned())];
    let whole = [("http".to_owned(), format!("{{listen = \"0.0.0.0:80\", token = \"{TOKEN}\"}}"))];
    for (text, changes) in [(&*written, &[][..]), (SOUND, &set), (SOUND, &whole)] {
        let (config, shown) = read("live.toml", text, changes).unwrap();
        assert_eq!(config.http.as_ref().and_then(|http| http.token.as_deref()), Some(TOKEN));
        assert!(!shown.contains(TOKEN) && shown.contains("listen"), "{shown}");
        assert!(!format!("{config:?}").contains(TOKEN));
    }
}

#[test]
fn routes_are_read() {
    let routes = "[forwarding]\nkind = \"routes\"\n[[forwarding.route]]\nprefix = \"fd00::/64\"\nport = 1\nnext_hop = \"02:00:00:00:00:01\"\nsource = \"02:00:00:00:ff:01\"\n";
    let text = SOUND.replace(
        "[forwarding]\nstorm = \"5Mbps\"\nage = \"60s\"\n[[forwarding.entry]]\nmac = \"02:00:00:00:00:0a\"\nport = \"h2\"\n",
        routes,
    );
    let hop = NextHop { port: 1, destination: Mac([2, 0, 0, 0, 0, 1]), source: Mac([2, 0, 0, 0, 0xff, 1]) };
    let expected = ForwardingConfig::Routes(vec![(Prefix::parse("fd00::/64").unwrap(), hop)]);
    assert_eq!(read("live.toml", &text, &[]).unwrap().0.forwarding, expected);
}

/// Each replaces something by something wrong, and the error has to name the line, the key, and what is wrong.
#[test]
fn errors_name_the_line() {
    for (right, wrong, says) in [
        ("rate = \"100Mbps\"\n", "", "live.toml:8: interface.0.rate: this key is missing"),
        ("rate = \"100Mbps\"", "ports = 2", "live.toml:2: ports: the ports of a live switch are its interfaces"),
        ("name = \"h2\"", "name = \"h1\"", "live.toml:12: interface.1.name: another port has this interface already"),
        ("name = \"h2\"", "name = \"a name that is too long\"", "interface.1.name: no interface has such a name"),
        ("name = \"h2\"", "read = \"x.pcap\"", "live.toml:14: interface.1.backend: files have none"),
        ("[[interface]]\nname = \"h1\"\n", "", "interface: a switch has two interfaces or more"),
        ("backend = \"packet\"", "backend = \"dpdk\"", "live.toml:14: interface.1.backend: \"dpdk\""),
        ("age = \"60s\"", "age = \"60d\"", "live.toml:17: forwarding.age"),
        ("5Mbps", "5bps", "live.toml:16: forwarding.storm: this is too little for any frame"),
        ("age = \"60s\"", "age = \"0s\"", "an interface is remembered for up to a day"),
        ("02:00:00:00:00:0a", "02:00:00:00:00", "this is not the address of an interface"),
        ("02:00:00:00:00:0a", "01:00:5e:00:00:0a", "this is the address of a group"),
        ("port = \"h2\"", "port = \"h3\"", "forwarding.entry.0.port: \"h3\""),
        ("port = \"h2\"", "port = 2", "there is no such port"),
        ("dscp = 46", "dscp = 64", "live.toml:22: classify.0.dscp: 64 is too large"),
        ("protocol = \"tcp\"", "protocol = \"sctp\"", "classify.0.protocol: \"sctp\""),
        ("10.0.0.0/24", "10.0.0.1/24", "10.0.0.1 has bits behind the first 24"),
        ("queue = 1", "queue = 2", "classify.0.queue: 2 is too large"),
        ("bytes = 2", "bytes = 9", "a rank has 1 to 8 bytes"),
        ("overhead = 20", "overhead = 2000", "live.overhead: 2000 is too large"),
        ("overhead = 20", "frame = 3000", "a frame buffer has 2048, 4096, 8192 or 16384 bytes"),
        ("overhead = 20", "threads = 2", "this number of threads does not do"),
        ("overhead = 20", "threads = 3", "live.idle: three threads never wait"),
        ("overhead = 20", "frames = 1", "256 to 1048576 frame buffers"),
        ("overhead = 20", "timeline_size = \"1KB\"", "live.timeline_size: this is too little"),
        ("overhead = 20", "catch_up = \"5s\"", "live.catch_up: this time does not do"),
        ("overhead = 20", "colour = 1", "live.colour: there is no such key"),
        ("127.0.0.1:9099", "localhost", "this is not an address and a port"),
        ("127.0.0.1:9099", "0.0.0.0:9099", "others than this machine could change the switch"),
        ("listen = \"127.0.0.1:9099\"", "listen = \"127.0.0.1:9099\"\ntoken = \"x\"", "easily guessed"),
        (
            "[http]",
            "[trim]\nkind = \"source-flow-control\"\nwatermark = 5000\n[http]",
            "does not send messages of source flow control",
        ),
    ] {
        assert!(SOUND.contains(right), "{right}");
        let text = SOUND.replace(right, wrong);
        let error = read("live.toml", &text, &[]).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(says), "{right} -> {wrong}:\n{error}");
        assert!(error.contains("help:"), "{error}");
    }
}
