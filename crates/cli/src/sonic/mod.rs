//! `forebay sonic`: what a SONiC buffer configuration does on its chip.

mod advise;

use crate::Failure;
use crate::args::Force;
use crate::output::print;
use crate::outputs::Outputs;
use crate::table::Table;
use clap::{Args, Subcommand};
use forebay_advise::page::page;
use forebay_runner::scenario_file::read_text;
use forebay_sonic::SonicError;
use forebay_sonic::config::Config;
use forebay_sonic::device::Device;
use forebay_sonic::findings::{Finding, Severity};
use forebay_sonic::hardware::{Compared, read_rows, within};
use forebay_sonic::import::{ImportedLive, import, import_live, import_named};
use forebay_sonic::lint::{lint, sarif};
use forebay_sonic::predict::{Point, Prediction, Question, predict};
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub(crate) struct SonicArgs {
    #[command(subcommand)]
    command: SonicCommand,
}

#[derive(Subcommand, Debug)]
enum SonicCommand {
    /// Report where every PG and queue pauses, resumes and drops, with the derivation.
    Predict(PredictArgs),
    /// Report what is wrong with a configuration. Exit code 0: nothing but notes; 1: warnings or errors; 2: it cannot
    /// be read.
    Lint(LintArgs),
    /// Write both sides as a switch file, and report what such a file cannot express.
    Import(ImportArgs),
    /// Search for settings that reach an operator's goals, by closed forms and trials of the core, and write them as a
    /// JSON patch. Exit code 0: the patched configuration meets all goals; 1: it does not; 2: something cannot be read.
    Advise(advise::AdviseArgs),
    /// Fill the switches of a table with packets, and compare the points of pause and drop with those that hardware
    /// tests assert.
    Hardware(HardwareArgs),
}

#[derive(Args, Debug)]
struct ConfigArgs {
    /// The CONFIG_DB of a switch, in JSON.
    config: PathBuf,
    /// The chip family, such as td3, th5 or spc4; without this, that of the device.
    #[arg(long, value_name = "NAME")]
    chip: Option<String>,
}

#[derive(Args, Debug)]
struct PredictArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The size of packets.
    #[arg(long, value_name = "BYTES", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    packet: u32,
    /// How many other PGs or queues are congested: a list of cases.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [0, 1, 7])]
    #[arg(value_parser = clap::value_parser!(u64).range(..=4096))]
    others: Vec<u64>,
    /// Ignore the limits of ports (SAI_KEY_DISABLE_PORT_ALPHA).
    #[arg(long)]
    no_port_alpha: bool,
    /// Write a page with the pools as a picture to this file, and print nothing.
    #[arg(long, value_name = "FILE.html", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    replace: Force,
}

#[derive(Args, Debug)]
struct LintArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Print JSON.
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print SARIF 2.1.0, for code review tools.
    #[arg(long)]
    sarif: bool,
}

#[derive(Args, Debug)]
struct ImportArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Where the switch file goes; without this, to standard output.
    #[arg(short, long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Write the file of a live switch (docs/live.md), whose interfaces have the names of the ports.
    #[arg(long)]
    live: bool,
    /// The ports, by name; without this, all that are up.
    #[arg(long, value_name = "PORT,PORT", value_delimiter = ',')]
    ports: Option<Vec<String>>,
    #[command(flatten)]
    replace: Force,
}

#[derive(Args, Debug)]
struct HardwareArgs {
    /// The table, in CSV (docs/operators.md).
    rows: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &SonicArgs) -> Result<(), Failure> {
    match &args.command {
        SonicCommand::Predict(args) => predict_config(args),
        SonicCommand::Lint(args) => lint_config(args),
        SonicCommand::Import(args) => import_config(args),
        SonicCommand::Advise(args) => advise::run(args),
        SonicCommand::Hardware(args) => hardware(args),
    }
}

fn read(path: &Path) -> Result<Config, Failure> {
    parse(path, &read_text(path)?)
}

