//! A script file: a network, flows, and rules.

use crate::select::Numbers;
use forebay_settings::{Diagnostic, Document, Table, Value};
use forebay_tm::{Bytes, Duration, Rate};

/// Payload of a full segment: what is left of 1500 bytes beside IP, TCP and time stamps.
pub const MSS: u32 = 1_448;
/// Bytes of a frame beside its payload.
pub const HEADER: u32 = 66;
/// The TCP port that real receivers of a script listen at.
pub const RECEIVER_PORT: u16 = 7_414;
/// The TCP port of the real sender of flow 0; those of others follow.
pub const FIRST_SENDER_PORT: u16 = 20_000;
/// The most flows of a script.
pub const MOST_FLOWS: usize = 100;
/// The most segments of a flow.
const MOST_SEGMENTS: u32 = 100_000;
/// The longest time that a script may name.
const LONGEST: Duration = Duration::from_us(600_000_000);

/// A congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// NewReno.
    Reno,
    /// Cubic.
    Cubic,
    /// DCTCP.
    Dctcp,
}

impl CongestionControl {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Dctcp => "dctcp",
        }
    }
}

/// What an application writes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Since the connection was established at the sender.
    pub at: Duration,
    /// Full segments.
    pub segments: u32,
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// When the sender connects.
    pub start: Duration,
    /// What it writes, in order of time.
    pub writes: Vec<Write>,
    /// What the receiver writes back when it has read all of a write, in segments; the next write waits for it.
    pub reply: u32,
    /// From when to when, since it accepted the connection, the receiver does not read.
    pub pause: Option<(Duration, Duration)>,
}

impl Flow {
    /// Segments from the sender in all.
    pub fn segments(&self) -> u32 {
        self.writes.iter().map(|write| write.segments).sum()
    }

    /// Segments from the receiver in all.
    pub fn reply_segments(&self) -> u32 {
        self.reply * self.writes.len() as u32
    }
}

/// Which packets of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// Data of the sender, by the number of the segment.
    Segment(Numbers),
    /// Data of the receiver.
    Reply(Numbers),
    /// Segments of the receiver without data, by their ordinal from 1.
    Ack(Numbers),
    /// The first segment of the receiver, with data or without, whose acknowledgement covers a segment of the sender.
    Acknowledges(Numbers),
    /// The request for the connection.
    Syn,
    /// The answer to that.
    SynAck,
}

/// What is done to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is gone.
    Drop,
    /// It is marked: congestion experienced.
    Mark,
    /// It is held for so long; others overtake it.
    Delay(Duration),
    /// It is held for so long, and all behind it in the same direction with it.
    Hold(Duration),
    /// It comes a second time, so much later.
    Duplicate(Duration),
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The flow; none: all.
    pub flow: Option<u32>,
    /// Which packets.
    pub which: Which,
    /// Which transmissions of these, from 1.
    pub transmission: Numbers,
    /// What is done.
    pub action: Action,
}

/// What a receiver has for data that waits for its application, and so for its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// As much as need be.
    Large,
    /// So much.
    Fixed(Bytes),
    /// What the kernel gives it by and by.
    Auto,
}

/// A script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// What it shows, in a sentence.
    pub about: String,
    /// The senders' congestion control.
    pub congestion_control: CongestionControl,
    /// Whether connections ask for ECN.
    pub ecn: bool,
    /// The rate of the port to the receiver.
    pub rate: Rate,
    /// The round trip that the switch makes, half of it in each direction.
    pub round_trip: Duration,
    /// The switch's buffer.
    pub buffer: Bytes,
    /// Packets are marked that find more than this waiting at their port.
    pub mark_above: Option<Bytes>,
    /// The first window in segments.
    pub initial_window: u32,
    /// The shortest retransmission timeout.
    pub rto_min: Duration,
    /// Whether a pause makes the window small again.
    pub idle_restart: bool,
    /// The receivers' buffers.
    pub receive_buffer: ReceiveBuffer,
    /// When a run ends that does not come to its end.
    pub limit: Duration,
    /// What is to be known of the result; empty: nothing.
    pub note: String,
    /// The connections, all from one host to another.
    pub flows: Vec<Flow>,
    /// What the switch does.
    pub rules: Vec<Rule>,
}

const TOP_KEYS: [&str; 19] = [
    "about",
    "congestion_control",
    "ecn",
    "rate",
    "round_trip",
    "buffer",
    "mark_above",
    "initial_window",
    "rto_min",
    "idle_restart",
    "receive_buffer",
    "limit",
    "note",
    "flow",
    "drop",
    "mark",
    "delay",
    "hold",
    "duplicate",
];

