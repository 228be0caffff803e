//! Settings given as arguments, `--set policy.kind=abm`, that change a document before it is read.

use crate::depth;
use crate::diagnostic::Diagnostic;
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// What some arguments change in a document.
///
/// A value is TOML, or a bare word or number with a unit, which is taken as text: `abm`, `80us`. A key is a path of
/// keys, with a number for an element of a list: `workload.0.load`. Tables on the way are made if they are not there.
#[derive(Debug, Default)]
pub struct Settings {
    pub(crate) settings: Vec<Setting>,
}

/// One argument.
#[derive(Debug)]
pub(crate) struct Setting {
    /// What errors call it.
    pub(crate) name: String,
    /// Where its spans begin: behind the text of the file and all other arguments, so that a span tells where it is
    /// from.
    pub(crate) start: usize,
    path: Vec<String>,
    /// `value = ...`
    text: String,
}

// Settings come from anybody who may talk to a running switch: nothing looks at more than this of them.

/// Settings at a time.
const MAX_SETTINGS: usize = 1_024;
/// Bytes of a key, and of a value.
const MAX_KEY: usize = 256;
const MAX_VALUE: usize = 64 << 10;

impl Settings {
    /// Takes pairs of a key and a value, in the order in which they are to be applied to `text`.
    pub fn new(text: &str, arguments: &[(String, String)]) -> Result<Self, Diagnostic> {
        check_size(arguments)?;
        let mut start = text.len() + 1;
        let mut settings = Vec::with_capacity(arguments.len());
        for (key, value) in arguments {
            let name = format!("--set \"{key}={}\"", shortened(value));
            let path: Vec<String> = key.split('.').map(|part| part.trim().to_owned()).collect();
            if path.iter().any(String::is_empty) {
                let remedy = "write KEY=VALUE with the key's tables before it, such as policy.alpha=0.5";
                return Err(Diagnostic::of_file(name, format!("\"{key}\" is not a key"), remedy));
            }
            let value = value.trim();
            let field = key.clone();
            if let Err(deep) = depth::check(value) {
                return Err(Diagnostic { field, ..Diagnostic::of_file(&*name, deep.problem, deep.remedy) });
            }
            let text = [value.to_owned(), format!("\"{value}\"")]
                .into_iter()
                .enumerate()
                .filter(|(quoted, _)| *quoted == 0 || is_word(value))
                .map(|(_, value)| format!("value = {value}"))
                .find(|text| is_one_value(text))
                .ok_or_else(|| {
                    let problem = format!("\"{}\" is not a value", shortened(value));
                    let remedy = "give a number, a word, or TOML, such as 0.5, 80us, '\"a text\"' or '[1, 2]'";
                    Diagnostic { field, ..Diagnostic::of_file(&*name, problem, remedy) }
                })?;
            let end = start + text.len() + 1;
            settings.push(Setting { name, start, path, text });
            start = end;
        }
        Ok(Self { settings })
    }
}

/// A text as errors show it: its beginning, if it is long.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

/// Whether settings are few and short enough to be looked at.
fn check_size(arguments: &[(String, String)]) -> Result<(), Diagnostic> {
    if arguments.len() > MAX_SETTINGS {
        let problem = format!("there are {} settings", arguments.len());
        return Err(Diagnostic::of_file("--set", problem, format!("give {MAX_SETTINGS} or fewer")));
    }
    for (key, value) in arguments {
        let parts = key.bytes().filter(|byte| *byte == b'.').count() + 1;
        for (what, count, most) in [
            ("bytes of a key", key.len(), MAX_KEY),
            ("parts of a key", parts, depth::MAX_PARTS),
            ("bytes of a value", value.len(), MAX_VALUE),
        ] {
            if count > most {
                let name = format!("--set \"{}\"", shortened(key));
                return Err(Diagnostic::of_file(name, format!("{count} {what}"), format!("give {most} or fewer")));
            }
        }
    }
    Ok(())
}

/// Whether something may be meant as text although it has no quotes.
fn is_word(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || "_-+./: ".contains(c))
}

/// Whether an argument without quotes means this very text, rather than a number or a boolean.
pub(crate) fn is_plain_text(text: &str) -> bool {
    is_word(text) && text.trim() == text && !is_one_value(&format!("value = {text}"))
}

/// Whether a text is one line of TOML, rather than none or several.
fn is_one_value(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|table| table.get_ref().len() == 1)
}

impl Setting {
    fn error(&self, depth: usize, problem: String, remedy: String) -> Diagnostic {
        Diagnostic { field: self.path[..=depth].join("."), ..Diagnostic::of_file(&*self.name, problem, remedy) }
    }

