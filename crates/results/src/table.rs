//! Small tables in columns, as they go to files.

use crate::error::ResultError;
use crate::file::write_whole;
use crate::parquet_file;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

/// Texts that repeat, each kept once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The different texts, in order of first use.
    names: Vec<String>,
    /// For each row, the index of its text.
    codes: Vec<u32>,
}

impl Texts {
    /// Adds a row. A column has few different texts (names of workloads, switches, settings): they are searched in
    /// turn, from the one used last.
    pub(crate) fn push(&mut self, text: &str) {
        let last = self.codes.last().map(|code| *code as usize).filter(|last| self.names[*last] == text);
        let code = last.or_else(|| self.names.iter().position(|name| name == text)).unwrap_or_else(|| {
            self.names.push(text.to_owned());
            self.names.len() - 1
        });
        self.codes.push(code as u32);
    }

    /// The text of a row.
    pub fn get(&self, row: usize) -> &str {
        &self.names[self.code(row)]
    }

    /// The different texts.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Which of the different texts a row has.
    pub(crate) fn code(&self, row: usize) -> usize {
        self.codes[row] as usize
    }
}

/// Texts that come one by one, of which there may be many different ones.
#[derive(Default)]
struct TextsBuilder<'a> {
    texts: Texts,
    codes: HashMap<&'a str, u32>,
    /// Where texts lie that were pushed lately, with their codes: most come again from the same place.
    recent: [Option<(&'a str, u32)>; 16],
}

impl<'a> TextsBuilder<'a> {
    fn push(&mut self, text: &'a str) {
        let recent = &mut self.recent[(text.as_ptr() as usize >> 4) % 16];
        if let Some((_, code)) = recent.filter(|(known, _)| core::ptr::eq(*known, text)) {
            self.texts.codes.push(code);
            return;
        }
        let names = &mut self.texts.names;
        let code = *self.codes.entry(text).or_insert_with(|| {
            names.push(text.to_owned());
            names.len() as u32 - 1
        });
        *recent = Some((text, code));
        self.texts.codes.push(code);
    }
}

/// The values of a column, one for each row; where a value is absent, there is a placeholder.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Whole numbers.
    Int64(Vec<i64>),
    /// Floating-point numbers.
    Float64(Vec<f64>),
    /// Texts.
    Text(Texts),
    /// Yes or no.
    Bool(Vec<bool>),
}

impl Data {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Int64(values) => values.len(),
            Self::Float64(values) => values.len(),
            Self::Text(texts) => texts.codes.len(),
            Self::Bool(values) => values.len(),
        }
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    name: String,
    optional: bool,
    /// Whether each row has a value; empty if all have.
    present: Vec<bool>,
    data: Data,
}

impl Column {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether values may be absent: part of the column's type, not a matter of what happens to be in it.
    pub fn is_optional(&self) -> bool {
        self.optional
    }

    /// The values.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Whether a row has a value.
    pub fn is_present(&self, row: usize) -> bool {
        self.present.get(row).copied().unwrap_or(true)
    }

    /// Whether all rows are known to have a value.
    pub(crate) fn is_complete(&self) -> bool {
        self.present.is_empty()
    }

    /// The whole number of a row; `None` if it is absent or the column holds something else.
    pub fn int(&self, row: usize) -> Option<i64> {
        match &self.data {
            Data::Int64(values) if self.is_present(row) => values.get(row).copied(),
            _ => None,
        }
    }

    /// The number of a row, whole or not; `None` if it is absent or the column holds something else.
    pub fn number(&self, row: usize) -> Option<f64> {
        match &self.data {
            Data::Float64(values) if self.is_present(row) => values.get(row).copied(),
            _ => self.int(row).map(|value| value as f64),
        }
    }

    /// The text of a row; `None` if it is absent or the column holds something else.
    pub fn text(&self, row: usize) -> Option<&str> {
        match &self.data {
            Data::Text(texts) if self.is_present(row) => Some(texts.get(row)),
            _ => None,
        }
    }

    /// Yes or no in a row; `None` if it is absent or the column holds something else.
    pub fn bool(&self, row: usize) -> Option<bool> {
        match &self.data {
            Data::Bool(values) if self.is_present(row) => values.get(row).copied(),
            _ => None,
        }
    }

