//! `forebay replay`: arrivals through a switch, with no network and no transport.

use crate::Failure;
use crate::args::ReplayArgs;
use crate::compare;
use crate::explain::Story;
use crate::output::print;
use crate::outputs::{Ours, Outputs};
use crate::progress::ReplayBar;
use crate::summary;
use crate::timeline::{self, Timeline};
use crate::verdicts::{self, Verdicts};
use forebay_runner::arrivals::Arrivals;
use forebay_runner::scenario_file::read_text;
use forebay_settings::SwitchFile;
use forebay_tm::drive::{Driver, EndOfTime, Observer};
use forebay_tm::{Departure, Explanation, Instant, Lost, Packet, Tm, Verdict};

pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    if args.json && !args.summary && args.compare.is_none() {
        let help = "give it with --summary or --compare; verdicts and timelines are CSV";
        return Err(Failure::Input(format!("error: --json: there is no table to print\n  help: {help}")));
    }
    let name = args.switch.display().to_string();
    let text = read_text(&args.switch)?;
    let file = SwitchFile::parse(&name, &text)?;
    let switch = file.switch()?;
    if let Some(policies) = &args.compare {
        return compare::run(args, &file, &switch, policies);
    }
    let mut outputs = Outputs::new(args.replace.force);
    [&args.switch, &args.arrivals].into_iter().for_each(|input| outputs.reads(input));
    let mut arrivals = Arrivals::open(&args.arrivals, &switch)?;
    let tells = args.summary || !args.explain.is_empty();
    let verdicts = match &args.output {
        None if tells || args.timeline.is_some() => None,
        path => Some(Verdicts::new(outputs.create(path.as_deref(), Ours::Begins(verdicts::HEADER))?)?),
    };
    let timeline = args.timeline.as_ref().map(|path| {
        let output = outputs.create(Some(path), Ours::Begins(timeline::HEADER))?;
        Timeline::new(output, &switch, args.every)
    });
    let mut watchers = Watchers {
        verdicts,
        timeline: timeline.transpose()?,
        stories: args.explain.iter().map(|packet| Story::new(*packet)).collect(),
    };
    let tm = Tm::new(switch.clone());
    let driver = if watchers.timeline.is_some() { Driver::watching_queues(tm) } else { Driver::new(tm) };
    let tm = replay(&mut arrivals, driver, &mut watchers, args.quiet)?;
    let mut text = String::new();
    for story in &watchers.stories {
        text.push_str(&story.tell(&switch).ok_or_else(|| no_such_packet(story.packet(), arrivals.count()))?);
        text.push('\n');
    }
    if args.summary {
        text.push_str(&if args.json { summary::json(&tm) } else { summary::tell(&tm) });
    }
    if let Some(timeline) = watchers.timeline {
        timeline.finish()?;
    }
    if let Some(verdicts) = watchers.verdicts {
        verdicts.finish()?;
    }
    print(&text)
}

/// Runs all arrivals until nothing waits.
fn replay(
    arrivals: &mut Arrivals<'_>,
    mut driver: Driver,
    watchers: &mut Watchers,
    quiet: bool,
) -> Result<Tm, Failure> {
    let mut progress = ReplayBar::new(arrivals, quiet);
    while let Some((now, packet)) = arrivals.read_next()? {
        if watchers.explains(&packet) {
            let (_, why) = driver.arrive_explained(now, &packet, watchers).map_err(|error| arrivals.too_late(error))?;
            watchers.begin(&packet, &why);
        } else {
            driver.arrive(now, &packet, watchers).map_err(|error| arrivals.too_late(error))?;
        }
        progress.tick(arrivals);
        watchers.check()?;
    }
    driver.finish(watchers).map_err(|error| arrivals.too_late(error))?;
    watchers.check()?;
    Ok(driver.tm().clone())
}

/// The error of a run that goes past the end of time.
pub(crate) fn too_late(error: EndOfTime) -> Failure {
    Failure::Input(format!("error: {error}\n  help: give earlier arrivals, shorter packets or a higher rate"))
}

fn no_such_packet(packet: u64, packets: u64) -> Failure {
    let remedy = match packets.checked_sub(1) {
        Some(last) => format!("the packets are 0 to {last}"),
        None => "there are no arrivals".to_owned(),
    };
    Failure::Input(format!("error: --explain {packet}: there is no such packet\n  help: {remedy}"))
}

/// Everyone who watches a replay.
struct Watchers {
    verdicts: Option<Verdicts>,
    timeline: Option<Timeline>,
    stories: Vec<Story>,
}

impl Watchers {
    fn explains(&self, packet: &Packet) -> bool {
        self.stories.iter().any(|story| story.packet() == packet.id.0)
    }

    fn begin(&mut self, packet: &Packet, why: &Explanation) {
        for story in self.stories.iter_mut().filter(|story| story.packet() == packet.id.0) {
            story.begin(packet, why.clone());
        }
    }

    fn check(&mut self) -> Result<(), Failure> {
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.check()?;
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.check()?;
        }
        Ok(())
    }
}

impl Observer for Watchers {
    fn arrived(&mut self, now: Instant, packet: &Packet, verdict: Verdict) {
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.arrived(now, packet, verdict);
        }
    }

    fn started(&mut self, now: Instant, port: usize, departure: &Departure, end: Instant) {
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.started(now, port, departure, end);
        }
        for story in &mut self.stories {
            story.started(now, departure, end);
        }
    }

    fn lost(&mut self, lost: Lost) {
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.lost(lost);
        }
        for story in &mut self.stories {
            story.lost(lost);
        }
    }

    fn instant_over(&mut self, now: Instant, tm: &Tm) {
        if let Some(timeline) = &mut self.timeline {
            timeline.instant_over(now, tm);
        }
    }

    fn next_look(&self) -> Instant {
        self.timeline.as_ref().map_or(Instant::NEVER, Timeline::next_look)
    }
}
