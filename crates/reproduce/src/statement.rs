//! Statements of the papers: files of claims beside the scenarios, `scenarios/<paper>/claims/<figure>.toml`.
//!
//! Such a file has what is said and by which rule it is judged; what was measured for it comes from the code, by its
//! id. A statement that is made for several settings has places `{0}`, `{1}` for them, and what differs between them
//! below `[claim.at.SETTING]`.

use crate::figure::Scale;
use crate::unit::Unit;
use forebay_settings::{Diagnostic, Document, Table, Value};

/// What a file says about a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statements {
    /// Nothing is left to chance in its runs: one seed is exact.
    pub deterministic: bool,
    /// In the order of the file.
    pub all: Vec<Statement>,
}

/// How important a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Of the abstract or the introduction.
    Headline,
    /// Of a figure, a table or a theorem.
    Figure,
    /// A second reading of a statement, a comparison with a single run of others, or a study of our own: not counted.
    Appendix,
}

impl Mark {
    const WORDS: [(&'static str, Self); 3] =
        [("headline", Self::Headline), ("figure", Self::Figure), ("appendix", Self::Appendix)];

    /// As it is written.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, mark)| *mark == self).map_or("", |(word, _)| word)
    }
}

/// How a statement is judged; see [`crate::verdict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Better by so many percent, or by up to so many.
    Gain,
    /// A difference is positive.
    Direction,
    /// A number.
    Value,
    /// Not more than a number.
    AtMost,
    /// Not less than a number.
    AtLeast,
    /// Schemes in an order, the one with the smallest number first.
    Ascending,
    /// The one with the largest first.
    Descending,
    /// So at every point.
    Every,
}

impl Rule {
    const WORDS: [(&'static str, Self); 8] = [
        ("gain", Self::Gain),
        ("direction", Self::Direction),
        ("value", Self::Value),
        ("at most", Self::AtMost),
        ("at least", Self::AtLeast),
        ("ascending", Self::Ascending),
        ("descending", Self::Descending),
        ("every", Self::Every),
    ];

    fn has_number(self) -> bool {
        matches!(self, Self::Gain | Self::Value | Self::AtMost | Self::AtLeast)
    }

    fn has_order(self) -> bool {
        matches!(self, Self::Ascending | Self::Descending)
    }
}

/// Why a statement does not hold, or not in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The paper's own numbers or equations do not give it.
    Arithmetic,
    /// The authors' code differs from the paper's text.
    Code,
    /// The paper does not say what it depends on.
    Unspecified,
    /// Our runs are shorter or smaller than the paper's.
    Scale,
    /// Our model of hosts or hardware differs.
    Model,
}

impl Cause {
    const WORDS: [(&'static str, Self); 5] = [
        ("arithmetic", Self::Arithmetic),
        ("code", Self::Code),
        ("unspecified", Self::Unspecified),
        ("scale", Self::Scale),
        ("model", Self::Model),
    ];

    /// As it is written.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, cause)| *cause == self).map_or("", |(word, _)| word)
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Arithmetic => "the paper's arithmetic",
            Self::Code => "the paper's code differs from its text",
            Self::Unspecified => "not specified",
            Self::Scale => "scale",
            Self::Model => "our model",
        }
    }
}

/// What the paper has.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A number.
    Number(f64),
    /// Words, where the rule needs no number.
    Words(String),
    /// Schemes, in their order.
    Order(Vec<String>),
    /// A number that is computed from data of the authors.
    Theirs,
}

/// What may differ between the settings that a statement is made for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// What the paper has.
    pub paper: Option<Said>,
    /// How important it is.
    pub mark: Option<Mark>,
    /// Which parameter came from it, if one did.
    pub circular: Option<String>,
    /// Why it does not hold.
    pub cause: Option<Cause>,
    /// The same in words.
    pub reason: Option<String>,
    /// Runs of the record that show the reason, as "fb/fig7-multi-queue: DT"; without one it is a conjecture.
    pub evidence: Vec<String>,
    /// The smallest scale that can show it, and why smaller ones cannot.
    pub needs: Option<(Scale, String)>,
}

