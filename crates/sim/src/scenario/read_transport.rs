//! The `[transport.*]` tables.

use crate::transport::cubic::SlowStartExit;
use crate::transport::linux::{LossDetection, RateReduction};
use crate::transport::pfabric::{PFabricConfig, RankBy};
use crate::transport::udp::{Arrivals, Spread, UdpConfig};
use crate::transport::{Common, CustomTransport, InitialWindow, Recovery, Stack, TransportConfig, TransportKind};
use forebay_settings::{Diagnostic, Table, Value, nearest};
use forebay_tm::{Bytes, Duration, Rate};

/// What all packets have.
const PACKETS: [&str; 5] = ["mss", "header", "ecn", "unscheduled", "fixed_rank"];
/// What a receiver that answers has.
const ANSWERS: [&str; 2] = ["ack_bytes", "ack_class"];
/// A retransmission timer that follows the round trip.
const TIMER: [&str; 3] = ["rto_min", "rto_initial", "rto_max"];
/// What begins and repairs a stream.
const REPAIR: [&str; 2] = ["handshake", "recovery"];
/// Receivers that may hold ACKs back.
const HELD: [&str; 2] = ["ack_every", "ack_delay"];
/// Senders with slow start.
const WINDOW: [&str; 3] = ["initial_window", "max_window", "initial_ssthresh"];
/// The parts of Linux's TCP.
const LINUX: [&str; 15] = [
    "loss_detection",
    "tail_loss_probe",
    "rate_reduction",
    "frto",
    "undo",
    "pacing",
    "idle_restart",
    "connections",
    "segmentation_offload",
    "receive_offload",
    "timer_tick",
    "quick_acks",
    "sack_compression",
    "receive_window",
    "receive_window_max",
];

/// What a transport is, in one line.
pub(super) fn about(kind: &str) -> &'static str {
    match kind {
        "reno" => "TCP NewReno: halves its window at a loss",
        "cubic" => "TCP Cubic: the default of Linux",
        "dctcp" => "DCTCP: cuts its window by the share of packets that were marked",
        "timely" => "Timely: a rate that follows the gradient of the round trip",
        "powertcp" => "PowerTCP: a window that follows in-band telemetry",
        "theta-powertcp" => "PowerTCP by round trips alone, without telemetry",
        "pfabric" => "pFabric: sends at line rate, with priorities by remaining size",
        "ndp" => "NDP: the receiver paces senders by pulls and requests trimmed packets at once",
        "udp" => "UDP: a constant rate, or on and off; no retransmissions",
        name => custom(name).map_or("", |custom| custom.about()),
    }
}

/// A transport of another crate.
fn custom(name: &str) -> Option<CustomTransport> {
    match TransportKind::named(name) {
        Some(TransportKind::Custom(custom)) => Some(custom),
        _ => None,
    }
}

/// A kind of transport, and whose it is where operating systems have it.
#[derive(Clone, Copy)]
pub(super) struct Flavour<'k> {
    pub(super) kind: &'k str,
    pub(super) stack: Stack,
}

