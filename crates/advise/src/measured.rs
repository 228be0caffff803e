//! Traffic that was measured: the packets of a trace, and watermarks of queues or PGs.

use crate::goal::{Goal, Measured};
use crate::trial::{Shown, Trial, Watch, too_late};
use forebay_runner::arrivals::{Arrivals, Groups};
use forebay_settings::Diagnostic;
use forebay_sonic::SonicError;
use forebay_tm::{Bytes, Instant, Packet, Rate, ValidConfig};
use std::path::Path;

/// Watermarks, as `show queue watermark unicast` and `show priority-group watermark shared` print them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watermarks {
    /// Its name in errors.
    file: String,
    /// They are of PGs; else of queues.
    of_groups: bool,
    /// By port and number; zeros are left out.
    rows: Vec<Watermark>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Watermark {
    line: usize,
    port: String,
    number: u8,
    bytes: u64,
}

/// The words of a line, which is divided by blanks, commas or bars.
fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| c.is_whitespace() || c == ',' || c == '|').filter(|word| !word.is_empty()).collect()
}

impl Watermarks {
    /// Reads a table: a line with `Port` and `UC0`, `UC1` ... (queues) or `PG0`, `PG1` ..., and a line for each port.
    ///
    /// # Errors
    /// If it is none; they name the line.
    pub fn read(file: &str, text: &str) -> Result<Self, Diagnostic> {
        let mut of: Option<Vec<u8>> = None;
        let mut marks = Self { file: file.to_owned(), of_groups: false, rows: vec![] };
        for (line, text) in (1..).zip(text.lines()) {
            let wrong = |word: &str, problem: String, remedy: &str| {
                let start = text.find(word).unwrap_or(0);
                Diagnostic::of_line(file, line, text, start..start + word.len(), "", problem, remedy)
            };
            let words = words(text);
            let Some(first) = words.first().filter(|word| !word.chars().all(|c| matches!(c, '-' | '+'))) else {
                continue;
            };
            let Some(numbers) = &of else {
                if first.eq_ignore_ascii_case("port") {
                    marks.of_groups = words.get(1).is_some_and(|word| word.starts_with("PG"));
                    let kind = if marks.of_groups { "PG" } else { "UC" };
                    let number = |word: &&str| {
                        let number = word.strip_prefix(kind).and_then(|number| number.parse().ok());
                        let remedy = "give Port UC0 UC1 ... for queues, or Port PG0 PG1 ... for PGs";
                        number.ok_or_else(|| wrong(word, format!("\"{word}\" is no column of watermarks"), remedy))
                    };
                    of = Some(words[1..].iter().map(number).collect::<Result<_, _>>()?);
                }
                continue;
            };
            if words.len() != numbers.len() + 1 {
                let problem = format!("{} values for {} columns", words.len() - 1, numbers.len());
                return Err(wrong(text.trim(), problem, "give one for each, or N/A"));
            }
            for (word, number) in words[1..].iter().zip(numbers).filter(|(word, _)| **word != "N/A") {
                let problem = || format!("\"{word}\" is no number of bytes");
                let bytes = word.parse().ok().filter(|bytes| *bytes <= 1 << 40);
                let bytes = bytes.ok_or_else(|| wrong(word, problem(), "give 0 to 2^40, or N/A"))?;
                if bytes > 0 {
                    marks.rows.push(Watermark { line, port: (*first).to_owned(), number: *number, bytes });
                }
            }
        }
        if of.is_none() {
            let remedy = "give what show queue watermark unicast or show priority-group watermark shared prints";
            return Err(Diagnostic::of_file(file, "there is no line of columns", remedy));
        }
        if marks.rows.is_empty() {
            return Err(Diagnostic::of_file(file, "all watermarks are 0", "measure while there is traffic"));
        }
        Ok(marks)
    }

    /// The file that they were read from.
    pub(crate) fn file(&self) -> &Path {
        Path::new(&self.file)
    }

    /// In words.
    pub(crate) fn words(&self) -> String {
        format!("the {} watermarks of {}", if self.of_groups { "PG" } else { "queue" }, self.file)
    }
}

