//! Runs as job arrays of Slurm.
//!
//! A task of the array runs one [`Shard`]. What is finished is seen in the shared directory, not asked of Slurm: Slurm
//! only says which tasks wait or run. A shard that has runs left and no task is submitted again, until it has failed
//! three times in a row without a run more.

use crate::shard::Shard;
use crate::{Error, cannot_write};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Tasks of an array, unless there are fewer runs: enough for a large cluster, and a thousand logs at most.
const MOST_TASKS: usize = 1_000;
/// Tasks for each node that was asked for, so that nodes that are done early take another.
const TASKS_PER_NODE: usize = 4;
/// Slurm's own limit, if it does not say another: an array's numbers are below it.
const USUAL_ARRAY_SIZE: usize = 1_001;
/// How often a shard is submitted that gets no further.
const MOST_ATTEMPTS: usize = 3;
/// For so long the controller may be out of reach.
const PATIENCE: Duration = Duration::from_secs(300);

/// What is asked of Slurm.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whole nodes, so many at the same time; without this, a task takes one CPU, and Slurm decides how many run.
    pub nodes: Option<usize>,
    /// The limit of a task, as Slurm writes it.
    pub time: Option<String>,
    /// The partition.
    pub partition: Option<String>,
    /// The account.
    pub account: Option<String>,
}

impl Options {
    /// Refuses what cannot stand in a script.
    pub fn check(&self) -> Result<(), Error> {
        let is_time = |c: char| c.is_ascii_digit() || ":-".contains(c);
        if let Some(time) = self.time.as_ref().filter(|time| time.is_empty() || !time.chars().all(is_time)) {
            let remedy = "write minutes, hours:minutes:seconds or days-hours, such as 02:00:00";
            return Err(Error::refused(format!("--time {time}"), "this is not a time of Slurm's", remedy));
        }
        for (argument, name) in [("--partition", &self.partition), ("--account", &self.account)] {
            let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.,@".contains(c);
            if let Some(name) = name.as_ref().filter(|name| name.is_empty() || !name.chars().all(is_name)) {
                let remedy = "give a name as sinfo or sacctmgr shows it";
                return Err(Error::refused(format!("{argument} {name}"), "this is not a name", remedy));
            }
        }
        Ok(())
    }
}

/// Runs that are to be made by job arrays.
#[derive(Clone, Debug)]
pub struct Batch {
    /// What the jobs are called: the same for the same runs, so that they are found again.
    pub name: String,
    /// The command of a shard, without `--jobs` and `--shard`.
    pub command: Vec<String>,
    /// How many runs there are.
    pub runs: usize,
    /// Where the script and the logs go.
    pub directory: PathBuf,
    /// What is asked of Slurm.
    pub options: Options,
}

/// What following a batch has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// All runs are there.
    Finished,
    /// The user does not want to wait; the jobs go on.
    Left,
    /// These shards, counted from 1, have failed again and again.
    GivenUp(BTreeSet<usize>),
}

impl Batch {
    /// How many shards there are if arrays have numbers below `array_size`.
    pub fn shards(&self, array_size: usize) -> usize {
        let wanted = self.options.nodes.map_or(MOST_TASKS, |nodes| nodes.saturating_mul(TASKS_PER_NODE));
        wanted.min(self.runs).min(array_size.saturating_sub(1)).max(1)
    }