/// Reads a script; `file` is what errors call it.
pub fn read(file: &str, text: &str) -> Result<Script, Diagnostic> {
    let document = Document::parse(file, text)?;
    let root = document.root();
    root.allow(&TOP_KEYS, |_| false, "")?;
    let words =
        [("reno", CongestionControl::Reno), ("cubic", CongestionControl::Cubic), ("dctcp", CongestionControl::Dctcp)];
    let congestion_control = root.need("congestion_control", "congestion_control = \"reno\"")?.word(&words)?;
    let is_dctcp = congestion_control == CongestionControl::Dctcp;
    let ecn = match root.get("ecn") {
        Some(value) if is_dctcp && !value.boolean()? => {
            return Err(value.error("DCTCP always has ECN", "remove it, or set it to true"));
        }
        Some(value) => value.boolean()?,
        None => is_dctcp,
    };
    let about = root.need("about", "about = \"one segment in the middle is lost\"")?;
    let mut script = Script {
        about: line(&about)?,
        congestion_control,
        ecn,
        rate: root.get("rate").map_or(Ok(Rate::from_bps(10_000_000)), |value| rate(&value))?,
        round_trip: time_or(&root, "round_trip", Duration::from_us(40_000))?,
        buffer: Bytes::new(1_000_000),
        mark_above: None,
        initial_window: counted_or(&root, "initial_window", 10, 1_000)?,
        rto_min: time_or(&root, "rto_min", Duration::from_us(200_000))?,
        idle_restart: root.get("idle_restart").map_or(Ok(true), |value| value.boolean())?,
        receive_buffer: ReceiveBuffer::Large,
        limit: time_or(&root, "limit", Duration::from_us(20_000_000))?,
        note: root.get("note").map_or(Ok(String::new()), |value| line(&value))?,
        flows: Vec::new(),
        rules: Vec::new(),
    };
    if let Some(value) = root.get("buffer") {
        script.buffer = value.bytes()?;
        let least = u64::from(2 * (MSS + HEADER));
        if script.buffer.get() < least {
            return Err(value.error("this holds no two packets", format!("give {least} bytes or more")));
        }
    }
    if let Some(value) = root.get("mark_above") {
        if !ecn {
            return Err(value.error("without ECN no packet can be marked", "set ecn = true at the top of the file"));
        }
        script.mark_above = Some(value.bytes()?);
    }
    script.receive_buffer = match root.get("receive_buffer") {
        None => ReceiveBuffer::Large,
        Some(value) if value.is_text() && value.text()? == "auto" => ReceiveBuffer::Auto,
        Some(value) => {
            let bytes = value.bytes()?;
            if bytes.get() < 2_304 || bytes.get() > 100_000_000 {
                return Err(value.error("no socket has such a buffer", "give 2304 bytes to 100MB, or \"auto\""));
            }
            ReceiveBuffer::Fixed(bytes)
        }
    };
    if let Some(value) = root.get("rto_min").filter(|_| script.rto_min.ps() % 1_000_000_000 != 0) {
        return Err(value.error("routes have whole milliseconds", "give a time such as \"200ms\""));
    }
    let flows = root.tables("flow")?;
    if flows.is_empty() {
        return Err(root.missing("flow", "[[flow]] with segments = 60"));
    }
    if flows.len() > MOST_FLOWS {
        return Err(flows[MOST_FLOWS].error("these are too many flows", format!("give up to {MOST_FLOWS}")));
    }
    script.flows = flows.iter().map(flow).collect::<Result<_, _>>()?;
    for action in ["drop", "mark", "delay", "hold", "duplicate"] {
        for table in root.tables(action)? {
            let rule = rule(&table, action, &script)?;
            script.rules.push(rule);
        }
    }
    Ok(script)
}

/// Text that fits a line of a table.
fn line(value: &Value<'_>) -> Result<String, Diagnostic> {
    let text = value.text()?;
    if text.trim().is_empty() || text.contains(['\n', '\r', '|']) {
        return Err(value.error("this is not a line of text", "write a line without |"));
    }
    Ok(text.trim().to_owned())
}

fn rate(value: &Value<'_>) -> Result<Rate, Diagnostic> {
    let rate = value.rate()?;
    if rate.bps() < 10_000 || rate.bps() > 10_000_000_000 {
        return Err(value.error("a port cannot have this rate here", "give 10Kbps to 10Gbps"));
    }
    Ok(rate)
}