    /// A value as it stands in a CSV file.
    fn write_cell(&self, row: usize, line: &mut String) {
        if !self.is_present(row) {
            return;
        }
        // Writing to a string cannot fail.
        let _ = match &self.data {
            Data::Int64(values) => write!(line, "{}", values[row]),
            Data::Float64(values) => write!(line, "{}", values[row]),
            Data::Text(texts) => {
                write_quoted(texts.get(row), line);
                Ok(())
            }
            Data::Bool(values) => write!(line, "{}", values[row]),
        };
    }
}

/// Quotes a text where it needs it; the empty text does, to be different from none.
fn write_quoted(text: &str, line: &mut String) {
    if !text.is_empty() && !text.contains([',', '"', '\n', '\r']) {
        line.push_str(text);
        return;
    }
    line.push('"');
    line.push_str(&text.replace('"', "\"\""));
    line.push('"');
}

/// A table: named columns of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
}

impl Table {
    /// A table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// A column by name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Adds a column. `present` is empty if every row has a value.
    pub(crate) fn add(&mut self, name: &str, optional: bool, mut present: Vec<bool>, data: Data) {
        assert!(self.columns.is_empty() || data.len() == self.rows(), "column {name} has another length");
        assert!(self.column(name).is_none(), "column {name} is there twice");
        if present.iter().all(|is_present| *is_present) {
            present.clear();
        }
        self.columns.push(Column { name: name.to_owned(), optional, present, data });
    }

