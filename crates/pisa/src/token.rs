//! The words of a line.

use crate::error::{Fault, fault};
use std::fmt;

/// A word, a number or a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Word(String),
    Number(u64),
    /// A number with a point, which the hardware does not have.
    Fraction(String),
    Sign(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) | Self::Fraction(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Sign(sign) => f.write_str(sign),
        }
    }
}

/// All signs; longer ones come before those that they begin with.
const SIGNS: [&str; 34] = [
    "->", "-|", "<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<",
    ">", "=", "(", ")", "[", "]", "{", "}", ",", ";", ":", "@", "?",
];

/// The tokens of a line, without its comment.
pub(crate) fn tokens(line: &str) -> Result<Vec<Token>, Fault> {
    let mut rest = line.split('#').next().unwrap_or("").trim();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphabetic() || first == '_' {
            let length = span(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            tokens.push(Token::Word(rest[..length].to_owned()));
            length
        } else if first.is_ascii_digit() {
            let (token, length) = number(rest)?;
            tokens.push(token);
            length
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token::Sign(sign));
            sign.len()
        } else {
            return fault(format!("{first:?} has no meaning here"), "leave it out, or begin a comment with #");
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// How many bytes at the start are as asked.
fn span(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

/// The number that the text begins with, and its length: 1500, 64_000, 0xff.
fn number(text: &str) -> Result<(Token, usize), Fault> {
    let (digits, base, prefix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16, 2),
        None => (text, 10, 0),
    };
    let length = span(digits, |c| c.is_digit(base) || c == '_');
    if base == 10 && digits[length..].starts_with('.') {
        let length = length + 1 + span(&digits[length + 1..], |c| c.is_ascii_digit());
        return Ok((Token::Fraction(text[..length].to_owned()), length));
    }
    match u64::from_str_radix(&digits[..length].replace('_', ""), base) {
        Ok(number) => Ok((Token::Number(number), prefix + length)),
        Err(_) => fault(
            format!("{} is not a number of at most 64 bits", &text[..prefix + length]),
            "write a smaller whole number",
        ),
    }
}
