//! Input of a hundred thousand levels is refused like any other mistake: exit code 2, a short sentence, no stack
//! overflow.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const LEVELS: usize = 100_000;

fn refused(arguments: &[&str], says: &str) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("deep-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let path = |levels: usize| vec!["a"; levels].join(".");
    let when = format!("program deep\npacket\n  field a 8\ningress\nstage 0\n{}", "when a == 1\n".repeat(LEVELS));
    for (name, text) in [
        ("header.toml", format!("[{}]\n", path(LEVELS))),
        ("key.toml", format!("{} = 1\n", path(LEVELS))),
        ("list.toml", format!("a = {}{}\n", "[".repeat(LEVELS), "]".repeat(LEVELS))),
        ("table.toml", format!("a = {}1{}\n", "{a = ".repeat(LEVELS), "}".repeat(LEVELS))),
        ("deep.pisa", when),
    ] {
        std::fs::write(directory.join(name), text).unwrap();
    }
    std::fs::write(directory.join("empty.csv"), "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    let output = command.current_dir(&directory).args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {} {error:.300}", output.status);
    assert!(error.contains(says), "{arguments:?}: {error:.300}");
}

#[test]
fn toml_files() {
    for (file, says) in [
        ("header.toml", "header.toml:1: this key has more than 16 parts"),
        ("key.toml", "key.toml:1: this key has more than 16 parts"),
        ("list.toml", "list.toml:1: more than 16 brackets are open"),
        ("table.toml", "table.toml:1: more than 16 brackets are open"),
    ] {
        for arguments in [&["run", file][..], &["live", file], &["replay", file, "empty.csv"], &["lab", "script", file]]
        {
            refused(arguments, says);
        }
    }
}

#[test]
fn settings_and_programs() {
    let key = format!("{}=1", vec!["a"; 30_000].join("."));
    refused(&["live", "key.toml", "--set", &key], "59999 bytes of a key");
    refused(&["run", "key.toml", "--set", &key], "59999 bytes of a key");
    refused(&["pisa", "check", "deep.pisa"], "when blocks nest 4 deep");
}
