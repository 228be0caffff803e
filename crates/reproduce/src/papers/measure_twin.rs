//! The twin of a run on a programmable chip: the same traffic through a switch that runs the exact algorithm.

use crate::figure::Run;
use forebay_sim::engine;
use forebay_sim::measure::RunResult;
use forebay_sim::scenario::Scenario;
use forebay_tm::TmConfig;

/// Runs the traffic of a run again, with each chip's ideal in the chip's place, changed by `change`. Traffic that does
/// not react to the network arrives at the switches at the same instants.
pub(super) fn ideal(run: &Run<'_>, change: impl Fn(&mut TmConfig)) -> Result<RunResult, String> {
    let scenario = without_chips(run.scenario, change)?;
    Ok(engine::run(&scenario, run.plan, &mut |_| true))
}

fn without_chips(scenario: &Scenario, change: impl Fn(&mut TmConfig)) -> Result<Scenario, String> {
    let mut scenario = scenario.clone();
    for switch in &mut scenario.switches {
        let Some(chip) = switch.chip.take() else { continue };
        for buffer in &mut switch.buffers {
            let ideal = chip.ideal(buffer).ok_or_else(|| format!("{}: it has no ideal", chip.program.name()))?;
            let mut config = ideal.into_inner();
            change(&mut config);
            *buffer = config.validate().map_err(|error| error.to_string())?;
        }
    }
    Ok(scenario)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_tm::admit::PolicyConfig;
    use forebay_tm::schedule::SchedulerConfig;

    fn read(program: &str, more: &str) -> Scenario {
        let text = format!(
            "duration = \"1us\"\n[topology]\nkind = \"single\"\nhosts = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
             [switch]\nbuffer = \"100KB\"\ncell = \"80B\"\nkind = \"tofino\"\nprogram = \"{program}\"\n{more}\n[policy]\nkind = \"cs\"\n\
             [[workload]]\nkind = \"long-lived\"\npairs = [[0, 1]]\ntransport = \"udp\"\n"
        );
        Scenario::read("test.toml", &text, &[]).unwrap()
    }

    #[test]
    fn a_chip_becomes_its_ideal() {
        let twin = without_chips(&read("occamy", ""), |_| ()).unwrap();
        assert!(twin.switches[0].chip.is_none());
        assert!(matches!(&twin.switches[0].buffers[0].policy, PolicyConfig::Occamy(_)));
        let dt = read("occamy", "[chip.options]\nexpel = false\nalpha = 4");
        let twin = without_chips(&dt, |config| config.queue_capacity = Some(7)).unwrap();
        let PolicyConfig::DynamicThresholds(policy) = &twin.switches[0].buffers[0].policy else { panic!("not DT") };
        assert_eq!((policy.alpha.at(0), twin.switches[0].buffers[0].queue_capacity), (4.0, Some(7)));
        let ranks = read("sp-pifo", "queues = 8\nqueue_capacity = 12\n[scheduler]\nkind = \"strict\"");
        let buffer = &without_chips(&ranks, |_| ()).unwrap().switches[0].buffers[0];
        let SchedulerConfig::SpPifo(scheduler) = &buffer.scheduler else { panic!("not SP-PIFO") };
        assert_eq!((scheduler.queues, scheduler.capacity, buffer.queues), (8, 12, 1));
    }

    #[test]
    fn what_trims_has_no_ideal() {
        let trims = read("deflect", "queues = 2\n[scheduler]\nkind = \"strict\"");
        assert!(without_chips(&trims, |_| ()).unwrap_err().contains("no ideal"));
    }
}
