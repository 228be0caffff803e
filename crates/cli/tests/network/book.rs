//! The commands of the README and the book that need root.

use crate::pages::check;

#[test]
fn every_command_for_root_runs_and_prints_what_is_shown() {
    let _one = crate::alone();
    check(&["README.md", "docs/tutorial/live.md", "docs/howto/lab.md"], "sh root", "text root");
}
