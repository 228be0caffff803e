//! FB on a pipeline (FB, section 5.1).

use super::{Facts, Generator, Image, ProgramError, checked, fill_places, headers, kind, one_pipeline};
use crate::{Checked, Target};

/// Settings of FB on a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct FbProgram {
    /// Of each class; one for all classes if there is only one. Default 1.
    pub alpha: Vec<f64>,
    /// The priority group of each class; classes beyond have one each. Default: every class is its own group.
    pub groups: Vec<u64>,
    /// How far apart control packets of a kind start, in ns. Default 10 us.
    pub interval: u64,
    /// A queue that holds more bytes than this is congested. Default 0.
    pub congested: u64,
    /// Classes share one queue per port: then alpha is by the packet's class, and all queues are of one group (FB, section 4.1).
    pub single: bool,
}

impl Default for FbProgram {
    fn default() -> Self {
        Self { alpha: vec![1.0], groups: Vec::new(), interval: 10_000, congested: 0, single: false }
    }
}

/// The most alphas that the program tells apart.
const ALPHAS: usize = 8;
/// What control packets carry that have read nothing yet.
const FRESH: u64 = u32::MAX as u64;
/// Where counts of congested queues stop: more are taken for so many.
const MOST: usize = 127;

impl FbProgram {
    fn classes(&self, facts: &Facts) -> usize {
        if self.single { self.alpha.len() } else { facts.queues }
    }

    /// The priority group of a class.
    pub fn group(&self, class: usize) -> u64 {
        if self.single { 0 } else { self.groups.get(class).copied().unwrap_or(class as u64) }
    }

    /// The alpha of a class.
    pub fn alpha(&self, class: usize) -> f64 {
        self.alpha.get(class).or(self.alpha.last()).copied().unwrap_or(1.0)
    }

    /// The alphas of so many classes.
    pub fn alphas(&self, queues: usize) -> Vec<f64> {
        let classes = if self.single { self.alpha.len() } else { queues };
        (0..classes).map(|class| self.alpha(class)).collect()
    }

