//! A program read plainly: the syntax tree is walked for every packet, a stage sees only what was there before it, and
//! everything has a name.

use forebay_pisa::syntax::{
    Access, Action, Choice, Condition, Expression, Item, Operand, Operation, Statement, Syntax, Table, Value,
};
use forebay_pisa::{MeterConfig, Outcome, Pass};
use std::collections::BTreeMap;

/// Keys with masks, a priority, and results.
type Entry = (Vec<(u64, u64)>, u32, Vec<u64>);
type Values = BTreeMap<String, u64>;

pub(crate) struct Naive<'s> {
    pub(crate) syntax: &'s Syntax,
    pub(crate) registers: BTreeMap<String, Vec<(u64, u64)>>,
    pub(crate) defaults: BTreeMap<String, Vec<u64>>,
    pub(crate) configs: BTreeMap<String, MeterConfig>,
    entries: BTreeMap<String, Vec<Entry>>,
    /// Names and widths of what can be written.
    widths: BTreeMap<String, u64>,
    constants: Values,
    /// Both buckets in bits times 10^12, and when they were filled.
    buckets: BTreeMap<(String, u64), (u128, u128, u64)>,
    meter_sizes: BTreeMap<String, u64>,
    pipe: u64,
}

/// What one pass has done so far.
struct State {
    /// What the stage reads.
    before: Values,
    /// What it writes.
    after: Values,
    outcome: Outcome,
    now: u64,
}

impl<'s> Naive<'s> {
    pub(crate) fn new(syntax: &'s Syntax, constants: &[(&str, u64)], pipe: u64) -> Self {
        let given = |name: &str| constants.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
        let constants: Values = syntax
            .constants
            .iter()
            .map(|of| (of.name.clone(), given(&of.name).or(of.default).expect("all are given")))
            .collect();
        let size = |size: &Operand| match size {
            Operand::Number(number) => *number,
            other => constants[other.name().unwrap_or_default()],
        };
        let mut widths: BTreeMap<String, u64> =
            [("out_port", 9), ("out_queue", 5)].into_iter().map(|(name, bits)| (name.to_owned(), bits)).collect();
        widths.extend(syntax.headers.iter().chain(&syntax.fields).map(|of| (of.name.clone(), of.bits)));
        let (mut registers, mut meter_sizes) = (BTreeMap::new(), BTreeMap::new());
        for section in [&syntax.ingress, &syntax.egress] {
            for register in &section.registers {
                registers.insert(register.name.clone(), vec![(0, 0); size(&register.entries) as usize]);
                widths.insert(register.name.clone(), u64::from(register.bits));
            }
            for meter in &section.meters {
                meter_sizes.insert(meter.name.clone(), size(&meter.entries));
            }
        }
        Self {
            syntax,
            registers,
            defaults: BTreeMap::new(),
            configs: BTreeMap::new(),
            entries: BTreeMap::new(),
            widths,
            constants,
            buckets: BTreeMap::new(),
            meter_sizes,
            pipe,
        }
    }

    pub(crate) fn insert(&mut self, table: &Table, keys: Vec<(u64, u64)>, priority: u32, results: Vec<u64>) {
        let entries = self.entries.entry(table.name.clone()).or_default();
        if table.ternary {
            entries.push((keys, priority, results));
        } else {
            entries.retain(|entry| entry.0 != keys);
            entries.push((keys, 0, results));
        }
    }

