//! Text for the terminal.

pub(crate) use forebay_results::text::TextTable as Table;

/// A share as a percentage.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.2}%", 100.0 * part as f64 / whole as f64) }
}
