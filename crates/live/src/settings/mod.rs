//! The file of a live switch: a switch file whose ports are interfaces, with how frames find their ports and queues.

use crate::classify::{Classifier, Kind, Matches, Rule};
use crate::dataplane::{Forwarding, HeaderPlace, RankFrom, Treatment};
use crate::edit::Lengths;
use crate::frame::Mac;
use crate::mac_table::MacTable;
use crate::routes::{NextHop, Prefix, Routes};
use crate::storm::Storm;
use forebay_settings::{Diagnostic, Document, Settings, Table, Value, config_keys, read_config};
use forebay_tm::trim::TrimConfig;
use forebay_tm::{Bytes, Duration, Rate, ValidConfig};
use std::net::SocketAddr;
use std::path::PathBuf;

/// A live switch, as its file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveConfig {
    /// The traffic manager.
    pub tm: ValidConfig,
    /// The ports.
    pub interfaces: Vec<Interface>,
    /// How frames find their ports.
    pub forwarding: ForwardingConfig,
    /// How they find their queues.
    pub classifier: Classifier,
    /// What is done to them.
    pub treatment: Treatment,
    /// How it runs.
    pub run: RunConfig,
    /// Where it can be looked at with a browser.
    pub http: Option<HttpConfig>,
}

/// What is behind a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interface {
    /// An interface of the machine.
    Linux {
        /// Its name.
        name: String,
        /// How frames get there; none for the best that works.
        backend: Option<BackendKind>,
    },
    /// Files.
    Capture {
        /// What comes in.
        read: Option<PathBuf>,
        /// What is sent goes there.
        write: Option<PathBuf>,
    },
}

impl Interface {
    /// What views and rules call a port.
    pub fn name(&self, port: usize) -> String {
        match self {
            Self::Linux { name, .. } => name.clone(),
            Self::Capture { .. } => format!("port{port}"),
        }
    }
}

/// How frames get to an interface and from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    /// AF_XDP.
    Xdp,
    /// AF_XDP without copies.
    ZeroCopy,
    /// AF_PACKET.
    Packet,
    /// AF_PACKET to receive, AF_XDP to send.
    Mixed,
}

/// How frames find their ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForwardingConfig {
    /// By the interfaces that were seen behind ports.
    Learn {
        /// What is forgotten if no frame comes for so long.
        age: Duration,
        /// What is known from the start and never forgotten: an interface, its VLAN (0 for none) and its port.
        entries: Vec<(Mac, u16, usize)>,
        /// What every port may flood; without it, all.
        storm: Option<Rate>,
    },
    /// By routes.
    Routes(Vec<(Prefix, NextHop)>),
}

impl ForwardingConfig {
    /// A table as it is at the start, for so many ports. Where addresses stand in it follows from the seed.
    pub fn build(&self, ports: usize, seed: u64) -> Forwarding {
        // Given addresses may find no place under one seed and have it under another; under this one they were tried.
        const TRIED: u64 = 0;
        match self {
            Self::Learn { age, entries, storm } => {
                let storm = storm.map(|rate| Storm::new(rate, ports));
                let build = |seed| {
                    let mut table = MacTable::new(*age, seed);
                    entries.iter().all(|(mac, vlan, port)| table.give(*mac, *vlan, *port)).then_some(table)
                };
                let table = (0..100).find_map(|more: u64| build(seed.wrapping_add(more))).or_else(|| build(TRIED));
                Forwarding::Learn(table.unwrap_or_else(|| MacTable::new(*age, seed)).with_storm(storm))
            }
            Self::Routes(routes) => Forwarding::Routes(Routes::new(routes)),
        }
    }
}