fn parse(path: &Path, text: &str) -> Result<Config, Failure> {
    Ok(Config::parse(&path.display().to_string(), text)?)
}

fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::refused("", error, ""))?;
    print(&(text + "\n"))
}

// ---- predict --------------------------------------------------------------------------------------------------------

/// A configuration without errors.
fn read_sound(path: &Path) -> Result<Config, Failure> {
    sound(path, read(path)?)
}

fn sound(path: &Path, config: Config) -> Result<Config, Failure> {
    if let Some(error) = config.findings.list().iter().find(|finding| finding.severity == Severity::Error) {
        let problem = format!("{}: {}", error.keys[0], error.why);
        let help = format!("{}; `forebay sonic lint` shows all that is wrong", error.cure);
        return Err(Failure::refused(path.display(), problem, help));
    }
    Ok(config)
}

fn predict_config(args: &PredictArgs) -> Result<(), Failure> {
    let config = read_sound(&args.config.config)?;
    let mut chip = config.chip(args.config.chip.as_deref())?.clone();
    chip.port_alpha &= !args.no_port_alpha;
    let device = Device::new(&config, &chip);
    let mut others = args.others.clone();
    others.sort_unstable();
    others.dedup();
    let predictions = predict(&device, &Question { packet: args.packet, others })?;
    if args.json {
        return json(&predictions);
    }
    if let Some(path) = &args.html {
        let mut outputs = Outputs::new(args.replace.force);
        outputs.reads(&args.config.config);
        return outputs.write_start(path, &page(&device, &predictions, None));
    }
    let mut text = format!("{} ({}), {} ports", chip.about, chip.name, config.ports.len());
    let _ = writeln!(text, ", packets of {} B, cells of {} B", args.packet, chip.cell);
    for prediction in &predictions {
        shown(&mut text, prediction);
    }
    print(&text)
}

fn shown(text: &mut String, prediction: &Prediction) {
    let Prediction { side, profile, pool, first, count, .. } = prediction;
    let what = match (*side, prediction.lossless) {
        ("ingress", true) => "lossless PG",
        ("ingress", false) => "lossy PG",
        _ => "queue",
    };
    let more = if *count > 1 { format!(" and {} more", count - 1) } else { String::new() };
    let _ = writeln!(text, "\n{what} {profile} in {pool}: {first}{more}");
    for step in &prediction.derivation {
        let _ = writeln!(text, "  {step}");
    }
    let mut table = Table::new(
        0,
        [
            "others",
            "shared cells",
            "pause at packet",
            "bytes",
            "resume at cells",
            "drop at packet",
            "bytes",
            "drains in",
            "burst of 10 ports",
        ],
    );
    let dash = || "-".to_owned();
    for case in &prediction.cases {
        let packets = |point: Option<Point>| point.map_or_else(dash, |point| point.packets.to_string());
        let bytes = |point: Option<Point>| point.map_or_else(dash, |point| point.bytes.to_string());
        table.row(vec![
            case.others.to_string(),
            case.shared_cells.to_string(),
            packets(case.pause),
            bytes(case.pause),
            case.resume.map_or_else(dash, |point| point.cells.to_string()),
            packets(case.drop),
            bytes(case.drop),
            format!("{:.1} us", case.drain_ns as f64 / 1e3),
            case.burst_bytes.map_or_else(dash, |bytes| bytes.to_string()),
        ]);
    }
    for line in table.render().lines() {
        let _ = writeln!(text, "  {line}");
    }
    if prediction.cases.iter().any(|case| !case.agrees) {
        text.push_str("  formula and simulated fill differ: please report this\n");
    }
}

// ---- lint -----------------------------------------------------------------------------------------------------------

fn lint_config(args: &LintArgs) -> Result<(), Failure> {
    let file = args.config.config.display().to_string();
    let config = read(&args.config.config)?;
    let findings = lint(&config, args.config.chip.as_deref())?;
    if args.json {
        json(&findings)?;
    } else if args.sarif {
        json(&sarif(&file, &findings))?;
    } else {
        print(&listed(&file, &findings))?;
    }
    if findings.iter().any(|finding| finding.severity > Severity::Note) { Err(Failure::Findings) } else { Ok(()) }
}

