//! `forebay lab`: hosts around a live switch, made and removed.

use crate::Failure;
use crate::args::{LabArgs, LabCommand, LabExecArgs, LabLoadArgs, LabSwitch, LabUpArgs};
use crate::output::{print, print_json};
use crate::{lab_compare, lab_run, lab_script};
use forebay_lab::job::Job;
use forebay_lab::layout::Layout;
use forebay_lab::network::{self, HostSettings};
use forebay_lab::program;
use forebay_lab::switch_file::{self, Treatment};
use forebay_lab::switch_process::{SwitchProcess, own_program};
use forebay_tm::{Bytes, TmConfig};
use std::os::unix::process::CommandExt;
use std::path::Path;

pub(crate) fn run(args: &LabArgs) -> Result<(), Failure> {
    let prefix = args.prefix.as_str();
    match &args.command {
        LabCommand::Up(args) => up(prefix, args),
        LabCommand::Exec(args) => exec(prefix, args),
        LabCommand::Down => down(prefix),
        LabCommand::Status { json } => status(prefix, *json),
        LabCommand::Run(args) => lab_run::run(prefix, args),
        LabCommand::Compare(args) => lab_compare::run(args),
        LabCommand::Load(args) => load(args),
        LabCommand::Script(args) => lab_script::run(prefix, args),
        LabCommand::Actor { script, congestion_control, to } => lab_script::act(script, congestion_control, *to),
        LabCommand::Agent { job, host } => agent(job, *host),
    }
}

fn layout_of(prefix: &str, args: &LabUpArgs) -> Result<Layout, Failure> {
    Ok(match args.leaf_spine {
        Some((leaves, spines)) => Layout::leaf_spine(prefix, args.hosts, leaves, spines, args.rate)?,
        None => Layout::star(prefix, &vec![args.rate; args.hosts])?,
    })
}

fn up(prefix: &str, args: &LabUpArgs) -> Result<(), Failure> {
    let layout = layout_of(prefix, args)?;
    if layout.is_routed() && args.switch == LabSwitch::Bridge {
        let help = "use --switch live, which routes";
        return Err(Failure::refused("", "bridges would send frames around in a leaf-spine for ever", help));
    }
    let held = network::lock(prefix)?;
    let settings = HostSettings {
        congestion_control: Some(args.congestion_control.clone()),
        ecn: args.ecn,
        paced: !args.unpaced,
        ipv6: args.ipv6,
        ..HostSettings::default()
    };
    let was_up = network::up(&layout, &settings, &held)?;
    let mut text = String::new();
    match args.switch {
        LabSwitch::Bridge => network::bridge(&layout, args.buffer.get() / layout.hosts.len() as u64)?,
        LabSwitch::Live => start_switches(&layout, args, true, &mut text)?,
        LabSwitch::None => start_switches(&layout, args, false, &mut text)?,
    }
    let first = &layout.hosts[0];
    let (name, address) = (&layout.hosts[1].name, layout.hosts[1].address);
    let count = layout.hosts.len();
    let done = if was_up { "was up and is set again" } else { "is up" };
    text.push_str(&format!(
        "the lab {done}: {count} hosts, {} is {}; try: forebay lab --prefix {prefix} exec {} ping -c 1 {address}  ({name})\n",
        first.name, first.address, first.name
    ));
    print(&text)
}

/// Writes the files of all switches and starts those that do not run.
fn start_switches(layout: &Layout, args: &LabUpArgs, start: bool, text: &mut String) -> Result<(), Failure> {
    let state = network::state_directory(&layout.prefix);
    let forebay = own_program()?;
    for (number, switch) in layout.switches.iter().enumerate() {
        let rates = switch.ports.iter().map(|port| port.rate).collect();
        let config = TmConfig::new(rates, Bytes::new(args.buffer.get()));
        let directory = state.join(&switch.name);
        let file = state.join(format!("{}.toml", switch.name));
        let treatment = Treatment { backend: args.backend.clone(), ..Treatment::default() };
        write(&file, &switch_file::write(layout, number, &config, &treatment, &directory))?;
        std::fs::create_dir_all(&directory).map_err(|error| forebay_lab::of_file(&directory, "make", &error))?;
        if !start {
            text.push_str(&format!("start: ip netns exec {} {forebay} live {}\n", switch.namespace, file.display()));
        } else if !is_running(&directory) {
            SwitchProcess::start(&forebay, &switch.namespace, &file, &directory)?.detach();
        }
    }
    Ok(())
}

fn is_running(directory: &Path) -> bool {
    std::os::unix::net::UnixStream::connect(directory.join("control.sock")).is_ok()
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(std::fs::write(path, text).map_err(|error| forebay_lab::of_file(path, "write", &error))?)
}

fn exec(prefix: &str, args: &LabExecArgs) -> Result<(), Failure> {
    program::need_root()?;
    let there = network::namespaces(prefix)?;
    let namespace = format!("{prefix}-{}", args.host);
    if !there.contains(&namespace) {
        let help = if there.is_empty() {
            "make it with `forebay lab up`".to_owned()
        } else {
            format!("there are {}", there.join(", "))
        };
        return Err(Failure::refused("", format_args!("there is no namespace {namespace}"), help));
    }
    // From here on this process is the command, with its exit code.
    let error = program::in_namespace(&namespace, &args.command[0]).args(&args.command[1..]).exec();
    Err(program::cannot_start("ip", &error).into())
}

fn down(prefix: &str) -> Result<(), Failure> {
    let held = network::lock(prefix)?;
    let removed = network::down(prefix, &held)?;
    print(&if removed == 0 { "there was no lab\n".to_owned() } else { format!("removed {removed} namespaces\n") })
}

fn status(prefix: &str, json: bool) -> Result<(), Failure> {
    program::need_root()?;
    let state = network::state_directory(prefix);
    let hosts: Vec<(String, bool)> = network::namespaces(prefix)?
        .into_iter()
        .map(|namespace| {
            let name = namespace.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-')).unwrap_or(&namespace);
            (name.to_owned(), is_running(&state.join(name)))
        })
        .collect();
    if json {
        let hosts = hosts.iter().map(|(name, runs)| serde_json::json!({ "name": name, "live_switch": runs }));
        return print_json(&hosts.collect());
    }
    if hosts.is_empty() {
        return print("no lab is up\n");
    }
    let line =
        |(name, runs): &(String, bool)| format!("{name}{}\n", if *runs { "  a live switch runs here" } else { "" });
    print(&hosts.iter().map(line).collect::<String>())
}

fn load(args: &LabLoadArgs) -> Result<(), Failure> {
    let load = forebay_lab::memcached::Load {
        server: args.server,
        connections: args.connections,
        duration: std::time::Duration::from_nanos(args.duration.ps() / 1_000),
        value: args.value,
        sets: args.sets,
        keys: args.keys,
        think: std::time::Duration::from_nanos(args.think.ps() / 1_000),
    };
    print(&format!("{}\n", load.run()?))
}

/// An agent: everything it has to say goes to standard output, errors too.
fn agent(job: &Path, host: usize) -> Result<(), Failure> {
    let text = std::fs::read_to_string(job).map_err(|error| forebay_lab::of_file(job, "read", &error))?;
    let done = Job::parse(&text).and_then(|job| forebay_lab::agent::run(job, host));
    done.or_else(|problem| print(&format!("failed {problem}\n")))
}