/// How a switch runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunConfig {
    /// How much of a stall is made up for.
    pub catch_up: Duration,
    /// From when on the machine's absence is a stall.
    pub stall: Duration,
    /// Bytes that a frame takes of its wire beside its own.
    pub overhead: u32,
    /// Frame buffers of the frames' memory.
    pub frames: u32,
    /// Bytes of a frame buffer.
    pub frame: usize,
    /// Where counters and the timeline are written; nowhere without it.
    pub out: Option<PathBuf>,
    /// The step of the timeline.
    pub timeline: Duration,
    /// Bytes of a file of the timeline; a longer one is put aside.
    pub timeline_size: Bytes,
    /// 1, or 3: one to receive, one to decide, one to send.
    pub threads: u32,
    /// The control socket.
    pub control: Option<PathBuf>,
    /// The account that it acts as when root has started it; one of its own without this.
    pub user: Option<String>,
    /// Whether it sleeps when there is nothing to do, and leaves the core to others, rather than looking again at once.
    pub wait: bool,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            catch_up: Duration::from_us(10_000),
            stall: Duration::from_us(1_000),
            overhead: 24,
            frames: 16_384,
            frame: 2_048,
            out: None,
            timeline: Duration::from_us(100_000),
            timeline_size: Bytes::new(256_000_000),
            threads: 1,
            control: None,
            user: None,
            wait: false,
        }
    }
}

/// The HTTP server.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// Where it listens.
    pub listen: SocketAddr,
    /// What whoever asks has to know.
    pub token: Option<String>,
}

impl std::fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let token = self.token.as_ref().map(|_| "...");
        f.debug_struct("HttpConfig").field("listen", &self.listen).field("token", &token).finish()
    }
}

const TOP_KEYS: [&str; 7] = ["rate", "interface", "forwarding", "classify", "rank", "live", "http"];
const LONGEST_AGE: u64 = 86_400_000_000;

/// Reads a file, changed as `changes` say; also gives the file as changed, as TOML without secrets.
pub fn read(file: &str, text: &str, changes: &[(String, String)]) -> Result<(LiveConfig, String), Diagnostic> {
    let settings = Settings::new(text, changes)?;
    let document = Document::parse_with(file, text, &settings)?;
    let root = document.root();
    if root.has("ports") {
        let remedy = "remove it, and give an [[interface]] table for each port";
        return Err(root.key_error("ports", "the ports of a live switch are its interfaces", remedy));
    }
    let known: Vec<&str> = TOP_KEYS.into_iter().chain(config_keys()).collect();
    root.allow(&known, |_| false, "")?;
    let Places { interfaces, rates, trim_dscp } = interfaces(&root)?;
    let names: Vec<String> = interfaces.iter().enumerate().map(|(port, interface)| interface.name(port)).collect();
    let tm = read_config(&root, rates)?.validate().map_err(|error| document.locate(&error))?;
    let queues = tm.queues;
    let (run, trim) = run(&root)?;
    let mut treatment = Treatment { rank: rank(&root)?, trim_dscp, ..trim };
    treatment.trim_size = match &tm.trim {
        Some(TrimConfig::Ndp(config)) => config.size.get() as usize,
        Some(TrimConfig::CutPayload(config)) => config.size.get() as usize,
        Some(TrimConfig::ToQueue(config)) => config.size.get() as usize,
        Some(TrimConfig::SourceFlowControl(_)) | None => 64,
    };
    treatment.trim_to = match &tm.trim {
        Some(TrimConfig::CutPayload(_)) => HeaderPlace::OwnQueue,
        Some(TrimConfig::ToQueue(config)) => HeaderPlace::TrimQueue(config.queue),
        Some(TrimConfig::Ndp(_) | TrimConfig::SourceFlowControl(_)) | None => HeaderPlace::Apart,
    };
    let config = LiveConfig {
        forwarding: forwarding(&root, &names)?,
        classifier: classifier(&root, &names, queues as u64)?,
        treatment,
        run,
        http: http(&root)?,
        interfaces,
        tm,
    };
    if let Some(TrimConfig::SourceFlowControl(_)) = &config.tm.trim {
        let problem = "a live switch does not send messages of source flow control, which no host understands";
        return Err(root.locate("trim.kind", problem, "use \"ndp\" or \"cut-payload\""));
    }
    // Whoever may look at settings need not be one who may change them somewhere else.
    Ok((config, root.to_toml_without("http", "token")))
}

