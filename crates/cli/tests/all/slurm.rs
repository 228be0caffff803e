//! Sweeps on a real Slurm cluster of two nodes, which the test starts and stops: munged, slurmctld and two slurmd on
//! this machine.

use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// One switch for 50 us: milliseconds a run.
const TINY: &str = r#"duration = "50us"
topology = { kind = "single", hosts = 4, rate = "10Gbps", delay = "1us" }
switch = { buffer = "60KB" }
policy = { kind = "dt", alpha = 1.0 }
transport.dctcp = { rto_min = "1ms" }
[[workload]]
kind = "poisson"
sizes = "20KB"
load = 0.5
transport = "dctcp"
"#;
const RUNS: &str = "--grid policy.alpha=0.25,0.5,1,2 --seeds 1-100 --summaries";

/// A cluster, as long as this lives.
struct Cluster {
    root: tempfile::TempDir,
    daemons: Vec<Child>,
}

impl Cluster {
    fn start() -> Self {
        let root = tempfile::tempdir().unwrap();
        // munged wants directories that nobody else can write to, and a socket that everybody can reach.
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut cluster = Self { root, daemons: Vec::new() };
        let at = |name: &str| cluster.root.path().join(name);
        let key: Vec<u8> = (0..1_024u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o400).open(at("munge.key")).unwrap();
        std::io::Write::write_all(&mut file, &key).unwrap();
        fs::create_dir(at("state")).unwrap();
        fs::write(at("slurm.conf"), configuration(cluster.root.path())).unwrap();
        let munge = ["socket=munge.sock", "key-file=munge.key", "log-file=munged.log", "pid-file=munged.pid"];
        let munge = munge.iter().chain(&["seed-file=munged.seed"]).map(|option| {
            let (name, file) = option.split_once('=').unwrap();
            format!("--{name}={}", cluster.root.path().join(file).display())
        });
        let munge: Vec<String> = ["-F".to_owned()].into_iter().chain(munge).collect();
        cluster.daemon("munged", &munge);
        let socket = cluster.root.path().join("munge.sock");
        wait("munged", || socket.exists());
        cluster.daemon("slurmctld", &["-D".to_owned(), "-c".to_owned()]);
        for node in ["n1", "n2"] {
            cluster.daemon("slurmd", &["-D".to_owned(), "-N".to_owned(), node.to_owned()]);
        }
        wait("two idle nodes", || cluster.ask("sinfo", "--noheader --Node --format=%T").matches("idle").count() == 2);
        cluster
    }

    fn daemon(&mut self, name: &str, arguments: &[String]) {
        let log = fs::File::options().append(true).create(true).open(self.root.path().join("daemons.log")).unwrap();
        let mut command = self.command(name);
        command.args(arguments).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.daemons.push(command.spawn().unwrap_or_else(|error| panic!("{name}: {error}")));
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.root.path().join("slurm.conf")).current_dir(self.root.path());
        // Daemons are in directories that not every user's path has.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
        command
    }

    fn ask(&self, program: &str, arguments: &str) -> String {
        let done = self.command(program).args(arguments.split(' ')).output().unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    fn sweep(&self, arguments: &str) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_forebay"));
        command.args(["sweep", "tiny.toml"]).args(arguments.split_whitespace());
        command
    }

    fn logs(&self) -> String {
        fs::read_to_string(self.root.path().join("daemons.log")).unwrap_or_default()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // What still runs must not outlive its daemons.
        self.ask("scancel", "--state=RUNNING");
        for daemon in self.daemons.iter_mut().rev() {
            let id = rustix::process::Pid::from_child(daemon);
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
            let _ = daemon.wait();
        }
    }
}

/// A port that nobody listens at.
fn port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn configuration(root: &Path) -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let (host, root) = (host.trim(), root.display());
    let (controller, one, two) = (port(), port(), port());
    format!(
        "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={root}/munge.sock\nCredType=cred/munge\nMailProg=/bin/true\n\
         SlurmctldPidFile={root}/slurmctld.pid\nSlurmdPidFile={root}/slurmd.%n.pid\nStateSaveLocation={root}/state\n\
         SlurmdSpoolDir={root}/spool.%n\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nJobAcctGatherType=jobacct_gather/none\nMpiDefault=none\n\
         SchedulerParameters=batch_sched_delay=1,sched_interval=5\nReturnToService=2\nKillWait=2\n\
         NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={one} CPUs=2 State=UNKNOWN\n\
         NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={two} CPUs=2 State=UNKNOWN\n\
         PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    )
}

fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "still waiting for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The tasks of a sweep that run now: processes with its directory and a part among their arguments.
fn tasks(out: &Path) -> Vec<i32> {
    let out = out.display().to_string();
    let is_task = |path: &PathBuf| {
        let words = fs::read(path.join("cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        words.any(|word| word == out.as_bytes()) && words.any(|word| word == b"--shard")
    };
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).filter(is_task);
    entries.filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Four hundred runs; the task that is seen first is killed. Everything is there at the end, and the tables are those
/// of one machine.
#[test]
fn a_cluster_makes_the_tables_of_one_machine() {
    let cluster = Cluster::start();
    let at = |name: &str| cluster.root.path().join(name);
    fs::write(at("tiny.toml"), TINY).unwrap();
    let local = cluster.sweep(&format!("{RUNS} --out local")).output().unwrap();
    assert!(local.status.success(), "{}", text(&local));
    let mut command = cluster.sweep(&format!("{RUNS} --out out --slurm --nodes 2 --time 10 --partition main"));
    let follower = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut killed = 0;
    wait("a task", || {
        // Others may be killed, too, before they do anything: a task that is killed is one to be submitted again.
        for task in tasks(&at("out")) {
            let task = rustix::process::Pid::from_raw(task).unwrap();
            killed += i32::from(rustix::process::kill_process(task, rustix::process::Signal::KILL).is_ok());
        }
        killed > 0
    });
    let done = follower.wait_with_output().unwrap();
    assert!(done.status.success(), "{}\n{}", text(&done), cluster.logs());
    let read = |directory: &str, name: &str| fs::read(at(directory).join(name)).unwrap();
    for name in ["sweep.parquet", "sweep.csv"] {
        assert!(read("out", name) == read("local", name), "{name}");
    }
    // A task with the same array number was submitted twice.
    let logs =
        fs::read_dir(at("out/slurm")).unwrap().flatten().filter(|log| log.path().extension() == Some("log".as_ref()));
    let mut jobs: Vec<String> =
        logs.map(|log| log.file_name().to_str().unwrap().split('_').next().unwrap().to_owned()).collect();
    jobs.sort();
    jobs.dedup();
    assert!(jobs.len() > 1, "nothing was submitted again: {jobs:?}");
    // Once more: nothing is left to be done.
    let again = cluster.sweep(&format!("{RUNS} --out out --slurm --nodes 2")).output().unwrap();
    assert!(again.status.success() && again.stdout == done.stdout, "{}", text(&again));
    gives_up(&cluster);
}

/// A task that cannot do its work is tried three times, and the error says where to look.
fn gives_up(cluster: &Cluster) {
    let out = cluster.root.path().join("full/runs");
    fs::create_dir_all(&out).unwrap();
    let shelves = (0..256).map(|shelf| out.join(format!("{shelf:02x}")));
    // Nothing can be written where files stand in the place of directories.
    shelves.for_each(|shelf| fs::write(shelf, "").unwrap());
    let failed = cluster.sweep("--summaries --out full --slurm").output().unwrap();
    let said = text(&failed);
    assert_eq!(failed.status.code(), Some(2), "{said}");
    assert!(said.contains("1 of the tasks failed again and again: 1\n") && said.contains("the logs in "), "{said}");
    let logs = fs::read_dir(cluster.root.path().join("full/slurm")).unwrap().flatten();
    assert_eq!(logs.filter(|log| log.path().extension() == Some("log".as_ref())).count(), 3);
    let refused = cluster.sweep("--out other --slurm --partition nowhere").output().unwrap();
    assert!(
        text(&refused).contains("error: sbatch: it failed: ") && refused.status.code() == Some(2),
        "{}",
        text(&refused)
    );
}
