//! Settings given as arguments, `--set policy.kind=abm`, that change a document before it is read.

use crate::diagnostic::Diagnostic;
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What some arguments change in a document.
///
/// A value is TOML, or a bare word or number with a unit, which is taken as text: `abm`, `80us`. A key is a path of keys, with
/// a number for an element of a list: `workload.0.load`. Tables on the way are made if they are not there.
#[derive(Debug, Default)]
pub struct Settings {
    pub(crate) settings: Vec<Setting>,
}

/// One argument.
#[derive(Debug)]
pub(crate) struct Setting {
    /// What errors call it.
    pub(crate) name: String,
    /// Where its spans begin: behind the text of the file and all other arguments, so that a span tells where it is from.
    pub(crate) start: usize,
    path: Vec<String>,
    /// `value = ...`, behind so many blanks that the spans begin at `start`.
    text: String,
}

impl Settings {
    /// Takes pairs of a key and a value, in the order in which they are to be applied to `text`.
    pub fn new(text: &str, arguments: &[(String, String)]) -> Result<Self, Diagnostic> {
        let mut start = text.len() + 1;
        let mut settings = Vec::with_capacity(arguments.len());
        for (key, value) in arguments {
            let name = format!("--set \"{key}={value}\"");
            let path: Vec<String> = key.split('.').map(|part| part.trim().to_owned()).collect();
            if path.iter().any(String::is_empty) {
                let remedy = "write KEY=VALUE with the key's tables before it, such as policy.alpha=0.5";
                return Err(Diagnostic::of_file(name, format!("\"{key}\" is not a key"), remedy));
            }
            let blanks = " ".repeat(start);
            let text = [value.trim().to_owned(), format!("\"{}\"", value.trim())]
                .into_iter()
                .enumerate()
                .filter(|(quoted, _)| *quoted == 0 || is_word(value.trim()))
                .map(|(_, value)| format!("{blanks}value = {value}"))
                .find(|text| is_one_value(text))
                .ok_or_else(|| {
                    let remedy = "give a number, a word, or TOML, such as 0.5, 80us, '\"a text\"' or '[1, 2]'";
                    Diagnostic {
                        field: key.clone(),
                        ..Diagnostic::of_file(&*name, format!("\"{value}\" is not a value"), remedy)
                    }
                })?;
            let end = text.len() + 1;
            settings.push(Setting { name, start, path, text });
            start = end;
        }
        Ok(Self { settings })
    }
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
        self.put(0, root.get_mut(), value)
    }

    /// Puts the value where the path from `depth` on leads in a table.
    fn put<'a>(&'a self, depth: usize, table: &mut DeTable<'a>, value: Spanned<DeValue<'a>>) -> Result<(), Diagnostic> {
        let key = self.path[depth].as_str();
        let span = self.start..self.start + 1;
        let name = Spanned::new(span.clone(), Cow::Borrowed(key));
        if depth + 1 == self.path.len() {
            table.remove(key);
            table.insert(name, value);
            return Ok(());
        }
        let inner = table.entry(name).or_insert_with(|| Spanned::new(span, DeValue::Table(DeTable::new())));
        self.put_inside(depth + 1, inner, value)
    }

    /// Puts the value where the path from `depth` on leads in a value.
    fn put_inside<'a>(
        &'a self,
        depth: usize,
        place: &mut Spanned<DeValue<'a>>,
        value: Spanned<DeValue<'a>>,
    ) -> Result<(), Diagnostic> {
        let list = match place.get_mut() {
            DeValue::Table(table) => return self.put(depth, table, value),
            DeValue::Array(list) => list,
            _ => {
                let problem = "this is not a table".to_owned();
                return Err(self.error(depth - 1, problem, "remove what follows it in the key".to_owned()));
            }
        };
        let count = list.len();
        let element = self.path[depth].parse().ok().and_then(|index: usize| list.get_mut(index)).ok_or_else(|| {
            let range = match count {
                0 => "the list is empty".to_owned(),
                1 => "give 0, the only element".to_owned(),
                _ => format!("give 0 to {}", count - 1),
            };
            self.error(depth, format!("the list has no element \"{}\"", self.path[depth]), range)
        })?;
        if depth + 1 == self.path.len() {
            *element = value;
            return Ok(());
        }
        self.put_inside(depth + 1, element, value)
    }
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
    fn errors_elsewhere_still_name_the_line() {
        let wrong =
            with(&[("seed", "5")], |document| document.root().tables("load")?[1].need("y", "y = 1").map(|_| ()));
        assert_eq!(
            wrong.unwrap_err(),
            "error: a.toml:7: load.1.y: this key is missing\n  7 | [[load]]\n    | ^^^^^^^^\n  help: add y = 1 to [[load]]"
        );
    }
}
