//! The verdicts in one small JSON file.

use super::{View, views};
use crate::claim::Claim;
use crate::figure::Paper;
use crate::record::Reproduction;
use serde_json::{Map, Value, json};

/// All claims of papers with their verdicts, a line each.
pub fn of(papers: &[Paper], all: &Reproduction) -> String {
    json(&views(papers, all), all)
}

/// All claims with their verdicts, a line each.
pub(crate) fn json(views: &[(&Paper, Vec<View<'_>>)], all: &Reproduction) -> String {
    let claims =
        views.iter().flat_map(|(_, views)| views).flat_map(|view| view.claims.iter().map(move |claim| (view, claim)));
    let lines: Vec<String> = claims.map(|(view, claim)| line(view, claim, all).to_string()).collect();
    let head = json!({ "version": all.version, "date": all.date, "scale": all.scale.name() }).to_string();
    format!("{},\"claims\":[\n{}\n]}}\n", head.trim_end_matches('}'), lines.join(",\n"))
}

fn line(view: &View<'_>, claim: &Claim, all: &Reproduction) -> Value {
    let verdict = claim.verdict(all.scale);
    let mut object = Map::new();
    let mut set = |key: &str, value: Value| object.insert(key.to_owned(), value);
    set("id", claim.id.as_str().into());
    set("figure", view.name().into());
    set("mark", claim.mark.word().into());
    set("section", claim.section.as_str().into());
    set("statement", claim.words.as_str().into());
    set("paper", claim.paper.as_str().into());
    set("ours", claim.ours.as_str().into());
    set("verdict", verdict.words().into());
    if let Some(reason) = claim.reason(all.scale) {
        if verdict.has_cause() {
            set("cause", claim.cause.map_or("", |cause| cause.word()).into());
            set("evidence", claim.evidence.as_slice().into());
        }
        set("reason", reason.into());
    }
    object.into()
}
