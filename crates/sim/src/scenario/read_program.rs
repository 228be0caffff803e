//! The table `[chip.options]`: the options of a chip's program.

use forebay_pisa::programs::{
    AifoProgram, DeflectProgram, FbProgram, FileProgram, Form, Notify, OccamyProgram, ProgramConfig, SpPifoProgram,
    TEXTS, TableEntry, TrimDepthProgram, TrimNProgram, TrimProgram,
};
use forebay_settings::{Diagnostic, Table, Value};

/// Who can be told.
pub(super) const NOTIFY: [(&str, Notify); 3] = [("all", Notify::All), ("one", Notify::One), ("nobody", Notify::Nobody)];

/// A program by its name, the keys of its options, and how these are read.
type Program = (&'static str, &'static [&'static str], fn(&Options<'_, '_>) -> Result<ProgramConfig, Diagnostic>);

/// The programs that come with Forebay.
const PROGRAMS: [Program; TEXTS.len()] = [
    ("aifo", &["capacity", "packet", "headroom", "sample", "workers"], |it| it.aifo().map(ProgramConfig::Aifo)),
    ("deflect", &[], |_| Ok(ProgramConfig::Deflect(DeflectProgram::default()))),
    ("fb", &["alpha", "groups", "interval", "congested", "single"], |it| it.fb().map(ProgramConfig::Fb)),
    ("occamy", &["alpha", "expel", "syncs"], |it| it.occamy().map(ProgramConfig::Occamy)),
    ("sp-pifo", &[], |_| Ok(ProgramConfig::SpPifo(SpPifoProgram))),
    ("trim", &TRIM, |it| it.trim(Form::Router).map(ProgramConfig::Trim)),
    ("trim-depth", &["limit"], |it| it.trim_depth().map(ProgramConfig::TrimDepth)),
    ("trim-n", &["packets", "notify", "burst"], |it| it.trim_n().map(ProgramConfig::TrimN)),
    ("trim-sonic", &TRIM, |it| it.trim(Form::Sonic).map(ProgramConfig::Trim)),
];

const TRIM: [&str; 5] = ["pessimistic", "half", "share", "notify", "burst"];

/// Reads a program's name and its options.
pub(super) fn read(name: &Value<'_>, options: Option<&Table<'_>>) -> Result<ProgramConfig, Diagnostic> {
    if name.text().is_ok_and(|name| name.ends_with(".pisa")) {
        return Ok(ProgramConfig::File(file(name, options)?));
    }
    let words = PROGRAMS.map(|program| (program.0, program));
    let (name, keys, read) = name.word(&words)?;
    if let Some(options) = options {
        let elsewhere = |key: &str| PROGRAMS.iter().any(|(_, keys, _)| keys.contains(&key));
        options.allow(keys, elsewhere, name)?;
    }
    read(&Options(options))
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

/// The table, if there is one.
struct Options<'a, 'd>(Option<&'a Table<'d>>);

impl<'d> Options<'_, 'd> {
    fn get(&self, key: &str) -> Option<Value<'d>> {
        self.0.and_then(|table| table.get(key))
    }

    fn number(&self, key: &str, default: u64) -> Result<u64, Diagnostic> {
        self.get(key).map_or(Ok(default), |value| value.integer())
    }

    fn bytes(&self, key: &str, default: u64) -> Result<u64, Diagnostic> {
        self.get(key).map_or(Ok(default), |value| Ok(value.bytes()?.get()))
    }

    fn boolean(&self, key: &str, default: bool) -> Result<bool, Diagnostic> {
        self.get(key).map_or(Ok(default), |value| value.boolean())
    }

    fn real(&self, key: &str, default: f64) -> Result<f64, Diagnostic> {
        self.get(key).map_or(Ok(default), |value| value.real())
    }

    /// A time in whole nanoseconds, in which chips count.
    fn nanoseconds(&self, key: &str, default: u64) -> Result<u64, Diagnostic> {
        let Some(value) = self.get(key) else { return Ok(default) };
        let time = value.duration()?;
        if time.ps() % 1_000 != 0 {
            return Err(value.error("the chip's clock counts nanoseconds", "give whole nanoseconds"));
        }
        Ok(time.ps() / 1_000)
    }

    fn notify(&self, default: Notify) -> Result<Notify, Diagnostic> {
        self.get("notify").map_or(Ok(default), |value| value.word(&NOTIFY))
    }

    fn trim(&self, form: Form) -> Result<TrimProgram, Diagnostic> {
        let default = TrimProgram::default();
        let share = self.get("share").map(|value| {
            let share = value.real()?;
            if (0.0..=1.0).contains(&share) {
                Ok((share * 1_000.0).round() as u64)
            } else {
                Err(value.error("this is no share of a port's rate", "give 0 to 1"))
            }
        });
        let pessimistic = self.nanoseconds("pessimistic", default.pessimistic)?;
        Ok(TrimProgram {
            form,
            pessimistic,
            half: self.nanoseconds("half", 3 * pessimistic)?,
            share: share.transpose()?,
            notify: self.notify(default.notify)?,
            burst: self.bytes("burst", default.burst)?,
            header_queue: 0,
        })
    }

    fn trim_n(&self) -> Result<TrimNProgram, Diagnostic> {
        let default = TrimNProgram::default();
        let notify = self.notify(Notify::One)?;
        if let (Notify::Nobody, Some(value)) = (notify, self.get("notify")) {
            return Err(value.error("this program does nothing if nobody is told", "give \"one\" or \"all\""));
        }
        Ok(TrimNProgram {
            packets: self.number("packets", default.packets)?,
            all: notify == Notify::All,
            burst: self.bytes("burst", default.burst)?,
            header_queue: 0,
        })
    }

    fn trim_depth(&self) -> Result<TrimDepthProgram, Diagnostic> {
        let default = TrimDepthProgram::default();
        Ok(TrimDepthProgram { limit: self.bytes("limit", default.limit)?, header_queue: 0 })
    }

    fn fb(&self) -> Result<FbProgram, Diagnostic> {
        let default = FbProgram::default();
        let alpha = match self.get("alpha") {
            Some(value) => value.per_queue(Value::real)?.values().to_vec(),
            None => default.alpha,
        };
        let mut groups = Vec::new();
        if let Some(value) = self.get("groups") {
            for (number, group) in value.groups()?.iter().enumerate() {
                for class in group {
                    if groups.len() <= *class {
                        groups.resize(class + 1, u64::MAX);
                    }
                    groups[*class] = number as u64;
                }
            }
            if groups.contains(&u64::MAX) {
                return Err(value.error("a class is in no group", "name every class once, such as [[0], [1, 2]]"));
            }
        }
        Ok(FbProgram {
            alpha,
            groups,
            interval: self.nanoseconds("interval", default.interval)?,
            congested: self.bytes("congested", default.congested)?,
            single: self.boolean("single", default.single)?,
        })
    }

    fn aifo(&self) -> Result<AifoProgram, Diagnostic> {
        let default = AifoProgram::default();
        Ok(AifoProgram {
            capacity: self.number("capacity", default.capacity)?,
            packet: self.bytes("packet", default.packet)?,
            headroom: self.real("headroom", default.headroom)?,
            sample: self.number("sample", default.sample)?,
            workers: self.number("workers", default.workers)?,
        })
    }

    fn occamy(&self) -> Result<OccamyProgram, Diagnostic> {
        let default = OccamyProgram::default();
        Ok(OccamyProgram {
            alpha: self.number("alpha", default.alpha)?,
            expel: self.boolean("expel", default.expel)?,
            syncs: self.number("syncs", default.syncs)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_can_be_named() {
        assert_eq!(PROGRAMS.map(|program| program.0), TEXTS.map(|(name, _)| name));
    }
}