/// Keys that a person reads.
const SHOWN_KEYS: usize = 3;

fn listed(file: &str, findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let keys: Vec<&str> = finding.keys.iter().take(SHOWN_KEYS).map(String::as_str).collect();
        let more = match finding.keys.len() {
            count if count > SHOWN_KEYS => format!(" and {} more", count - SHOWN_KEYS),
            _ => String::new(),
        };
        let _ = writeln!(text, "{}[{}]: {}{more}", finding.severity.as_str(), finding.rule, keys.join(", "));
        let _ = writeln!(text, "  {}", finding.why);
        let _ = writeln!(text, "  traffic: {}", finding.effect);
        let _ = writeln!(text, "  cure: {}\n", finding.cure);
    }
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings, notes) = (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
    let _ = writeln!(text, "{file}: errors: {errors}, warnings: {warnings}, notes: {notes}");
    text
}

// ---- import ---------------------------------------------------------------------------------------------------------

fn import_config(args: &ImportArgs) -> Result<(), Failure> {
    let path = &args.config.config;
    let config = read_sound(path)?;
    let device = Device::new(&config, config.chip(args.config.chip.as_deref())?);
    let (from, ports) = (path.display().to_string(), args.ports.as_deref());
    let (toml, left_out) = if args.live {
        let ImportedLive { toml, left_out } = import_live(&device, &from, ports)?;
        (toml, left_out)
    } else {
        let imported = ports.map_or_else(|| import(&device, &from), |ports| import_named(&device, &from, ports))?;
        (imported.toml, imported.left_out)
    };
    let Some(out) = &args.out else { return print(&toml) };
    let mut outputs = Outputs::new(args.replace.force);
    outputs.reads(path);
    outputs.write_start(out, &toml)?;
    if left_out.is_empty() {
        return print(&format!("{}: nothing is left out\n", out.display()));
    }
    let mut text = format!("{}: it leaves out, or has in another way:\n", out.display());
    for left_out in &left_out {
        let _ = writeln!(text, "- {left_out}");
    }
    print(&text)
}

// ---- hardware -------------------------------------------------------------------------------------------------------

fn hardware(args: &HardwareArgs) -> Result<(), Failure> {
    let rows = read_rows(&args.rows.display().to_string(), &read_text(&args.rows)?)?;
    let compared: Result<Vec<Compared>, SonicError> = rows.iter().map(forebay_sonic::hardware::Row::compare).collect();
    let compared = compared?;
    if args.json {
        return json(&compared);
    }
    let header = [
        "row",
        "chip",
        "pause",
        "asserted",
        "error",
        "ingress drop",
        "asserted",
        "error",
        "egress drop",
        "asserted",
        "error",
    ];
    let mut table = Table::new(2, header);
    let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let percent = |error: Option<f64>| error.map_or("-".to_owned(), |error| format!("{:+.3}%", 100.0 * error));
    for row in &compared {
        table.row(vec![
            row.row.clone(),
            row.asic.clone(),
            number(row.pause_simulated),
            number(row.pause_asserted),
            percent(row.pause_error),
            number(row.ingress_drop_simulated),
            number(row.ingress_drop_asserted),
            percent(row.ingress_drop_error),
            number(row.egress_drop_simulated),
            number(row.egress_drop_asserted),
            percent(row.egress_drop_error),
        ]);
    }
    let mut text = table.render();
    let mut share = |name: &str, errors: Vec<Option<f64>>| {
        let (near, all) = within(errors.into_iter(), 0.01);
        let _ = writeln!(text, "{name}: {near} of {all} within 1%");
    };
    share("\npause", compared.iter().map(|row| row.pause_error).collect());
    share("ingress drop", compared.iter().map(|row| row.ingress_drop_error).collect());
    share("egress drop", compared.iter().map(|row| row.egress_drop_error).collect());
    print(&text)
}
