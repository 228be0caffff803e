//! What a command may write: never a file that it reads, never one file twice, and over a file that is not Forebay's
//! own only with `--force`.

use crate::Failure;
use crate::output::Output;
use forebay_runner::inputs::{Identity, Inputs};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How a file is known to be ours.
#[derive(Clone, Copy)]
pub(crate) enum Ours<'t> {
    /// Our files of this kind begin with this.
    Begins(&'t str),
    /// It is this text: a file that people go on to edit is theirs as soon as they have.
    Is(&'t str),
    /// Our compressed files of this kind begin with this.
    Compressed(&'t [u8]),
}

/// The files that a command reads, and those that it writes.
pub(crate) struct Outputs {
    inputs: Inputs,
    outputs: Vec<Identity>,
    to_stdout: bool,
    /// Files that are not ours may be replaced.
    force: bool,
}

impl Outputs {
    pub(crate) fn new(force: bool) -> Self {
        Self { inputs: Inputs::default(), outputs: Vec::new(), to_stdout: false, force }
    }

    /// Takes note of a file that is read.
    pub(crate) fn reads(&mut self, path: &Path) {
        self.inputs.reads(path);
    }

    /// An output to a file, or to standard output for `-` and `None`.
    pub(crate) fn create(&mut self, path: Option<&Path>, ours: Ours<'_>) -> Result<Output, Failure> {
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => self.check(path, ours)?,
            None if std::mem::replace(&mut self.to_stdout, true) => {
                let help = "give each output a name of its own";
                return Err(Failure::refused("standard output", "two outputs go there", help));
            }
            None => {}
        }
        Output::create(path)
    }

    /// Writes a text, whose beginning says what kind of file it is, to a file.
    pub(crate) fn write(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        self.write_as(path, text, Ours::Begins(head(text)))
    }

    /// Writes a text for people to go on with.
    pub(crate) fn write_start(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        self.write_as(path, text, Ours::Is(text))
    }

    /// Writes a file that is text or is compressed, and whose beginning says what kind it is.
    pub(crate) fn write_bytes(&mut self, path: &Path, contents: &[u8]) -> Result<(), Failure> {
        let mut output = self.create(Some(path), Ours::of(contents))?;
        output.write(contents)?;
        output.finish()
    }

    fn write_as(&mut self, path: &Path, text: &str, ours: Ours<'_>) -> Result<(), Failure> {
        let mut output = self.create(Some(path), ours)?;
        output.write(text.as_bytes())?;
        output.finish()
    }

    /// Refuses what must not be written; what may is an output from here on. Commands that take long ask beforehand.
    pub(crate) fn check(&mut self, path: &Path, ours: Ours<'_>) -> Result<(), Failure> {
        let own = Identity::of(path);
        // A device or a pipe loses nothing.
        if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Ok(());
        }
        let refused = |problem: &str, help: &str| Err(Failure::refused(path.display(), problem, help));
        if self.inputs.has(&own) {
            return refused("this file is read by the same command, and would be lost", "give the output another name");
        }
        if self.outputs.iter().any(|output| output.is(&own)) {
            return refused("this file is written twice by the same command", "give each output a name of its own");
        }
        if !self.force && !ours.has_written(path) {
            let help = "give the output another name, or replace the file with --force";
            return refused("there is another file of this name, which Forebay has not written", help);
        }
        self.outputs.push(own);
        Ok(())
    }
}

impl<'t> Ours<'t> {
    /// How files like this one are known: text by its head, what is compressed by all before its data.
    pub(crate) fn of(contents: &'t [u8]) -> Self {
        /// Of gzip, without the name that follows.
        const FIXED: usize = 10;
        match std::str::from_utf8(contents) {
            Ok(text) => Self::Begins(head(text)),
            Err(_) => {
                let name = contents.iter().skip(FIXED).take_while(|byte| **byte != 0).count();
                Self::Compressed(&contents[..contents.len().min(FIXED + name + 1)])
            }
        }
    }

    /// Whether a file can be replaced: it is not there, it is empty, or it is ours.
    fn has_written(self, path: &Path) -> bool {
        if !path.exists() {
            return true;
        }
        let (text, rest) = match self {
            Self::Begins(head) => (head.as_bytes(), 0),
            // What comes behind it would be somebody else's.
            Self::Is(text) => (text.as_bytes(), 1),
            Self::Compressed(head) => (head, 0),
        };
        let mut there = Vec::new();
        let read = File::open(path).and_then(|file| file.take(text.len() as u64 + rest).read_to_end(&mut there));
        read.is_ok() && (there.is_empty() || there == text)
    }
}

/// What tells the kind of a text that we write: its first line; of a page, all before its title; of JSON, its first
/// key.
pub(crate) fn head(text: &str) -> &str {
    let end = match text {
        page if page.starts_with("<!DOCTYPE html>") => page.find("<title>"),
        drawing if drawing.starts_with("<svg ") => Some("<svg ".len()),
        json if json.starts_with("{\n") || json.starts_with("{\"") => json.find(':'),
        text => text.find('\n'),
    };
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(outputs: &mut Outputs, path: &Path) -> Option<String> {
        match outputs.check(path, Ours::Begins("ours,")) {
            Ok(()) => None,
            Err(Failure::Input(error)) => Some(error.to_string()),
            Err(Failure::Said(_) | Failure::Interrupted | Failure::Findings) => panic!("nobody interrupts"),
        }
    }

    #[test]
    fn a_file_is_known_by_any_of_its_names() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("input"), "ours, too").unwrap();
        std::fs::hard_link(at("input"), at("hard")).unwrap();
        std::os::unix::fs::symlink("input", at("soft")).unwrap();
        std::os::unix::fs::symlink(".", at("here")).unwrap();
        let mut outputs = Outputs::new(true);
        outputs.reads(&at("input"));
        for name in ["input", "hard", "soft", "here/input", "here/here/hard"] {
            let told = problem(&mut outputs, &at(name)).unwrap();
            assert!(told.contains("is read by the same command"), "{name}: {told}");
        }
        // An output that is not there yet is known by its directory.
        assert_eq!(problem(&mut outputs, &at("new")), None);
        assert!(problem(&mut outputs, &at("here/new")).unwrap().contains("written twice"));
    }

    #[test]
    fn only_what_is_ours_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for (name, text, ours) in [("own", "ours,1\n", true), ("none", "", true), ("other", "our", false)] {
            std::fs::write(at(name), text).unwrap();
            assert_eq!(problem(&mut Outputs::new(false), &at(name)).is_none(), ours, "{name}");
            assert_eq!(problem(&mut Outputs::new(true), &at(name)), None);
        }
        assert_eq!(problem(&mut Outputs::new(false), Path::new("/dev/null")), None);
        let mut outputs = Outputs::new(false);
        assert!(outputs.check(&at("own"), Ours::Is("ours,1\n")).is_ok());
        assert!(
            outputs.check(&at("own"), Ours::Is("ours,")).is_err() && outputs.check(&at("own"), Ours::Is("")).is_err()
        );
    }

    #[test]
    fn heads() {
        assert_eq!(head("# A page\n\ntext"), "# A page");
        assert_eq!(head("<!DOCTYPE html>\n<html>\n<title>x</title>"), "<!DOCTYPE html>\n<html>\n");
        assert_eq!(head("{\n  \"tools\": {}\n}\n"), "{\n  \"tools\"");
        assert_eq!(head("one line"), "one line");
    }
}
