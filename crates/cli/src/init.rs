//! `forebay init`: a scenario to begin with, with comments, from a few choices.

use crate::Failure;
use crate::args::InitArgs;
use crate::output::print;
use crate::outputs::Outputs;
use forebay_settings::{Kind, nearest, policies, schedulers};
use forebay_sim::scenario::kinds::{topologies, transports, workloads};
use forebay_tm::described::Choice as _;
use forebay_tm::schedule::SchedulerConfig;
use std::fmt::Write as _;
use std::io::{self, BufRead, IsTerminal, Write};

/// What was chosen, by the names in files.
pub(crate) struct Choice {
    pub(crate) topology: String,
    pub(crate) policy: String,
    pub(crate) scheduler: String,
    pub(crate) transport: String,
    pub(crate) workload: String,
}

/// A question, what can be answered, and what is taken without an answer.
struct Question {
    name: &'static str,
    kinds: Vec<Kind>,
    default: &'static str,
}

pub(crate) fn run(args: &InitArgs) -> Result<(), Failure> {
    let mut outputs = Outputs::new(args.replace.force);
    let given = [&args.topology, &args.policy, &args.scheduler, &args.transport, &args.workload];
    // Whoever gives flags has chosen; whoever gives none at a terminal is asked.
    let asks = given.iter().all(|given| given.is_none()) && io::stdin().is_terminal() && io::stderr().is_terminal();
    let questions = [
        Question { name: "topology", kinds: topologies(), default: "leaf-spine" },
        Question { name: "policy", kinds: policies(), default: "dt" },
        Question { name: "scheduler", kinds: schedulers(), default: "fifo" },
        Question { name: "transport", kinds: transports(), default: "dctcp" },
        Question { name: "workload", kinds: workloads(), default: "poisson" },
    ];
    let mut answers = Vec::new();
    for (question, given) in questions.iter().zip(given) {
        answers.push(match given {
            Some(name) => known(question, name)?,
            None if asks => ask(question)?,
            None => question.default.to_owned(),
        });
    }
    let Ok([topology, policy, scheduler, transport, workload]) = <[String; 5]>::try_from(answers) else {
        return Ok(());
    };
    let text = scenario(&Choice { topology, policy, scheduler, transport, workload });
    match &args.file {
        None => print(&text),
        Some(path) if path.as_os_str() == "-" => print(&text),
        Some(path) => {
            outputs.write_start(path, &text)?;
            let name = path.display();
            print(&format!("wrote {name}; next: forebay check {name}, forebay run {name}\n"))
        }
    }
}

/// A name that there is.
fn known(question: &Question, name: &str) -> Result<String, Failure> {
    let names: Vec<&str> = question.kinds.iter().map(|kind| kind.name).collect();
    if names.contains(&name) {
        return Ok(name.to_owned());
    }
    let help = match nearest(name, &names) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("give one of {}", names.join(", ")),
    };
    let of = question.name;
    Err(Failure::refused(format_args!("--{of} {name}"), format_args!("there is no such {of}"), help))
}

/// Asks at the terminal until the answer is one.
fn ask(question: &Question) -> Result<String, Failure> {
    let names: Vec<&str> = question.kinds.iter().map(|kind| kind.name).collect();
    loop {
        eprint!("{} ({}) [{}]: ", question.name, names.join(", "), question.default);
        let mut line = String::new();
        let read = io::stderr().flush().and_then(|()| io::stdin().lock().read_line(&mut line));
        match (read, line.trim()) {
            (Ok(1..), "") => return Ok(question.default.to_owned()),
            (Ok(1..), name) if names.contains(&name) => return Ok(name.to_owned()),
            (Ok(1..), name) => eprintln!("there is no {} {name}", question.name),
            // The end of the input: whoever leaves does not want a file.
            _ => return Err(Failure::Interrupted),
        }
    }
}

