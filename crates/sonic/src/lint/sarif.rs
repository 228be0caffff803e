//! Findings in SARIF 2.1.0, which code hosts show beside the file.

use crate::findings::Finding;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The most places that one result names.
const MOST_PLACES: usize = 100;

/// A log of one run.
pub fn sarif(file: &str, findings: &[Finding]) -> Value {
    let rules: BTreeSet<&str> = findings.iter().map(|finding| finding.rule).collect();
    let rules: Vec<Value> = rules.iter().map(|rule| json!({ "id": rule })).collect();
    let results: Vec<Value> = findings.iter().map(|finding| result(file, finding)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "forebay", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}

fn result(file: &str, finding: &Finding) -> Value {
    let place = |key: &String| {
        json!({
            "physicalLocation": { "artifactLocation": { "uri": file } },
            "logicalLocations": [{ "fullyQualifiedName": key }],
        })
    };
    let places: Vec<Value> = finding.keys.iter().take(MOST_PLACES).map(place).collect();
    json!({
        "ruleId": finding.rule,
        "level": finding.severity.as_str(),
        "message": { "text": format!("{} Traffic: {}. Cure: {}.", finding.why, finding.effect, finding.cure) },
        "locations": places,
    })
}