fn time(value: &Value<'_>) -> Result<Duration, Diagnostic> {
    let time = value.duration()?;
    if time > LONGEST {
        return Err(value.error("this is too long", "give a time up to 600s"));
    }
    Ok(time)
}

fn time_or(table: &Table<'_>, key: &str, usual: Duration) -> Result<Duration, Diagnostic> {
    let Some(value) = table.get(key) else { return Ok(usual) };
    let given = time(&value)?;
    if given == Duration::ZERO {
        return Err(value.error("this cannot be 0", "give a time such as \"40ms\""));
    }
    Ok(given)
}

/// A number from 1 to `most`.
fn counted(value: &Value<'_>, most: u32) -> Result<u32, Diagnostic> {
    let number = value.integer()?;
    if number == 0 || number > u64::from(most) {
        return Err(value.error(format!("{number} cannot be"), format!("give 1 to {most}")));
    }
    Ok(number as u32)
}

fn counted_or(table: &Table<'_>, key: &str, usual: u32, most: u32) -> Result<u32, Diagnostic> {
    table.get(key).map_or(Ok(usual), |value| counted(&value, most))
}

fn flow(table: &Table<'_>) -> Result<Flow, Diagnostic> {
    const KEYS: [&str; 6] = ["start", "segments", "write", "reply", "pause_from", "pause_until"];
    table.allow(&KEYS, |_| false, "")?;
    let start = table.get("start").map_or(Ok(Duration::ZERO), |value| time(&value))?;
    let mut writes = Vec::new();
    if let Some(value) = table.get("segments") {
        if table.has("write") {
            return Err(table.key_error(
                "write",
                "segments is there already, which is one write",
                "remove one of them",
            ));
        }
        writes.push(Write { at: Duration::ZERO, segments: counted(&value, MOST_SEGMENTS)? });
    }
    for write in table.tables("write")? {
        write.allow(&["at", "segments"], |_| false, "")?;
        let segments = counted(&write.need("segments", "segments = 5")?, MOST_SEGMENTS)?;
        let at = write.get("at").map_or(Ok(Duration::ZERO), |value| time(&value))?;
        if writes.last().is_some_and(|before: &Write| before.at > at) {
            let remedy = "give writes in the order of their times";
            return Err(write.key_error("at", "this is before the write above", remedy));
        }
        writes.push(Write { at, segments });
    }
    if writes.is_empty() {
        return Err(table.missing("segments", "segments = 60"));
    }
    let all: u64 = writes.iter().map(|write| u64::from(write.segments)).sum();
    if all > u64::from(MOST_SEGMENTS) {
        return Err(table.error(format!("{all} segments are too many"), format!("give up to {MOST_SEGMENTS} in all")));
    }
    let reply = table.get("reply").map_or(Ok(0), |value| counted(&value, 1_000))?;
    let pause = match (table.get("pause_from"), table.get("pause_until")) {
        (None, None) => None,
        (from, Some(until)) => {
            let from = from.map_or(Ok(Duration::ZERO), |value| time(&value))?;
            let end = time(&until)?;
            if end <= from {
                return Err(until.error("the pause ends before it begins", "give a later time"));
            }
            Some((from, end))
        }
        (Some(_), None) => return Err(table.missing("pause_until", "pause_until = \"900ms\"")),
    };
    Ok(Flow { start, writes, reply, pause })
}

fn rule(table: &Table<'_>, name: &str, script: &Script) -> Result<Rule, Diagnostic> {
    let span = match name {
        "delay" | "hold" => Some("by"),
        "duplicate" => Some("after"),
        _ => None,
    };
    let mut known: Vec<&str> = WHICH.into_iter().chain(["flow", "transmission", "every"]).collect();
    known.extend(span);
    table.allow(&known, |_| false, name)?;
    let key = key_of_which(table)?;
    let flow = flow_of(table, script)?;
    let value = table.need(key, "")?;
    let which = which(table, key, &value)?;
    within_the_flows(&which, &value, flow, script)?;
    let transmission = transmission(table, &which)?;
    let by = match span {
        Some("by") => delay(&table.need("by", "by = \"5ms\"")?)?,
        Some(key) => table.get(key).map_or(Ok(Duration::ZERO), |value| time(&value))?,
        None => Duration::ZERO,
    };
    let action = match name {
        "drop" => Action::Drop,
        "mark" => {
            if !matches!(which, Which::Segment(_) | Which::Reply(_)) {
                return Err(table.error("only data is marked", "give it a segment"));
            }
            if !script.ecn {
                return Err(table.error("without ECN no packet can be marked", "set ecn = true at the top of the file"));
            }
            Action::Mark
        }
        "delay" => Action::Delay(by),
        "hold" => Action::Hold(by),
        _ => Action::Duplicate(by),
    };
    Ok(Rule { flow, which, transmission, action })
}

