//! Every example with its verdicts, through the real binary, byte for byte.

use std::path::{Path, PathBuf};
use std::process::Command;

fn vectors() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    let entries = root.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut vectors: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    vectors.sort();
    assert!(vectors.len() >= 29, "only {} examples in {}", vectors.len(), root.display());
    vectors
}

fn replay(vector: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.arg("replay").arg(vector.join("switch.toml")).arg(vector.join("arrivals.csv"));
    command
}

/// Where two outputs differ first, which is easier to read than both.
fn assert_same(vector: &Path, found: &[u8]) {
    let wanted = std::fs::read(vector.join("verdicts.csv")).unwrap();
    if found != wanted {
        let (found, wanted) = (String::from_utf8_lossy(found), String::from_utf8_lossy(&wanted));
        for (found, wanted) in found.lines().zip(wanted.lines()) {
            assert_eq!(found, wanted, "in {}", vector.display());
        }
        panic!("{}: the outputs differ in length or line ends", vector.display());
    }
}

#[test]
fn to_standard_output() {
    for vector in vectors() {
        let output = replay(&vector).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}: {output:?}", vector.display());
        assert_same(&vector, &output.stdout);
    }
}

#[test]
fn to_a_file() {
    let directory = tempfile::tempdir().unwrap();
    for vector in vectors() {
        let file = directory.path().join("verdicts.csv");
        let output = replay(&vector).arg("-o").arg(&file).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}: {output:?}", vector.display());
        assert!(output.stdout.is_empty());
        assert_same(&vector, &std::fs::read(&file).unwrap());
        std::fs::remove_file(&file).unwrap();
        assert_eq!(directory.path().read_dir().unwrap().count(), 0, "{} leaves files behind", vector.display());
    }
}