impl Flavour<'_> {
    fn has_stack(self) -> bool {
        matches!(self.kind, "reno" | "cubic" | "dctcp")
    }

    fn is_linux(self) -> bool {
        self.has_stack() && self.stack == Stack::Linux
    }

    /// The settings that all transports could have, as far as the code of a kind looks at them: keys that would do nothing are refused.
    fn common_keys(self) -> Vec<&'static str> {
        let parts: &[&[&'static str]] = match self.kind {
            "udp" => &[&PACKETS],
            // The receiver's pulls take the place of a growing window.
            "ndp" => &[&PACKETS, &ANSWERS, &["initial_window"], &TIMER],
            // The timeout is a setting of its own, and every packet is acknowledged.
            "pfabric" => &[&PACKETS, &ANSWERS, &WINDOW],
            // Without slow start there is no threshold where it ends.
            "timely" | "powertcp" | "theta-powertcp" => {
                &[&PACKETS, &ANSWERS, &["initial_window", "max_window"], &TIMER, &HELD, &REPAIR]
            }
            _ if !self.has_stack() => &[&PACKETS, &ANSWERS, &WINDOW, &TIMER, &HELD, &REPAIR],
            _ if self.is_linux() => &[&["stack"], &PACKETS, &ANSWERS, &WINDOW, &TIMER, &HELD, &["handshake"], &LINUX],
            _ => &[&["stack"], &PACKETS, &ANSWERS, &WINDOW, &TIMER, &HELD, &REPAIR, &["receive_window"]],
        };
        parts.concat()
    }

    /// A kind's own settings.
    fn own_keys(self) -> Vec<&'static str> {
        let keys: &[&[&'static str]] = match self.kind {
            "cubic" if self.is_linux() => &[&CUBIC],
            "cubic" => &[&CUBIC, &["probe"]],
            "dctcp" if self.is_linux() => &[&DCTCP],
            "dctcp" => &[&DCTCP, &["cut_per_ack"]],
            "timely" => &[&["alpha", "beta", "t_low", "t_high", "additive", "hyper_after", "min_rate"]],
            "powertcp" | "theta-powertcp" => &[&["gamma", "additive"]],
            "pfabric" => &[&["rto", "rto_rtts", "probe_after", "rank"]],
            "udp" => &[&["rate", "arrivals", "sizes", "max_payload", "on", "off", "on_off"]],
            name => {
                let custom = custom(name);
                return custom.iter().flat_map(|custom| custom.settings().fields()).map(|field| field.key).collect();
            }
        };
        keys.concat()
    }

    /// All of its settings.
    pub(super) fn keys(self) -> Vec<&'static str> {
        [self.own_keys(), self.common_keys()].concat()
    }

    /// Whether it has a setting.
    pub(super) fn knows(self, key: &str) -> bool {
        key == "kind" || self.common_keys().contains(&key) || self.own_keys().contains(&key)
    }
}

const CUBIC: [&str; 6] = ["c", "beta", "hystart", "hystart_delay_min", "fast_convergence", "reno_friendly"];
const DCTCP: [&str; 2] = ["gain", "initial_alpha"];

/// Reads the transports of a scenario, in the order of the file; those that only a workload names follow, with their kind's defaults.
pub(super) fn read(
    root: &Table<'_>,
    workloads: &[Table<'_>],
    classes: usize,
) -> Result<Vec<(String, TransportConfig)>, Diagnostic> {
    let stack = root.get("stack").map_or(Ok(Stack::Linux), |value| value.word(&Stack::NAMES))?;
    let mut transports = Vec::new();
    if let Some(outer) = root.table("transport")? {
        for name in outer.keys() {
            let Some(table) = outer.table(name)? else { continue };
            transports.push((name.to_owned(), transport(&outer, name, &table, stack, classes)?));
        }
    }
    for workload in workloads {
        let Some(value) = workload.get("transport") else { continue };
        let name = value.text()?;
        if transports.iter().any(|(known, _)| known == name) {
            continue;
        }
        let kind = TransportKind::named(name).ok_or_else(|| {
            let kinds = TransportKind::names();
            let known: Vec<&str> =
                transports.iter().map(|(name, _)| name.as_str()).chain(kinds.iter().copied()).collect();
            let remedy = match nearest(name, &known) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("add [transport.{name}] with its kind, or name one of {}", kinds.join(", ")),
            };
            value.error(format!("there is no transport \"{name}\""), remedy)
        })?;
        transports.push((name.to_owned(), TransportConfig::of(kind, stack)));
    }
    Ok(transports)
}

