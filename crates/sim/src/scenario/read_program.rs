//! The table `[chip.options]`: the options of a chip's program.

use forebay_pisa::programs::{FileProgram, ProgramConfig, TEXTS, TableEntry};
use forebay_settings::{Diagnostic, Table, Value, quoted, read_settings, setting_keys, setting_lines};

/// The keys of a program's options.
fn keys(mut program: ProgramConfig) -> Vec<&'static str> {
    program.settings().map_or_else(Vec::new, |settings| setting_keys(settings.fields()))
}

/// The programs that come with Forebay, with their default options.
pub(super) fn programs() -> impl Iterator<Item = ProgramConfig> {
    TEXTS.iter().filter_map(|(name, _)| ProgramConfig::by_name(name))
}

/// Reads a program's name and its options.
pub(super) fn read(name: &Value<'_>, options: Option<&Table<'_>>) -> Result<ProgramConfig, Diagnostic> {
    if name.text().is_ok_and(|name| name.ends_with(".pisa")) {
        return Ok(ProgramConfig::File(file(name, options)?));
    }
    let name = name.word(&TEXTS.map(|(name, _)| (name, name)))?;
    let mut program = ProgramConfig::by_name(name).expect("every text has a program");
    let Some(options) = options else { return Ok(program) };
    let elsewhere = |key: &str| programs().any(|program| keys(program).contains(&key));
    options.allow(&keys(program.clone()), elsewhere, name)?;
    if let Some(settings) = program.settings() {
        read_settings(options, settings)?;
    }
    Ok(program)
}

/// A program's options as lines of TOML.
pub(super) fn lines(program: &ProgramConfig) -> String {
    if let ProgramConfig::File(program) = program {
        let constants: Vec<String> =
            program.constants.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let entry = |TableEntry { table, key, result }: &TableEntry| {
            format!("{{ table = {}, key = {key:?}, result = {result:?} }}", quoted(table))
        };
        let entries: Vec<String> = program.entries.iter().map(entry).collect();
        return format!("constants = {{ {} }}\nentries = [{}]\n", constants.join(", "), entries.join(", "));
    }
    program.clone().settings().map_or_else(String::new, |settings| setting_lines(settings))
}

/// A program from a file, seen from the directory of the scenario.
fn file(name: &Value<'_>, options: Option<&Table<'_>>) -> Result<FileProgram, Diagnostic> {
    let path = name.directory().join(name.text()?);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let problem = match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no file {}", path.display()),
            _ => format!("cannot read {}: {error}", path.display()),
        };
        name.error(problem, "give the path of a program, seen from the directory of this file")
    })?;
    let mut program = FileProgram { file: path.display().to_string(), text, ..FileProgram::default() };
    // A result names it from wherever it is.
    if let Ok(path) = std::path::absolute(&path) {
        program.file = path.display().to_string();
    }
    let Some(options) = options else { return Ok(program) };
    options.allow(&["constants", "entries"], |_| false, "a program from a file")?;
    if let Some(constants) = options.table("constants")? {
        for key in constants.keys() {
            if let Some(value) = constants.get(key) {
                program.constants.push((key.to_owned(), value.integer()?));
            }
        }
    }
    for entry in options.tables("entries")? {
        entry.allow(&["table", "key", "result"], |_| false, "")?;
        let numbers = |key: &str| -> Result<Vec<u64>, Diagnostic> {
            let value = entry.need(key, &format!("{key} = [0]"))?;
            let list = value.list().ok_or_else(|| value.error("this is not a list", "give numbers such as [0, 7]"))?;
            list.iter().map(Value::integer).collect()
        };
        let table = entry.need("table", "table = \"places\"")?.text()?.to_owned();
        program.entries.push(TableEntry { table, key: numbers("key")?, result: numbers("result")? });
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_can_be_named() {
        let names: Vec<String> = programs().map(|program| program.name().to_owned()).collect();
        assert_eq!(names, TEXTS.map(|(name, _)| name));
    }
}
