//! `forebay replay`: arrivals through a switch, with no network and no transport.

use crate::Failure;
use crate::args::ReplayArgs;
use crate::compare;
use crate::explain::Story;
use crate::output::{Output, print};
use crate::outputs::{Ours, Outputs};
use crate::progress::ReplayBar;
use crate::summary;
use crate::timeline::{self, Timeline};
use crate::verdicts::{self, Verdicts};
use forebay_runner::arrivals::{Arrivals, Groups};
use forebay_runner::scenario_file::read_text;
use forebay_settings::SwitchFile;
use forebay_tm::drive::{Drivable, Driver, EndOfTime, Observer};
use forebay_tm::{Departure, Eviction, Explanation, Instant, Mmu, MmuConfig, Packet, PauseRequest, Tm, Verdict};

pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    if args.json && !args.summary && args.compare.is_none() {
        let help = "give it with --summary or --compare; verdicts and timelines are CSV";
        return Err(Failure::refused("--json", "there is no table to print", help));
    }
    let name = args.switch.display().to_string();
    let text = read_text(&args.switch)?;
    let file = SwitchFile::parse(&name, &text)?;
    let (switch, ingress) = file.sides()?;
    if let Some(policies) = &args.compare {
        // It knows the egress side alone, and says so.
        file.switch()?;
        return compare::run(args, &file, &switch, policies);
    }
    let mut outputs = Outputs::new(args.replace.force);
    [&args.switch, &args.arrivals].into_iter().for_each(|input| outputs.reads(input));
    let mmu = ingress.as_ref().map(|ingress| {
        let config = MmuConfig { switch: (*switch).clone(), ingress: ingress.config.clone() };
        Mmu::new(config).map_err(|error| Failure::refused("", error, ""))
    });
    let mmu = mmu.transpose()?;
    let groups = ingress.as_ref().zip(mmu.as_ref());
    let groups = groups.map(|(file, mmu)| (mmu.ingress().clone(), &file.of_queue));
    let groups = groups.as_ref().map(|(ingress, of_queue)| Groups { ingress, of_queue });
    let mut arrivals = Arrivals::open_for(&args.arrivals, &switch, groups)?;
    let tells = args.summary || !args.explain.is_empty();
    let verdicts = match &args.output {
        None if tells || args.timeline.is_some() || args.pauses.is_some() => None,
        path => Some(Verdicts::new(outputs.create(path.as_deref(), Ours::Begins(verdicts::HEADER))?)?),
    };
    let timeline = args.timeline.as_ref().map(|path| {
        let output = outputs.create(Some(path), Ours::Begins(timeline::HEADER))?;
        Timeline::new(output, &switch, args.every)
    });
    if args.pauses.is_some() && mmu.is_none() {
        let help = "describe [ingress] in the switch file (docs/switch.md)";
        return Err(Failure::refused("--pauses", "the switch has no ingress side", help));
    }
    let pauses = args.pauses.as_ref().map(|path| {
        let mut output = outputs.create(Some(path), Ours::Begins(PAUSES))?;
        output.write(PAUSES.as_bytes()).map(|()| output)
    });
    let mut watchers = Watchers {
        pauses: pauses.transpose()?,
        failure: None,
        verdicts,
        timeline: timeline.transpose()?,
        stories: args.explain.iter().map(|packet| Story::new(*packet)).collect(),
    };
    let watches = watchers.timeline.is_some();
    let mut over = Over::default();
    match mmu {
        Some(mmu) => over.mmu = Some(replay(&mut arrivals, driver(mmu, watches), &mut watchers, args.quiet)?),
        None => {
            let tm = Tm::new(switch.clone());
            over.tm = Some(replay(&mut arrivals, driver(tm, watches), &mut watchers, args.quiet)?);
        }
    }
    let mut text = String::new();
    for story in &watchers.stories {
        text.push_str(&story.tell(&switch).ok_or_else(|| no_such_packet(story.packet(), arrivals.count()))?);
        text.push('\n');
    }
    if args.summary {
        text.push_str(&over.summary(args.json));
    }
    if let Some(timeline) = watchers.timeline {
        timeline.finish()?;
    }
    if let Some(verdicts) = watchers.verdicts {
        verdicts.finish()?;
    }
    if let Some(pauses) = watchers.pauses {
        pauses.finish()?;
    }
    print(&text)
}

/// What a file of pauses begins with.
const PAUSES: &str = "time_ps,port,pg,signal\n";

fn driver<T: Drivable>(tm: T, watches: bool) -> Driver<T> {
    if watches { Driver::watching_queues(tm) } else { Driver::new(tm) }
}

/// A switch after a replay: with an ingress side or without.
#[derive(Default)]
struct Over {
    tm: Option<Tm>,
    mmu: Option<Mmu>,
}

impl Over {
    fn summary(&self, as_json: bool) -> String {
        let Some(tm) = self.tm.as_ref().or(self.mmu.as_ref().map(Mmu::egress)) else { return String::new() };
        if as_json {
            return summary::json(tm, self.mmu.as_ref());
        }
        summary::tell(tm) + &self.mmu.as_ref().map_or(String::new(), summary::tell_ingress)
    }
}

/// Runs all arrivals until nothing waits.
fn replay<T: Drivable + Clone>(
    arrivals: &mut Arrivals<'_>,
    mut driver: Driver<T>,
    watchers: &mut Watchers,
    quiet: bool,
) -> Result<T, Failure> {
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
    Failure::refused("", error, "give earlier arrivals, shorter packets or a higher rate")
}

fn no_such_packet(packet: u64, packets: u64) -> Failure {
    let remedy = match packets.checked_sub(1) {
        Some(last) => format!("the packets are 0 to {last}"),
        None => "there are no arrivals".to_owned(),
    };
    Failure::refused(format_args!("--explain {packet}"), "there is no such packet", remedy)
}

/// Everyone who watches a replay.
struct Watchers {
    pauses: Option<Output>,
    failure: Option<Failure>,
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
        self.failure.take().map_or(Ok(()), Err)?;
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

    fn evicted(&mut self, eviction: Eviction) {
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.evicted(eviction);
        }
        for story in &mut self.stories {
            story.evicted(eviction);
        }
    }

    fn requested(&mut self, request: PauseRequest) {
        let Some(pauses) = &mut self.pauses else { return };
        let PauseRequest { at, port, group, signal } = request;
        let line = format!("{},{port},{group},{}\n", at.ps(), signal.as_str());
        if let Err(failure) = pauses.write(line.as_bytes()) {
            self.failure.get_or_insert(failure);
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