/// What the traffic asks of the buffer, were that unlimited.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    /// The most that waits for a port, of the goal's queue.
    pub(crate) own: u64,
    /// The most that waits for each of the other ports.
    pub(crate) others: Vec<u64>,
}

impl Demand {
    /// What a queue gets of `shared` bytes at least if all have this factor, and the others do not give way: `T` with
    /// `T = alpha * (F - T)`, where `F = S - sum min(q, alpha * F)` is what the others leave.
    pub(crate) fn share(&self, shared: f64, alpha: f64) -> f64 {
        let held = |free: f64| self.others.iter().map(|bytes| (*bytes as f64).min(alpha * free)).sum::<f64>();
        let (mut low, mut high) = (0.0, shared);
        for _ in 0..64 {
            let free = f64::midpoint(low, high);
            if shared - held(free) >= free { low = free } else { high = free }
        }
        alpha * low / (1.0 + alpha)
    }
}

/// Ports that drain at their rates.
struct Backlog<'a> {
    rates: &'a [Rate],
    last: Instant,
    /// By port: of all packets, and of the goal's queue; and the most of both.
    waiting: Vec<[u64; 2]>,
    most: Vec<[u64; 2]>,
}

impl Backlog<'_> {
    fn arrive(&mut self, now: Instant, packet: &Packet, is_own: bool) {
        let passed = now.since(self.last);
        self.last = now;
        if passed.ps() > 0 {
            for (waiting, rate) in self.waiting.iter_mut().zip(self.rates) {
                let sent = (u128::from(rate.bps()) * u128::from(passed.ps()) / 8_000_000_000_000) as u64;
                *waiting = waiting.map(|bytes| bytes.saturating_sub(sent));
            }
        }
        let waiting = &mut self.waiting[packet.port as usize];
        waiting[0] += u64::from(packet.bytes);
        waiting[1] += if is_own { u64::from(packet.bytes) } else { 0 };
        let most = &mut self.most[packet.port as usize];
        *most = [most[0].max(waiting[0]), most[1].max(waiting[1])];
    }
}

impl Trial {
    /// Shows each packet of the traffic, in order of time.
    fn each_packet(
        &self,
        goal: &Goal,
        (queue, traffic): (u8, &Measured),
        mut show: impl FnMut(Instant, &Packet) -> Result<(), SonicError>,
    ) -> Result<(), SonicError> {
        let (file, times, marks) = match traffic {
            Measured::Trace(path) => {
                let wrong = |error: Diagnostic| told(&error);
                let switch: ValidConfig = self.switch.switch.clone().validate().map_err(|error| {
                    SonicError::new(format!("{} = {}", error.field, error.value), error.problem, error.remedy)
                })?;
                let sides = self.start()?;
                let groups = Groups { ingress: sides.tm().ingress(), of_queue: &self.of_queue };
                let mut arrivals = Arrivals::open_for(path, &switch, Some(groups)).map_err(wrong)?;
                while let Some((now, packet)) = arrivals.read_next().map_err(wrong)? {
                    show(now, &packet)?;
                }
                return Ok(());
            }
            Measured::Watermarks { marks, percent } => (&marks.file, *percent, marks),
        };
        let wrong = |line: usize, problem: String, remedy: &str| {
            Err(SonicError::new(format!("{file}:{line}: {}", goal.words()), problem, remedy))
        };
        let charge = u64::from(self.packet).next_multiple_of(u64::from(self.switch.ingress.cell));
        let mut rows = vec![];
        for row in &marks.rows {
            let Some(port) = self.names.iter().position(|name| *name == row.port) else {
                return wrong(row.line, format!("there is no port {} that is up", row.port), "name a port of PORT");
            };
            let of_queue = |queue: u8| self.of_queue.get(usize::from(queue)).copied();
            let number = match marks.of_groups {
                false => Some(row.number).filter(|number| usize::from(*number) < self.of_queue.len()),
                // Packets of the goal's queue, if they are charged to that PG.
                true if of_queue(queue) == Some(row.number) => Some(queue),
                true => (0..16).find(|queue| of_queue(*queue) == Some(row.number)),
            };
            let Some(number) = number else {
                let what = if marks.of_groups { "no queue's packets are charged to PG" } else { "ports have no queue" };
                return wrong(row.line, format!("{what} {}", row.number), "remove the column, or give N/A");
            };
            let packets = (u128::from(row.bytes) * u128::from(times) / 100 / u128::from(charge)).max(1) as u64;
            rows.push((port, number, packets));
        }
        let most = rows.iter().map(|(_, _, packets)| *packets).max().unwrap_or(0);
        if rows.iter().map(|(_, _, packets)| *packets).sum::<u64>() > crate::trial::MOST_PACKETS {
            return wrong(1, "that is more than any memory has".to_owned(), "give smaller watermarks or times");
        }
        let ports = self.names.len();
        let mut id = 0;
        // Round 0 is what is on the wires; then all grow together.
        for round in 0..=most {
            for (port, number, packets) in &rows {
                let had = |round: u64| u128::from(round) * u128::from(*packets) / u128::from(most.max(1));
                for _ in if round == 0 { 0..1 } else { had(round - 1)..had(round) } {
                    let other = (port + 1 + id as usize % (ports - 1).max(1)) % ports;
                    let (from, to) = if marks.of_groups { (*port, other) } else { (other, *port) };
                    let packet = Packet { in_port: from as u32, ..self.packet(id, from, to, *number) };
                    show(Instant::ZERO, &packet)?;
                    id += 1;
                }
            }
        }
        Ok(())
    }

