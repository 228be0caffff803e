//! How deep a text of TOML goes, told before anything takes it apart: tables inside tables are walked and dropped level
//! by level, and a stack is only so high.

use std::ops::Range;

/// Brackets inside brackets: far more than any file has.
pub(crate) const MAX_NESTING: usize = 16;
/// Parts of a key, such as the three of `policy.alpha.0`.
pub(crate) const MAX_PARTS: usize = 16;

/// A place that is too deep.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooDeep {
    /// Where.
    pub(crate) span: Range<usize>,
    pub(crate) problem: String,
    pub(crate) remedy: String,
}

/// Whether a text stays within the bounds. It need not be TOML; what is in strings and comments does not count.
pub(crate) fn check(text: &str) -> Result<(), TooDeep> {
    let bytes = text.as_bytes();
    let (mut at, mut open, mut dots) = (0, 0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => {
                at = string_end(bytes, at);
                continue;
            }
            b'#' => at += bytes[at..].iter().take_while(|byte| **byte != b'\n').count() - 1,
            b'[' | b'{' => (open, dots) = (open + 1, 0),
            b']' | b'}' => open = open.saturating_sub(1),
            b'=' | b',' | b'\n' => dots = 0,
            b'.' => dots += 1,
            _ => {}
        }
        if open > MAX_NESTING {
            let remedy = "close some of them first".to_owned();
            return Err(TooDeep {
                span: at..at + 1,
                problem: format!("more than {MAX_NESTING} brackets are open"),
                remedy,
            });
        }
        if dots >= MAX_PARTS {
            let problem = format!("this key has more than {MAX_PARTS} parts");
            return Err(TooDeep { span: at..at + 1, problem, remedy: "give fewer".to_owned() });
        }
        at += 1;
    }
    Ok(())
}

/// Behind the string that starts at a quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let is_long = bytes[start..].starts_with(&[quote; 3]);
    let end: &[u8] = if is_long { &[quote; 3] } else { &[quote] };
    let mut at = start + end.len();
    while at < bytes.len() {
        if bytes[at..].starts_with(end) {
            return at + end.len();
        }
        match bytes[at] {
            // What follows is no end, whatever it is.
            b'\\' if quote == b'"' => at += 1,
            // An error of the file, which the parser will find.
            b'\n' if !is_long => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_and_parts_are_counted_where_they_count() {
        let nested = |levels: usize| format!("a = {}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(check(&nested(MAX_NESTING)), Ok(()));
        assert_eq!(check(&nested(MAX_NESTING + 1)).unwrap_err().span, 20..21);
        assert!(check(&nested(100_000)).is_err());
        let key = |parts: usize| vec!["a"; parts].join(".");
        assert_eq!(check(&key(MAX_PARTS)), Ok(()));
        assert!(check(&key(MAX_PARTS + 1)).is_err());
        let header = format!("[{}]", key(MAX_PARTS + 1));
        assert!(check(&header).is_err());
        for text in [format!("a = \"{header}\""), format!("a = '{header}'"), format!("# {header}")] {
            assert_eq!(check(&text), Ok(()), "{text}");
        }
        let long = format!("a = \"\"\"\n{header}\\\"\"\"\"\n{}", nested(17));
        assert_eq!(check(&long).unwrap_err().problem, "more than 16 brackets are open");
        assert!(check(&format!("a = '''\n{header}''\n'''\n{header}")).is_err());
        // Many on a line or below each other are not deep.
        assert_eq!(check(&"a = [[1.5, 2.5], {b.c = 1}]\n[b.c]\n".repeat(1_000)), Ok(()));
        assert_eq!(check("a = \"\n[[[[[[[[[[[[[[[[\n"), Ok(()), "a string ends with its line");
    }
}