fn transport(
    outer: &Table<'_>,
    name: &str,
    table: &Table<'_>,
    stack: Stack,
    classes: usize,
) -> Result<TransportConfig, Diagnostic> {
    let names = TransportKind::names();
    let words: Vec<(&str, &str)> = names.iter().map(|kind| (*kind, *kind)).collect();
    let kind = match table.get("kind") {
        Some(value) => value.word(&words)?,
        None => name,
    };
    let Some(config) = TransportKind::named(kind) else {
        let remedy = match nearest(name, &names) {
            Some(meant) => format!("add kind = \"{meant}\" to it, or rename it"),
            None => format!("add kind to it, one of {}", names.join(", ")),
        };
        return Err(outer.key_error(name, "a transport with a name of its own needs a kind", remedy));
    };
    let own_stack = table.get("stack").filter(|_| config.has_stack());
    let mut config = TransportConfig::of(config, own_stack.map_or(Ok(stack), |value| value.word(&Stack::NAMES))?);
    let flavour = Flavour { kind, stack: config.common.stack };
    let known: Vec<&str> = core::iter::once("kind").chain(flavour.common_keys()).chain(flavour.own_keys()).collect();
    for other in Stack::NAMES.map(|(_, stack)| Flavour { kind, stack }) {
        let misplaced = |key: &&str| !flavour.knows(key) && other.knows(key);
        if let (Some(key), false) = (table.keys().into_iter().find(misplaced), table.is_lenient()) {
            let (mine, theirs) = (flavour.stack.name(), other.stack.name());
            let remedy = format!("remove it, or set stack = \"{theirs}\"");
            return Err(table.key_error(key, format!("this key does nothing with stack = \"{mine}\""), remedy));
        }
    }
    let elsewhere = |key: &str| {
        names
            .iter()
            .flat_map(|kind| Stack::NAMES.map(|(_, stack)| Flavour { kind, stack }))
            .any(|other| other.knows(key))
    };
    table.allow(&known, elsewhere, kind)?;
    // A file's keys of another kind are passed over here, too, where --set changed the kind.
    let keys = Keys { table, known: &known };
    common(&keys, &mut config.common, classes)?;
    own(&keys, &mut config.kind)?;
    if let (TransportKind::Dctcp(dctcp), true, Some(value)) = (&config.kind, config.is_linux(), keys.get("gain")) {
        let shift = -dctcp.gain.log2();
        if shift.fract() != 0.0 || !(0.0..=10.0).contains(&shift) {
            let problem = format!("Linux shifts: {} is no power of two from 1/1024 to 1", dctcp.gain);
            return Err(value.error(problem, "give 0.0625 (1/16), 0.03125 ..., or set stack = \"rfc\""));
        }
    }
    Ok(config)
}

/// A table as far as a kind knows its keys.
struct Keys<'t, 'd> {
    table: &'t Table<'d>,
    known: &'t [&'t str],
}

impl<'d> Keys<'_, 'd> {
    fn get(&self, key: &str) -> Option<Value<'d>> {
        self.known.contains(&key).then(|| self.table.get(key)).flatten()
    }

    fn set<T>(
        &self,
        key: &str,
        place: &mut T,
        read: impl FnOnce(&Value<'d>) -> Result<T, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        if let Some(value) = self.get(key) {
            *place = read(&value)?;
        }
        Ok(())
    }
}