/// A statement of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its stable name.
    pub id: String,
    /// In our words.
    pub words: String,
    /// Where the paper has it.
    pub section: String,
    /// How it is judged.
    pub rule: Rule,
    /// The unit of the numbers.
    pub unit: Unit,
    /// For all settings.
    pub details: Details,
    /// For some.
    pub at: Vec<(String, Details)>,
}

const UNITS: [(&str, Unit); 13] = [
    ("", Unit::None),
    ("share", Unit::Share),
    ("%", Unit::Percent),
    ("ns", Unit::Nanoseconds),
    ("us", Unit::Microseconds),
    ("ms", Unit::Milliseconds),
    ("s", Unit::Seconds),
    ("B", Unit::Bytes),
    ("KB", Unit::Kilobytes),
    ("MB", Unit::Megabytes),
    ("packets", Unit::Packets),
    ("Gb/s", Unit::Gbps),
    ("Mb/s", Unit::Mbps),
];

const DETAILS: [&str; 8] = ["paper", "mark", "circular", "cause", "reason", "evidence", "needs", "until"];

/// Reads a file of claims.
pub fn read(file: &str, text: &str) -> Result<Statements, Diagnostic> {
    let document = Document::parse(file, text)?;
    let root = document.root();
    root.allow(&["deterministic", "claim"], |_| false, "")?;
    let deterministic = root.get("deterministic").map_or(Ok(false), |value| value.boolean())?;
    let mut all: Vec<Statement> = Vec::new();
    for table in root.tables("claim")? {
        let statement = statement(&table)?;
        if all.iter().any(|other| other.id == statement.id) {
            let problem = format!("there is another claim with the id \"{}\"", statement.id);
            return Err(table.key_error("id", problem, "give each claim an id of its own"));
        }
        all.push(statement);
    }
    Ok(Statements { deterministic, all })
}

fn statement(table: &Table<'_>) -> Result<Statement, Diagnostic> {
    let known = [&["id", "statement", "section", "rule", "unit", "at"], &DETAILS[..]].concat();
    table.allow(&known, |_| false, "")?;
    let text = |key: &str, example: &str| table.need(key, example)?.text().map(str::to_owned);
    let rule = table.need("rule", "rule = \"value\"")?.word(&Rule::WORDS)?;
    let unit = table.get("unit").map_or(Ok(Unit::None), |value| value.word(&UNITS))?;
    let details = details(table, rule)?;
    let mut at = Vec::new();
    if let Some(settings) = table.table("at")? {
        for key in settings.keys() {
            let Some(own) = settings.table(key)? else { continue };
            own.allow(&DETAILS, |_| false, "")?;
            at.push((key.to_owned(), self::details(&own, rule)?));
        }
    }
    if details.paper.is_none() {
        return Err(table.missing("paper", "paper = 94.0, what the paper has"));
    }
    if details.mark.is_none() {
        return Err(table.missing("mark", "mark = \"figure\""));
    }
    Ok(Statement {
        id: text("id", "id = \"abm-6-queries\"")?,
        words: text("statement", "statement = \"...\"")?,
        section: text("section", "section = \"6.2\"")?,
        rule,
        unit,
        details,
        at,
    })
}

/// `needs = "default"` with `until = "why"`.
fn needs(table: &Table<'_>) -> Result<Option<(Scale, String)>, Diagnostic> {
    let Some(scale) = table.get("needs") else {
        return match table.get("until") {
            Some(value) => Err(value.error("this says why a scale is needed, but none is", "add needs = \"default\"")),
            None => Ok(None),
        };
    };
    let scale = scale.word(&Scale::ALL.map(|scale| (scale.name(), scale)))?;
    let why = table.need("until", "until = \"why a smaller scale cannot show it\"")?.text()?;
    Ok(Some((scale, why.to_owned())))
}