    /// The classes of each group, of so many classes.
    pub fn group_lists(&self, classes: usize) -> Vec<Vec<usize>> {
        let groups = (0..classes).map(|class| self.group(class) + 1).max().unwrap_or(0);
        (0..groups).map(|group| (0..classes).filter(|class| self.group(*class) == group).collect()).collect()
    }

    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        one_pipeline("fb", facts)?;
        self.validate(facts)?;
        let classes = self.classes(facts);
        let groups = (0..classes).map(|class| self.group(class) + 1).max().unwrap_or(1);
        let constants = [
            ("queues", facts.all_queues() as u64),
            ("ports", facts.ports() as u64),
            ("priorities", groups),
            ("buffer", facts.buffer),
            ("congested", self.congested / facts.cell),
            ("most", MOST as u64),
        ];
        let mut program = checked("fb", target, &constants)?;
        self.fill_routing(&mut program, facts)?;
        fill_places(&mut program, "place", facts)?;
        for index in 0..facts.all_queues() {
            program.insert("member", &[index as u64], &[self.group(index % facts.queues)])?;
        }
        self.fill_shifts(&mut program, facts, groups)?;
        program.set_initial("remaining", facts.buffer)?;
        let generators = self.generators(&program, facts, groups);
        Ok(Image { program, generators })
    }

    fn validate(&self, facts: &Facts) -> Result<(), ProgramError> {
        let refuse =
            |option, problem: String, remedy: &str| Err(ProgramError::Option(option, problem, remedy.to_owned()));
        if self.alpha.is_empty() || self.alpha.len() > ALPHAS {
            let problem = format!("there are {} alphas", self.alpha.len());
            return refuse("program.alpha", problem, "the program's table tells 8 apart: give 1 to 8");
        }
        if self.alpha.iter().any(|alpha| !(*alpha > 0.0 && *alpha < 1e6)) {
            return refuse("program.alpha", format!("{:?}", self.alpha), "give numbers above 0 and below a million");
        }
        if self.single && facts.queues != 1 {
            return refuse(
                "program.single",
                format!("ports have {} queues", facts.queues),
                "set queues = 1, or single = false",
            );
        }
        if self.interval == 0 {
            return refuse("program.interval", "0".to_owned(), "give a time above 0, such as \"10us\"");
        }
        if facts.ports() > MOST || facts.queues > MOST {
            return refuse("switch.program", format!("{} ports", facts.ports()), "the program counts to 127");
        }
        Ok(())
    }

    /// Which queue, priority and alpha packets have.
    fn fill_routing(&self, program: &mut Checked, facts: &Facts) -> Result<(), ProgramError> {
        for port in 0..facts.ports() {
            for class in 0..self.classes(facts) {
                let queue = if self.single { 0 } else { class };
                let index = (port * facts.queues + queue) as u64;
                let alpha = class.min(self.alpha.len() - 1) as u64;
                program.insert("routing", &[port as u64, class as u64], &[index, self.group(class), alpha])?;
            }
        }
        Ok(())
    }

    /// For all that can be counted, the power of two that is nearest to alpha / (queues at the port * queues of the priority).
    fn fill_shifts(&self, program: &mut Checked, facts: &Facts, groups: u64) -> Result<(), ProgramError> {
        let most = if self.single || groups == 1 { facts.all_queues() } else { self.largest_group(facts, groups) };
        for (number, alpha) in self.alpha.iter().enumerate() {
            for at_port in 0..=facts.queues.min(MOST) as u64 {
                for of_priority in 0..=most.min(MOST) as u64 {
                    // A queue counts itself, and in a single queue the port's share is all its own.
                    let port = if self.single { 1 } else { at_port.max(1) };
                    let product = alpha / (port * of_priority.max(1)) as f64;
                    let power = product.log2().round() as i64;
                    let (right, left) = if power < 0 { ((-power).min(31), 0) } else { (0, power.min(31)) };
                    program.insert("shift", &[number as u64, at_port, of_priority], &[right as u64, left as u64])?;
                }
            }
        }
        Ok(())
    }

    /// The queues of the largest group.
    fn largest_group(&self, facts: &Facts, groups: u64) -> usize {
        let classes = |group: u64| (0..facts.queues).filter(|class| self.group(*class) == group).count();
        (0..groups).map(classes).max().unwrap_or(1) * facts.ports()
    }

    /// One control packet over all queues, one for each port and one for each class of a priority.
    fn generators(&self, program: &Checked, facts: &Facts, groups: u64) -> Vec<Generator> {
        let (queues, all) = (facts.queues as u64, facts.all_queues() as u64);
        let trip = |packet: &str, first: u64, last: u64, step: u64, target: u64| Generator {
            pipeline: 0,
            start: 0,
            period: self.interval * 1_000,
            kind: kind(program, packet),
            headers: headers(
                program,
                &[("cursor", first), ("last", last), ("step", step), ("target", target), ("value", FRESH)],
            ),
        };
        let mut generators = vec![trip("SYNC", 0, all - 1, 1, 0)];
        for port in 0..facts.ports() as u64 {
            generators.push(trip("PORT", port * queues, (port + 1) * queues - 1, 1, port));
        }
        for group in 0..groups {
            // A group of one class can skip the queues of others; those of larger groups are passed by.
            let mut classes = (0..queues).filter(|class| self.group(*class as usize) == group);
            match (classes.next(), classes.next()) {
                (Some(class), None) => {
                    generators.push(trip("PRIORITY", class, all - queues + class, queues, group));
                }
                _ => generators.push(trip("PRIORITY", 0, all - 1, 1, group)),
            }
        }
        // They start one after the other, so that they do not stand in each other's way.
        let count = generators.len() as u64;
        for (number, generator) in generators.iter_mut().enumerate() {
            generator.start = self.interval * 1_000 * number as u64 / count;
        }
        generators
    }
}
