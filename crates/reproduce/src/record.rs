//! A reproduction as one compressed JSON file: everything that panels and claims ask for, and nothing else.

use crate::figure::{Paper, Scale};
use crate::table::{Row, Table};
use flate2::{Compression, GzBuilder, read::GzDecoder};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// The file: its head, then a figure a line, so that a change of one shows as one.
#[derive(Serialize, Deserialize)]
struct Record {
    version: String,
    date: String,
    scale: Scale,
    #[serde(skip_serializing)]
    figures: Vec<FigureRecord>,
}

#[derive(Serialize, Deserialize)]
struct FigureRecord {
    paper: String,
    figure: String,
    says: Option<String>,
    missing: usize,
    rows: Vec<Row>,
}

/// Texts by their names, in their order.
pub(crate) mod pairs {
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::{Map, Value};

    pub(crate) fn serialize<S: Serializer>(pairs: &[(String, String)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(pairs.iter().map(|(key, value)| (key, value)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, String)>, D::Error> {
        let text = |(key, value)| match value {
            Value::String(text) => Ok((key, text)),
            _ => Err(serde::de::Error::custom(format!("{key}: not a text"))),
        };
        Map::deserialize(from)?.into_iter().map(text).collect()
    }
}

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
            let row = |row: &Row| Row {
                point: row.point.clone(),
                metrics: row.metrics.only(&asked, Some(row.point.seed) == first),
            };
            FigureRecord {
                paper: result.paper.clone(),
                figure: result.figure.clone(),
                says: result.says.clone(),
                missing: result.missing,
                rows: result.table.stored().iter().map(row).collect(),
            }
        });
        let lines: Vec<String> = figures.map(|figure| serde_json::json!(figure).to_string()).collect();
        let Self { version, date, scale, .. } = self;
        let head = Record { version: version.clone(), date: date.clone(), scale: *scale, figures: Vec::new() };
        let head = serde_json::json!(head).to_string();
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
        let reader = &mut serde_json::Deserializer::from_str(text);
        let Record { version, date, scale, figures } =
            serde_path_to_error::deserialize(reader).map_err(|error| error.to_string())?;
        let figure = |FigureRecord { paper, figure, says, missing, rows }| FigureResult {
            paper,
            figure,
            says,
            missing,
            cpu_seconds: 0.0,
            table: Table::new(scale, rows),
        };
        Ok(Self { version, date, scale, figures: figures.into_iter().map(figure).collect() })
    }

    /// Takes the figures that it does not have from an earlier one, which has to be of the same scale; the error says
    /// if it is not. All come in the order of the papers.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;
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
        assert!(Reproduction::from_json("{}").is_err_and(|error| error.contains("missing field `version`")));
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
