//! `switch.sonic`: switches that are made from the CONFIG_DB of a real one.
//!
//! The configuration is read once for each level that names it, and imported ([`forebay_sonic::import`]) for the ports
//! of each switch. What comes of it stands below the level that names it: what that level or a more special one says
//! wins, what is more general counts for nothing.

use super::switches::{Level, SwitchSettings};
use super::{IngressSetup, PfcSetup, WatchdogAction, WatchdogSetup, pfc};
use forebay_settings::{Diagnostic, IngressFile, SwitchFile, Table, Value};
use forebay_sonic::chip::Chip;
use forebay_sonic::config::{Config, WatchdogAction as Action};
use forebay_sonic::device::Device;
use forebay_sonic::findings::Severity;
use forebay_sonic::import::{Imported, import_ports};
use forebay_sonic::{SonicError, db};
use forebay_tm::{Duration, Rate, ValidConfig};

/// Keys and tables that the configuration has instead.
const REPLACED_KEYS: [&str; 6] =
    ["kind", "buffer_per_port_per_gbps", "ports_per_buffer", "queues", "cell", "cell_pointers"];
const REPLACED_TABLES: [&str; 3] = ["ingress", "mirror", "chip"];

/// A configuration that a level names.
pub(super) struct Source<'d> {
    key: Value<'d>,
    /// The path, as errors have it.
    path: String,
    config: Config,
    chip: &'static Chip,
}

impl Source<'_> {
    /// Its path from the root.
    pub(super) fn absolute(&self) -> String {
        std::path::absolute(&self.path).map_or_else(|_| self.path.clone(), |path| path.display().to_string())
    }
}

/// A switch of a configuration.
pub(super) struct Made<'d> {
    /// The place of the level that names it.
    pub(super) place: usize,
    /// What it says, as a level.
    pub(super) level: Level<'d>,
    /// Its path from the root.
    pub(super) path: String,
    pub(super) left_out: Vec<String>,
    key: Value<'d>,
    ingress: Option<IngressFile>,
    watchdog: Option<WatchdogSetup>,
}

/// Reads the configuration that a level names, if it does.
pub(super) fn read<'d>(keys: &Table<'d>, tables: &Table<'d>) -> Result<Option<Source<'d>>, Diagnostic> {
    let Some(key) = keys.get("sonic") else {
        let problem = "it is the chip family of a SONiC configuration";
        let alone = keys.get("sonic_chip").map(|value| value.error(problem, "add sonic = \"config_db.json\""));
        return alone.map_or(Ok(None), Err);
    };
    let replaced = REPLACED_KEYS.iter().find(|key| keys.has(key)).map(|key| (keys, key));
    if let Some((table, key)) = replaced.or(REPLACED_TABLES.iter().find(|key| tables.has(key)).map(|key| (tables, key)))
    {
        let remedy = "remove it, or sonic";
        return Err(table.key_error(key, "the SONiC configuration says this, or does not go with it", remedy));
    }
    let path = key.directory().join(key.text()?);
    let shown = path.display().to_string();
    let bytes = std::fs::read(&path).map_err(|error| {
        let problem = match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no file {shown}"),
            _ => format!("cannot read {shown}: {error}"),
        };
        key.error(problem, "give the path of a CONFIG_DB, seen from the directory of this file")
    })?;
    let remedy = "give a CONFIG_DB, as `sonic-cfggen -d --print-data` writes it";
    let text = String::from_utf8(bytes).map_err(|_| key.error(format!("{shown} is not UTF-8"), remedy))?;
    let config = Config::parse(&shown, &text).map_err(|error| refused(&key, error))?;
    if let Some(error) = config.findings.list().iter().find(|finding| finding.severity == Severity::Error) {
        let line = db::line_of(&text, &error.keys[0]).map_or(String::new(), |line| format!(":{line}"));
        let problem = format!("{shown}{line}: {}: {}", error.keys[0], error.why);
        return Err(key.error(problem, format!("{}; `forebay sonic lint` shows all that is wrong", error.cure)));
    }
    let family = keys.get("sonic_chip");
    let name = family.as_ref().map(Value::text).transpose()?;
    let chip = config.chip(name).map_err(|error| match &family {
        Some(value) => value.error(error.problem, error.remedy),
        None => key.error(format!("{}: {}", error.place, error.problem), "name the family: sonic_chip = \"td3\""),
    })?;
    Ok(Some(Source { key, path: shown, config, chip }))
}

