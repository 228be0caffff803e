//! The `[transport.*]` tables.

use crate::transport::{Common, Stack, TransportConfig, TransportKind};
use forebay_settings::{Diagnostic, Table, known_lines, nearest, read_known};
use forebay_tm::described::{Described, Wrong};

/// All settings of a kind of transport that mean something with a stack.
pub(super) fn keys(kind: &TransportKind, stack: Stack) -> Vec<&'static str> {
    [kind.common_keys(stack), kind.own_keys(stack)].concat()
}

/// Reads the transports of a scenario, in the order of the file; those that only a workload names follow, with their
/// kind's defaults.
pub(super) fn read(
    root: &Table<'_>,
    workloads: &[Table<'_>],
    stack: Stack,
    classes: usize,
) -> Result<Vec<(String, TransportConfig)>, Diagnostic> {
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
    let stack = own_stack.map_or(Ok(stack), |value| value.word(Stack::WORDS))?;
    let mut config = TransportConfig::of(config, stack);
    let known = keys(&config.kind, config.common.stack);
    check_keys(table, &config, &known)?;
    read_known(table, &known, &mut config.common)?;
    read_known(table, &known, &mut config.linux)?;
    read_known(table, &known, config.kind.settings_mut())?;
    follow(table, &mut config.common);
    check(&config, classes).map_err(|(key, wrong)| table.locate(key, wrong.problem, wrong.remedy))?;
    for key in known.iter().filter(|key| table.has(key)) {
        if let Some(wrong) = config.common.idle(key).or_else(|| config.kind.settings().idle(key)) {
            return Err(table.locate(key, wrong.problem, wrong.remedy));
        }
    }
    Ok(config)
}

/// Refuses keys that mean nothing to a transport.
fn check_keys(table: &Table<'_>, config: &TransportConfig, known: &[&str]) -> Result<(), Diagnostic> {
    let (kind, stack) = (&config.kind, config.common.stack);
    for (theirs, other) in Stack::WORDS {
        let misplaced = |key: &&str| *key != "kind" && !known.contains(key) && keys(kind, *other).contains(key);
        if let (Some(key), false) = (table.keys().into_iter().find(misplaced), table.is_lenient()) {
            let remedy = format!("remove it, or set stack = \"{theirs}\"");
            let problem = format!("this key does nothing with stack = \"{}\"", stack.word());
            return Err(table.key_error(key, problem, remedy));
        }
    }
    let elsewhere = |key: &str| {
        let kinds = TransportKind::names().into_iter().filter_map(TransportKind::named);
        kinds.into_iter().any(|kind| Stack::WORDS.iter().any(|(_, stack)| keys(&kind, *stack).contains(&key)))
    };
    let allowed: Vec<&str> = ["kind"].into_iter().chain(known.iter().copied()).collect();
    table.allow(&allowed, elsewhere, kind.name())
}

/// Timeouts that are not given follow those that are.
fn follow(table: &Table<'_>, common: &mut Common) {
    if !table.has("rto_initial") {
        common.rto_initial = common.rto_initial.max(common.rto_min);
    }
    if !table.has("rto_max") {
        common.rto_max = common.rto_max.max(common.rto_min);
    }
}

/// What is wrong with settings that are right one by one.
fn check(config: &TransportConfig, classes: usize) -> Result<(), (&'static str, Wrong)> {
    let common = &config.common;
    if common.rto_max < common.rto_min {
        let (min, max) = (common.rto_min, common.rto_max);
        let problem = format!("the longest timeout, {max}, is below the shortest, {min}");
        return Err(("rto_max", Wrong::new(problem, format!("give at least {min}"))));
    }
    if let Some(class) = common.ack_class.filter(|class| usize::from(*class) >= classes) {
        let problem = format!("there is no class {class}: the switches have {classes} queues per port");
        return Err((
            "ack_class",
            Wrong::new(problem, format!("give 0 to {}, or more queues to [switch]", classes - 1)),
        ));
    }
    for (key, bytes, packets) in [
        ("receive_window", common.receive_window, 1),
        ("segmentation_offload", config.linux.segmentation_offload, 2),
        ("receive_window_max", Some(config.linux.receive_window_max), 1),
    ] {
        let least = packets * common.mss;
        if let Some(bytes) = bytes.filter(|bytes| bytes.get() < u64::from(least)) {
            let problem = format!("{bytes} are not enough for a packet");
            return Err((key, Wrong::new(problem, format!("give at least {least}"))));
        }
    }
    config.kind.settings().check(config.is_linux())
}

/// A transport as lines of TOML: what means something to its kind beside its other settings.
pub(super) fn lines(config: &TransportConfig) -> String {
    let (kind, stack) = (&config.kind, config.common.stack);
    let known = keys(kind, stack);
    let is_meant =
        |key: &str| known.contains(&key) && config.common.idle(key).or_else(|| kind.settings().idle(key)).is_none();
    let all: [&dyn Described; 3] = [&config.common, &config.linux, kind.settings()];
    let lines: String = all.into_iter().map(|settings| known_lines(settings, is_meant)).collect();
    format!("kind = \"{}\"\n{lines}", kind.name())
}