    /// The script of a task.
    pub fn script(&self, shards: usize) -> String {
        let mut text = format!("#!/bin/sh\n#SBATCH --job-name={}\n", job_name(&self.name, shards));
        let log = self.directory.join("%A_%a.log");
        let _ = writeln!(text, "#SBATCH --output={}", directive(&log.display().to_string()));
        text.push_str("#SBATCH --open-mode=append\n#SBATCH --requeue\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n");
        text.push_str(if self.options.nodes.is_some() {
            "#SBATCH --exclusive\n"
        } else {
            "#SBATCH --cpus-per-task=1\n"
        });
        let Options { time, partition, account, .. } = &self.options;
        for (name, value) in [("time", time), ("partition", partition), ("account", account)] {
            value.iter().for_each(|value| text.push_str(&format!("#SBATCH --{name}={value}\n")));
        }
        let jobs = if self.options.nodes.is_some() { "\"${SLURM_CPUS_ON_NODE:-1}\"" } else { "1" };
        let command: Vec<String> = self.command.iter().map(|word| quoted(word)).collect();
        let _ = writeln!(text, "exec {} --jobs {jobs} --shard \"$SLURM_ARRAY_TASK_ID/{shards}\"", command.join(" "));
        text
    }

    /// The `--array` of some shards, counted from 1.
    pub fn array(&self, shards: &BTreeSet<usize>) -> String {
        let limit = self.options.nodes.map_or_else(String::new, |nodes| format!("%{nodes}"));
        format!("{}{limit}", ranges(shards))
    }

    fn script_path(&self) -> PathBuf {
        self.directory.join("task.sh")
    }

    /// Submits shards, counted from 1. Returns the number of the job.
    fn submit(&self, shards: &BTreeSet<usize>, of: usize) -> Result<String, Error> {
        let path = self.script_path();
        let written = fs::create_dir_all(&self.directory).and_then(|()| fs::write(&path, self.script(of)));
        written.map_err(|error| cannot_write(&path.display().to_string(), &error))?;
        let array = format!("--array={}", self.array(shards));
        let said = ask("sbatch", &["--parsable", &array, &path.display().to_string()])?;
        Ok(said.trim().split(';').next().unwrap_or_default().to_owned())
    }

    /// Submits what is not finished and follows it. `is_done` is asked about a run by its number; `look` is told how
    /// many are finished, and which job was submitted.
    pub fn follow(
        &self,
        is_done: &dyn Fn(usize) -> bool,
        look: &mut dyn FnMut(usize, Option<&str>),
        stopped: &dyn Fn() -> bool,
    ) -> Result<Followed, Error> {
        self.options.check()?;
        let of = self.shards(array_size()?);
        let mut missing: Vec<usize> = (0..self.runs).collect();
        let mut attempts = Attempts::default();
        loop {
            // Asked before the directory is looked at: what a task that is gone has finished is there.
            let active = self.active(of, stopped)?;
            missing.retain(|run| !is_done(*run));
            look(self.runs - missing.len(), None);
            if missing.is_empty() {
                return Ok(Followed::Finished);
            }
            if stopped() {
                return Ok(Followed::Left);
            }
            let left = left(&missing, of);
            let again = attempts.again(&left, &active);
            if !again.is_empty() {
                let job = self.submit(&again, of)?;
                look(self.runs - missing.len(), Some(&job));
            } else if left.keys().all(|shard| !active.contains(shard)) {
                return Ok(Followed::GivenUp(left.into_keys().collect()));
            }
            wait(self.runs, stopped);
        }
    }

