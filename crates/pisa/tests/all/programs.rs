//! The programs that come with the crate: they fit the chips they are for, with the resources that are written down
//! beside them.

use forebay_pisa::Target;
use forebay_pisa::programs::{Facts, ProgramConfig, TEXTS};

fn facts(ports: usize, queues: usize, pipelines: usize) -> Facts {
    Facts { rates: vec![100_000_000_000; ports], queues, cell: 80, buffer: 100_000, pipelines }
}

#[test]
fn every_program_loads() {
    for (name, _) in TEXTS {
        let program = ProgramConfig::by_name(name).unwrap_or_else(|| panic!("{name} has no control plane"));
        let queues = if name == "sp-pifo" { 8 } else { 2 };
        let target = if name == "trim-depth" { Target::tofino2() } else { Target::tofino() };
        let image = program.load(&target, &facts(16, queues, 1)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((image.program.name(), program.name()), (name, name));
    }
}