fn refused(key: &Value<'_>, error: SonicError) -> Diagnostic {
    key.error(format!("{}: {}", error.place, error.problem), error.remedy)
}

/// The switch of the first level that names a configuration, with ports of these rates.
pub(super) fn made<'d>(levels: &[&Level<'d>], rates: &[Rate]) -> Result<Option<Made<'d>>, Diagnostic> {
    let named = levels.iter().enumerate().find_map(|(place, level)| Some((place, level, level.sonic.as_ref()?)));
    let Some((place, level, source)) = named else { return Ok(None) };
    let key = &source.key;
    let device = Device::new(&source.config, source.chip);
    let imported = import_ports(&device, &source.path, rates)
        .map_err(|error| refused(key, SonicError { place: format!("{}: {}", source.path, error.place), ..error }))?;
    let (switch, ingress) = sides(&imported)
        .map_err(|error| key.error(format!("{}: {} = {}", source.path, error.field, error.problem), error.remedy))?;
    let watchdog = imported.watchdog.map(|watchdog| WatchdogSetup {
        detect: Duration::from_us(1_000 * watchdog.detection),
        restore: Duration::from_us(1_000 * watchdog.restoration),
        action: match watchdog.action {
            Action::Drop => WatchdogAction::Drop,
            Action::Forward => WatchdogAction::Forward,
            Action::Alert => WatchdogAction::Report,
        },
    });
    let level = level.below(settings(&switch));
    let (path, left_out) = (source.absolute(), imported.left_out);
    Ok(Some(Made { place, level, path, left_out, key: key.clone(), ingress, watchdog }))
}

fn sides(imported: &Imported) -> Result<(ValidConfig, Option<IngressFile>), Diagnostic> {
    SwitchFile::parse("the switch", &imported.toml)?.sides()
}

/// The egress side as a level has it.
fn settings(switch: &ValidConfig) -> SwitchSettings {
    let mut settings = SwitchSettings::default();
    settings.keys.buffer = Some(switch.buffer);
    settings.keys.queues = Some(switch.queues);
    settings.keys.cell = Some(switch.cell);
    settings.tables.policy = Some(switch.policy.clone());
    settings.tables.scheduler = Some((switch.scheduler.clone(), switch.rank.clone()));
    settings.tables.mark = Some(switch.mark.clone());
    settings.tables.trim = Some(switch.trim.clone());
    settings
}

impl Made<'_> {
    /// The ingress side: that of a more special level if it has one, else the configuration's.
    pub(super) fn ingress(
        &self,
        switch: &str,
        levels: &[&Level<'_>],
        buffers: &[ValidConfig],
        pfc: &PfcSetup,
    ) -> Result<Option<IngressSetup>, Diagnostic> {
        let special = levels[..self.place].iter().find(|level| level.tables.has("ingress"));
        if let Some(level) = special {
            let table = level.tables.table("ingress")?;
            return table.map(|table| pfc::ingress(&level.tables, &table, switch, buffers, pfc)).transpose();
        }
        let Some(file) = &self.ingress else { return Ok(None) };
        let refuse = |problem: String, remedy: &str| self.key.error(problem, remedy);
        let [buffer] = buffers else {
            return Err(refuse(format!("switch {switch} has several buffers"), "remove ports_per_buffer"));
        };
        let mut pfc = pfc.clone();
        pfc.watchdog = pfc.watchdog.or(self.watchdog);
        pfc::checked(file.clone(), switch, buffer, &pfc, refuse).map(Some)
    }
}