    pub(crate) fn run(&mut self, egress: bool, pass: &Pass) -> Outcome {
        let mut values = self.constants.clone();
        for (name, value, bits) in [
            ("kind", u64::from(pass.kind), 8),
            ("now", pass.now / 1000, 48),
            ("in_port", u64::from(pass.in_port), 9),
            ("pipe", self.pipe, 2),
            ("bytes", u64::from(pass.bytes), 16),
            ("class", u64::from(pass.class), 5),
            ("rank", pass.rank, 32),
            ("flow", pass.flow, 32),
            ("out_port", u64::from(pass.out_port), 9),
            ("out_queue", u64::from(pass.out_queue), 5),
            ("random", pass.random, 16),
            ("depth", pass.depth, 32),
            ("enqueued_depth", pass.enqueued_depth, 32),
            ("wait", pass.wait, 32),
        ] {
            values.insert(name.to_owned(), cut(value, bits));
        }
        for (kind, name) in ["DATA", "HEADER", "ANSWER", "DEFLECTED"].into_iter().enumerate() {
            values.insert(name.to_owned(), kind as u64);
        }
        for (i, packet) in self.syntax.packets.iter().enumerate() {
            values.insert(packet.name.clone(), 4 + i as u64);
        }
        for (header, value) in self.syntax.headers.iter().zip(pass.headers) {
            values.insert(header.name.clone(), value);
        }
        for field in &self.syntax.fields {
            values.insert(field.name.clone(), 0);
        }
        let section = if egress { &self.syntax.egress } else { &self.syntax.ingress };
        let outcome = Outcome { headers: pass.headers, ..Outcome::default() };
        let mut state = State { before: values.clone(), after: values, outcome, now: pass.now };
        for stage in &section.stages {
            state.before.clone_from(&state.after);
            self.items(&stage.items, &mut state);
        }
        let mut outcome = state.outcome;
        outcome.out_port = state.after["out_port"] as u32;
        outcome.out_queue = state.after["out_queue"] as u32;
        for (i, header) in self.syntax.headers.iter().enumerate() {
            outcome.headers[i] = state.after[&header.name];
        }
        outcome
    }

    fn items(&mut self, items: &[Item], state: &mut State) {
        for item in items {
            match item {
                Item::Statement(statement) => self.statement(statement, state),
                Item::When(when) => {
                    let arm = when.arms.iter().find(|arm| holds(&arm.condition, &state.before));
                    match (arm, &when.otherwise) {
                        (Some(arm), _) => self.items(&arm.items, state),
                        (None, Some(items)) => self.items(items, state),
                        (None, None) => {}
                    }
                }
            }
        }
    }

    fn statement(&mut self, statement: &Statement, state: &mut State) {
        match &statement.action {
            Action::Assign { to, value } => {
                let value = cut(expression(value, &state.before), self.widths[to]);
                state.after.insert(to.clone(), value);
            }
            Action::Access(access) => self.access(access, state),
            Action::Meter { to, meter, index, bytes } => {
                let (index, bytes) = (operand(index, &state.before), operand(bytes, &state.before));
                state.after.insert(to.clone(), self.colour(meter, index, state.now, bytes));
            }
            Action::Lookup { to, table, keys } => {
                let keys: Vec<u64> = keys.iter().map(|key| operand(key, &state.before)).collect();
                for (to, result) in to.iter().zip(self.find(table, &keys)) {
                    state.after.insert(to.clone(), result);
                }
            }
            Action::Drop => state.outcome.drop = true,
            Action::Trim => state.outcome.trim = true,
            Action::Mark => state.outcome.mark = true,
            Action::Recirculate => state.outcome.recirculate = true,
            Action::Mirror(kind) => state.outcome.mirror = state.before[kind] as u8,
            Action::Multicast(kind) => state.outcome.multicast = state.before[kind] as u8,
        }
    }

    fn find(&self, table: &str, keys: &[u64]) -> Vec<u64> {
        let entries = self.entries.get(table).map_or(&[][..], Vec::as_slice);
        let matches = |entry: &&Entry| entry.0.iter().zip(keys).all(|((value, mask), key)| value & mask == key & mask);
        // The first of those of the lowest priority.
        let found = entries.iter().filter(matches).min_by_key(|entry| entry.1);
        found.map_or_else(|| self.defaults[table].clone(), |entry| entry.2.clone())
    }

