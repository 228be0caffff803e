//! A scenario as it was resolved: with what arguments changed, and with every default written out.

use super::measure::MeasureKeys;
use super::nic::FifoKeys;
use super::pfc::PfcKeys;
use super::read::{RoutingKeys, TopKeys, read, with_document};
use super::switches::{Part, SwitchSettings};
use super::{ChipSetup, MirrorSetup, NicSetup, Scenario, read_program, read_transport};
use forebay_settings::{Diagnostic, known_lines, quoted, setting_lines, write_switch_tables};
use forebay_tm::described::Described;
use std::fmt::Display;

/// A scenario file, changed by arguments as [`Scenario::read`] does, as a file that needs no arguments and reads back
/// to the same scenario.
///
/// Workloads and failures are written as they were given, not with their defaults.
pub fn describe(file: &str, text: &str, sets: &[(String, String)]) -> Result<String, Diagnostic> {
    with_document(file, text, sets, |root| {
        let (scenario, topology, switches) = read(file, root)?;
        let mut out = Writer::default();
        out.top(&scenario);
        out.head("[topology]").0.push_str(&topology.to_toml());
        out.head("[routing]").settings(&RoutingKeys { kind: scenario.paths, reroute: scenario.reroute });
        for (part, settings) in switches.parts() {
            out.switch(part, settings);
        }
        out.pfc(&scenario.nic);
        out.nic(&scenario.nic);
        for (name, config) in &scenario.transports {
            out.head(&format!("[transport.{}]", quoted(name))).0.push_str(&read_transport::lines(config));
        }
        for (key, tables) in [("workload", root.tables("workload")?), ("failure", root.tables("failure")?)] {
            for table in tables {
                out.head(&format!("[[{key}]]")).0.push_str(&table.to_toml());
            }
        }
        out.head("[measure]").settings(&MeasureKeys::of(&scenario));
        Ok(out.0)
    })
}

/// TOML in the making.
#[derive(Default)]
struct Writer(String);

impl Writer {
    fn head(&mut self, head: &str) -> &mut Self {
        self.0.push_str(&format!("\n{head}\n"));
        self
    }

    /// A word, a value with a unit, or any text.
    fn word(&mut self, key: &str, value: impl Display) -> &mut Self {
        self.0.push_str(&format!("{key} = {}\n", quoted(&value.to_string())));
        self
    }

    /// Settings that describe themselves.
    fn settings(&mut self, settings: &dyn Described) -> &mut Self {
        self.0.push_str(&setting_lines(settings));
        self
    }

    fn top(&mut self, scenario: &Scenario) {
        let Scenario { seed, duration, drain, .. } = *scenario;
        // Each transport is written with its own stack.
        self.settings(&TopKeys { name: Some(scenario.name.clone()), seed, duration, drain, stack: None });
    }

    fn switch(&mut self, part: Part<'_>, settings: &SwitchSettings) {
        let (head, prefix) = match part {
            Part::All => ("switch".to_owned(), String::new()),
            Part::Tier(name) => (format!("tier.{}", quoted(name)), format!("tier.{}.", quoted(name))),
            Part::Switch(name) => (format!("switches.{}", quoted(name)), format!("switches.{}.", quoted(name))),
            Part::Nic => ("nic".to_owned(), "nic.".to_owned()),
        };
        self.head(&format!("[{head}]"));
        if let Part::Nic = part {
            self.word("kind", "managed");
        }
        let mut keys = settings.keys.clone();
        // A program from a file is named from wherever it is.
        keys.program = settings.chip.iter().flatten().map(|chip| chip.program.name().to_owned()).next();
        self.settings(&keys);
        write_switch_tables(&prefix, &settings.tables, &mut self.0);
        if let Some(mirror) = &settings.mirror {
            self.head(&format!("[{prefix}mirror]"));
            self.mirror(mirror.as_ref());
        }
        if let Some(ingress) = &settings.ingress {
            self.0.push_str(&ingress.to_toml(&prefix));
        }
        if let Some(Some(chip)) = &settings.chip {
            self.chip(&prefix, chip);
        }
    }

    /// `[pfc]`, where switches pause.
    fn pfc(&mut self, nic: &NicSetup) {
        let NicSetup::Lossless { pfc, .. } = nic else { return };
        self.head("[pfc]").settings(&PfcKeys::from(pfc));
    }

    /// `[nic]`; what is managed is written with the switches.
    fn nic(&mut self, nic: &NicSetup) {
        match nic {
            NicSetup::Managed(_) | NicSetup::Lossless { .. } => {}
            NicSetup::Unlimited => {
                self.head("[nic]").word("kind", "unlimited");
            }
            NicSetup::Fifo(limit, handoff) => {
                self.head("[nic]").word("kind", "fifo").settings(&FifoKeys::from(*limit)).settings(handoff);
            }
            NicSetup::Fq(fq, handoff) => {
                self.head("[nic]").word("kind", "fq").settings(fq).settings(handoff);
            }
        }
    }

    fn chip(&mut self, prefix: &str, chip: &ChipSetup) {
        self.head(&format!("[{prefix}chip]"));
        self.0.push_str(&known_lines(chip, |key| chip.knows(key)));
        let options = read_program::lines(&chip.program);
        if !options.is_empty() {
            self.head(&format!("[{prefix}chip.options]")).0.push_str(&options);
        }
    }

    fn mirror(&mut self, mirror: Option<&MirrorSetup>) {
        let Some(mirror) = mirror else {
            self.word("kind", "none");
            return;
        };
        self.word("kind", "generic").settings(mirror);
    }
}
