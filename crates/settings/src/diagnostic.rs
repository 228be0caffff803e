//! Errors in what a person wrote: where, what, and what would be right.

use std::fmt;
use std::ops::Range;

/// An error in a file or an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, or the name of the argument; empty where there is none.
    pub file: String,
    /// Counted from 1.
    pub line: Option<usize>,
    /// The line itself and the columns that are wrong.
    pub excerpt: Option<(String, Range<usize>)>,
    /// The key or column concerned; empty where none is.
    pub field: String,
    /// What is wrong, without a full stop.
    pub problem: String,
    /// What would be right; empty where the problem says it all.
    pub remedy: String,
}

impl Diagnostic {
    /// An error of a whole file.
    pub fn of_file(file: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            excerpt: None,
            field: String::new(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// An error of a line.
    pub fn of_line(
        file: impl Into<String>,
        line: usize,
        text: &str,
        columns: Range<usize>,
        field: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            line: Some(line),
            excerpt: Some((text.to_owned(), columns)),
            field: field.into(),
            ..Self::of_file(file, problem, remedy)
        }
    }

    /// An error of a span of bytes of a text.
    pub(crate) fn of_span(
        file: &str,
        text: &str,
        span: Range<usize>,
        field: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let start = span.start.min(text.len());
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[..begin].matches('\n').count() + 1;
        let columns = start - begin..span.end.clamp(start, end) - begin;
        Self::of_line(file, line, text[begin..end].trim_end_matches('\r'), columns, field, problem, remedy)
    }
}

/// Lines longer than this are cut around the error.
const WIDEST: usize = 100;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", printable(&self.field))?;
        }
        let separator = if self.file.is_empty() && self.field.is_empty() { "" } else { ": " };
        write!(f, "{separator}{}", printable(&self.problem))?;
        if let (Some(line), Some((text, columns))) = (self.line, &self.excerpt) {
            let characters: Vec<char> = text.chars().collect();
            let column = |byte: usize| text.get(..byte).map_or(characters.len(), |before| before.chars().count());
            let (from, to) = (column(columns.start), column(columns.end).max(column(columns.start) + 1));
            let skip = if characters.len() > WIDEST { from.saturating_sub(WIDEST / 2) } else { 0 };
            let shown: String = characters.iter().skip(skip).take(WIDEST).collect();
            let margin = " ".repeat(line.to_string().len());
            let carets = "^".repeat((to - from).min(WIDEST - (from - skip).min(WIDEST - 1)));
            write!(f, "\n  {line} | {}", printable(&shown))?;
            write!(f, "\n  {margin} | {}{carets}", " ".repeat(from - skip))?;
        }
        if !self.remedy.is_empty() {
            write!(f, "\n  help: {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// Text without control characters, which would play with the terminal, and not longer than a screen line or two.
fn printable(text: &str) -> String {
    let mut clean: String = text.chars().take(300).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(300).is_some() {
        clean.push('…');
    }
    clean
}

/// The known word nearest to what was written, if it is near enough to be meant.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    known
        .iter()
        .map(|candidate| (strsim::levenshtein(word, candidate), *candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_offered_only_if_it_is_near() {
        let known = ["alpha", "alpha_short", "reserved", "rate", "ports"];
        assert_eq!(nearest("alhpa", &known), None, "two replacements in a short word are too many");
        assert_eq!(nearest("alpa", &known), Some("alpha"));
        assert_eq!(nearest("alphas", &known), Some("alpha"));
        assert_eq!(nearest("reserve", &known), Some("reserved"));
        assert_eq!(nearest("zzz", &known), None);
    }

    #[test]
    fn an_error_shows_file_line_field_and_remedy() {
        let text = "ports = 4\nrate = \"10GB\"\n";
        let error = Diagnostic::of_span("a.toml", text, 17..23, "rate", "no unit \"GB\"", "write \"10Gbps\"");
        assert_eq!(
            error.to_string(),
            "error: a.toml:2: rate: no unit \"GB\"\n  2 | rate = \"10GB\"\n    |        ^^^^^^\n  help: write \"10Gbps\""
        );
    }

    #[test]
    fn long_lines_are_cut_and_control_characters_replaced() {
        let text = format!("x = \"{}\u{1b}[2J\"", "a".repeat(10_000));
        let error = Diagnostic::of_line("a", 1, &text, 10_005..10_006, "x", "bad", "");
        let shown = error.to_string();
        assert!(shown.lines().all(|line| line.chars().count() < 120), "{shown}");
        assert!(!shown.contains('\u{1b}'));
    }
}
