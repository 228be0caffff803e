//! `forebay replay`: arrivals through a switch, with no network and no transport.

use crate::Failure;
use crate::args::ReplayArgs;
use crate::arrivals::{Arrivals, cannot_read};
use crate::compare;
use crate::explain::Story;
use crate::output::{Output, print};
use crate::progress::ReplayBar;
use crate::summary;
use crate::timeline::Timeline;
use crate::verdicts::Verdicts;
use forebay_settings::{Diagnostic, SwitchFile};
use forebay_tm::drive::{Driver, EndOfTime, Observer};
use forebay_tm::{Departure, Instant, Lost, Packet, Tm, ValidConfig, Verdict};
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let name = args.switch.display().to_string();
    let text = read_text(&args.switch)?;
    let file = SwitchFile::parse(&name, &text)?;
    let switch = file.switch()?;
    if let Some(policies) = &args.compare {
        return compare::run(args, &file, &switch, policies);
    }
    let mut arrivals = Arrivals::open(&args.arrivals, &switch)?;
    let tells = args.summary || !args.explain.is_empty();
    let verdicts = match &args.output {
        Some(path) => Some(Verdicts::new(Output::create(Some(path))?)?),
        None if tells || args.timeline.is_some() => None,
        None => Some(Verdicts::new(Output::create(None)?)?),
    };
    let timeline = args.timeline.as_ref().map(|path| Timeline::new(Output::create(Some(path))?, &switch, args.every));
    let mut watchers = Watchers {
        verdicts,
        timeline: timeline.transpose()?,
        stories: args.explain.iter().map(|packet| Story::new(*packet)).collect(),
    };
    let driver = replay(&mut arrivals, &switch, &mut watchers, args.quiet)?;
    let mut text = String::new();
    for story in &watchers.stories {
        text.push_str(&story.tell(&switch).ok_or_else(|| no_such_packet(story.packet(), arrivals.count()))?);
        text.push('\n');
    }
    if args.summary {
        text.push_str(&summary::tell(driver.tm()));
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
    switch: &ValidConfig,
    watchers: &mut Watchers,
    quiet: bool,
) -> Result<Driver, Failure> {
    let tm = Tm::new(switch.clone());
    let mut driver = if watchers.timeline.is_some() { Driver::watching(tm) } else { Driver::new(tm) };
    let mut progress = ReplayBar::new(arrivals, quiet);
    while let Some((now, packet)) = arrivals.next()? {
        if watchers.stories.iter().any(|story| story.packet() == packet.id.0) {
            let (_, why) = driver.arrive_explained(now, &packet, watchers).map_err(|error| arrivals.too_late(error))?;
            for story in watchers.stories.iter_mut().filter(|story| story.packet() == packet.id.0) {
                story.begin(&packet, why.clone());
            }
        } else {
            driver.arrive(now, &packet, watchers).map_err(|error| arrivals.too_late(error))?;
        }
        progress.tick(arrivals);
        watchers.check()?;
    }
    driver.finish(watchers).map_err(|error| arrivals.too_late(error))?;
    watchers.check()?;
    Ok(driver)
}

/// Reads a text file.
pub(crate) fn read_text(path: &Path) -> Result<String, Diagnostic> {
    /// Far above any file of settings.
    const MOST: u64 = 16 << 20;
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes))
        .map_err(|error| cannot_read(&name, &error))?;
    if bytes.len() as u64 > MOST {
        let problem = format!("more than {MOST} bytes are too many for a file of settings");
        return Err(Diagnostic::of_file(name, problem, "is this the right file?"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Diagnostic { line: Some(line), ..Diagnostic::of_file(name, "this is not UTF-8 text", "save the file as UTF-8") }
    })
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
}
