//! A line that is read from left to right.

use crate::error::{Fault, fault};
use crate::syntax::{Condition, Expression, Operand, Operation, Relation, Test};
use crate::token::Token;

/// The most comparisons of a condition.
const TESTS: usize = 4;

/// Words that cannot be names.
const KEYWORDS: [&str; 28] = [
    "program",
    "constant",
    "packet",
    "header",
    "field",
    "register",
    "meter",
    "table",
    "ingress",
    "egress",
    "stage",
    "when",
    "else",
    "end",
    "and",
    "or",
    "if",
    "out",
    "mem",
    "mem2",
    "min",
    "max",
    "drop",
    "trim",
    "mark",
    "recirculate",
    "mirror",
    "multicast",
];

#[derive(Clone)]
/// The tokens of a line, and how far they have been read.
pub(crate) struct Line<'t> {
    pub(crate) number: usize,
    tokens: &'t [Token],
    at: usize,
}

impl<'t> Line<'t> {
    pub(crate) fn new(number: usize, tokens: &'t [Token]) -> Self {
        Self { number, tokens, at: 0 }
    }

    /// What comes next.
    pub(crate) fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    /// What comes after that.
    pub(crate) fn peek_second(&self) -> Option<&'t Token> {
        self.tokens.get(self.at + 1)
    }

    /// Takes what comes next.
    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// Takes a word if it comes next.
    pub(crate) fn takes_word(&mut self, word: &str) -> bool {
        let takes = matches!(self.peek(), Some(Token::Word(next)) if next == word);
        self.at += usize::from(takes);
        takes
    }

    /// Takes a sign if it comes next.
    pub(crate) fn takes(&mut self, sign: &str) -> bool {
        let takes = matches!(self.peek(), Some(Token::Sign(next)) if *next == sign);
        self.at += usize::from(takes);
        takes
    }

    /// An error that says what is there and what should be.
    pub(crate) fn expected<T>(&self, what: &str) -> Result<T, Fault> {
        let found = self.peek().map_or("the end of the line".to_owned(), |token| format!("{token}"));
        fault(format!("{what} is expected, not {found}"), format!("write {what} here"))
    }

    /// A sign that must come next.
    pub(crate) fn sign(&mut self, sign: &str) -> Result<(), Fault> {
        if self.takes(sign) { Ok(()) } else { self.expected(&format!("\"{sign}\"")) }
    }

    /// A word that must come next.
    pub(crate) fn word(&mut self, word: &str) -> Result<(), Fault> {
        if self.takes_word(word) { Ok(()) } else { self.expected(&format!("\"{word}\"")) }
    }

    /// The line must be at its end.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        match self.peek() {
            None => Ok(()),
            Some(token) => fault(format!("{token} is more than belongs on this line"), "end the line before it"),
        }
    }

    /// A name.
    pub(crate) fn name(&mut self) -> Result<String, Fault> {
        match self.peek() {
            Some(Token::Word(word)) if KEYWORDS.contains(&word.as_str()) => {
                fault(format!("{word} is a word of the language and cannot be a name"), "choose another name")
            }
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(word.clone())
            }
            _ => self.expected("a name"),
        }
    }

    /// A whole number.
    pub(crate) fn whole(&mut self) -> Result<u64, Fault> {
        match self.peek() {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(*number)
            }
            Some(Token::Fraction(text)) => no_fraction(text),
            _ => self.expected("a number"),
        }
    }

    /// A number, a name, or some bits of what has a name.
    pub(crate) fn operand(&mut self) -> Result<Operand, Fault> {
        match self.peek() {
            Some(Token::Number(_) | Token::Fraction(_)) => return Ok(Operand::Number(self.whole()?)),
            Some(Token::Word(word)) if word == "mem" || word == "mem2" => self.at += 1,
            Some(Token::Sign(sign @ ("-" | "!" | "~"))) => {
                return fault(
                    format!("the ALU has no \"{sign}\" of one operand"),
                    "write 0 - a for a negative number, a ^ mask for a complement",
                );
            }
            _ => drop(self.name()?),
        }
        let Token::Word(name) = &self.tokens[self.at - 1] else { return self.expected("a name") };
        if !self.takes("[") {
            return Ok(Operand::Name(name.clone()));
        }
        let high = self.whole()?;
        self.sign(":")?;
        let low = self.whole()?;
        self.sign("]")?;
        Ok(Operand::Slice(name.clone(), high, low))
    }

    /// A number or a constant.
    pub(crate) fn size(&mut self) -> Result<Operand, Fault> {
        match self.peek() {
            Some(Token::Word(_)) => Ok(Operand::Name(self.name()?)),
            _ => Ok(Operand::Number(self.whole()?)),
        }
    }

    /// An operand, or one operation of two.
    pub(crate) fn expression(&mut self) -> Result<Expression, Fault> {
        for (word, operation) in [("min", Operation::Min), ("max", Operation::Max)] {
            if self.takes_word(word) {
                self.sign("(")?;
                let a = self.operand()?;
                self.sign(",")?;
                let b = self.operand()?;
                self.sign(")")?;
                self.no_second_operation()?;
                return Ok(Expression::Operation(operation, a, b));
            }
        }
        let a = self.operand()?;
        self.expression_from(a)
    }

    /// The rest of an expression whose first operand has been read.
    pub(crate) fn expression_from(&mut self, a: Operand) -> Result<Expression, Fault> {
        let Some(operation) = self.operation()? else { return Ok(Expression::Copy(a)) };
        self.at += 1;
        let b = self.operand()?;
        self.no_second_operation()?;
        Ok(Expression::Operation(operation, a, b))
    }

    /// The operation that comes next, if one does.
    fn operation(&self) -> Result<Option<Operation>, Fault> {
        let Some(Token::Sign(sign)) = self.peek() else { return Ok(None) };
        Ok(Some(match *sign {
            "+" => Operation::Add,
            "-" => Operation::Subtract,
            "-|" => Operation::SubtractToZero,
            "<<" => Operation::ShiftLeft,
            ">>" => Operation::ShiftRight,
            "&" => Operation::And,
            "|" => Operation::Or,
            "^" => Operation::Xor,
            "*" => {
                return fault(
                    "the ALU cannot multiply (*)",
                    "shift by a power of two (<<), or look the product up in a table",
                );
            }
            "/" => {
                return fault(
                    "the ALU cannot divide (/)",
                    "shift by a power of two (>>), or look the quotient up in a table",
                );
            }
            "%" => {
                return fault(
                    "the ALU has no remainder (%)",
                    "take the low bits (&, or a slice such as a[3:0]), or use a table",
                );
            }
            "&&" | "||" | "?" | "!" | "~" => return unknown_operator(sign),
            _ => return Ok(None),
        }))
    }

    fn no_second_operation(&self) -> Result<(), Fault> {
        match self.operation()? {
            None => Ok(()),
            Some(operation) => fault(
                format!("a second operation ({}) in one expression", operation.sign()),
                "an ALU does one: keep the first result in a field and do the second in a later stage",
            ),
        }
    }

    /// The comparison that comes next, if one does.
    pub(crate) fn relation(&mut self) -> Option<Relation> {
        let Some(Token::Sign(sign)) = self.peek() else { return None };
        let relation = match *sign {
            "==" => Relation::Equal,
            "!=" => Relation::Different,
            "<" => Relation::Less,
            "<=" => Relation::AtMost,
            ">" => Relation::More,
            ">=" => Relation::AtLeast,
            _ => return None,
        };
        self.at += 1;
        Some(relation)
    }

    /// A condition.
    pub(crate) fn condition(&mut self) -> Result<Condition, Fault> {
        let left = self.operand()?;
        match self.relation() {
            Some(relation) => self.condition_from(left, relation),
            None => self.not_a_relation(),
        }
    }

    fn not_a_relation<T>(&self) -> Result<T, Fault> {
        if self.operation()?.is_some() {
            return fault("a comparison does not calculate", "work the value out in an earlier stage and compare that");
        }
        self.expected("a comparison (== != < <= > >=)")
    }

    /// The rest of a condition whose first operand and comparison have been read.
    pub(crate) fn condition_from(&mut self, left: Operand, relation: Relation) -> Result<Condition, Fault> {
        let mut condition = Condition { tests: vec![Test { left, relation, right: self.operand()? }], any: false };
        loop {
            let any = match self.peek() {
                Some(Token::Word(word)) if word == "and" => false,
                Some(Token::Word(word)) if word == "or" => true,
                Some(Token::Sign(sign @ ("&&" | "||"))) => return unknown_operator(sign),
                Some(Token::Sign(_)) if self.operation()?.is_some() => return self.not_a_relation(),
                _ => break,
            };
            self.at += 1;
            if condition.tests.len() > 1 && condition.any != any {
                return fault("\"and\" and \"or\" are mixed in one condition", "nest two when blocks instead");
            }
            condition.any = any;
            let left = self.operand()?;
            let Some(relation) = self.relation() else { return self.not_a_relation() };
            condition.tests.push(Test { left, relation, right: self.operand()? });
        }
        if condition.tests.len() > TESTS {
            return fault(
                format!("a condition of {} comparisons", condition.tests.len()),
                format!("a gateway has at most {TESTS}: split it, or use a table"),
            );
        }
        Ok(condition)
    }
}

fn no_fraction<T>(text: &str) -> Result<T, Fault> {
    fault(
        format!("{text} is a fraction, and the hardware has whole numbers only"),
        "shift (a >> 1 is half of a), or look the result up in a table",
    )
}

fn unknown_operator<T>(sign: &str) -> Result<T, Fault> {
    let remedy = match sign {
        "&&" => "write and",
        "||" => "write or",
        "?" => "write a if c else b in a register access, or use a when block",
        _ => "compare with != instead, or use a ^ mask",
    };
    fault(format!("there is no operator \"{sign}\""), remedy)
}