/// The scenario, as TOML.
pub(crate) fn scenario(choice: &Choice) -> String {
    let mut text = String::from(
        "# A scenario to begin with: docs/scenario.md has every key, `forebay list KIND` names what else there is.\n\
         seed = 1\n\
         duration = \"2ms\"           # flows start before this time; the run ends when all are complete\n",
    );
    let mut table = |title: &str, kinds: &[Kind], name: &str, lines: &str| {
        let Some(Kind { about, needed, .. }) = kinds.iter().find(|kind| kind.name == name) else { return };
        let _ = write!(text, "\n{title}\nkind = \"{name}\"  # {about}\n{needed}{lines}");
    };
    table("[topology]", &topologies(), &choice.topology, topology_lines(&choice.topology));
    let several =
        SchedulerConfig::by_name(&choice.scheduler).is_some_and(|scheduler| scheduler.serves_several_queues());
    let queues = if several { 3 } else { 1 };
    table("[policy]", &policies(), &choice.policy, "");
    table("[scheduler]", &schedulers(), &choice.scheduler, "");
    let workload = format!(
        "{}transport = \"{}\"\nclass = 0                    # the queue at every port\n",
        workload_lines(&choice.workload),
        choice.transport
    );
    table("[[workload]]", &workloads(), &choice.workload, &workload);
    let about =
        transports().into_iter().find(|kind| kind.name == choice.transport).map_or(String::new(), |kind| kind.about);
    let _ = write!(
        text,
        "\n[switch]\nbuffer = \"500KB\"             # shared by all queues of a switch\n\
         queues = {queues}                   # per port\n\n\
         [ecn]\nkind = \"step\"                # packets are marked from this queue length on\nthreshold = \"65KB\"\n\n\
         [transport.{}]  # {about}\nmss = 1440\n\n\
         [measure]\nsample = \"10us\"\ntimeline = \"all\"             # buffers over time, for `forebay report`\n",
        choice.transport
    );
    text
}

/// What a topology needs beside its kind.
fn topology_lines(kind: &str) -> &'static str {
    match kind {
        "single" => "hosts = 8\nrate = \"10Gbps\"\ndelay = \"1us\"\n",
        "dumbbell" => "left = 4\nright = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\nbottleneck_rate = \"10Gbps\"\n",
        "fat-tree" => {
            "k = 4                        # ports of a switch; k^3/4 hosts\nrate = \"10Gbps\"\ndelay = \"1us\"\n"
        }
        "graph" => {
            "rate = \"10Gbps\"\ndelay = \"1us\"\nhosts = [{ switch = \"a\", count = 4 }, { switch = \"b\", count = 4 }]\n\
             switch = [{ name = \"a\" }, { name = \"b\" }]\nlink = [{ from = \"a\", to = \"b\" }]\n"
        }
        _ => {
            "leaves = 4\nspines = 2\nhosts_per_leaf = 4\nhost_rate = \"10Gbps\"\nuplink_rate = \"40Gbps\"\ndelay = \"1us\"\n"
        }
    }
}

/// What a workload needs beside its kind.
fn workload_lines(kind: &str) -> &'static str {
    match kind {
        "incast" => {
            "request = \"200KB\"            # of all responses together\nfan_in = 4\nrate = 2000                  # queries a second\n"
        }
        "permutation" => "bytes = \"1MB\"\n",
        "all-to-all" | "all-reduce" => "bytes = \"100KB\"\n",
        "long-lived" => "pairs = [[0, 1], [2, 1]]\n",
        "on-off" => "sizes = \"50KB\"\nperiod = \"500us\"\n",
        "request-response" => {
            "clients = [0, 1]\nservers = [2, 3]\nrequest = \"1KB\"\nsizes = \"20KB\"\nthink = \"50us\"\n"
        }
        "csv" => "path = \"flows.csv\"            # a line start_s,src,dst,bytes, and one for each flow\n",
        _ => {
            "sizes = \"websearch\"          # or a size, or a file; `forebay list distributions`\nload = 0.4                   # of the hosts' links\n"
        }
    }
}