/// What `[[interface]]` tables say, of each port.
struct Places {
    interfaces: Vec<Interface>,
    rates: Vec<Rate>,
    /// Its own, or that of `[live]`.
    trim_dscp: Vec<Option<u8>>,
}

fn interfaces(root: &Table<'_>) -> Result<Places, Diagnostic> {
    const KEYS: [&str; 6] = ["name", "rate", "backend", "read", "write", "trim_dscp"];
    let backend = |value: Option<Value<'_>>| {
        let words = [
            ("xdp", Some(BackendKind::Xdp)),
            ("zero-copy", Some(BackendKind::ZeroCopy)),
            ("packet", Some(BackendKind::Packet)),
            ("mixed", Some(BackendKind::Mixed)),
            ("auto", None),
        ];
        value.map(|value| value.word(&words)).transpose()
    };
    let dscp = |table: &Table<'_>| -> Result<Option<u8>, Diagnostic> {
        Ok(number_below(table.get("trim_dscp").as_ref(), 64)?.map(|number| number as u8))
    };
    let live = root.table("live")?;
    let usual = live.as_ref().map_or(Ok(None), |live| backend(live.get("backend")))?.flatten();
    let usual_dscp = live.as_ref().map_or(Ok(None), dscp)?;
    let tables = root.tables("interface")?;
    if tables.len() < 2 {
        let problem = "a switch has two interfaces or more";
        return Err(root.key_error("interface", problem, "add [[interface]] tables, each with name = \"eth1\""));
    }
    let (mut interfaces, mut rates, mut trim_dscp) = (Vec::new(), Vec::new(), Vec::new());
    for table in &tables {
        table.allow(&KEYS, |_| false, "")?;
        trim_dscp.push(dscp(table)?.or(usual_dscp));
        let rate = match (table.get("rate"), root.get("rate")) {
            (Some(own), _) => own.rate()?,
            (None, Some(usual)) => usual.rate()?,
            (None, None) => return Err(table.missing("rate", "rate = \"100Mbps\"")),
        };
        let path = |key| table.get(key).map(|value| value.text().map(PathBuf::from)).transpose();
        let (read, write) = (path("read")?, path("write")?);
        interfaces.push(if read.is_some() || write.is_some() {
            if let Some(key) = ["name", "backend"].into_iter().find(|key| table.has(key)) {
                return Err(table.key_error(key, "files have none", "remove it, or read and write"));
            }
            Interface::Capture { read, write }
        } else {
            let name = table.need("name", "name = \"eth1\"")?;
            let text = name.text()?.to_owned();
            if text.is_empty() || text.len() > 15 || text.contains(['/', ' ']) {
                return Err(name.error("no interface has such a name", "give one that `ip link` shows"));
            }
            if interfaces.iter().any(|other| matches!(other, Interface::Linux { name, .. } if *name == text)) {
                return Err(name.error("another port has this interface already", "give each interface once"));
            }
            Interface::Linux { name: text, backend: backend(table.get("backend"))?.unwrap_or(usual) }
        });
        rates.push(rate);
    }
    let files = interfaces.iter().filter(|interface| matches!(interface, Interface::Capture { .. })).count();
    if files != 0 && files != interfaces.len() {
        let problem = "some ports are interfaces and some are files, but these have no common clock";
        return Err(root.key_error("interface", problem, "give all a name, or all read and write"));
    }
    Ok(Places { interfaces, rates, trim_dscp })
}