    /// Puts the value into a document.
    pub(crate) fn apply<'a>(&'a self, root: &mut Spanned<DeTable<'a>>) -> Result<(), Diagnostic> {
        // It was parsed before, so an empty table cannot come out here.
        let parsed = DeTable::parse(&self.text).map(Spanned::into_inner).unwrap_or_default();
        let Some((_, value)) = parsed.into_iter().next() else { return Ok(()) };
        let value = moved(value, self.start);
        let mut place = Place::Table(root.get_mut());
        for depth in 0..self.path.len() - 1 {
            let inner = self.step(depth, place)?;
            place = match inner.get_mut() {
                DeValue::Table(table) => Place::Table(table),
                DeValue::Array(list) => Place::List(list),
                _ => {
                    let problem = "this is not a table".to_owned();
                    return Err(self.error(depth, problem, "remove what follows it in the key".to_owned()));
                }
            };
        }
        let last = self.path.len() - 1;
        match place {
            Place::Table(table) => {
                table.remove(self.path[last].as_str());
                table.insert(self.key(last), value);
            }
            Place::List(list) => *self.element(last, list)? = value,
        }
        Ok(())
    }

    /// A part of the path as a key.
    fn key<'a>(&'a self, depth: usize) -> Spanned<Cow<'a, str>> {
        Spanned::new(self.start..self.start + 1, Cow::Borrowed(self.path[depth].as_str()))
    }

    /// What a part of the path leads to. A table that is not there is made.
    fn step<'p, 'a>(&'a self, depth: usize, place: Place<'p, 'a>) -> Result<&'p mut Spanned<DeValue<'a>>, Diagnostic> {
        match place {
            Place::Table(table) => {
                let empty = || Spanned::new(self.start..self.start + 1, DeValue::Table(DeTable::new()));
                Ok(table.entry(self.key(depth)).or_insert_with(empty))
            }
            Place::List(list) => self.element(depth, list),
        }
    }

    fn element<'p, 'a>(
        &self,
        depth: usize,
        list: &'p mut DeArray<'a>,
    ) -> Result<&'p mut Spanned<DeValue<'a>>, Diagnostic> {
        let count = list.len();
        self.path[depth].parse().ok().and_then(|index: usize| list.get_mut(index)).ok_or_else(|| {
            let range = match count {
                0 => "the list is empty".to_owned(),
                1 => "give 0, the only element".to_owned(),
                _ => format!("give 0 to {}", count - 1),
            };
            self.error(depth, format!("the list has no element \"{}\"", self.path[depth]), range)
        })
    }
}

/// Where a part of a path leads to something.
enum Place<'p, 'a> {
    Table(&'p mut DeTable<'a>),
    List(&'p mut DeArray<'a>),
}

/// A value with its spans moved, so that they tell where it is from. It is at most as deep as [`depth`] lets it be.
fn moved<'a>(value: Spanned<DeValue<'a>>, by: usize) -> Spanned<DeValue<'a>> {
    let further = |span: std::ops::Range<usize>| span.start + by..span.end + by;
    let span = further(value.span());
    let value = match value.into_inner() {
        DeValue::Array(list) => DeValue::Array(list.into_iter().map(|inner| moved(inner, by)).collect()),
        DeValue::Table(table) => {
            let pair = |(key, inner): (Spanned<Cow<'a, str>>, _)| {
                let span = further(key.span());
                (Spanned::new(span, key.into_inner()), moved(inner, by))
            };
            DeValue::Table(table.into_iter().map(pair).collect())
        }
        plain => plain,
    };
    Spanned::new(span, value)
}

#[cfg(test)]
mod tests {
    use crate::{Diagnostic, Document, Settings};

    const TEXT: &str = "seed = 1\n[policy]\nkind = \"dt\"\nalpha = [1, 2]\n[[load]]\nx = 1\n[[load]]\nx = 2\n";

