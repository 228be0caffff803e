//! Scenarios drawn at random from the descriptions of their settings.

use super::measure::MeasureKeys;
use super::nic::FifoKeys;
use super::pfc::PfcKeys;
use super::read::{RoutingKeys, TopKeys};
use super::switches::SwitchKeys;
use super::{ChipKind, ChipSetup, FqSetup, Handoff, MirrorSetup, Scenario, describe, read_program};
use crate::topology::{self, GraphDefaults};
use crate::transport::linux::LinuxConfig;
use crate::transport::{Common, TransportKind};
use forebay_pisa::programs::{ProgramConfig, SpPifoProgram};
use forebay_settings::random::{Draw, Of, check_settings};
use forebay_settings::{GroupKeys, IngressKeys, PoolKeys, quoted, setting_lines};
use forebay_tm::Bytes;
use forebay_tm::admit::PolicyConfig;
use forebay_tm::described::{Choice, Described};
use forebay_tm::mark::MarkConfig;
use forebay_tm::random::Random;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::TrimConfig;

/// Every table of a scenario whose settings describe themselves.
#[test]
fn settings_of_all_tables_read_back_and_are_refused_by_key() {
    check_settings("top", &|| Box::new(TopKeys::default()));
    check_settings("routing", &|| Box::new(RoutingKeys::default()));
    check_settings("switch", &|| Box::new(SwitchKeys::default()));
    check_settings("mirror", &|| Box::new(MirrorSetup::default()));
    check_settings("pfc", &|| Box::new(PfcKeys::default()));
    check_settings("fq", &|| Box::new(FqSetup::default()));
    check_settings("fifo", &|| Box::new(FifoKeys::default()));
    check_settings("handoff", &|| Box::new(Handoff::of(1_500)));
    check_settings("measure", &|| Box::new(MeasureKeys::default()));
    check_settings("linux", &|| Box::new(LinuxConfig::default()));
    check_settings("transport", &|| Box::new(Common::default()));
    check_settings("chip", &|| Box::new(chip(ProgramConfig::SpPifo(SpPifoProgram))));
    // A graph writes the settings of each cable instead.
    check_settings("graph", &|| Box::new(GraphDefaults::default()));
    for kind in topology::kinds().into_iter().filter(|kind| kind.name != "graph") {
        check_settings(kind.name, &|| kind.settings());
    }
    for name in TransportKind::NAMES {
        let kind = TransportKind::named(name).expect("one of the names");
        check_settings(name, &|| Box::new(Of(kind.clone(), |kind| Some(kind.settings_mut()))));
    }
    for program in read_program::programs() {
        check_settings(program.name(), &|| Box::new(Of(program.clone(), ProgramConfig::settings)));
    }
}

fn chip(program: ProgramConfig) -> ChipSetup {
    ChipSetup::new(ChipKind::Tofino2, program)
}