/// The port that a value names: an interface, or a number from 0.
fn port(value: &Value<'_>, names: &[String]) -> Result<usize, Diagnostic> {
    if value.is_text() {
        let words: Vec<(&str, usize)> = names.iter().enumerate().map(|(port, name)| (&**name, port)).collect();
        return value.word(&words);
    }
    let port: usize = value.number()?;
    if port >= names.len() {
        return Err(value.error("there is no such port", format!("give 0 to {}, or an interface", names.len() - 1)));
    }
    Ok(port)
}

fn mac(value: &Value<'_>) -> Result<Mac, Diagnostic> {
    let wrong = || value.error("this is not the address of an interface", "write it as 02:00:00:00:00:01");
    let bytes: Option<Vec<u8>> = value
        .text()?
        .split(':')
        .map(|part| if part.len() == 2 { u8::from_str_radix(part, 16).ok() } else { None })
        .collect();
    bytes.and_then(|bytes| bytes.try_into().ok()).map(Mac).ok_or_else(wrong)
}

fn prefix(value: &Value<'_>) -> Result<Prefix, Diagnostic> {
    Prefix::parse(value.text()?).map_err(|problem| value.error(problem, "write it as 10.0.0.0/24 or fd00::/64"))
}

fn forwarding(root: &Table<'_>, names: &[String]) -> Result<ForwardingConfig, Diagnostic> {
    let usual = ForwardingConfig::Learn { age: Duration::from_us(300_000_000), entries: Vec::new(), storm: None };
    let Some(table) = root.table("forwarding")? else { return Ok(usual) };
    let by_routes = table.get("kind").map_or(Ok(false), |kind| kind.word(&[("learn", false), ("routes", true)]))?;
    if by_routes {
        table.allow(&["kind", "route"], |_| false, "routes")?;
        let routes = table.tables("route")?.into_iter().map(|route| {
            route.allow(&["prefix", "port", "next_hop", "source"], |_| false, "")?;
            let hop = NextHop {
                port: port(&route.need("port", "port = \"eth1\"")?, names)?,
                destination: mac(&route.need("next_hop", "next_hop = \"02:00:00:00:00:01\"")?)?,
                source: mac(&route.need("source", "source = \"02:00:00:00:ff:01\"")?)?,
            };
            Ok((prefix(&route.need("prefix", "prefix = \"10.0.0.0/24\"")?)?, hop))
        });
        return Ok(ForwardingConfig::Routes(routes.collect::<Result<_, _>>()?));
    }
    table.allow(&["kind", "age", "entry", "storm"], |_| false, "learn")?;
    let storm = match table.get("storm") {
        None => None,
        Some(value) => {
            let rate = value.rate()?;
            if rate.bps() < 1_000 {
                return Err(value.error("this is too little for any frame", "give a rate such as 10Mbps"));
            }
            Some(rate)
        }
    };
    let age = match table.get("age") {
        None => Duration::from_us(300_000_000),
        Some(value) => {
            let age = value.duration()?;
            if age == Duration::ZERO || age > Duration::from_us(LONGEST_AGE) {
                return Err(value.error("an interface is remembered for up to a day", "give a time such as 300s"));
            }
            age
        }
    };
    let mut entries = Vec::new();
    let mut places = MacTable::new(age, 0);
    for entry in table.tables("entry")? {
        entry.allow(&["mac", "vlan", "port"], |_| false, "")?;
        let value = entry.need("mac", "mac = \"02:00:00:00:00:01\"")?;
        let address = mac(&value)?;
        if address.is_group() {
            return Err(value.error("this is the address of a group", "give that of one interface"));
        }
        let vlan = number_below(entry.get("vlan").as_ref(), 4_096)?.unwrap_or(0) as u16;
        let port = port(&entry.need("port", "port = \"eth1\"")?, names)?;
        if !places.give(address, vlan, port) {
            return Err(value.error("there is no place left for it in the table", "give fewer entries"));
        }
        entries.push((address, vlan, port));
    }
    Ok(ForwardingConfig::Learn { age, entries, storm })
}