    fn with<T>(
        arguments: &[(&str, &str)],
        read: impl FnOnce(&Document<'_>) -> Result<T, Diagnostic>,
    ) -> Result<T, String> {
        let arguments: Vec<_> = arguments.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        Settings::new(TEXT, &arguments)
            .and_then(|settings| Document::parse_with("a.toml", TEXT, &settings).and_then(|document| read(&document)))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_replaced_added_and_reached_in_lists() {
        let arguments = [
            ("seed", "7"),
            ("policy.kind", "abm"),
            ("policy.interval", "80us"),
            ("load.1.x", "5"),
            ("policy.alpha.0", "3"),
        ];
        with(&arguments, |document| {
            let root = document.root();
            assert_eq!(root.need("seed", "")?.integer()?, 7);
            let policy = root.table("policy")?.unwrap();
            assert_eq!(policy.need("kind", "")?.text()?, "abm");
            assert_eq!(policy.need("interval", "")?.duration()?.to_string(), "80us");
            assert!(policy.is_lenient() && !root.is_lenient());
            let alphas: Vec<f64> =
                policy.get("alpha").unwrap().list().unwrap().iter().map(|v| v.real().unwrap()).collect();
            assert_eq!(alphas, [3.0, 2.0]);
            let loads: Vec<u64> = root.tables("load")?.iter().map(|t| t.get("x").unwrap().integer().unwrap()).collect();
            assert_eq!(loads, [1, 5]);
            assert_eq!(root.keys(), ["policy", "load", "seed"], "in the order of the file, arguments last");
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn errors_name_the_argument() {
        let wrong = with(&[("seed", "5"), ("seed", "many")], |document| document.root().need("seed", "")?.integer());
        assert_eq!(
            wrong.unwrap_err(),
            "error: --set \"seed=many\": seed: this is a string\n  help: give a whole number"
        );
        let wrong = with(&[("load.2.x", "5")], |_| Ok(()));
        assert_eq!(
            wrong.unwrap_err(),
            "error: --set \"load.2.x=5\": load.2: the list has no element \"2\"\n  help: give 0 to 1"
        );
        let wrong = with(&[("seed.x", "5")], |_| Ok(()));
        assert!(wrong.unwrap_err().contains("seed: this is not a table"));
        for value in ["", "[1", "1\nb = 2", "\"a"] {
            assert!(with(&[("seed", value)], |_| Ok(())).unwrap_err().contains("is not a value"), "{value}");
        }
        assert!(with(&[("a..b", "1")], |_| Ok(())).unwrap_err().contains("is not a key"));
    }

    #[test]
    fn what_is_too_much_is_not_looked_at() {
        let refused = |key: String, value: String, problem: &str| {
            let wrong = with(&[(&key, &value)], |_| Ok(())).unwrap_err();
            assert!(wrong.contains(problem) && wrong.len() < 300, "{wrong}");
        };
        let one = || "1".to_owned();
        refused(vec!["a"; 100_000].join("."), one(), "199999 bytes of a key");
        refused(vec!["a"; 17].join("."), one(), "17 parts of a key");
        refused("a".to_owned(), "1".repeat(70_000), "70000 bytes of a value");
        refused("a".to_owned(), "[".repeat(30_000) + &"]".repeat(30_000), "more than 16 brackets");
        refused("a".to_owned(), "{a = ".repeat(100) + "1" + &"}".repeat(100), "more than 16 brackets");
        refused("a".to_owned(), format!("{{{} = 1}}", vec!["a"; 17].join(".")), "more than 16 parts");
        let many: Vec<(&str, &str)> = vec![("seed", "1"); 1_025];
        assert!(with(&many, |_| Ok(())).unwrap_err().contains("there are 1025 settings"));
        assert!(with(&many[..1_024], |_| Ok(())).is_ok());
        // As deep as it may be, it is read and written.
        let key = vec!["a"; 16].join(".");
        let value = format!("{}1{}", format!("{{{key} = ").repeat(16), "}".repeat(16));
        let thread = std::thread::Builder::new()
            .stack_size(1 << 20)
            .spawn(move || with(&[(&key, &value)], |document| Ok(document.root().to_toml())).unwrap());
        assert_eq!(thread.unwrap().join().unwrap().matches('a').count(), 16 * 17 + "alpha".matches('a').count() + 1);
    }

    #[test]
    fn files_that_are_too_deep_are_refused_where_they_are() {
        let wrong = |text: &str| Document::parse("a.toml", text).err().unwrap().to_string();
        let deep = vec!["a"; 100_000].join(".");
        for text in [format!("[{deep}]\n"), format!("[[{deep}]]\n"), format!("x = 1\n{deep} = 1\n")] {
            assert!(wrong(&text).contains("this key has more than 16 parts"), "{}", wrong(&text));
        }
        assert!(
            wrong(&format!("x = {}", "[".repeat(100_000)))
                .starts_with("error: a.toml:1: more than 16 brackets are open")
        );
        assert!(wrong(&format!("x = {}", "{a=".repeat(100_000))).contains("more than 16 brackets are open"));
    }

    #[test]
    fn settings_take_the_room_of_their_values() {
        let arguments: Vec<(String, String)> = vec![("seed".into(), "a word of thirty-one characters".into()); 1_000];
        let settings = Settings::new(TEXT, &arguments).unwrap();
        // Spans are told apart by numbers, not by blanks in front of every value.
        assert_eq!(settings.settings.iter().map(|setting| setting.text.len()).sum::<usize>(), 1_000 * (31 + 10));
        let starts: Vec<usize> = settings.settings.iter().map(|setting| setting.start).collect();
        assert!(starts[0] > TEXT.len() && starts.windows(2).all(|pair| pair[0] + 41 < pair[1]));
    }

    #[test]
    fn errors_elsewhere_still_name_the_line() {
        let wrong =
            with(&[("seed", "5")], |document| document.root().tables("load")?[1].need("y", "y = 1").map(|_| ()));
        assert_eq!(
            wrong.unwrap_err(),
            "error: a.toml:7: load.1.y: this key is missing\n  7 | [[load]]\n    | ^^^^^^^^\n  help: add y = 1 to [[load]]"
        );
    }
}
