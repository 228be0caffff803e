//! `--set`: settings that are changed by arguments.

use crate::Failure;

/// `KEY=VALUE` arguments, with the seed as one of them.
pub(crate) fn settings(sets: &[String], seed: Option<u64>) -> Result<Vec<(String, String)>, Failure> {
    let mut pairs = Vec::new();
    for set in sets {
        let Some((key, value)) = set.split_once('=') else {
            let help = "write --set KEY=VALUE, such as --set policy.alpha=0.5";
            return Err(Failure::refused(format_args!("--set {set}"), "there is no \"=\"", help));
        };
        pairs.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    if let Some(seed) = seed {
        pairs.push(("seed".to_owned(), seed.to_string()));
    }
    Ok(pairs)
}