/// A number, if there is one, that has to be below a bound.
fn number_below(value: Option<&Value<'_>>, bound: u64) -> Result<Option<u64>, Diagnostic> {
    let Some(value) = value else { return Ok(None) };
    let number = value.integer()?;
    if number >= bound {
        return Err(value.error(format!("{number} is too large"), format!("give 0 to {}", bound - 1)));
    }
    Ok(Some(number))
}

fn classifier(root: &Table<'_>, names: &[String], queues: u64) -> Result<Classifier, Diagnostic> {
    const KEYS: [&str; 11] = [
        "ingress",
        "dscp",
        "pcp",
        "protocol",
        "source",
        "destination",
        "source_port",
        "destination_port",
        "queue",
        "class",
        "unscheduled",
    ];
    const CLASSES: u64 = 64;
    let mut rules = Vec::new();
    for table in root.tables("classify")? {
        table.allow(&KEYS, |_| false, "")?;
        let number = |key, bound| number_below(table.get(key).as_ref(), bound);
        let address = |key| table.get(key).map(|value| prefix(&value)).transpose();
        let protocol = match table.get("protocol") {
            Some(value) if value.is_text() => {
                Some(value.word(&[("tcp", 6), ("udp", 17), ("icmp", 1), ("icmpv6", 58)])?)
            }
            value => number_below(value.as_ref(), 256)?.map(|number| number as u8),
        };
        let matches = Matches {
            ingress: table.get("ingress").map(|value| port(&value, names)).transpose()?,
            dscp: number("dscp", 64)?.map(|number| number as u8),
            pcp: number("pcp", 8)?.map(|number| number as u8),
            protocol,
            source: address("source")?,
            destination: address("destination")?,
            source_port: number("source_port", 65_536)?.map(|number| number as u16),
            destination_port: number("destination_port", 65_536)?.map(|number| number as u16),
        };
        let kind = Kind {
            queue: number("queue", queues)?.unwrap_or(0) as u32,
            class: number("class", CLASSES)?.unwrap_or(0) as u32,
            unscheduled: table.get("unscheduled").map_or(Ok(false), |value| value.boolean())?,
        };
        rules.push(Rule { matches, kind });
    }
    Ok(Classifier::new(rules, Kind::default()))
}

fn rank(root: &Table<'_>) -> Result<RankFrom, Diagnostic> {
    let Some(table) = root.table("rank")? else { return Ok(RankFrom::Nothing) };
    let words = [("none", 0), ("dscp", 1), ("payload", 2), ("remaining", 3)];
    let from = table.need("from", "from = \"dscp\"")?.word(&words)?;
    if from != 2 {
        table.allow(&["from"], |key| ["offset", "bytes"].contains(&key), "")?;
    }
    Ok(match from {
        0 => RankFrom::Nothing,
        1 => RankFrom::Dscp,
        2 => {
            table.allow(&["from", "offset", "bytes"], |_| false, "")?;
            let value = table.need("bytes", "bytes = 8")?;
            let bytes: usize = value.number()?;
            if !(1..=8).contains(&bytes) {
                return Err(value.error("a rank has 1 to 8 bytes", "give bytes = 8"));
            }
            let offset = number_below(table.get("offset").as_ref(), 65_536)?.unwrap_or(0) as usize;
            RankFrom::Payload { offset, bytes }
        }
        _ => RankFrom::Remaining,
    })
}