fn common(keys: &Keys<'_, '_>, common: &mut Common, classes: usize) -> Result<(), Diagnostic> {
    keys.set("mss", &mut common.mss, |value| size(value, 1, 65_000))?;
    keys.set("header", &mut common.header, |value| size(value, 0, 1_000))?;
    keys.set("ack_bytes", &mut common.ack_bytes, |value| size(value, 1, 65_000))?;
    keys.set("initial_window", &mut common.initial_window, window)?;
    keys.set("max_window", &mut common.max_window, |value| positive(value).map(Some))?;
    keys.set("initial_ssthresh", &mut common.initial_ssthresh, |value| positive(value).map(Some))?;
    keys.set("rto_min", &mut common.rto_min, span)?;
    // What is not given follows what is.
    common.rto_initial = common.rto_initial.max(common.rto_min);
    keys.set("rto_initial", &mut common.rto_initial, span)?;
    common.rto_max = common.rto_max.max(common.rto_min);
    keys.set("rto_max", &mut common.rto_max, span)?;
    if common.rto_max < common.rto_min {
        let (min, max) = (common.rto_min, common.rto_max);
        let problem = format!("the longest timeout, {max}, is below the shortest, {min}");
        return Err(keys.table.locate("rto_max", problem, format!("give at least {min}")));
    }
    keys.set("ack_every", &mut common.ack_every, positive)?;
    keys.set("ack_delay", &mut common.ack_delay, Value::duration)?;
    if keys.get("ack_delay").is_some() && common.ack_every == 1 {
        let remedy = "remove it, or add ack_every = 2";
        return Err(keys.table.locate("ack_delay", "no ACK is held back with ack_every = 1", remedy));
    }
    keys.set("ecn", &mut common.ecn, Value::boolean)?;
    keys.set("ack_class", &mut common.ack_class, |value| {
        let class: u8 = value.number()?;
        if usize::from(class) < classes {
            return Ok(Some(class));
        }
        let problem = format!("there is no class {class}: the switches have {classes} queues per port");
        Err(value.error(problem, format!("give 0 to {}, or more queues to [switch]", classes - 1)))
    })?;
    keys.set("handshake", &mut common.handshake, Value::boolean)?;
    keys.set("recovery", &mut common.recovery, |value| {
        value.word(&[("sack", Recovery::Sack), ("newreno", Recovery::NewReno)])
    })?;
    parts(keys, common)?;
    keys.set("unscheduled", &mut common.unscheduled, |value| value.bytes().map(Some))?;
    keys.set("fixed_rank", &mut common.fixed_rank, |value| value.number().map(Some))
}

/// The parts of Linux's TCP, and the receive window.
fn parts(keys: &Keys<'_, '_>, common: &mut Common) -> Result<(), Diagnostic> {
    keys.set("receive_window", &mut common.receive_window, |value| window_of(value, common.mss).map(Some))?;
    let linux = &mut common.linux;
    keys.set("loss_detection", &mut linux.loss_detection, |value| value.word(&LossDetection::NAMES))?;
    keys.set("tail_loss_probe", &mut linux.tail_loss_probe, Value::boolean)?;
    keys.set("rate_reduction", &mut linux.rate_reduction, |value| value.word(&RateReduction::NAMES))?;
    keys.set("frto", &mut linux.frto, Value::boolean)?;
    keys.set("undo", &mut linux.undo, Value::boolean)?;
    keys.set("pacing", &mut linux.pacing, Value::boolean)?;
    keys.set("idle_restart", &mut linux.idle_restart, Value::boolean)?;
    keys.set("connections", &mut linux.keep_connections, |value| value.word(&[("new", false), ("kept", true)]))?;
    keys.set("segmentation_offload", &mut linux.segmentation_offload, |value| {
        if value.is_text() && value.text()? == "off" {
            return Ok(None);
        }
        window_of(value, 2 * common.mss).map(Some)
    })?;
    keys.set("receive_offload", &mut linux.receive_offload, positive)?;
    keys.set("timer_tick", &mut linux.timer_tick, Value::duration)?;
    keys.set("quick_acks", &mut linux.quick_acks, Value::number)?;
    keys.set("sack_compression", &mut linux.sack_compression, Value::boolean)?;
    keys.set("receive_window_max", &mut linux.receive_window_max, |value| window_of(value, common.mss))
}

/// Bytes, enough for a packet.
fn window_of(value: &Value<'_>, least: u32) -> Result<Bytes, Diagnostic> {
    match value.bytes()? {
        bytes if bytes.get() < u64::from(least) => {
            Err(value.error(format!("{bytes} are not enough for a packet"), format!("give at least {least}")))
        }
        bytes => Ok(bytes),
    }
}