/// Makes a table.
type MakeTable = fn(&mut Draw<'_>) -> String;

/// A table with random settings.
fn table(draw: &mut Draw<'_>, head: &str, kind: Option<&str>, settings: &mut dyn Described) -> String {
    draw.fill(settings, 2);
    let kind = kind.map_or_else(String::new, |kind| format!("kind = {}\n", quoted(kind)));
    format!("\n{head}\n{kind}{}", setting_lines(settings))
}

/// A table with one of the kinds there are.
fn choice<C: Choice>(draw: &mut Draw<'_>, head: &str) -> String {
    let name = draw.pick(C::NAMES);
    let mut choice = C::by_name(name).expect("one of the names");
    match choice.settings() {
        Some(settings) => table(draw, head, Some(name), settings),
        None => format!("\n{head}\nkind = \"{name}\"\n"),
    }
}

fn a_chip(draw: &mut Draw<'_>) -> String {
    let programs: Vec<ProgramConfig> = read_program::programs().collect();
    let mut program = programs[draw.below(programs.len() as u64) as usize].clone();
    let mut setup = chip(program.clone());
    draw.fill(&mut setup, 2);
    // Only two have an ideal, and every switch of these scenarios has one pipeline.
    setup.witness &= matches!(program, ProgramConfig::Fb(_) | ProgramConfig::Aifo(_));
    setup.ports_per_pipeline = 16;
    let mut text = format!("\n[chip]\n{}", setting_lines(&setup));
    let name = program.name().to_owned();
    if let Some(settings) = program.settings() {
        text += &table(draw, "[chip.options]", None, settings);
    }
    format!("kind = \"tofino2\"\nprogram = \"{name}\"\n{text}")
}

fn ingress(draw: &mut Draw<'_>) -> String {
    let mut pool = PoolKeys { name: "all".to_owned(), ..PoolKeys::default() };
    let mut text = table(draw, "[ingress]", None, &mut IngressKeys::default());
    text += &table(draw, "[[ingress.pool]]", None, &mut pool);
    // All queues are in a group that there is.
    let mut group = GroupKeys::default();
    draw.fill(&mut group, 2);
    let group = GroupKeys { groups: (0..8).collect(), ports: None, pool: Some("all".to_owned()), ..group };
    text = text + "\n[[ingress.group]]\n" + &setting_lines(&group);
    let mut pfc = PfcKeys::default();
    draw.fill(&mut pfc, 2);
    if pfc.detect.is_none() {
        (pfc.restore, pfc.action) = (None, None);
    }
    text + "\n[pfc]\n" + &setting_lines(&pfc)
}

fn transport(draw: &mut Draw<'_>) -> String {
    let name = draw.pick(TransportKind::NAMES);
    let mut kind = TransportKind::named(name).expect("one of the names");
    table(draw, "[transport.dctcp]", Some(name), kind.settings_mut())
}

fn measure(draw: &mut Draw<'_>) -> String {
    let mut keys = MeasureKeys::default();
    draw.fill(&mut keys, 2);
    // There are four flows.
    keys.trace_flows.retain(|flow| *flow < 4);
    format!("\n[measure]\n{}", setting_lines(&keys))
}

/// A scenario with a few tables of random settings.
fn scenario(draw: &mut Draw<'_>) -> String {
    let topology = draw.pick(&[
        "kind = \"single\"\nhosts = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n",
        "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nrate = \"10Gbps\"\ndelay = \"1us\"\n",
    ]);
    let mut text = format!("duration = \"1ms\"\n[topology]\n{topology}\n[switch]\n");
    let queues = draw.pick(&[1, 2]);
    if draw.one_in(2) {
        let mut keys = SwitchKeys::default();
        draw.fill(&mut keys, 2);
        let buffer = keys.buffer.filter(|buffer| *buffer > Bytes::new(1_000));
        let per_gbps = keys.buffer_per_port_per_gbps.filter(|_| buffer.is_none());
        let keys = SwitchKeys {
            kind: None,
            queues: Some(queues),
            queue_capacity: keys.queue_capacity.filter(|packets| *packets > 0),
            cell: keys.cell.filter(|cell| (1..10_000).contains(&cell.get())),
            program: None,
            buffer: buffer.or(per_gbps.is_none().then_some(Bytes::new(100_000))),
            buffer_per_port_per_gbps: per_gbps,
            ..keys
        };
        text += &setting_lines(&keys);
    } else {
        text += &format!("buffer = \"100KB\"\nqueues = {queues}\n");
    }
    let is_lossless = draw.one_in(4);
    if is_lossless {
        text += &ingress(draw);
    } else if draw.one_in(3) {
        text += &a_chip(draw);
    }
    text += &match draw.one_in(2) {
        true => choice::<PolicyConfig>(draw, "[policy]"),
        false => "\n[policy]\nkind = \"dt\"\nalpha = 1.0\n".to_owned(),
    };
    text += &match draw.one_in(3) {
        true => choice::<SchedulerConfig>(draw, "[scheduler]"),
        false => format!("\n[scheduler]\nkind = \"{}\"\n", if queues == 1 { "fifo" } else { "strict" }),
    };
    let tables: [(u64, MakeTable); 6] = [
        (4, |draw| choice::<MarkConfig>(draw, "[ecn]")),
        (8, |draw| choice::<TrimConfig>(draw, "[trim]")),
        (8, |draw| table(draw, "[mirror]", None, &mut MirrorSetup::default())),
        (3, measure),
        (3, |draw| table(draw, "[routing]", None, &mut RoutingKeys::default())),
        (3, transport),
    ];
    for (one_in, make) in tables {
        if draw.one_in(one_in) {
            text += &make(draw);
        }
    }
    if !is_lossless && draw.one_in(4) {
        text += &table(draw, "[nic]", Some("fq"), &mut FqSetup::default());
        text += &setting_lines(&Handoff::of(1_500));
    }
    text + "\n" + super::tests::WORKLOAD
}

/// Random scenarios are read, or refused with a line, a key and a remedy. What was read is described as a scenario that
/// reads back as the same.
#[test]
fn random_scenarios_read_back_as_the_same_or_are_refused_with_a_remedy() {
    let (mut accepted, count) = (0, 600);
    for seed in 0..count {
        let mut random = Random::stream(seed, "scenario", 0);
        let mut below = |n| random.below(n);
        let text = scenario(&mut Draw(&mut below));
        match Scenario::read("random.toml", &text, &[]) {
            Ok(scenario) => {
                accepted += 1;
                let described = describe("random.toml", &text, &[]).expect("a scenario that can be read");
                let again = Scenario::read("random.toml", &described, &[])
                    .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}\n\n{described}"));
                assert_eq!(format!("{scenario:#?}"), format!("{again:#?}"), "seed {seed}\n{text}\n\n{described}");
                assert_eq!(describe("random.toml", &described, &[]).as_ref(), Ok(&described), "seed {seed}");
            }
            Err(error) => {
                assert!(error.line.is_some(), "seed {seed}: {error}\n{text}");
                // A key that is not there can be wrong by its default; its table is there.
                assert!(error.field.split('.').any(|key| text.contains(key)), "seed {seed}: {error}\n{text}");
                assert!(!error.remedy.is_empty(), "seed {seed}: {error}");
            }
        }
    }
    assert!(accepted > count / 5, "only {accepted} of {count} scenarios can be read");
}