/// `[live]`: how it runs, and what is done to trimmed packets.
fn run(root: &Table<'_>) -> Result<(RunConfig, Treatment), Diagnostic> {
    const KEYS: [&str; 15] = [
        "backend",
        "idle",
        "catch_up",
        "stall",
        "overhead",
        "frames",
        "frame",
        "out",
        "timeline",
        "timeline_size",
        "threads",
        "control",
        "user",
        "trim_dscp",
        "trim_lengths",
    ];
    let (mut run, mut treatment) = (RunConfig::default(), Treatment::default());
    let Some(table) = root.table("live")? else { return Ok((run, treatment)) };
    table.allow(&KEYS, |_| false, "")?;
    let time = |key: &str, place: &mut Duration, least: Duration| {
        let Some(value) = table.get(key) else { return Ok(()) };
        *place = value.duration()?;
        if *place < least || *place > Duration::from_us(1_000_000) {
            return Err(value.error("this time does not do", format!("give {least} to 1s")));
        }
        Ok(())
    };
    time("catch_up", &mut run.catch_up, Duration::from_us(100))?;
    time("stall", &mut run.stall, Duration::from_us(10))?;
    time("timeline", &mut run.timeline, Duration::from_us(1_000))?;
    if let Some(value) = table.get("timeline_size") {
        run.timeline_size = value.bytes()?;
        if run.timeline_size < Bytes::new(10_000) {
            return Err(value.error("this is too little for a timeline", "give 10KB or more"));
        }
    }
    if let Some(overhead) = number_below(table.get("overhead").as_ref(), 257)? {
        run.overhead = overhead as u32;
    }
    if let Some(value) = table.get("frames") {
        run.frames = value.number()?;
        if !(256..=1 << 20).contains(&run.frames) {
            return Err(value.error("the frames' memory has 256 to 1048576 frame buffers", "give frames = 16384"));
        }
    }
    if let Some(value) = table.get("frame") {
        run.frame = value.number()?;
        if !run.frame.is_power_of_two() || !(2_048..=16_384).contains(&run.frame) {
            return Err(value.error("a frame buffer has 2048, 4096, 8192 or 16384 bytes", "give frame = 2048"));
        }
    }
    if let Some(value) = table.get("threads") {
        run.threads = value.number()?;
        if run.threads != 1 && run.threads != 3 {
            let remedy = "give 1, or 3: one to receive, one to decide and one to send";
            return Err(value.error("this number of threads does not do", remedy));
        }
    }
    let path = |key| table.get(key).map(|value| value.text().map(PathBuf::from)).transpose();
    (run.out, run.control) = (path("out")?, path("control")?);
    run.user = table.get("user").map(|value| value.text().map(str::to_owned)).transpose()?;
    if let Some(value) = table.get("idle") {
        run.wait = value.word(&[("spin", false), ("wait", true)])?;
        if run.wait && run.threads == 3 {
            return Err(value.error("three threads never wait", "set threads = 1, or idle = \"spin\""));
        }
    }
    if let Some(value) = table.get("trim_lengths") {
        treatment.trim_lengths = value.word(&[("cut", Lengths::Cut), ("kept", Lengths::Kept)])?;
    }
    Ok((run, treatment))
}

fn http(root: &Table<'_>) -> Result<Option<HttpConfig>, Diagnostic> {
    const SHORTEST: usize = 16;
    let Some(table) = root.table("http")? else { return Ok(None) };
    table.allow(&["listen", "token"], |_| false, "")?;
    let value = table.need("listen", "listen = \"127.0.0.1:9099\"")?;
    let listen: SocketAddr = value
        .text()?
        .parse()
        .map_err(|_| value.error("this is not an address and a port", "write it as 127.0.0.1:9099 or [::1]:9099"))?;
    let token = table.get("token").map(|value| value.text().map(str::to_owned)).transpose()?;
    if let Some(short) = token.as_ref().filter(|token| token.len() < SHORTEST) {
        let problem = format!("a token of {} characters is easily guessed", short.len());
        return Err(table.key_error("token", problem, format!("give {SHORTEST} characters or more")));
    }
    if !listen.ip().is_loopback() && token.is_none() {
        let problem = "others than this machine could change the switch";
        return Err(value.error(problem, "add token = \"...\", or listen on 127.0.0.1"));
    }
    Ok(Some(HttpConfig { listen, token }))
}

#[cfg(test)]
mod tests;
