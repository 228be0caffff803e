//! Files of distributions: a size and its cumulative probability on each line, apart by white space or a comma.
//!
//! Lines that start with `#` are comments; the comment `# interpolation: step` makes the points steps. A line of names
//! (`bytes,probability`) may come first.

use super::distribution::{Interpolation, Point, SizeDistribution};
use forebay_settings::Diagnostic;
use std::ops::Range;

const EXAMPLE: &str = "give a size in bytes and its cumulative probability, such as 1500 0.3";

/// Sizes beyond this are not exact as doubles.
const LARGEST: f64 = (1u64 << 53) as f64;

/// How far the last probability may be from 1.
const TOLERANCE: f64 = 1e-9;

/// One line of a file.
struct Line<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
}

impl Line<'_> {
    fn error(&self, span: Range<usize>, field: &str, problem: String, remedy: &str) -> Diagnostic {
        Diagnostic::of_line(self.file, self.number, self.text, span, field, problem, remedy)
    }

    /// The columns of the values.
    fn fields(&self) -> Vec<Range<usize>> {
        let is_gap = |c: char| c.is_whitespace() || c == ',';
        let mut fields = Vec::new();
        let mut start = None;
        for (at, c) in self.text.char_indices() {
            match (is_gap(c), start) {
                (false, None) => start = Some(at),
                (true, Some(from)) => {
                    fields.push(from..at);
                    start = None;
                }
                _ => {}
            }
        }
        fields.extend(start.map(|from| from..self.text.len()));
        fields
    }

    fn number(&self, span: &Range<usize>, field: &str) -> Result<f64, Diagnostic> {
        let text = &self.text[span.clone()];
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| self.error(span.clone(), field, format!("\"{text}\" is not a number"), EXAMPLE))
    }

    fn point(&self, before: Option<Point>) -> Result<Point, Diagnostic> {
        let fields = self.fields();
        let [size, share] = fields.as_slice() else {
            let problem = match fields.len() {
                1 => "there is only one value on this line".to_owned(),
                n => format!("there are {n} values on this line"),
            };
            return Err(self.error(0..self.text.len(), "", problem, EXAMPLE));
        };
        let point = Point { bytes: self.number(size, "bytes")?, probability: self.number(share, "probability")? };
        let (size, share) = (size.clone(), share.clone());
        if !(0.0..=LARGEST).contains(&point.bytes) {
            let problem = format!("{} is not a size", point.bytes);
            return Err(self.error(size, "bytes", problem, "give bytes from 0 to 2^53"));
        }
        if point.probability < 0.0 {
            let problem = format!("{} is below 0", point.probability);
            return Err(self.error(share, "probability", problem, "give probabilities from 0 to 1"));
        }
        if point.probability > 1.0 + TOLERANCE {
            let problem = format!("{} is above 1", point.probability);
            return Err(self.error(
                share,
                "probability",
                problem,
                "give probabilities up to 1; divide percents by 100",
            ));
        }
        if let Some(before) = before {
            if point.bytes < before.bytes {
                let problem = format!("{} is below the size above it, {}", point.bytes, before.bytes);
                return Err(self.error(size, "bytes", problem, "sort the lines by size"));
            }
            if point.probability < before.probability {
                let problem = format!("{} is below the one above it, {}", point.probability, before.probability);
                let remedy = "give cumulative probabilities, which never decrease";
                return Err(self.error(share, "probability", problem, remedy));
            }
        }
        Ok(point)
    }
}