    /// The shards whose tasks wait or run.
    fn active(&self, of: usize, stopped: &dyn Fn() -> bool) -> Result<BTreeSet<usize>, Error> {
        let begun = Instant::now();
        let all = loop {
            match ask("squeue", &["--noheader", "--array", "--format=%j|%i|%K|%T|%r"]) {
                Ok(all) => break all,
                // The controller may be starting anew.
                Err(error) if begun.elapsed() > PATIENCE || stopped() => return Err(error),
                Err(_) => wait(1, stopped),
            }
        };
        let mut active = BTreeSet::new();
        for line in all.lines() {
            let mut parts = line.trim().split('|');
            let (Some(name), Some(id), Some(task)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let reason = parts.nth(1).unwrap_or_default();
            if name == job_name(&self.name, of) {
                active.extend(task.parse::<usize>());
                // A node that went away while it took the task: Slurm holds it until somebody says that it may go on.
                if reason.contains("launch failed") {
                    let _ = ask("scontrol", &["release", id]);
                }
            } else if name.strip_prefix(&self.name).is_some_and(|rest| rest.starts_with('-')) {
                let problem = format!("job {id} makes the same runs in another number of parts");
                let remedy = format!("give the --nodes of before, or stop it with scancel --name={name}");
                return Err(Error::refused("--slurm", problem, remedy));
            }
        }
        Ok(active)
    }
}

/// How often shards were submitted without a run more.
#[derive(Default)]
struct Attempts {
    /// By shard: how many attempts in a row, and the runs that were left at the last.
    made: BTreeMap<usize, (usize, usize)>,
}

impl Attempts {
    /// The shards with runs left that have no task and may be submitted.
    fn again(&mut self, left: &BTreeMap<usize, usize>, active: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut again = BTreeSet::new();
        for (shard, runs) in left.iter().filter(|(shard, _)| !active.contains(shard)) {
            let (attempts, before) = self.made.entry(*shard).or_insert((0, *runs));
            if runs < before {
                *attempts = 0;
            }
            if *attempts < MOST_ATTEMPTS {
                (*attempts, *before) = (*attempts + 1, *runs);
                again.insert(*shard);
            }
        }
        again
    }
}

/// By shard, counted from 1, how many runs it has left.
fn left(missing: &[usize], of: usize) -> BTreeMap<usize, usize> {
    let mut left = BTreeMap::new();
    for run in missing {
        *left.entry(shard_of(*run, of)).or_insert(0) += 1;
    }
    left
}

/// The shard of a run, counted from 1.
fn shard_of(run: usize, of: usize) -> usize {
    let shard = run % of;
    debug_assert!(Shard { index: shard, of }.has(run));
    shard + 1
}

fn job_name(name: &str, shards: usize) -> String {
    format!("{name}-{shards}")
}

/// Waits between two looks: a second, and longer where a look means many files.
fn wait(runs: usize, stopped: &dyn Fn() -> bool) {
    let until = Instant::now() + Duration::from_millis(1_000 + (runs as u64 / 5).min(20_000));
    while Instant::now() < until && !stopped() {
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// What the cluster's arrays may have.
fn array_size() -> Result<usize, Error> {
    let config = ask("scontrol", &["show", "config"])?;
    let line = config.lines().find(|line| line.trim_start().starts_with("MaxArraySize"));
    let value = line.and_then(|line| line.split_once('=')).and_then(|(_, value)| value.trim().parse().ok());
    Ok(value.unwrap_or(USUAL_ARRAY_SIZE))
}

/// What an array may have where no cluster is asked.
pub fn usual_array_size() -> usize {
    USUAL_ARRAY_SIZE
}

/// What a command of Slurm says.
fn ask(command: &str, arguments: &[&str]) -> Result<String, Error> {
    let refused = |problem: String, remedy: &str| Err(Error::refused(command, problem, remedy));
    match Command::new(command).args(arguments).output() {
        Ok(done) if done.status.success() => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            let said = said.trim().trim_start_matches(&format!("{command}: ")).replace('\n', "; ");
            refused(format!("it failed: {said}"), "what Slurm says here is about its own settings: sinfo shows them")
        }
        Err(error) => refused(
            format!("cannot run it: {error}"),
            "--slurm is for machines of a Slurm cluster; --shard I/N runs a part anywhere",
        ),
    }
}

/// Numbers as `1-3,7`.
fn ranges(numbers: &BTreeSet<usize>) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => parts.push((*number, *number)),
        }
    }
    let text = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A value in a line that begins with `#SBATCH`.
fn directive(value: &str) -> String {
    if value.contains([' ', '"', '\\']) {
        format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        value.to_owned()
    }
}

/// A name of jobs: what they make, in few letters.
pub fn name_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let all = forebay_results::Fingerprint::of(texts).to_string();
    format!("forebay-{}", &all[..12])
}

