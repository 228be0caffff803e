//! From text to syntax: one line at a time, all errors of a file together.

mod alu;
mod block;
mod declare;
mod line;
mod statement;

use crate::error::{Error, Errors, Fault};
use crate::syntax::{Arm, Direction, Item, Section, Stage, Syntax};
use crate::token::{Token, tokens};
use line::Line;

/// A `when` block that has not ended yet.
struct Open {
    line: usize,
    arms: Vec<Arm>,
    otherwise: Option<Vec<Item>>,
}

/// What has been read so far.
struct Parser {
    file: String,
    syntax: Syntax,
    named: bool,
    seen: Vec<Direction>,
    direction: Option<Direction>,
    stage: Option<Stage>,
    open: Vec<Open>,
    errors: Vec<Error>,
}

/// The syntax of a program.
pub(crate) fn parse(file: &str, text: &str) -> Result<Syntax, Errors> {
    let mut parser = Parser {
        file: file.to_owned(),
        syntax: Syntax::default(),
        named: false,
        seen: Vec::new(),
        direction: None,
        stage: None,
        open: Vec::new(),
        errors: Vec::new(),
    };
    let mut lines = text.lines().enumerate();
    let mut last = 1;
    while let Some((number, line)) = lines.next() {
        last = number + 1;
        match whole(line, &mut lines) {
            Ok(tokens) if tokens.is_empty() => {}
            Ok(tokens) => {
                if let Err(fault) = parser.line(last, &tokens) {
                    parser.error(last, fault);
                }
            }
            Err(fault) => parser.error(last, fault),
        }
    }
    parser.end(last)
}

/// The tokens of a line, and of those that follow while a brace is open; a new line in braces is as good as a
/// semicolon.
fn whole<'t>(first: &str, lines: &mut impl Iterator<Item = (usize, &'t str)>) -> Result<Vec<Token>, Fault> {
    let mut all = tokens(first)?;
    let is_open = |tokens: &[Token]| {
        let brace = tokens.iter().rev().find(|token| matches!(token, Token::Sign("{" | "}")));
        brace == Some(&Token::Sign("{"))
    };
    while is_open(&all) {
        let Some((_, line)) = lines.next() else { break };
        if !matches!(all.last(), Some(Token::Sign("{" | ";"))) {
            all.push(Token::Sign(";"));
        }
        all.extend(tokens(line)?);
    }
    Ok(all)
}

impl Parser {
    fn error(&mut self, line: usize, (problem, remedy): Fault) {
        let place = match (&self.stage, self.direction) {
            (Some(stage), Some(direction)) => place(stage.number, direction),
            (None, Some(direction)) => direction.to_string(),
            _ => String::new(),
        };
        self.errors.push(Error { file: self.file.clone(), line, place, problem, remedy });
    }

    /// A line goes to those who know its first word.
    fn line(&mut self, number: usize, tokens: &[Token]) -> Result<(), Fault> {
        let mut line = Line::new(number, tokens);
        match tokens[0] {
            Token::Word(ref word) => match word.as_str() {
                "program" | "constant" | "packet" | "header" | "field" => self.declare(word, &mut line),
                "register" | "meter" | "table" => self.declare_array(word, &mut line),
                "ingress" => self.begin_section(Direction::Ingress, &mut line),
                "egress" => self.begin_section(Direction::Egress, &mut line),
                "stage" => self.begin_stage(&mut line),
                "when" => self.begin_when(&mut line),
                "else" => self.begin_else(&mut line),
                "end" => self.end_when(&mut line),
                _ => self.add_statement(&mut line),
            },
            _ => self.add_statement(&mut line),
        }
    }

    /// The section that is being read.
    fn section(&mut self) -> Option<&mut Section> {
        match self.direction? {
            Direction::Ingress => Some(&mut self.syntax.ingress),
            Direction::Egress => Some(&mut self.syntax.egress),
        }
    }

    fn end(mut self, last: usize) -> Result<Syntax, Errors> {
        self.close_stage();
        if !self.named {
            self.direction = None;
            let remedy = "begin the file with a line such as: program trim";
            self.error(last, ("the program has no name".to_owned(), remedy.to_owned()));
        }
        if self.errors.is_empty() { Ok(self.syntax) } else { Err(Errors(self.errors)) }
    }
}

/// The name of a stage.
pub(crate) fn place(stage: u64, direction: Direction) -> String {
    format!("stage {stage} of {direction}")
}
