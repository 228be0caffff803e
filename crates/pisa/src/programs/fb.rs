//! FB on a pipeline (FB, section 5.1).

use super::{Facts, Generator, Image, ProgramError, checked, fill_places, headers, kind, one_pipeline, within_ranges};
use crate::{Checked, Target};
use forebay_tm::described::{Kind, Nanoseconds, Setting, Value, Wrong};
use forebay_tm::{Bytes, Duration, PerQueue, settings};

settings! {
    /// Settings of FB on a pipeline.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FbProgram {
        /// The factor of each class, up to 8; one for all classes if there is only one.
        pub alpha: Vec<f64> as PerQueue<f64> = vec![1.0]; are_alphas,
        /// The priority groups, each with its classes; every class is a group of its own by default.
        pub groups: Vec<u64> as GroupLists = Vec::new(); have_every_class,
        /// How far apart control packets of a kind start.
        pub interval: Duration as Nanoseconds = Duration::from_us(10); lasts,
        /// A queue that holds more bytes than this is congested.
        pub congested: Bytes = Bytes::ZERO,
        /// Classes share one queue per port: then `alpha` is by the packet's class, and all queues are of one group
        /// (FB, section 4.1).
        pub single: bool = false,
    }
}

#[allow(clippy::ptr_arg, reason = "a check takes what the field has")]
fn are_alphas(alphas: &Vec<f64>) -> Result<(), Wrong> {
    if alphas.is_empty() || alphas.len() > ALPHAS {
        let problem = format!("there are {} alphas", alphas.len());
        return Err(Wrong::new(problem, "the program's table tells 8 apart: give 1 to 8"));
    }
    match alphas.iter().find(|alpha| !(**alpha > 0.0 && **alpha < 1e6)) {
        None => Ok(()),
        Some(alpha) => Err(Wrong::new(format!("{alpha} is out of range"), "give numbers above 0 and below a million")),
    }
}

#[allow(clippy::ptr_arg, reason = "a check takes what the field has")]
fn have_every_class(groups: &Vec<u64>) -> Result<(), Wrong> {
    if groups.iter().all(|group| *group != NO_GROUP) {
        return Ok(());
    }
    Err(Wrong::new("a class is in no group, or in two", "name every class once, such as [[0], [1, 2]]"))
}

fn lasts(interval: &Duration) -> Result<(), Wrong> {
    if *interval > Duration::ZERO {
        return Ok(());
    }
    Err(Wrong::new("control packets would have no distance", "give a time above 0, such as \"10us\""))
}

/// What [`have_every_class`] refuses.
const NO_GROUP: u64 = u64::MAX;
/// Classes that there can be.
const CLASSES: usize = 64;

/// The group of each class, in files the classes of each group.
#[derive(Clone, Debug)]
pub struct GroupLists(Vec<u64>);

impl From<Vec<u64>> for GroupLists {
    fn from(groups: Vec<u64>) -> Self {
        Self(groups)
    }
}

impl From<GroupLists> for Vec<u64> {
    fn from(groups: GroupLists) -> Self {
        groups.0
    }
}

impl Setting for GroupLists {
    const KIND: Kind = Kind::Groups;
    const OPTIONAL: bool = true;

    fn value(&self) -> Value {
        let Some(last) = self.0.iter().max() else { return Value::Nothing };
        let classes = |group: u64| {
            let classes = self.0.iter().enumerate().filter(|(_, of)| **of == group);
            classes.map(|(class, _)| class).collect::<Vec<usize>>()
        };
        (0..=*last).map(classes).collect::<Vec<_>>().value()
    }

    fn from_value(value: Value) -> Option<Self> {
        if value == Value::Nothing {
            return Some(Self(Vec::new()));
        }
        let lists: Vec<Vec<usize>> = Setting::from_value(value)?;
        let mut groups = vec![NO_GROUP; lists.iter().flatten().map(|class| class + 1).max().unwrap_or(0).min(CLASSES)];
        for (number, list) in lists.iter().enumerate() {
            for class in list {
                match groups.get_mut(*class) {
                    Some(group) if *group == NO_GROUP => *group = number as u64,
                    _ => return Some(Self(vec![NO_GROUP])),
                }
            }
        }
        Some(Self(groups))
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
            ("congested", self.congested.get() / facts.cell),
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
        within_ranges(self)?;
        if self.single && facts.queues != 1 {
            return refuse(
                "single",
                format!("ports have {} queues", facts.queues),
                "set queues = 1, or single = false",
            );
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

    /// For all that can be counted, the power of two that is nearest to alpha / (queues at the port * queues of the
    /// priority).
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
            period: self.interval.ps(),
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
            generator.start = (u128::from(self.interval.ps()) * number as u128 / u128::from(count)) as u64;
        }
        generators
    }
}
