//! Running other programs, and saying which Debian package has one that is missing.

use crate::error::{self, Result};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Output, Stdio};

/// The packages of the programs that a lab may need.
const PACKAGES: [(&str, &str); 9] = [
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("ethtool", "ethtool"),
    ("iperf3", "iperf3"),
    ("memcached", "memcached"),
    ("ping", "iputils-ping"),
    ("bpftool", "bpftool"),
    ("clang", "clang"),
    ("tcpdump", "tcpdump"),
];

/// A program that cannot be started.
pub fn cannot_start(program: &str, error: &std::io::Error) -> forebay_settings::Diagnostic {
    if error.kind() != ErrorKind::NotFound {
        return error::problem(format_args!("{program} cannot be started: {error}"), "check its permissions");
    }
    match PACKAGES.iter().find(|(known, _)| *known == program) {
        Some((_, package)) => {
            error::problem(format_args!("{program} is not installed"), format_args!("run: apt-get install {package}"))
        }
        None => error::problem(format_args!("there is no program {program}"), "install it, or check its name"),
    }
}

/// Makes sure that programs are there, before anything is changed.
pub fn need(programs: &[&str]) -> Result<()> {
    for program in programs {
        let found = std::env::var_os("PATH")
            .is_some_and(|paths| std::env::split_paths(&paths).any(|path| path.join(program).is_file()));
        if !found {
            return Err(cannot_start(program, &ErrorKind::NotFound.into()));
        }
    }
    Ok(())
}

/// Makes sure that namespaces may be made.
pub fn need_root() -> Result<()> {
    match std::fs::metadata("/proc/self").map(|own| own.uid()) {
        Ok(0) => Ok(()),
        _ => Err(error::problem("network namespaces need the rights of root", "run it with sudo")),
    }
}

/// Runs a program with this input; its output, or an error with what it said.
pub fn run(program: &str, arguments: &[&str], input: &str) -> Result<String> {
    let output = output(program, arguments, input)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().lines().next().unwrap_or("it said nothing").to_owned();
    Err(error::problem(
        format_args!("{program} {}: {said} ({})", arguments.join(" "), output.status),
        "remove what is left with `forebay lab down`, and try again",
    ))
}

fn output(program: &str, arguments: &[&str], input: &str) -> Result<Output> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| cannot_start(program, &error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read to the end says why itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output().map_err(|error| cannot_start(program, &error))
}

/// A command in a namespace.
pub fn in_namespace(namespace: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, program]);
    command
}

/// Runs the lines of a shell script in a namespace, and stops at the first that fails.
pub fn script(namespace: &str, lines: &str) -> Result<String> {
    run("ip", &["netns", "exec", namespace, "sh", "-e"], lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_package_or_what_the_program_said() {
        let missing = cannot_start("iperf3", &ErrorKind::NotFound.into()).to_string();
        assert_eq!(missing, "error: iperf3 is not installed\n  help: run: apt-get install iperf3");
        assert!(need(&["sh", "no-such-program"]).unwrap_err().to_string().contains("no-such-program"));
        let failed = run("sh", &["-e"], "echo what is wrong >&2\nexit 3\n").unwrap_err().to_string();
        assert!(failed.contains("sh -e: what is wrong (exit status: 3)"), "{failed}");
        assert_eq!(run("cat", &[], "input").unwrap(), "input");
    }
}
