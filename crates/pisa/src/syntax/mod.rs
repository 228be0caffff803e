//! A program as it is written: what the parser makes, and the checks and the compiler read.

mod show;

/// Which of a pipeline's two passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Before the traffic manager.
    Ingress,
    /// After the traffic manager.
    Egress,
}

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct Syntax {
    /// Its name.
    pub name: String,
    /// What the control plane gives at load time.
    pub constants: Vec<Constant>,
    /// Kinds of control packets.
    pub packets: Vec<Named>,
    /// What control packets carry.
    pub headers: Vec<Variable>,
    /// Metadata of one pass.
    pub fields: Vec<Variable>,
    /// The stages before the traffic manager.
    pub ingress: Section,
    /// The stages after it.
    pub egress: Section,
}

impl Syntax {
    /// One of the two sections.
    pub fn section(&self, direction: Direction) -> &Section {
        match direction {
            Direction::Ingress => &self.ingress,
            Direction::Egress => &self.egress,
        }
    }
}

/// A number that is known when the program is loaded.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// What it is if the control plane does not say.
    pub default: Option<u64>,
    /// Where it is declared.
    pub line: usize,
}

/// A name and where it is declared.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The line.
    pub line: usize,
}

/// A header field or a metadata field.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its width in bits.
    pub bits: u64,
    /// Where it is declared.
    pub line: usize,
}

/// The arrays and stages of one direction.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Register arrays.
    pub registers: Vec<Register>,
    /// Meters.
    pub meters: Vec<Meter>,
    /// Match tables.
    pub tables: Vec<Table>,
    /// Stages in ascending order.
    pub stages: Vec<Stage>,
}

/// A register array.
#[derive(Clone, Debug)]
pub struct Register {
    /// Its name.
    pub name: String,
    /// The width of a value.
    pub bits: u32,
    /// Whether an entry has two values.
    pub pair: bool,
    /// The number of entries.
    pub entries: Operand,
    /// The stage that it is in.
    pub stage: u64,
    /// Where it is declared.
    pub line: usize,
}

/// An array of three-colour meters.
#[derive(Clone, Debug)]
pub struct Meter {
    /// Its name.
    pub name: String,
    /// The number of entries.
    pub entries: Operand,
    /// The stage that it is in.
    pub stage: u64,
    /// Where it is declared.
    pub line: usize,
}

/// A match table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Whether keys have masks.
    pub ternary: bool,
    /// Names and widths of its keys.
    pub keys: Vec<(String, u64)>,
    /// Names and widths of its results.
    pub results: Vec<(String, u64)>,
    /// How many entries fit.
    pub size: Operand,
    /// The stage that it is in.
    pub stage: u64,
    /// Where it is declared.
    pub line: usize,
}

/// What happens at one time.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its number, from 0.
    pub number: u64,
    /// Where it begins.
    pub line: usize,
    /// What is in it.
    pub items: Vec<Item>,
}

/// A statement or a block of them.
#[derive(Clone, Debug)]
pub enum Item {
    /// A statement.
    Statement(Statement),
    /// A `when` block, or a statement with a condition behind it.
    When(When),
}

/// A block of which at most one arm runs.
#[derive(Clone, Debug)]
pub struct When {
    /// `when`, then `else when`.
    pub arms: Vec<Arm>,
    /// `else`.
    pub otherwise: Option<Vec<Item>>,
    /// Whether the condition stands behind its only statement.
    pub trailing: bool,
}

/// A condition and what it is for.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The condition.
    pub condition: Condition,
    /// What runs if it holds.
    pub items: Vec<Item>,
    /// Where it begins.
    pub line: usize,
}

/// Comparisons joined by `and`, or by `or`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// The comparisons.
    pub tests: Vec<Test>,
    /// Whether one of them is enough.
    pub any: bool,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// What stands to the left.
    pub left: Operand,
    /// How they are compared.
    pub relation: Relation,
    /// What stands to the right.
    pub right: Operand,
}

/// A kind of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `==`
    Equal,
    /// `!=`
    Different,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

impl Relation {
    /// What holds when this does not.
    pub fn negated(self) -> Self {
        match self {
            Self::Equal => Self::Different,
            Self::Different => Self::Equal,
            Self::Less => Self::AtLeast,
            Self::AtMost => Self::More,
            Self::More => Self::AtMost,
            Self::AtLeast => Self::Less,
        }
    }