    fn colour(&mut self, meter: &str, index: u64, now: u64, bytes: u64) -> u64 {
        if index >= self.meter_sizes[meter] {
            return 0;
        }
        const BYTE: u128 = 8_000_000_000_000;
        let config = self.configs[meter];
        let full = (u128::from(config.committed_burst) * BYTE, u128::from(config.peak_burst) * BYTE);
        let (committed, peak, last) = self.buckets.entry((meter.to_owned(), index)).or_insert((full.0, full.1, 0));
        let elapsed = u128::from(now - *last);
        *last = now;
        *committed = (*committed + elapsed * u128::from(config.committed)).min(full.0);
        *peak = (*peak + elapsed * u128::from(config.peak)).min(full.1);
        let cost = u128::from(bytes) * BYTE;
        if *peak < cost {
            return 2;
        }
        *peak -= cost;
        if *committed < cost {
            return 1;
        }
        *committed -= cost;
        0
    }

    fn access(&mut self, access: &Access, state: &mut State) {
        let index = operand(&access.index, &state.before) as usize;
        let bits = self.widths[&access.register];
        let Some(entry) = self.registers.get_mut(&access.register).and_then(|array| array.get_mut(index)) else {
            if let Some(to) = &access.to {
                state.after.insert(to.clone(), 0);
            }
            return;
        };
        let mut values = state.before.clone();
        values.insert("mem".to_owned(), entry.0);
        values.insert("mem2".to_owned(), entry.1);
        if let Some(choice) = &access.mem {
            entry.0 = cut(chosen(choice, &values, entry.0), bits);
        }
        if let Some(choice) = &access.mem2 {
            entry.1 = cut(chosen(choice, &values, entry.1), bits);
        }
        if let (Some(choice), Some(to)) = (&access.out, &access.to) {
            let value = cut(chosen(choice, &values, 0), self.widths[to]);
            state.after.insert(to.clone(), value);
        }
    }
}

fn chosen(choice: &Choice, values: &Values, unchanged: u64) -> u64 {
    if choice.condition.as_ref().is_some_and(|condition| !holds(condition, values)) {
        return choice.otherwise.as_ref().map_or(unchanged, |otherwise| expression(otherwise, values));
    }
    match &choice.value {
        Value::Expression(value) => expression(value, values),
        Value::Truth(condition) => u64::from(holds(condition, values)),
    }
}

fn holds(condition: &Condition, values: &Values) -> bool {
    let mut tests = condition
        .tests
        .iter()
        .map(|test| test.relation.holds(operand(&test.left, values), operand(&test.right, values)));
    if condition.any { tests.any(|holds| holds) } else { tests.all(|holds| holds) }
}

fn operand(of: &Operand, values: &Values) -> u64 {
    match of {
        Operand::Number(number) => *number,
        Operand::Name(name) => values[name],
        Operand::Slice(name, high, low) => cut(values[name] >> low, high - low + 1),
    }
}

fn expression(of: &Expression, values: &Values) -> u64 {
    let (operation, a, b) = match of {
        Expression::Copy(a) => return operand(a, values),
        Expression::Operation(operation, a, b) => (operation, operand(a, values), operand(b, values)),
    };
    match operation {
        Operation::Add => a.wrapping_add(b),
        Operation::Subtract => a.wrapping_sub(b),
        Operation::SubtractToZero => a.saturating_sub(b),
        Operation::Min => a.min(b),
        Operation::Max => a.max(b),
        Operation::ShiftLeft => u32::try_from(b).ok().and_then(|by| a.checked_shl(by)).unwrap_or(0),
        Operation::ShiftRight => u32::try_from(b).ok().and_then(|by| a.checked_shr(by)).unwrap_or(0),
        Operation::And => a & b,
        Operation::Or => a | b,
        Operation::Xor => a ^ b,
    }
}

fn cut(value: u64, bits: u64) -> u64 {
    value & (u64::MAX >> (64 - bits))
}
