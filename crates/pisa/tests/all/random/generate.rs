//! Random programs, most of which keep to the rules.

use std::fmt::Write;

/// Decisions drawn beforehand, so that a failing case becomes shorter by itself; 0 when all are used up.
pub(crate) struct Choices {
    draws: std::vec::IntoIter<u32>,
}

impl Choices {
    pub(crate) fn new(draws: Vec<u32>) -> Self {
        Self { draws: draws.into_iter() }
    }

    /// A number below another.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        let high = if limit > 1 << 32 { self.draws.next().unwrap_or(0) } else { 0 };
        (u64::from(high) << 32 | u64::from(self.draws.next().unwrap_or(0))) % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// The fields and headers of a program: names and widths.
const FIELDS: [(&str, u64); 8] =
    [("f0", 32), ("f1", 32), ("f2", 16), ("f3", 5), ("f4", 1), ("f5", 48), ("h0", 9), ("h1", 32)];
const BUILTINS: [(&str, u64); 10] = [
    ("now", 48),
    ("in_port", 9),
    ("pipe", 2),
    ("bytes", 16),
    ("class", 5),
    ("rank", 32),
    ("flow", 32),
    ("out_port", 9),
    ("random", 16),
    ("depth", 32),
];

/// What is being written.
struct Writer<'c> {
    choices: &'c mut Choices,
    text: String,
    egress: bool,
    /// Fields that this stage has not written.
    free: Vec<(&'static str, u64)>,
    /// Arrays of this stage that have not been used.
    arrays: Vec<&'static str>,
    gateways: u64,
}

/// The text of a program.
pub(crate) fn program(choices: &mut Choices) -> String {
    let mut text = "program random\nconstant k\nconstant size = 2\npacket UPDATE\npacket NOTIFY\n".to_owned();
    for (name, bits) in FIELDS {
        let what = if name.starts_with('h') { "header" } else { "field" };
        let _ = writeln!(text, "{what} {name} : {bits}");
    }
    let mut writer = Writer { choices, text, egress: false, free: Vec::new(), arrays: Vec::new(), gateways: 0 };
    writer.section(false);
    writer.section(true);
    writer.text
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn section(&mut self, egress: bool) {
        self.egress = egress;
        let side = if egress { "e" } else { "i" };
        self.line(if egress { "egress" } else { "ingress" });
        let stages = 1 + self.choices.below(4);
        for stage in 0..stages {
            let pair = self.choices.pick(&["32", "16", "32+32", "8+8"]);
            self.line(&format!("register {side}r{stage} : {pair} x size @ {stage}"));
            self.line(&format!("table {side}x{stage} : exact(p 9, c 3) -> v 16, w 1 size 16 @ {stage}"));
            self.line(&format!("table {side}y{stage} : exact(p 32, c 3) -> v 16, w 1 size 16 @ {stage}"));
            self.line(&format!("table {side}z{stage} : ternary(p 32, c 3) -> v 16, w 1 size 16 @ {stage}"));
            self.line(&format!("meter {side}m{stage} : 4 @ {stage}"));
            self.line(&format!("stage {stage}"));
            self.free = FIELDS.to_vec();
            self.arrays = vec!["r", "x", "y", "z", "m"];
            self.gateways = 0;
            let name = |array: &str| format!("{side}{array}{stage}");
            self.items(0, &name, pair);
        }
    }

    fn items(&mut self, depth: u32, name: &dyn Fn(&str) -> String, pair: &str) {
        for _ in 0..=self.choices.below(4) {
            if depth < 2 && self.gateways < 9 && self.choices.chance(35) {
                self.block(depth, name, pair);
            } else {
                self.statement(name, pair);
            }
        }
    }

    fn block(&mut self, depth: u32, name: &dyn Fn(&str) -> String, pair: &str) {
        let (free, arrays) = (self.free.clone(), self.arrays.clone());
        let mut ends = Vec::new();
        let condition = self.condition();
        self.line(&format!("when {condition}"));
        self.items(depth + 1, name, pair);
        while self.gateways < 9 && self.choices.chance(40) {
            ends.push((
                std::mem::replace(&mut self.free, free.clone()),
                std::mem::replace(&mut self.arrays, arrays.clone()),
            ));
            let condition = self.condition();
            self.line(&format!("else when {condition}"));
            self.items(depth + 1, name, pair);
        }
        if self.choices.chance(50) {
            ends.push((std::mem::replace(&mut self.free, free), std::mem::replace(&mut self.arrays, arrays)));
            self.line("else");
            self.items(depth + 1, name, pair);
        }
        self.line("end");
        // What some arm has used is not free behind the block.
        for (free, arrays) in ends {
            self.free.retain(|field| free.contains(field));
            self.arrays.retain(|array| arrays.contains(array));
        }
    }

    /// Something to read of at most so many bits.
    fn operand(&mut self, most: u64) -> String {
        if self.choices.chance(25) {
            let number = self.choices.pick(&["0", "1", "3", "k", "200"]);
            return if most < 8 { "1".to_owned() } else { number.to_owned() };
        }
        // Now and then a field that this stage may have written: the rules must find that out.
        let mut all = if self.choices.chance(2) { FIELDS.to_vec() } else { self.free.clone() };
        all.extend(BUILTINS);
        if self.egress {
            all.extend([("wait", 32), ("enqueued_depth", 32)]);
        }
        let (name, bits) = all[self.choices.below(all.len() as u64) as usize];
        if bits <= most && !self.choices.chance(40) {
            return name.to_owned();
        }
        // Few different ones, so that the same bits are read again.
        let width = most.min(bits).min(if self.choices.chance(80) { 3 } else { 32 });
        let low = if self.choices.chance(80) { 0 } else { bits - width };
        format!("{name}[{}:{low}]", low + width - 1)
    }

    fn expression(&mut self, most: u64, operand: &dyn Fn(&mut Self, u64) -> String) -> String {
        let a = operand(self, most);
        if self.choices.chance(25) {
            return a;
        }
        let b = operand(self, most);
        match self.choices.pick(&["+", "-", "-|", "min", "max", "<<", ">>", "&", "|", "^"]) {
            call @ ("min" | "max") => format!("{call}({a}, {b})"),
            sign => format!("{a} {sign} {b}"),
        }
    }

    fn test(&mut self) -> String {
        self.gateways += 1;
        let relation = self.choices.pick(&["==", "!=", "<", "<=", ">", ">="]);
        if self.choices.chance(30) {
            let kind = self.choices.pick(&["DATA", "HEADER", "UPDATE", "NOTIFY", "DEFLECTED"]);
            return format!("kind {relation} {kind}");
        }
        let (a, b) = (self.operand(48), self.operand(4));
        format!("{a} {relation} {b}")
    }

    fn condition(&mut self) -> String {
        let join = self.choices.pick(&[" and ", " or "]);
        let tests: Vec<String> = (0..=self.choices.below(3)).map(|_| self.test()).collect();
        tests.join(join)
    }

    /// Takes a field that has not been written in this stage and has room.
    fn target(&mut self, least: u64) -> Option<(&'static str, u64)> {
        let wide: Vec<_> = self.free.iter().copied().filter(|(_, bits)| *bits >= least).collect();
        if wide.is_empty() {
            return None;
        }
        let chosen = wide[self.choices.below(wide.len() as u64) as usize];
        self.free.retain(|field| *field != chosen);
        Some(chosen)
    }

    fn statement(&mut self, name: &dyn Fn(&str) -> String, pair: &str) {
        let mut text = match self.choices.below(8) {
            0 | 1 => self.assignment(),
            2..=4 => self.array(name, pair),
            5 if self.egress => self.choices.pick(&["drop", "mark"]).to_owned(),
            _ => self.choices.pick(&["drop", "mark", if self.egress { "mark" } else { "trim" }]).to_owned(),
        };
        if text.is_empty() {
            return;
        }
        if !text.contains('{') && self.gateways < 9 && self.choices.chance(20) {
            let condition = self.condition();
            // A field that the statement writes may be read by its own condition.
            let _ = write!(text, " when {condition}");
        }
        self.line(&text);
    }

    fn assignment(&mut self) -> String {
        let Some((to, bits)) = self.target(1) else { return String::new() };
        self.free.push((to, bits));
        let value = self.expression(bits, &|writer, most| writer.operand(most));
        self.free.retain(|field| field.0 != to);
        format!("{to} = {value}")
    }

    fn array(&mut self, name: &dyn Fn(&str) -> String, pair: &str) -> String {
        if self.arrays.is_empty() {
            return String::new();
        }
        let array = self.arrays.remove(self.choices.below(self.arrays.len() as u64) as usize);
        let index = match self.choices.below(3) {
            0 => "1".to_owned(),
            _ => self.operand(3),
        };
        match array {
            "m" => match self.target(2) {
                Some((to, _)) => format!("{to} = {}[{index}](bytes)", name(array)),
                None => String::new(),
            },
            "r" => self.access(&name(array), &index, pair),
            _ => {
                let (a, b) = (self.operand(if array == "x" { 9 } else { 32 }), self.operand(3));
                let (Some(first), Some(second)) = (self.target(16), self.target(1)) else { return String::new() };
                format!("{}, {} = {}({a}, {b})", first.0, second.0, name(array))
            }
        }
    }

    fn access(&mut self, register: &str, index: &str, pair: &str) -> String {
        let bits: u64 = pair.split('+').next().and_then(|bits| bits.parse().ok()).unwrap_or(8);
        let has_pair = pair.contains('+');
        let operand = move |writer: &mut Self, most: u64| match writer.choices.below(5) {
            0 | 1 if most >= bits => "mem".to_owned(),
            2 if has_pair && most >= bits => "mem2".to_owned(),
            3 => format!("mem[{}:0]", most.min(3) - 1),
            _ => writer.operand(most.min(bits)),
        };
        let relation = self.choices.pick(&["==", "<", ">="]);
        let first = format!("{} {relation} mem", operand(self, bits));
        let second = format!("{} > 1", operand(self, bits));
        let both = format!("{first} {} {second}", self.choices.pick(&["and", "or"]));
        let condition = |writer: &mut Self| [&first, &second, &both][writer.choices.below(3) as usize].clone();
        let mut parts = Vec::new();
        for part in ["mem", "mem2"] {
            if (part == "mem2" && !has_pair) || self.choices.chance(30) {
                continue;
            }
            let mut text = format!("{part} = {}", self.expression(bits, &operand));
            if self.choices.chance(60) {
                let _ = write!(text, " if {}", condition(self));
                if self.choices.chance(50) {
                    let _ = write!(text, " else {}", self.expression(bits, &operand));
                }
            }
            parts.push(text);
        }
        let target = if self.choices.chance(70) || parts.is_empty() { self.target(1) } else { None };
        let Some((to, room)) = target else {
            return if parts.is_empty() {
                String::new()
            } else {
                format!("{register}[{index}] {{ {} }}", parts.join("; "))
            };
        };
        let most = room.min(bits);
        let out = match self.choices.below(4) {
            0 => format!("out {}", condition(self)),
            1 => format!("out {}", self.expression(most, &operand)),
            2 => format!("out {} if {}", self.expression(most, &operand), condition(self)),
            _ => {
                let (value, otherwise) = (self.expression(most, &operand), self.expression(most, &operand));
                format!("out {value} if {} else {otherwise}", condition(self))
            }
        };
        parts.insert(self.choices.below(parts.len() as u64 + 1) as usize, out);
        format!("{to} = {register}[{index}] {{ {} }}", parts.join("; "))
    }
}