    /// Whether it holds.
    pub fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Different => left != right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::More => left > right,
            Self::AtLeast => left >= right,
        }
    }

    /// How it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Different => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// What an operation reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A number.
    Number(u64),
    /// A field, a header field, a constant, a kind of packet, or `mem` and `mem2` in a register access.
    Name(String),
    /// Some bits of a field: the highest and the lowest.
    Slice(String, u64, u64),
}

impl Operand {
    /// The name in it.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Number(_) => None,
            Self::Name(name) | Self::Slice(name, ..) => Some(name),
        }
    }
}

/// An operation of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `-|`: 0 where the difference would be below it.
    SubtractToZero,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
}

impl Operation {
    /// How it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::SubtractToZero => "-|",
            Self::Min => "min",
            Self::Max => "max",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
        }
    }
}

/// An operand, or one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A copy.
    Copy(Operand),
    /// An operation.
    Operation(Operation, Operand, Operand),
}

impl Expression {
    /// What it reads.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        let (first, second) = match self {
            Self::Copy(a) => (a, None),
            Self::Operation(_, a, b) => (a, Some(b)),
        };
        std::iter::once(first).chain(second)
    }
}

/// What is done in one go.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Where it stands.
    pub line: usize,
    /// What it does.
    pub action: Action,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum Action {
    /// `field = expression`
    Assign {
        /// What is written.
        to: String,
        /// What is written there.
        value: Expression,
    },
    /// `field = register[index] { ... }`
    Access(Box<Access>),
    /// `field = meter[index](bytes)`
    Meter {
        /// Where the colour goes.
        to: String,
        /// The meter.
        meter: String,
        /// The entry.
        index: Operand,
        /// The length of the packet.
        bytes: Operand,
    },
    /// `fields = table(keys)`
    Lookup {
        /// Where the results go.
        to: Vec<String>,
        /// The table.
        table: String,
        /// What is looked up.
        keys: Vec<Operand>,
    },
    /// The packet goes.
    Drop,
    /// The payload goes.
    Trim,
    /// The packet is marked: congestion experienced.
    Mark,
    /// To the recirculation port of this pipeline.
    Recirculate,
    /// A cut copy of a kind to the recirculation port of this pipeline.
    Mirror(String),
    /// A control packet of a kind to the recirculation port of every pipeline.
    Multicast(String),
}

impl Action {
    /// The fields that it writes.
    pub fn writes(&self) -> Vec<&str> {
        match self {
            Self::Assign { to, .. } | Self::Meter { to, .. } => vec![to],
            Self::Access(access) => access.to.iter().map(String::as_str).collect(),
            Self::Lookup { to, .. } => to.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

/// One read-modify-write of a register.
#[derive(Clone, Debug)]
pub struct Access {
    /// Where `out` goes.
    pub to: Option<String>,
    /// The array.
    pub register: String,
    /// The entry.
    pub index: Operand,
    /// What is given back.
    pub out: Option<Choice>,
    /// What becomes of the first value.
    pub mem: Option<Choice>,
    /// What becomes of the second value.
    pub mem2: Option<Choice>,
}

impl Access {
    /// All parts that are there.
    pub fn choices(&self) -> impl Iterator<Item = &Choice> {
        [&self.out, &self.mem, &self.mem2].into_iter().flatten()
    }

    /// All comparisons, with repetitions.
    pub fn tests(&self) -> impl Iterator<Item = &Test> {
        self.choices().flat_map(|choice| {
            let truth = match &choice.value {
                Value::Truth(condition) => Some(condition),
                Value::Expression(_) => None,
            };
            truth.into_iter().chain(&choice.condition).flat_map(|condition| &condition.tests)
        })
    }

    /// All expressions.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.choices().flat_map(|choice| {
            let value = match &choice.value {
                Value::Expression(expression) => Some(expression),
                Value::Truth(_) => None,
            };
            value.into_iter().chain(&choice.otherwise)
        })
    }

    /// All that its ALU reads, `mem` and `mem2` included.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        let tests = self.tests().flat_map(|test| [&test.left, &test.right]);
        tests.chain(self.expressions().flat_map(Expression::operands))
    }
}

/// `value if condition else otherwise`
#[derive(Clone, Debug)]
pub struct Choice {
    /// The value.
    pub value: Value,
    /// When it is taken; always, without one.
    pub condition: Option<Condition>,
    /// What is taken else; without one, `mem` stays and `out` is 0.
    pub otherwise: Option<Expression>,
}

/// What a register access can work out.
#[derive(Clone, Debug)]
pub enum Value {
    /// A number.
    Expression(Expression),
    /// Whether a condition holds: 1 or 0.
    Truth(Condition),
}
