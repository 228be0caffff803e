//! A reproduction as one compressed JSON file: everything that panels and claims ask for, and nothing else.

use crate::figure::{Paper, Point, Scale};
use crate::metrics::Metrics;
use crate::table::{Row, Table};
use flate2::{Compression, GzBuilder, read::GzDecoder};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};

/// What a run of some figures at a scale has given.
pub struct Reproduction {
    /// The version of Forebay.
    pub version: String,
    /// The day, as "2026-11-15".
    pub date: String,
    /// How much was run.
    pub scale: Scale,
    /// In the order of the papers.
    pub figures: Vec<FigureResult>,
}

/// What there is of a figure.
pub struct FigureResult {
    /// The paper's id.
    pub paper: String,
    /// The figure's id.
    pub figure: String,
    /// What the scale says about itself.
    pub says: Option<String>,
    /// Jobs that are not finished.
    pub missing: usize,
    /// CPU seconds of all its runs: for the terminal alone, since they differ whenever it is run.
    pub cpu_seconds: f64,
    /// The numbers.
    pub table: Table,
}

impl Reproduction {
    /// The file. Only what the figures' panels and claims ask for is kept.
    pub fn to_json(&self, papers: &[Paper]) -> String {
        let figures = self.figures.iter().map(|result| {
            if let Some(figure) = find(papers, &result.paper, &result.figure) {
                figure.judged(&result.paper, &result.table);
                for panel in &figure.panels {
                    panel.plot(&result.table);
                }
            }
            let asked = result.table.asked();
            let first = result.table.stored().first().map(|row| row.point.seed);
            // Of curves, only those of the first seed are shown.
            let row = |row: &Row| row_to_json(row, &asked, Some(row.point.seed) == first);
            let rows: Vec<Value> = result.table.stored().iter().map(row).collect();
            json!({
                "paper": result.paper, "figure": result.figure, "says": result.says, "missing": result.missing,
                "rows": rows,
            })
        });
        let figures: Vec<Value> = figures.collect();
        let head = json!({ "version": self.version, "date": self.date, "scale": self.scale.name() });
        // A figure a line: a change of one shows as one.
        let head = head.to_string();
        let lines: Vec<String> = figures.iter().map(Value::to_string).collect();
        format!("{},\"figures\":[\n{}\n]}}\n", head.trim_end_matches('}'), lines.join(",\n"))
    }

    /// [`Reproduction::to_json`], compressed. The same numbers give the same bytes.
    pub fn to_gzip(&self, papers: &[Paper]) -> Vec<u8> {
        let mut writer = GzBuilder::new().mtime(0).filename("reproduction.json").write(Vec::new(), Compression::best());
        let written = writer.write_all(self.to_json(papers).as_bytes()).and_then(|()| writer.finish());
        written.expect("memory can be written")
    }

    /// Reads a file, compressed or not; the error says what is wrong with it.
    pub fn from_file(bytes: &[u8]) -> Result<Self, String> {
        let mut text = String::new();
        let read = if bytes.starts_with(&[0x1f, 0x8b]) {
            GzDecoder::new(bytes).read_to_string(&mut text)
        } else {
            (&*bytes).read_to_string(&mut text)
        };
        read.map_err(|error| format!("not a record: {error}"))?;
        Self::from_json(&text)
    }

    /// Reads such a text; the error says what is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let text_of = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
        let need = |value: &Value, key: &str| text_of(value, key).ok_or_else(|| format!("{key}: is missing"));
        let name = need(&value, "scale")?;
        let scale = Scale::ALL.into_iter().find(|scale| scale.name() == name);
        let scale = scale.ok_or_else(|| format!("scale: there is no \"{name}\""))?;
        let mut figures = Vec::new();
        for figure in value["figures"].as_array().ok_or("figures: is missing")? {
            let rows = figure["rows"].as_array().ok_or("rows: is missing")?;
            let rows: Option<Vec<Row>> = rows.iter().map(row_from_json).collect();
            figures.push(FigureResult {
                paper: need(figure, "paper")?,
                figure: need(figure, "figure")?,
                says: text_of(figure, "says"),
                missing: figure["missing"].as_u64().unwrap_or(0) as usize,
                cpu_seconds: 0.0,
                table: Table::new(scale, rows.ok_or("rows: one is not whole")?),
            });
        }
        Ok(Self { version: need(&value, "version")?, date: need(&value, "date")?, scale, figures })
    }

    /// Takes the figures that it does not have from an earlier one, which has to be of the same scale; the error says if it is not. All come
    /// in the order of the papers.
    pub fn completed_by(mut self, earlier: Self, papers: &[Paper]) -> Result<Self, String> {
        if earlier.scale != self.scale {
            return Err(format!("it is of the {} scale, not of the {} scale", earlier.scale.name(), self.scale.name()));
        }
        let has = |figures: &[FigureResult], other: &FigureResult| {
            figures.iter().any(|own| own.paper == other.paper && own.figure == other.figure)
        };
        let others: Vec<FigureResult> =
            earlier.figures.into_iter().filter(|other| !has(&self.figures, other)).collect();
        self.figures.extend(others);
        let order: Vec<(&str, &str)> =
            papers.iter().flat_map(|paper| paper.figures.iter().map(|figure| (paper.id, figure.id))).collect();
        let place = |result: &FigureResult| order.iter().position(|one| *one == (&result.paper, &result.figure));
        self.figures.sort_by_key(|result| place(result).unwrap_or(usize::MAX));
        Ok(self)
    }

    /// What there is of a figure.
    pub fn result(&self, paper: &str, figure: &str) -> Option<&FigureResult> {
        self.figures.iter().find(|result| result.paper == paper && result.figure == figure)
    }
}