    fn add_optional<T: Default>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = Option<T>>,
        data: impl FnOnce(Vec<T>) -> Data,
    ) {
        let (present, values) = values.into_iter().map(|value| (value.is_some(), value.unwrap_or_default())).unzip();
        self.add(name, true, present, data(values));
    }

    /// Adds a column of whole numbers. Columns must have the same length and different names; anything else is a
    /// mistake in the program, here as in the other ways to add a column.
    pub fn int(&mut self, name: &str, values: impl IntoIterator<Item = i64>) {
        self.add(name, false, Vec::new(), Data::Int64(values.into_iter().collect()));
    }

    /// Adds a column of counts; counts above 2^63 - 1 are cut to that.
    pub fn count(&mut self, name: &str, values: impl IntoIterator<Item = u64>) {
        self.int(name, values.into_iter().map(saturated));
    }

    /// Adds a column of whole numbers, some of which may be absent.
    pub fn optional_int(&mut self, name: &str, values: impl IntoIterator<Item = Option<i64>>) {
        self.add_optional(name, values, Data::Int64);
    }

    /// Adds a column of counts, some of which may be absent.
    pub fn optional_count(&mut self, name: &str, values: impl IntoIterator<Item = Option<u64>>) {
        self.optional_int(name, values.into_iter().map(|value| value.map(saturated)));
    }

    /// Adds a column of floating-point numbers.
    pub fn float(&mut self, name: &str, values: impl IntoIterator<Item = f64>) {
        self.add(name, false, Vec::new(), Data::Float64(values.into_iter().collect()));
    }

    /// Adds a column of floating-point numbers, some of which may be absent; NaN is absent.
    pub fn optional_float(&mut self, name: &str, values: impl IntoIterator<Item = Option<f64>>) {
        self.add_optional(name, values.into_iter().map(|value| value.filter(|value| !value.is_nan())), Data::Float64);
    }

    /// Adds a column of texts.
    pub fn text<'a>(&mut self, name: &str, values: impl IntoIterator<Item = &'a str>) {
        let (values, mut texts) = (values.into_iter(), TextsBuilder::default());
        texts.texts.codes.reserve(values.size_hint().0);
        values.for_each(|value| texts.push(value));
        self.add(name, false, Vec::new(), Data::Text(texts.texts));
    }

    /// Adds a column of texts that have numbers: each is looked at once, not in every row.
    pub fn numbered_text<'a>(
        &mut self,
        name: &str,
        numbers: impl IntoIterator<Item = u32>,
        text: impl Fn(u32) -> &'a str,
    ) {
        let (numbers, mut texts, mut codes) = (numbers.into_iter(), Texts::default(), Vec::new());
        texts.codes.reserve(numbers.size_hint().0);
        for number in numbers {
            let number = number as usize;
            if codes.len() <= number {
                codes.resize(number + 1, None);
            }
            match codes[number] {
                Some(code) => texts.codes.push(code),
                None => {
                    texts.push(text(number as u32));
                    codes[number] = texts.codes.last().copied();
                }
            }
        }
        self.add(name, false, Vec::new(), Data::Text(texts));
    }

    /// Adds a column of texts, some of which may be absent.
    pub fn optional_text<'a>(&mut self, name: &str, values: impl IntoIterator<Item = Option<&'a str>>) {
        let (mut texts, mut present) = (TextsBuilder::default(), Vec::new());
        for value in values {
            present.push(value.is_some());
            texts.push(value.unwrap_or_default());
        }
        self.add(name, true, present, Data::Text(texts.texts));
    }

    /// Adds a column of yes and no.
    pub fn bool(&mut self, name: &str, values: impl IntoIterator<Item = bool>) {
        self.add(name, false, Vec::new(), Data::Bool(values.into_iter().collect()));
    }

    /// Adds a column of yes and no, some of which may be absent.
    pub fn optional_bool(&mut self, name: &str, values: impl IntoIterator<Item = Option<bool>>) {
        self.add_optional(name, values, Data::Bool);
    }

    /// Writes a Parquet file. The same table gives the same bytes.
    pub fn write_parquet(&self, path: &Path) -> Result<(), ResultError> {
        write_whole(path, |writer| parquet_file::write(self, writer))
    }

    /// Reads a Parquet file of whole numbers (64 bits), doubles, UTF-8 texts and booleans without nesting.
    pub fn read_parquet(path: &Path) -> Result<Self, ResultError> {
        let file = std::fs::File::open(path).map_err(|error| ResultError::cannot_read(path, &error))?;
        parquet_file::read(file).map_err(|error| ResultError::cannot_read(path, &error))
    }

    /// Writes a CSV file with a header: lines end in a line feed, absent values are empty, numbers are as short as they
    /// can be without loss, and texts with commas, quotes or line ends are quoted.
    pub fn write_csv(&self, path: &Path) -> Result<(), ResultError> {
        write_whole(path, |writer| self.write_csv_to(writer))
    }

    /// The rows as JSON objects, with columns as keys; what is absent is null.
    pub fn to_json(&self) -> serde_json::Value {
        let value = |column: &Column, row: usize| match &column.data {
            _ if !column.is_present(row) => serde_json::Value::Null,
            Data::Int64(values) => values[row].into(),
            Data::Float64(values) => values[row].into(),
            Data::Text(texts) => texts.get(row).into(),
            Data::Bool(values) => values[row].into(),
        };
        let object = |row| self.columns.iter().map(|column| (column.name.clone(), value(column, row))).collect();
        (0..self.rows()).map(|row| serde_json::Value::Object(object(row))).collect()
    }

    fn write_csv_to(&self, writer: &mut impl Write) -> io::Result<()> {
        self.write_csv_header(writer)?;
        self.write_csv_rows(writer)
    }

    pub(crate) fn write_csv_header(&self, writer: &mut impl Write) -> io::Result<()> {
        let mut line = String::new();
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                line.push(',');
            }
            write_quoted(&column.name, &mut line);
        }
        line.push('\n');
        writer.write_all(line.as_bytes())
    }

    pub(crate) fn write_csv_rows(&self, writer: &mut impl Write) -> io::Result<()> {
        let mut line = String::new();
        for row in 0..self.rows() {
            line.clear();
            for (index, column) in self.columns.iter().enumerate() {
                if index > 0 {
                    line.push(',');
                }
                column.write_cell(row, &mut line);
            }
            line.push('\n');
            writer.write_all(line.as_bytes())?;
        }
        Ok(())
    }
}

