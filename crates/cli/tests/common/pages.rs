//! Commands on pages of the documentation: they are run as they stand, and print what the page shows.
//!
//! A block that is fenced as `sh` is run by bash from the root of the project, with the `forebay` of this test before
//! all others on the path; one fenced as `sh root` needs root. A block fenced as `text` shows output: every line of it
//! is printed by a command of the same pages. `...` stands for lines left out.

use std::path::Path;
use std::process::Command;

/// The root of the project.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The text of a page.
pub(crate) fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// The blocks of a page with this after their fence.
pub(crate) fn blocks(page: &str, fence: &str) -> Vec<String> {
    let text = format!("\n{}", read(page));
    let fence = format!("\n```{fence}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default().to_owned()).collect()
}

/// Runs a block, which ends well, and returns what it prints.
fn run(page: &str, block: &str) -> String {
    let binaries = Path::new(env!("CARGO_BIN_EXE_forebay")).parent().expect("it is in a directory").to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(binaries).chain(std::env::split_paths(&others))).expect("paths");
    let script = format!("set -euo pipefail\n{block}");
    let output = Command::new("bash").args(["-c", &script]).env("PATH", path).current_dir(root()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{page}: {block}\n{error}");
    format!("{}{error}", String::from_utf8_lossy(&output.stdout))
}

/// Runs the commands of pages, one page after the other, and looks for every line that the pages show as output.
pub(crate) fn check(pages: &[&str], fence: &str, shown: &str) {
    let mut printed = String::new();
    for page in pages {
        let commands = blocks(page, fence);
        assert!(!commands.is_empty(), "{page} has no command");
        for block in commands {
            // The test command runs this very test: `the_test_command_is_what_ci_runs` checks what it does.
            if block != "./test" {
                printed.push_str(&run(page, &block));
            }
        }
        for line in blocks(page, shown).iter().flat_map(|text| text.lines()).map(str::trim_end) {
            let is_printed = line.is_empty() || line == "..." || printed.lines().any(|known| known.trim_end() == line);
            assert!(is_printed, "nothing prints this line of {page}: {line}\n{printed}");
        }
    }
}