fn details(table: &Table<'_>, rule: Rule) -> Result<Details, Diagnostic> {
    let text = |key: &str| table.get(key).map(|value| value.text().map(str::to_owned)).transpose();
    let cause = table.get("cause").map(|value| value.word(&Cause::WORDS)).transpose()?;
    let evidence = match table.get("evidence") {
        None => Vec::new(),
        Some(value) => match value.list() {
            Some(list) => list.iter().map(|one| one.text().map(str::to_owned)).collect::<Result<_, _>>()?,
            None => return Err(value.error("this is no list", "give evidence = [\"fb/fig9: DT\"], runs of the record")),
        },
    };
    let reason = text("reason")?;
    if reason.is_some() != cause.is_some() {
        let (have, lack) = if reason.is_some() { ("reason", "cause") } else { ("cause", "reason") };
        return Err(table.key_error(have, format!("a {have} without a {lack}"), format!("add {lack} = \"...\"")));
    }
    if !evidence.is_empty() && reason.is_none() {
        return Err(table.key_error("evidence", "evidence without a reason", "add reason = \"...\""));
    }
    Ok(Details {
        paper: table.get("paper").map(|value| said(&value, rule)).transpose()?,
        mark: table.get("mark").map(|value| value.word(&Mark::WORDS)).transpose()?,
        circular: text("circular")?,
        cause,
        reason,
        evidence,
        needs: needs(table)?,
    })
}

fn said(value: &Value<'_>, rule: Rule) -> Result<Said, Diagnostic> {
    if rule.has_order() {
        let Some(list) = value.list() else {
            return Err(value.error("this is no list", "give the schemes in their order, paper = [\"FB\", \"DT\"]"));
        };
        let names: Result<Vec<String>, _> = list.iter().map(|one| one.text().map(str::to_owned)).collect();
        return names.map(Said::Order);
    }
    if rule.has_number() {
        return match value.is_text().then(|| value.text()) {
            Some(Ok("theirs")) => Ok(Said::Theirs),
            _ => value.real().map(Said::Number),
        };
    }
    value.text().map(|words| Said::Words(words.to_owned()))
}

impl Statement {
    /// What holds for a setting: its own details before those of all.
    pub(crate) fn details_at(&self, place: &str) -> Details {
        let own = self.at.iter().find(|(key, _)| key == place).map(|(_, own)| own.clone()).unwrap_or_default();
        let all = self.details.clone();
        let has_reason = own.reason.is_some();
        Details {
            paper: own.paper.or(all.paper),
            mark: own.mark.or(all.mark),
            circular: own.circular.or(all.circular),
            cause: own.cause.or(all.cause),
            reason: own.reason.or(all.reason),
            evidence: if has_reason { own.evidence } else { all.evidence },
            needs: own.needs.or(all.needs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
deterministic = true
[[claim]]
id = "a"
statement = "with {0}"
section = "6"
rule = "gain"
unit = "%"
mark = "headline"
paper = 94.0
needs = "default"
until = "too short"
[claim.at.dt]
paper = 10
cause = "scale"
reason = "it is"
evidence = ["fb/fig9: DT"]
[[claim]]
id = "b"
statement = "an order"
section = "6"
rule = "ascending"
mark = "figure"
paper = ["a", "b"]
"#;

    #[test]
    fn files_of_claims_are_read() {
        let all = read("x.toml", GOOD).unwrap();
        assert!(all.deterministic && all.all.len() == 2);
        let first = &all.all[0];
        assert_eq!(first.details.needs, Some((Scale::Default, "too short".to_owned())));
        let (dt, other) = (first.details_at("dt"), first.details_at("ib"));
        assert_eq!((dt.paper, dt.cause, dt.evidence.len()), (Some(Said::Number(10.0)), Some(Cause::Scale), 1));
        assert_eq!((other.paper, other.mark, other.reason), (Some(Said::Number(94.0)), Some(Mark::Headline), None));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let error = |from: &str, to: &str| read("x.toml", &GOOD.replace(from, to)).unwrap_err().to_string();
        for (from, to, told) in [
            ("paper = 94.0\n", "", "paper"),
            ("rule = \"gain\"", "rule = \"gains\"", "did you mean \"gain\"?"),
            ("mark = \"headline\"\n", "", "mark"),
            ("cause = \"scale\"\n", "", "a reason without a cause"),
            ("until = \"too short\"\n", "", "until"),
            ("id = \"b\"", "id = \"a\"", "another claim with the id \"a\""),
            ("paper = [\"a\", \"b\"]", "paper = 3", "this is no list"),
            ("unit = \"%\"", "units = \"%\"", "did you mean unit?"),
            ("evidence = [\"fb/fig9: DT\"]", "evidence = \"fb/fig9\"", "this is no list"),
        ] {
            let text = error(from, to);
            assert!(text.contains(told) && text.contains("x.toml"), "{from:?}: {text}");
        }
    }
}