fn find<'p>(papers: &'p [Paper], paper: &str, figure: &str) -> Option<&'p crate::figure::Figure> {
    let paper = papers.iter().find(|own| own.id == paper)?;
    paper.figures.iter().find(|own| own.id == figure)
}

fn pairs_to_json(pairs: &[(String, String)]) -> Value {
    pairs.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect::<Map<_, _>>().into()
}

fn pairs_from_json(value: &Value) -> Vec<(String, String)> {
    let pairs = value.as_object().into_iter().flatten();
    pairs.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

fn row_to_json(row: &Row, asked: &BTreeSet<String>, curves: bool) -> Value {
    let Point { variant, own, grid, parameters, seed } = &row.point;
    let mut object = Map::new();
    object.insert("variant".to_owned(), Value::from(variant.as_str()));
    object.insert("seed".to_owned(), Value::from(*seed));
    for (name, pairs) in [("own", own), ("grid", grid), ("parameters", parameters)] {
        if !pairs.is_empty() {
            object.insert(name.to_owned(), pairs_to_json(pairs));
        }
    }
    object.insert("metrics".to_owned(), metrics_to_json(&row.metrics, asked, curves));
    object.into()
}

fn row_from_json(value: &Value) -> Option<Row> {
    let point = Point {
        variant: value["variant"].as_str()?.to_owned(),
        own: pairs_from_json(&value["own"]),
        grid: pairs_from_json(&value["grid"]),
        parameters: pairs_from_json(&value["parameters"]),
        seed: value["seed"].as_u64()?,
    };
    Some(Row { point, metrics: metrics_from_json(&value["metrics"])? })
}

/// Numbers, and curves if they are wanted, with these names.
pub(crate) fn metrics_to_json(metrics: &Metrics, asked: &BTreeSet<String>, curves: bool) -> Value {
    let numbers = metrics.numbers().filter(|(name, _)| asked.contains(*name));
    let mut object: Map<String, Value> = numbers.map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
    for (name, points) in metrics.curves().filter(|(name, _)| curves && asked.contains(*name)) {
        let flat: Vec<Value> = points.iter().flat_map(|(x, y)| [Value::from(*x), Value::from(*y)]).collect();
        object.insert(name.to_owned(), flat.into());
    }
    object.into()
}

/// Reads what [`metrics_to_json`] has written; `None` if it is something else.
pub(crate) fn metrics_from_json(value: &Value) -> Option<Metrics> {
    let mut metrics = Metrics::default();
    for (name, value) in value.as_object()? {
        match value {
            Value::Array(flat) => {
                let flat: Option<Vec<f64>> = flat.iter().map(Value::as_f64).collect();
                metrics.curve(name, &flat?.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>());
            }
            value => metrics.set(name, value.as_f64()?),
        }
    }
    Some(metrics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::example;

    #[test]
    fn a_reproduction_comes_back_as_it_was() {
        let table = example();
        table.all().get("y");
        table.all().curve("line");
        // Curves of further seeds are not kept.
        let mut rows = table.rows().to_vec();
        for row in rows.iter_mut().filter(|row| row.point.seed != 1) {
            let y = row.metrics.get("y");
            row.metrics = Metrics::default();
            row.metrics.set("y", y);
        }
        let result = FigureResult {
            paper: "abm".into(),
            figure: "fig6".into(),
            says: Some("short".into()),
            missing: 3,
            cpu_seconds: 1.5,
            table,
        };
        let all =
            Reproduction { version: "1".into(), date: "2026-11-15".into(), scale: Scale::Quick, figures: vec![result] };
        let text = all.to_json(&[]);
        let back = Reproduction::from_json(&text).unwrap();
        assert_eq!(back.result("abm", "fig6").unwrap().table.rows(), rows);
        back.figures[0].table.all().get("y");
        back.figures[0].table.all().curve("line");
        assert_eq!(back.to_json(&[]), text);
        let bytes = all.to_gzip(&[]);
        assert!(bytes == all.to_gzip(&[]) && bytes.len() < text.len());
        assert_eq!(Reproduction::from_file(&bytes).unwrap().figures[0].table.rows(), rows);
        assert_eq!(Reproduction::from_file(text.as_bytes()).unwrap().figures[0].table.rows(), rows);
        assert!(Reproduction::from_file(&bytes[..20]).is_err());
        assert!(Reproduction::from_json("{}").is_err_and(|error| error == "scale: is missing"));
    }

    #[test]
    fn figures_that_were_not_run_again_stay() {
        let result = |paper: &str, figure: &str, missing| FigureResult {
            paper: paper.into(),
            figure: figure.into(),
            says: None,
            missing,
            cpu_seconds: 0.0,
            table: example(),
        };
        let all = |scale, figures| Reproduction { version: "1".into(), date: "2026-11-15".into(), scale, figures };
        let papers = crate::papers::all();
        let (id, figures) = (papers[0].id, &papers[0].figures);
        let earlier = all(Scale::Quick, vec![result(id, figures[0].id, 1), result(id, figures[1].id, 1)]);
        let new = all(Scale::Quick, vec![result(id, figures[2].id, 2), result(id, figures[1].id, 2)]);
        let both = new.completed_by(earlier, &papers).unwrap();
        let found: Vec<(&str, usize)> =
            both.figures.iter().map(|result| (result.figure.as_str(), result.missing)).collect();
        assert_eq!(found, [(figures[0].id, 1), (figures[1].id, 2), (figures[2].id, 2)]);
        let other = all(Scale::Full, Vec::new());
        assert!(both.completed_by(other, &papers).is_err_and(|error| error.contains("full")));
    }
}