/// The keys that say which packets a rule is about.
const WHICH: [&str; 5] = ["segment", "reply", "ack", "acknowledges", "handshake"];

/// The one of [`WHICH`] that a rule has.
fn key_of_which(table: &Table<'_>) -> Result<&'static str, Diagnostic> {
    let given: Vec<&str> = WHICH.into_iter().filter(|key| table.has(key)).collect();
    let remedy = "give one of segment, reply, ack, acknowledges, handshake";
    match given[..] {
        [key] => Ok(key),
        [] => Err(table.error("it does not say which packets", remedy)),
        [_, second, ..] => Err(table.key_error(second, "it says twice which packets", remedy)),
    }
}

/// The flow that a rule is about; all of them without one.
fn flow_of(table: &Table<'_>, script: &Script) -> Result<Option<u32>, Diagnostic> {
    let Some(value) = table.get("flow") else { return Ok(None) };
    let number: u32 = value.number()?;
    if number as usize >= script.flows.len() {
        let last = script.flows.len() - 1;
        return Err(value.error("there is no such flow", format!("give 0 to {last}")));
    }
    Ok(Some(number))
}

/// Which packets the value of a key means.
fn which(table: &Table<'_>, key: &str, value: &Value<'_>) -> Result<Which, Diagnostic> {
    let every = match table.get("every") {
        Some(value) if key == "handshake" => return Err(value.error("a handshake has no numbers", "remove it")),
        Some(value) => counted(&value, crate::select::MOST)?,
        None => 1,
    };
    Ok(match key {
        "segment" => Which::Segment(Numbers::read(value, every)?),
        "reply" => Which::Reply(Numbers::read(value, every)?),
        "ack" => Which::Ack(Numbers::read(value, every)?),
        "acknowledges" => Which::Acknowledges(Numbers::read(value, every)?),
        _ if value.word(&[("syn", true), ("syn-ack", false)])? => Which::Syn,
        _ => Which::SynAck,
    })
}

/// Checks that a flow, or any, has the packets that a rule names.
fn within_the_flows(which: &Which, value: &Value<'_>, flow: Option<u32>, script: &Script) -> Result<(), Diagnostic> {
    let most = |of: fn(&Flow) -> u32| match flow {
        Some(flow) => of(&script.flows[flow as usize]),
        None => script.flows.iter().map(of).max().unwrap_or(0),
    };
    let (numbers, most) = match which {
        Which::Segment(numbers) | Which::Acknowledges(numbers) => (numbers, most(Flow::segments)),
        Which::Reply(numbers) => (numbers, most(Flow::reply_segments)),
        Which::Ack(numbers) => return counts_from_one(numbers, value, "ACKs are counted from 1"),
        Which::Syn | Which::SynAck => return Ok(()),
    };
    if most == 0 {
        return Err(value.error("no flow has replies", "give the flow a reply = 10"));
    }
    if numbers.first() >= most || numbers.last().is_some_and(|last| last >= most) {
        return Err(value.error("there is no such segment", format!("give 0 to {}", most - 1)));
    }
    Ok(())
}

fn counts_from_one(numbers: &Numbers, value: &Value<'_>, problem: &str) -> Result<(), Diagnostic> {
    if numbers.first() == 0 && numbers.last() == Some(0) {
        return Err(value.error(problem, "give 1 or more"));
    }
    Ok(())
}

/// Which of the transmissions of a packet a rule is about: the first, if it does not say.
fn transmission(table: &Table<'_>, which: &Which) -> Result<Numbers, Diagnostic> {
    let Some(value) = table.get("transmission") else { return Ok(Numbers::one(1)) };
    if matches!(which, Which::Ack(_) | Which::Acknowledges(_)) {
        return Err(value.error("an ACK is sent once", "remove it, and give the ACKs by their numbers"));
    }
    let numbers = Numbers::read(&value, 1)?;
    counts_from_one(&numbers, &value, "transmissions are counted from 1")?;
    Ok(numbers)
}

/// A time that is not zero.
fn delay(value: &Value<'_>) -> Result<Duration, Diagnostic> {
    let by = time(value)?;
    if by == Duration::ZERO {
        return Err(value.error("this does nothing", "give a time such as \"5ms\""));
    }
    Ok(by)
}