    /// What the traffic asks of the buffer.
    pub(crate) fn demand(&self, goal: &Goal, queue: u8, traffic: &Measured) -> Result<Demand, SonicError> {
        let rates = &self.switch.switch.rates;
        let waiting = vec![[0; 2]; rates.len()];
        let mut backlog = Backlog { rates, last: Instant::ZERO, most: waiting.clone(), waiting };
        self.each_packet(goal, (queue, traffic), |now, packet| {
            backlog.arrive(now, packet, packet.queue == u32::from(queue));
            Ok(())
        })?;
        let most = backlog.most;
        let busiest = (0..most.len()).max_by_key(|port| most[*port][1]);
        let others = (0..most.len()).filter(|port| Some(*port) != busiest).map(|port| most[port][0]);
        let own = busiest.map_or(0, |port| most[port][1]);
        Ok(Demand { own, others: others.filter(|bytes| *bytes > 0).collect() })
    }

    /// Sends the traffic through the core: nothing of the queue is lost, and no PG of it pauses.
    pub(crate) fn measured(&self, goal: &Goal, queue: u8, traffic: &Measured) -> Result<Shown, SonicError> {
        let mut driver = self.start()?;
        let group = self.of_queue[usize::from(queue)];
        let only = Some((self.switch.switch.queues, queue, group));
        let mut own = Watch { only, ..Watch::default() };
        self.each_packet(goal, (queue, traffic), |now, packet| {
            driver.arrive(now, packet, &mut own).map(|_| ()).map_err(too_late)
        })?;
        driver.finish(&mut own).map_err(too_late)?;
        if own.offered == 0 {
            let problem = format!("no packet of the traffic goes to queue {queue}");
            return Err(SonicError::new(goal.words(), problem, "ask for a queue that has some"));
        }
        let lossless = self.is_lossless(queue);
        let paused = own.paused.filter(|_| lossless);
        let words = match (paused, own.lost) {
            (Some(request), _) => {
                let before = Bytes::new(own.before_pause);
                format!(
                    "PG {group} of {} asks for pause after {before} of {}",
                    self.names[request.port as usize],
                    Bytes::new(own.offered)
                )
            }
            _ => own.fate(),
        };
        let reached = if paused.is_some() { own.before_pause } else { own.offered - own.lost };
        Ok(Shown {
            met: own.lost == 0 && paused.is_none(),
            words,
            degree: reached as f64 / own.offered as f64,
            others: (own.others > 0).then_some(own.others),
            spread: None,
        })
    }
}

/// An error in a file that a goal names.
pub(crate) fn told(error: &Diagnostic) -> SonicError {
    let line = error.line.map_or(String::new(), |line| format!(":{line}"));
    let field = if error.field.is_empty() { String::new() } else { format!(": {}", error.field) };
    SonicError::new(format!("{}{line}{field}", error.file), error.problem.clone(), error.remedy.clone())
}