fn slow_start_exit(value: &Value<'_>) -> Result<SlowStartExit, Diagnostic> {
    if value.is_text() {
        let remedy = "give true, false or \"++\"";
        let words = [("++", SlowStartExit::HyStartPlusPlus)];
        return value.word(&words).map_err(|error| Diagnostic { remedy: remedy.to_owned(), ..error });
    }
    Ok(if value.boolean()? { SlowStartExit::HyStart } else { SlowStartExit::Congestion })
}

fn own(keys: &Keys<'_, '_>, kind: &mut TransportKind) -> Result<(), Diagnostic> {
    match kind {
        TransportKind::Cubic(own) => {
            keys.set("c", &mut own.c, above_zero)?;
            keys.set("beta", &mut own.beta, |value| within(value, 0.0, 1.0))?;
            keys.set("hystart", &mut own.hystart, slow_start_exit)?;
            keys.set("hystart_delay_min", &mut own.hystart_delay_min, span)?;
            if let (SlowStartExit::Congestion, Some(value)) = (own.hystart, keys.get("hystart_delay_min")) {
                return Err(value.error("this does nothing with hystart = false", "remove it, or set hystart = true"));
            }
            keys.set("fast_convergence", &mut own.fast_convergence, Value::boolean)?;
            keys.set("reno_friendly", &mut own.reno_friendly, Value::boolean)?;
            keys.set("probe", &mut own.probe, |value| positive(value).map(Some))
        }
        TransportKind::Dctcp(own) => {
            keys.set("gain", &mut own.gain, |value| within(value, 0.0, 1.0))?;
            keys.set("initial_alpha", &mut own.initial_alpha, |value| within(value, 0.0, 1.0))?;
            keys.set("cut_per_ack", &mut own.cut_per_ack, Value::boolean)
        }
        TransportKind::Timely(own) => {
            keys.set("alpha", &mut own.alpha, |value| within(value, 0.0, 1.0))?;
            keys.set("beta", &mut own.beta, |value| within(value, 0.0, 1.0))?;
            keys.set("t_low", &mut own.t_low, span)?;
            keys.set("t_high", &mut own.t_high, span)?;
            if own.t_high < own.t_low {
                let problem = format!("t_high, {}, is below t_low, {}", own.t_high, own.t_low);
                return Err(keys.table.locate("t_high", problem, format!("give at least {}", own.t_low)));
            }
            keys.set("additive", &mut own.additive, Value::rate)?;
            keys.set("hyper_after", &mut own.hyper_after, positive)?;
            keys.set("min_rate", &mut own.min_rate, rate)
        }
        TransportKind::PowerTcp(own) => {
            keys.set("gamma", &mut own.gamma, |value| within(value, 0.0, 1.0))?;
            keys.set("additive", &mut own.additive, Value::rate)
        }
        TransportKind::ThetaPowerTcp(own) => {
            keys.set("gamma", &mut own.gamma, |value| within(value, 0.0, 1.0))?;
            keys.set("additive", &mut own.additive, Value::rate)
        }
        TransportKind::PFabric(own) => pfabric(keys, own),
        TransportKind::Udp(own) => udp(keys, own),
        TransportKind::Custom(custom) => forebay_settings::read_settings(keys.table, custom.settings_mut()),
        TransportKind::Reno(_) | TransportKind::Ndp(_) => Ok(()),
    }
}

fn pfabric(keys: &Keys<'_, '_>, own: &mut PFabricConfig) -> Result<(), Diagnostic> {
    keys.set("rto", &mut own.rto, |value| span(value).map(Some))?;
    keys.set("rto_rtts", &mut own.rto_rtts, above_zero)?;
    if let (Some(rto), Some(value)) = (own.rto, keys.get("rto_rtts")) {
        return Err(value.error(format!("the timeout is {rto} already"), "give either rto or rto_rtts"));
    }
    keys.set("probe_after", &mut own.probe_after, positive)?;
    keys.set("rank", &mut own.rank, |value| {
        value.word(&[("remaining", RankBy::Remaining), ("from-sequence", RankBy::FromSequence)])
    })
}

