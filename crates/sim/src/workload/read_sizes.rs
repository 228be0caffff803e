//! Size distributions as people write them: the name of a bundled one, the path of a file, a fixed size, or a table
//! such as `{ exponential = "100KB" }`, `{ uniform = ["1KB", "2KB"] }` or `{ points = [[1000, 0.5], [2000, 1.0]] }`.

use super::WorkloadContext;
use super::bundled::BUNDLED;
use super::distribution::{Interpolation, SizeDistribution};
use forebay_settings::{Diagnostic, Table, Value, nearest};
use forebay_tm::Bytes;
use std::fmt::Write as _;

/// The text of a file that a key names, and what errors call it.
pub(super) fn read_file(value: &Value<'_>, context: &WorkloadContext<'_>) -> Result<(String, String), Diagnostic> {
    let path = context.directory.join(value.text()?);
    let name = path.display().to_string();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            let problem = match error.kind() {
                std::io::ErrorKind::NotFound => format!("there is no file {name}"),
                std::io::ErrorKind::InvalidData => format!("{name} is not UTF-8 text"),
                _ => format!("{name} cannot be read: {error}"),
            };
            Err(value.error(problem, "give the path of a file, seen from the directory of this one"))
        }
    }
}

/// A size of at least one byte.
pub(super) fn size(value: &Value<'_>) -> Result<Bytes, Diagnostic> {
    let bytes = value.bytes()?;
    // Payload is counted in bits and in doubles; nobody needs more.
    if bytes == Bytes::ZERO || bytes.get() > 1 << 53 {
        return Err(value.error(format!("{bytes} is not the size of a flow"), "give 1 byte to 2^53 bytes"));
    }
    Ok(bytes)
}

/// The distribution of a key that must be there, with the key `interpolation` beside it.
pub(super) fn sizes(
    table: &Table<'_>,
    key: &str,
    context: &WorkloadContext<'_>,
) -> Result<SizeDistribution, Diagnostic> {
    let value = table.need(key, &format!("{key} = \"websearch\""))?;
    let steps = [("linear", Interpolation::Linear), ("step", Interpolation::Step)];
    let given = table.get("interpolation");
    let interpolation = given.as_ref().map(|value| value.word(&steps)).transpose()?;
    let sizes = if value.is_text() {
        from_text(&value, interpolation, context)?
    } else if let Ok(Some(inner)) = table.table(key) {
        from_table(&value, &inner, interpolation)?
    } else {
        SizeDistribution::Fixed(size(&value)?)
    };
    match given {
        Some(given) if !matches!(sizes, SizeDistribution::Table { .. }) => {
            Err(given.error("there are no points to interpolate between", "remove this key"))
        }
        _ => Ok(sizes),
    }
}

fn from_text(
    value: &Value<'_>,
    interpolation: Option<Interpolation>,
    context: &WorkloadContext<'_>,
) -> Result<SizeDistribution, Diagnostic> {
    let text = value.text()?;
    if let Some(sizes) = SizeDistribution::bundled_as(text, interpolation) {
        return Ok(sizes);
    }
    let is_path = text.contains('/') || [".txt", ".csv", ".cdf", ".tsv", ".dat"].iter().any(|end| text.ends_with(end));
    if is_path {
        let (name, text) = read_file(value, context)?;
        return SizeDistribution::parse(&name, &text, interpolation);
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return size(value).map(SizeDistribution::Fixed);
    }
    let names: Vec<&str> = BUNDLED.iter().map(|(name, _)| *name).collect();
    let remedy = match nearest(text, &names) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!(
            "give a size such as \"2MB\", the path of a .txt or .csv file, or one of \"{}\"",
            names.join("\", \"")
        ),
    };
    Err(value.error(format!("there is no distribution \"{text}\""), remedy))
}

fn from_table(
    value: &Value<'_>,
    table: &Table<'_>,
    interpolation: Option<Interpolation>,
) -> Result<SizeDistribution, Diagnostic> {
    const KINDS: [&str; 3] = ["uniform", "exponential", "points"];
    table.allow(&KINDS, |_| false, "")?;
    let given: Vec<Value<'_>> = KINDS.iter().filter_map(|kind| table.get(kind)).collect();
    let [inner] = given.as_slice() else {
        return Err(value.error("this must have one key", "give one of uniform, exponential and points"));
    };
    if table.has("exponential") {
        return Ok(SizeDistribution::Exponential { mean: size(inner)? });
    }
    if table.has("uniform") {
        let example = "give the smallest and the largest size, such as [\"1KB\", \"2KB\"]";
        let Some([min, max]) = inner.list().and_then(|list| <[Value<'_>; 2]>::try_from(list).ok()) else {
            return Err(inner.error("this is not a range of sizes", example));
        };
        let (min, max) = (size(&min)?, size(&max)?);
        return if min <= max {
            Ok(SizeDistribution::Uniform { min, max })
        } else {
            Err(inner.error(format!("{min} is larger than {max}"), example))
        };
    }
    from_points(inner, interpolation)
}

/// Points are checked as a file with a line for each; errors are shown at the point.
fn from_points(value: &Value<'_>, interpolation: Option<Interpolation>) -> Result<SizeDistribution, Diagnostic> {
    let example = "give sizes with their cumulative probabilities, such as [[1000, 0.5], [2000, 1.0]]";
    let points = value.list().ok_or_else(|| value.error("this is not a list of points", example))?;
    let mut text = String::new();
    for point in &points {
        let Some([bytes, probability]) = point.list().and_then(|list| <[Value<'_>; 2]>::try_from(list).ok()) else {
            return Err(point.error("this is not a point", example));
        };
        let _ = writeln!(text, "{} {}", bytes.bytes()?.get(), probability.real()?);
    }
    SizeDistribution::parse("", &text, interpolation).map_err(|error| {
        let point = error.line.and_then(|line| points.get(line - 1)).unwrap_or(value);
        point.error(error.problem, error.remedy)
    })
}
