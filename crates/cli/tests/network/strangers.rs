//! What others can do to a live switch, and what it may do itself.

use crate::switch::{HTTP, Switch, forward, ip, network, post, wait_until};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a switch writes is for its owner, and secrets are nowhere.
#[test]
fn files_are_for_the_owner_and_have_no_secrets() {
    const TOKEN: &str = "a-secret-of-this-very-test";
    let _one = network();
    let http = format!("[http]\nlisten = \"{HTTP}\"\ntoken = \"{TOKEN}\"\n");
    let switch = Switch::start("attacks-secrets", &http);
    assert!(!switch.client().settings().unwrap().contains(TOKEN));
    let out = switch.out.clone();
    assert!(switch.stop());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(out).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        assert!(!std::fs::read_to_string(&path).unwrap().contains(TOKEN), "{}", path.display());
        let stranger = Command::new("cat").arg(&path).uid(NOBODY).gid(NOBODY).stderr(Stdio::null()).output().unwrap();
        assert!(!stranger.status.success() && stranger.stdout.is_empty(), "{}", path.display());
        names.push(path.file_name().unwrap().to_string_lossy().into_owned());
    }
    let stranger =
        Command::new("ls").arg("/run/forebay").uid(NOBODY).gid(NOBODY).stderr(Stdio::null()).output().unwrap();
    assert!(!stranger.status.success() && stranger.stdout.is_empty(), "locks are for the owner");
    names.sort();
    assert_eq!(names, ["counters.json", "switch.toml", "timeline.csv"]);
}

/// No thread of a switch is root's, may do more than it needs or make other system calls: the one that attaches to
/// interfaces has three capabilities, the others none.
#[test]
fn no_thread_keeps_what_it_does_not_need() {
    let _one = network();
    let switch = Switch::start("attacks-privileges", &format!("threads = 3\n[http]\nlisten = \"{HTTP}\"\n"));
    let attach = format!("{:016x}", 1_u64 << 12 | 1 << 13 | 1 << 39);
    let none = "0000000000000000";
    // One that serves a client, too.
    let mut client = switch.client();
    client.snapshot().unwrap();
    let user = std::fs::metadata(&switch.out).unwrap().uid();
    assert!(user != 0 && user != NOBODY);
    let mut threads = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{}/task", switch.child.id())).unwrap() {
        let status = std::fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        let of = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        let name = of("Name:");
        let may = if name == "attach" { &*attach } else { none };
        for set in ["CapEff:", "CapPrm:", "CapBnd:"] {
            assert_eq!(of(set), may, "{set} of {name}");
        }
        assert_eq!((&*of("CapInh:"), &*of("CapAmb:")), (none, none), "{name}");
        assert_eq!((&*of("NoNewPrivs:"), &*of("Seccomp:")), ("1", "2"), "{name}");
        assert!(of("Uid:").split_whitespace().all(|own| own == user.to_string()), "{name}: {}", of("Uid:"));
        assert!(of("Gid:").split_whitespace().all(|own| own != "0"), "{name}: {}", of("Gid:"));
        assert_eq!(of("Groups:"), "", "{name}");
        threads.push(name);
    }
    threads.sort();
    assert_eq!(threads.len(), 10, "{threads:?}");
    // Interfaces that go and come back are opened without root, and files are written.
    for change in ["down", "up"] {
        ip(&format!("link set s1 {change}"));
        wait_until(&format!("s1 is {change}"), || switch.snapshot()["ports"][0]["is_up"] == (change == "up"));
    }
    drop(client);
    assert!(switch.stop());
}

const NOBODY: u32 = 65_534;

/// What a command of bash does as another user: whether it ended well, and what it printed.
fn as_nobody(command: &str) -> (bool, String) {
    let mut bash = Command::new("bash");
    bash.args(["-c", command]).uid(NOBODY).gid(NOBODY).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
    let output = bash.output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What another user can do: neither stop, slow, read nor change a switch, nor keep its owner out.
#[test]
fn a_stranger_can_do_nothing() {
    let _one = network();
    let switch = Switch::start("attacks-stranger", &format!("[http]\nlisten = \"{HTTP}\"\n"));
    let (before, process) = (switch.client().settings().unwrap(), switch.child.id());
    let calm = forward(&switch, 0.5);
    for signal in ["STOP", "TERM", "HUP", "KILL"] {
        assert!(!as_nobody(&format!("kill -{signal} {process}")).0, "{signal}");
    }
    let out = switch.out.display();
    for secret in ["mem", "environ", "maps", "fd/0", "cwd/switch.toml", "task/../auxv"] {
        assert_eq!(as_nobody(&format!("head -c 16 /proc/{process}/{secret}")), (false, String::new()), "{secret}");
    }
    for file in ["switch.toml", "timeline.csv", "control.sock"] {
        assert_eq!(as_nobody(&format!("cat {out}/{file}")), (false, String::new()), "{file}");
        assert!(!as_nobody(&format!("mv {out}/{file} {out}/{file}2 || rm -f {out}/{file}")).0, "{file}");
    }
    assert!(!as_nobody(&format!("touch {out}/mine")).0 && !as_nobody("ls /run/forebay").0);
    let (host, port) = HTTP.split_once(':').unwrap();
    let ask = |first: &str, body: &str| {
        let fields = format!("Host: {HTTP}\\r\\nContent-Type: application/json\\r\\nContent-Length: {}", body.len());
        let request = format!("{first} HTTP/1.1\\r\\n{fields}\\r\\nConnection: close\\r\\n\\r\\n{body}");
        as_nobody(&format!("exec 3<>/dev/tcp/{host}/{port}; printf '{request}' >&3; timeout 5 cat <&3")).1
    };
    for (first, body) in [
        ("GET /", ""),
        ("GET /api/snapshot", ""),
        ("GET /api/settings", ""),
        ("GET /metrics", ""),
        ("POST /api/settings", "{}"),
    ] {
        // A request that comes after the refusal finds nobody there.
        let answer = ask(first, body);
        let is_refusal = answer.starts_with("HTTP/1.1 403 ") && answer.contains("only the user");
        assert!(is_refusal || answer.is_empty(), "{first}: {answer}");
    }
    // Connections of strangers take nobody's place, and a flood of them takes nothing from frames.
    let flood = format!(
        "for n in $(seq 200); do exec {{fd}}<>/dev/tcp/{host}/{port}; done; \
         timeout 2 bash -c 'while true; do echo x >/dev/tcp/{host}/{port}; done'"
    );
    let flooder = thread::spawn(move || as_nobody(&flood));
    thread::sleep(Duration::from_millis(300));
    let flooded = forward(&switch, 0.5);
    let start = Instant::now();
    assert_eq!(post("{}"), Some(422), "the owner is answered");
    assert!(start.elapsed() < Duration::from_secs(2), "the owner waits for {:?}", start.elapsed());
    flooder.join().unwrap();
    assert!(flooded.came * 100 > calm.came * flooded.sent / calm.sent * 95, "{flooded:?}, and {calm:?} before");
    assert_eq!(switch.client().settings().unwrap(), before);
    assert_eq!(switch.snapshot()["changes"], 0);
    assert_eq!(switch.snapshot()["books"]["missing"], 0);
    assert!(switch.stop());
}