impl SizeDistribution {
    /// Reads a distribution from a text; `file` is what errors call it. An interpolation given here goes before what
    /// the text says; without either it is linear.
    pub fn parse(file: &str, text: &str, interpolation: Option<Interpolation>) -> Result<Self, Diagnostic> {
        let mut own = None;
        let mut points: Vec<Point> = Vec::new();
        let mut last = None;
        let mut named = false;
        for (index, text) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = Line { file, number: index + 1, text };
            if let Some(comment) = text.trim_start().strip_prefix('#') {
                own = own.or(stated(&line, comment)?);
                continue;
            }
            let starts_with_a_letter = text.trim_start().starts_with(|c: char| c.is_ascii_alphabetic());
            if text.trim().is_empty() {
                continue;
            }
            if points.is_empty() && !named && starts_with_a_letter && line.fields().len() == 2 {
                named = true;
                continue;
            }
            points.push(line.point(points.last().copied())?);
            last = Some(line);
        }
        let Some((point, line)) = points.last_mut().zip(last) else {
            return Err(Diagnostic::of_file(file, "there are no points in this distribution", EXAMPLE));
        };
        if point.probability < 1.0 - TOLERANCE {
            let problem = format!("the distribution does not reach 1; its last probability is {}", point.probability);
            let span = line.fields().pop().unwrap_or(0..line.text.len());
            return Err(line.error(span, "probability", problem, "add the largest size with the probability 1"));
        }
        point.probability = 1.0;
        for earlier in points.iter_mut().rev().take_while(|point| point.probability > 1.0 - TOLERANCE) {
            earlier.probability = 1.0;
        }
        Ok(Self::Table { points: points.into(), interpolation: interpolation.or(own).unwrap_or_default() })
    }
}

/// The interpolation that a comment states.
fn stated(line: &Line<'_>, comment: &str) -> Result<Option<Interpolation>, Diagnostic> {
    let Some(word) = comment.trim_start().strip_prefix("interpolation:") else { return Ok(None) };
    match word.trim() {
        "linear" => Ok(Some(Interpolation::Linear)),
        "step" => Ok(Some(Interpolation::Step)),
        other => Err(line.error(
            0..line.text.len(),
            "interpolation",
            format!("\"{other}\" is unknown"),
            "write linear or step",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> Diagnostic {
        SizeDistribution::parse("a.txt", text, None).expect_err(text)
    }

    #[test]
    fn white_space_commas_and_names() {
        let spaces = SizeDistribution::parse("a", "# c\n0 0\n\n10\t0.5\r\n20  1\n", None).unwrap();
        let commas = SizeDistribution::parse("a", "bytes,probability\n0,0\n10, 0.5\n20,1.0", None).unwrap();
        assert_eq!(spaces, commas);
        assert_eq!(spaces.mean(), 10.0);
        let step = SizeDistribution::parse("a", "# interpolation: step\n0 0\n10 0.5\n20 1", None).unwrap();
        assert_eq!(step.mean(), 15.0);
        let linear =
            SizeDistribution::parse("a", "# interpolation: step\n0 0\n10 0.5\n20 1", Some(Interpolation::Linear));
        assert_eq!(linear.unwrap(), spaces);
    }

    #[test]
    fn errors_name_the_line_and_the_place() {
        for (text, line, field, columns, problem) in [
            ("0 0\nx 1\n", 2, "bytes", 0..1, "\"x\" is not a number"),
            ("0 0\n10 nan\n", 2, "probability", 3..6, "\"nan\" is not a number"),
            ("# c\n10 0.5\n5 1\n", 3, "bytes", 0..1, "below the size above it, 10"),
            ("10,0.5\n20,0.4\n", 2, "probability", 3..6, "below the one above it, 0.5"),
            ("0 0\n10 0.5\n20 0.98\n\n", 3, "probability", 3..7, "does not reach 1; its last probability is 0.98"),
            ("0 0\n10 50\n20 100\n", 2, "probability", 3..5, "50 is above 1"),
            ("0 -0.1\n", 1, "probability", 2..6, "-0.1 is below 0"),
            ("-5 0\n", 1, "bytes", 0..2, "-5 is not a size"),
            ("0 0\n10\n", 2, "", 0..2, "only one value"),
            ("0 0\n1 2 3\n", 2, "", 0..5, "3 values"),
            ("# interpolation: cubic\n0 0\n", 1, "interpolation", 0..22, "\"cubic\" is unknown"),
        ] {
            let error = error(text);
            assert_eq!((error.line, error.field.as_str()), (Some(line), field), "{text}: {error}");
            assert_eq!(error.excerpt.as_ref().map(|(_, columns)| columns.clone()), Some(columns), "{text}: {error}");
            assert!(error.problem.contains(problem), "{text}: {error}");
            assert!(!error.remedy.is_empty());
        }
        assert!(error("").problem.contains("no points"));
        assert!(error("# only a comment\n").problem.contains("no points"));
    }
}
