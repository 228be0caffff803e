//! Syntax as text again.

use super::{
    Access, Action, Choice, Condition, Direction, Expression, Item, Meter, Operand, Operation, Register, Stage,
    Statement, Table, Test, Value, When,
};
use std::fmt::{self, Write};

impl Stage {
    /// What is in the stage, one line each, indented.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        add(&self.items, 0, &mut lines);
        lines
    }
}

fn add(items: &[Item], depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    for item in items {
        match item {
            Item::Statement(statement) => lines.push(format!("{indent}{statement}")),
            Item::When(When { arms, trailing: true, .. }) => {
                for arm in arms {
                    add(&arm.items, depth, lines);
                    if let Some(line) = lines.last_mut() {
                        let _ = write!(line, " when {}", arm.condition);
                    }
                }
            }
            Item::When(when) => {
                for (i, arm) in when.arms.iter().enumerate() {
                    lines.push(format!("{indent}{}when {}", if i == 0 { "" } else { "else " }, arm.condition));
                    add(&arm.items, depth + 1, lines);
                }
                if let Some(items) = &when.otherwise {
                    lines.push(format!("{indent}else"));
                    add(items, depth + 1, lines);
                }
                lines.push(format!("{indent}end"));
            }
        }
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pair = if self.pair { format!("+{}", self.bits) } else { String::new() };
        write!(f, "register {} : {}{pair} x {} @ {}", self.name, self.bits, self.entries, self.stage)
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "meter {} : {} @ {}", self.name, self.entries, self.stage)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = |columns: &[(String, u64)]| {
            columns.iter().map(|(name, bits)| format!("{name} {bits}")).collect::<Vec<_>>().join(", ")
        };
        let form = if self.ternary { "ternary" } else { "exact" };
        let (keys, results) = (columns(&self.keys), columns(&self.results));
        write!(f, "table {} : {form}({keys}) -> {results} size {} @ {}", self.name, self.size, self.stage)
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.action {
            Action::Assign { to, value } => write!(f, "{to} = {value}"),
            Action::Access(access) => write!(f, "{access}"),
            Action::Meter { to, meter, index, bytes } => write!(f, "{to} = {meter}[{index}]({bytes})"),
            Action::Lookup { to, table, keys } => {
                let keys: Vec<String> = keys.iter().map(Operand::to_string).collect();
                write!(f, "{} = {table}({})", to.join(", "), keys.join(", "))
            }
            Action::Drop => f.write_str("drop"),
            Action::Trim => f.write_str("trim"),
            Action::Mark => f.write_str("mark"),
            Action::Recirculate => f.write_str("recirculate"),
            Action::Mirror(kind) => write!(f, "mirror {kind}"),
            Action::Multicast(kind) => write!(f, "multicast {kind}"),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(to) = &self.to {
            write!(f, "{to} = ")?;
        }
        let part = |name: &str, choice: &Option<Choice>| choice.as_ref().map(|choice| format!("{name} {choice}"));
        let parts = [part("out", &self.out), part("mem =", &self.mem), part("mem2 =", &self.mem2)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        write!(f, "{}[{}] {{ {} }}", self.register, self.index, parts.join("; "))
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Expression(expression) => write!(f, "{expression}")?,
            Value::Truth(condition) => write!(f, "{condition}")?,
        }
        if let Some(condition) = &self.condition {
            write!(f, " if {condition}")?;
        }
        match &self.otherwise {
            Some(otherwise) => write!(f, " else {otherwise}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ingress => "ingress",
            Self::Egress => "egress",
        })
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
            Self::Slice(name, high, low) => write!(f, "{name}[{high}:{low}]"),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copy(operand) => write!(f, "{operand}"),
            Self::Operation(operation @ (Operation::Min | Operation::Max), a, b) => {
                write!(f, "{}({a}, {b})", operation.sign())
            }
            Self::Operation(operation, a, b) => write!(f, "{a} {} {b}", operation.sign()),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.left, self.relation.sign(), self.right)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tests: Vec<String> = self.tests.iter().map(Test::to_string).collect();
        f.write_str(&tests.join(if self.any { " or " } else { " and " }))
    }
}