fn saturated(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Table {
        let mut table = Table::new();
        table.int("n", [1, -2, i64::MAX]);
        table.optional_count("end_ps", [Some(u64::MAX), None, Some(0)]);
        table.float("x", [0.1, -0.0, 1e300]);
        table.optional_float("slowdown", [None, Some(f64::NAN), Some(1.5)]);
        table.text("name", ["plain", "with, comma", "quote \" and\nline"]);
        table.optional_text("note", [Some(""), None, Some("é")]);
        table.bool("yes", [true, false, true]);
        table.optional_bool("maybe", [None, Some(true), Some(false)]);
        table
    }

    fn round_trip(table: &Table) -> Table {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table.parquet");
        table.write_parquet(&path).unwrap();
        Table::read_parquet(&path).unwrap()
    }

    #[test]
    fn parquet_keeps_every_value_and_absence() {
        let back = round_trip(&sample());
        assert_eq!(back, sample());
        assert_eq!(back.column("end_ps").unwrap().int(0), Some(i64::MAX));
        assert_eq!(back.column("end_ps").unwrap().int(1), None);
        assert_eq!(back.column("slowdown").unwrap().number(1), None);
        assert_eq!(back.column("note").unwrap().text(0), Some(""));
        assert_eq!(back.column("note").unwrap().text(1), None);
        assert_eq!(back.column("maybe").unwrap().bool(2), Some(false));
        assert!(back.column("nothing").is_none());
    }

    #[test]
    fn a_table_without_rows_keeps_its_columns() {
        let mut table = Table::new();
        table.int("n", []);
        table.optional_text("t", []);
        assert_eq!(round_trip(&table), table);
    }

    #[test]
    fn several_row_groups_and_a_column_without_a_single_value() {
        let rows = 3 * parquet_file::ROWS_PER_GROUP + 7;
        let mut table = Table::new();
        table.count("n", 0..rows as u64);
        table.optional_int("none", std::iter::repeat_n(None, rows));
        table.optional_float("some", (0..rows).map(|row| (row % 3 == 0).then_some(row as f64 / 7.0)));
        table.text("name", (0..rows).map(|row| ["a", "b"][row % 2]));
        assert_eq!(round_trip(&table), table);
    }

    #[test]
    fn the_same_table_gives_the_same_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let bytes = |name: &str| {
            let path = directory.path().join(name);
            sample().write_parquet(&path).unwrap();
            std::fs::read(path).unwrap()
        };
        assert_eq!(bytes("a"), bytes("b"));
    }

    #[test]
    fn csv_quotes_what_needs_it_and_tells_empty_from_absent() {
        let mut text = Vec::new();
        sample().write_csv_to(&mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "n,end_ps,x,slowdown,name,note,yes,maybe\n\
             1,9223372036854775807,0.1,,plain,\"\",true,\n\
             -2,,-0,,\"with, comma\",,false,true\n\
             9223372036854775807,0,1"
                .to_owned()
                + &"0".repeat(300)
                + ",1.5,\"quote \"\" and\nline\",é,true,false\n"
        );
    }

    #[test]
    fn json_tells_absent_from_empty() {
        let rows = sample().to_json();
        assert_eq!((&rows[0]["note"], &rows[1]["note"]), (&"".into(), &serde_json::Value::Null));
        assert_eq!((&rows[1]["n"], &rows[2]["slowdown"], &rows[2]["yes"]), (&(-2).into(), &1.5.into(), &true.into()));
        assert_eq!(rows.as_array().unwrap().len(), 3);
    }

    #[test]
    fn what_is_not_parquet_is_told_with_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("flows.parquet");
        std::fs::write(&path, "not at all").unwrap();
        let error = Table::read_parquet(&path).unwrap_err();
        assert!(error.to_string().contains("flows.parquet: cannot read it"), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert!(Table::read_parquet(&path).unwrap_err().problem.contains("No such file"));
    }

    #[test]
    #[should_panic(expected = "column b has another length")]
    fn columns_have_one_length() {
        let mut table = Table::new();
        table.int("a", [1, 2]);
        table.int("b", [1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_table_survives_parquet(
            rows in proptest::collection::vec(
                (any::<Option<i64>>(), proptest::option::of(-1e300..1e300), proptest::option::of(".{0,4}"), any::<Option<bool>>()),
                0..200,
            )
        ) {
            let mut table = Table::new();
            table.optional_int("i", rows.iter().map(|row| row.0));
            table.optional_float("f", rows.iter().map(|row| row.1));
            table.optional_text("t", rows.iter().map(|row| row.2.as_deref()));
            table.optional_bool("b", rows.iter().map(|row| row.3));
            prop_assert_eq!(round_trip(&table), table);
        }
    }
}