fn udp(keys: &Keys<'_, '_>, own: &mut UdpConfig) -> Result<(), Diagnostic> {
    let spreads = [("constant", Spread::Constant), ("exponential", Spread::Exponential)];
    keys.set("rate", &mut own.rate, |value| rate(value).map(Some))?;
    keys.set("arrivals", &mut own.arrivals, |value| {
        value.word(&[("constant", Arrivals::Constant), ("poisson", Arrivals::Poisson)])
    })?;
    keys.set("sizes", &mut own.sizes, |value| value.word(&spreads))?;
    keys.set("max_payload", &mut own.max_payload, |value| size(value, 1, 65_000))?;
    if let (Spread::Constant, Some(value)) = (own.sizes, keys.get("max_payload")) {
        let problem = "without sizes = \"exponential\" every payload is mss, so this does nothing";
        return Err(value.error(problem, "remove it, or add sizes = \"exponential\""));
    }
    keys.set("on", &mut own.on, |value| span(value).map(Some))?;
    keys.set("off", &mut own.off, |value| span(value).map(Some))?;
    for (given, other) in [("on", "off"), ("off", "on")] {
        if let (Some(value), None) = (keys.get(given), keys.get(other)) {
            let problem = format!("a source that is on and off needs {other}, too");
            return Err(value.error(problem, format!("add {other}, or remove {given}")));
        }
    }
    keys.set("on_off", &mut own.on_off, |value| value.word(&spreads))?;
    match keys.get("on_off") {
        Some(value) if own.on.is_none() => Err(value.error("the source is always on", "add on and off, or remove it")),
        _ => Ok(()),
    }
}

/// A size of a packet or of a part of one.
fn size(value: &Value<'_>, least: u64, most: u64) -> Result<u32, Diagnostic> {
    let bytes = value.bytes()?;
    match u32::try_from(bytes.get()) {
        Ok(size) if (least..=most).contains(&bytes.get()) => Ok(size),
        _ => Err(value.error(format!("{bytes} is out of range"), format!("give {least} to {most} bytes"))),
    }
}

fn positive(value: &Value<'_>) -> Result<u32, Diagnostic> {
    match value.number()? {
        0 => Err(value.error("there must be at least one", "give 1 or more")),
        number => Ok(number),
    }
}

fn rate(value: &Value<'_>) -> Result<Rate, Diagnostic> {
    match value.rate()? {
        rate if rate.bps() == 0 => Err(value.error("nothing would ever be sent at this rate", Rate::FORMS)),
        rate => Ok(rate),
    }
}

fn span(value: &Value<'_>) -> Result<Duration, Diagnostic> {
    match value.duration()? {
        span if span.ps() == 0 => Err(value.error("it must be longer than nothing", "give a time such as \"10us\"")),
        span => Ok(span),
    }
}

/// A number above zero.
fn above_zero(value: &Value<'_>) -> Result<f64, Diagnostic> {
    match value.real()? {
        number if number > 0.0 && number.is_finite() => Ok(number),
        number => Err(value.error(format!("{number} is out of range"), "give a number above 0")),
    }
}

/// A number from `least` to `most`.
fn within(value: &Value<'_>, least: f64, most: f64) -> Result<f64, Diagnostic> {
    let number = value.real()?;
    if number.is_finite() && number >= least && number <= most {
        return Ok(number);
    }
    Err(value.error(format!("{number} is out of range"), format!("give a number from {least} to {most}")))
}

/// Packets, "bdp" or "flow".
fn window(value: &Value<'_>) -> Result<InitialWindow, Diagnostic> {
    if value.is_text() {
        let words = [("bdp", InitialWindow::Bdp), ("flow", InitialWindow::Flow)];
        let remedy = "give a number of packets, \"bdp\" or \"flow\"";
        return value.word(&words).map_err(|error| Diagnostic { remedy: remedy.to_owned(), ..error });
    }
    positive(value).map(InitialWindow::Packets)
}