/// A path that other machines understand.
pub fn absolute(path: &Path) -> Result<String, Error> {
    let name = path.display().to_string();
    let whole = std::path::absolute(path).map_err(|error| cannot_write(&name, &error))?;
    let refused = |problem: &str| Error::refused(name.clone(), problem, "choose another name for --slurm");
    let text = whole.to_str().ok_or_else(|| refused("this is not UTF-8"))?;
    if text.contains(['\n', '%']) {
        return Err(refused("Slurm takes no path with a line break or a percent sign"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(runs: usize, options: Options) -> Batch {
        let command = ["/opt/forebay", "sweep", "/data/a b.toml", "--set", "policy.kind=\"abm\""].map(str::to_owned);
        let directory = PathBuf::from("/data/out/slurm");
        Batch { name: "forebay-1".to_owned(), command: command.to_vec(), runs, directory, options }
    }

    #[test]
    fn arrays_of_a_sensible_size() {
        let shards = |runs, nodes, size| batch(runs, Options { nodes, ..Options::default() }).shards(size);
        assert_eq!((shards(1, None, 1_001), shards(300, None, 1_001), shards(100_000, None, 1_001)), (1, 300, 1_000));
        assert_eq!((shards(100_000, Some(1_000), 10_001), shards(100_000, Some(1_000), 1_001)), (4_000, 1_000));
        assert_eq!((shards(100, Some(2), 1_001), shards(3, Some(2), 1_001), shards(9, None, 1)), (8, 3, 1));
        assert_eq!(ranges(&BTreeSet::from([1, 2, 3, 7, 9, 10])), "1-3,7,9-10");
        let two = batch(9, Options { nodes: Some(2), ..Options::default() });
        assert_eq!(two.array(&BTreeSet::from([4, 5])), "4-5%2");
    }

    #[test]
    fn scripts() {
        let some = |text: &str| Some(text.to_owned());
        let options = Options { nodes: Some(2), time: some("02:00:00"), partition: some("cpu"), account: some("net") };
        let text = batch(100, options).script(8);
        for line in [
            "#!/bin/sh",
            "#SBATCH --job-name=forebay-1-8",
            "#SBATCH --output=/data/out/slurm/%A_%a.log",
            "#SBATCH --exclusive",
            "#SBATCH --time=02:00:00",
            "#SBATCH --partition=cpu",
            "#SBATCH --account=net",
            "exec /opt/forebay sweep '/data/a b.toml' --set 'policy.kind=\"abm\"' --jobs \"${SLURM_CPUS_ON_NODE:-1}\" --shard \"$SLURM_ARRAY_TASK_ID/8\"",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\n{text}");
        }
        let text = batch(100, Options::default()).script(100);
        assert!(text.contains("--cpus-per-task=1\n") && text.contains(" --jobs 1 ") && !text.contains("exclusive"));
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }

    #[test]
    fn a_shard_that_gets_no_further_is_given_up() {
        let (mut attempts, idle) = (Attempts::default(), BTreeSet::new());
        let left = |runs| BTreeMap::from([(4, runs)]);
        let four = BTreeSet::from([4]);
        assert_eq!(attempts.again(&left(5), &idle), four);
        assert!(attempts.again(&left(5), &four).is_empty(), "its task is there");
        // It ran out of time, and had made two runs: it may go on, three more times without another one.
        for _ in 0..3 {
            assert_eq!(attempts.again(&left(3), &idle), four);
        }
        assert!(attempts.again(&left(3), &idle).is_empty());
    }

    #[test]
    fn what_cannot_stand_in_a_script_is_refused() {
        let some = |text: &str| Some(text.to_owned());
        for options in [
            Options { time: some("1h"), ..Options::default() },
            Options { time: some("1\n#SBATCH --qos=high"), ..Options::default() },
            Options { partition: some("a b"), ..Options::default() },
            Options { account: some(""), ..Options::default() },
        ] {
            assert!(options.check().unwrap_err().to_string().contains("help: "), "{options:?}");
        }
        assert!(absolute(Path::new("50%")).is_err());
    }
}
