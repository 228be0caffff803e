//! A live switch between files: what the traffic manager sees is written as arrivals for `forebay replay`, and what it
//! says as verdicts in the same form.

use crate::Failure;
use crate::output::{Output, cannot_write};
use crate::replay;
use crate::verdicts::Verdicts;
use forebay_capture::{Clock, Writer};
use forebay_live::dataplane::{Dataplane, FrameObserver, Parts};
use forebay_live::offline::{self, Input, Stopped};
use forebay_live::pool::Pool;
use forebay_live::settings::{Interface, LiveConfig};
use forebay_tm::drive::Observer;
use forebay_tm::{Departure, Eviction, Instant, Packet, PacketId, Tm, Verdict};
use std::fmt::Write as _;
use std::path::Path;

/// Writes arrivals and verdicts, in which packets are numbered in the order of their arrival.
struct ArrivalLog {
    /// The number of the packet in each frame buffer.
    numbers: Vec<u64>,
    count: u64,
    arrivals: Option<Output>,
    verdicts: Option<Verdicts>,
    line: String,
    failure: Option<Failure>,
}

impl ArrivalLog {
    fn number(&self, id: PacketId) -> PacketId {
        PacketId(self.numbers[id.0 as usize])
    }

    fn write_arrival(&mut self, now: Instant, packet: &Packet) {
        let Some(arrivals) = &mut self.arrivals else { return };
        self.line.clear();
        let Packet { bytes, port, queue, flow, rank, class, .. } = packet;
        let (unscheduled, ect) = (u8::from(packet.unscheduled), u8::from(packet.ect));
        // Writing to a string does not fail.
        let _ = writeln!(self.line, "{},{bytes},{port},{queue},{flow},{rank},{class},{unscheduled},{ect}", now.ps());
        if let Err(failure) = arrivals.write(self.line.as_bytes()) {
            self.failure.get_or_insert(failure);
        }
    }
}

impl FrameObserver for ArrivalLog {
    fn judged(&mut self, now: Instant, packet: &Packet, verdict: Verdict) {
        self.write_arrival(now, packet);
        self.numbers[packet.id.0 as usize] = self.count;
        let packet = Packet { id: PacketId(self.count), ..*packet };
        self.count += 1;
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.arrived(now, &packet, verdict);
        }
    }

    fn sent(&mut self, now: Instant, port: usize, departure: &Departure, end: Instant) {
        let mut departure = departure.clone();
        departure.id = self.number(departure.id);
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.started(now, port, &departure, end);
        }
    }

    fn evicted(&mut self, eviction: &Eviction) {
        let eviction = Eviction { id: self.number(eviction.id), ..*eviction };
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.evicted(eviction);
        }
    }
}

/// Runs the captures of a switch's ports, and says what became of them.
pub(super) fn run(config: &LiveConfig, text: &str) -> Result<String, Failure> {
    let (mut files, mut writers) = (Vec::new(), Vec::new());
    for (port, interface) in config.interfaces.iter().enumerate() {
        let Interface::Capture { read, write } = interface else { continue };
        if let Some(path) = read {
            let bytes = std::fs::read(path).map_err(|error| {
                let problem = format!("cannot read it: {error}");
                Failure::refused(path.display(), problem, "check the name, or make a capture with tcpdump -w")
            })?;
            files.push((port, path, bytes));
        }
        writers.push(write.as_deref().map(open_capture).transpose()?);
    }
    let out = config.run.out.as_deref();
    if let Some(out) = out {
        std::fs::create_dir_all(out).map_err(|error| cannot_write(&out.display().to_string(), &error))?;
    }
    let output = |name: &str| out.map(|out| Output::create(Some(&out.join(name)))).transpose();
    let mut arrivals = output("arrivals.csv")?;
    if let Some(arrivals) = &mut arrivals {
        arrivals.write(b"time_ps,bytes,port,queue,flow,rank,class,unscheduled,ect\n")?;
    }
    let log = ArrivalLog {
        numbers: vec![0; config.run.frames as usize],
        count: 0,
        arrivals,
        verdicts: output("verdicts.csv")?.map(Verdicts::new).transpose()?,
        line: String::new(),
        failure: None,
    };
    let pool = Pool::new(config.run.frames, config.run.frame)
        .map_err(|error| Failure::refused("live.frames", error, "give fewer"))?;
    let parts = Parts {
        pool,
        forwarding: config.forwarding.build(config.interfaces.len(), 0),
        classifier: config.classifier.clone(),
        treatment: config.treatment.clone(),
        overhead: config.run.overhead,
    };
    let mut path = Dataplane::new(Tm::new(config.tm.clone()), parts, log);
    let inputs: Vec<Input<'_>> = files.iter().map(|(port, _, file)| Input { port: *port, file }).collect();
    let result = offline::run(&mut path, &inputs, |at, port, bytes| match &mut writers[port] {
        Some((name, writer)) => writer.frame(at, bytes).map_err(|error| cannot_write(name, &error)),
        None => Ok(()),
    });
    let name = |port: usize| {
        files.iter().find(|(own, ..)| *own == port).map_or(String::new(), |(_, path, _)| path.display().to_string())
    };
    result.map_err(|stopped| stopped_because(stopped, name))?;
    let summary = crate::summary::tell(path.tm());
    let unforwarded = path.unforwarded();
    let log = path.into_observer();
    if let Some(failure) = log.failure {
        return Err(failure);
    }
    for (name, writer) in writers.into_iter().flatten() {
        writer.finish().map_err(|error| cannot_write(&name, &error))?.0.finish()?;
    }
    if let Some(verdicts) = log.verdicts {
        verdicts.finish()?;
    }
    if let Some(arrivals) = log.arrivals {
        arrivals.finish()?;
    }
    if let Some(out) = out {
        let mut settings = Output::create(Some(&out.join("switch.toml")))?;
        settings.write(text.as_bytes())?;
        settings.finish()?;
    }
    let elsewhere = unforwarded.total();
    Ok(if elsewhere == 0 { summary } else { format!("{summary}{elsewhere} frames were not for any other port\n") })
}

/// An [`Output`] as something to write to.
struct Sink(Output);

impl std::io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes).map(|()| bytes.len()).map_err(|failure| match failure {
            Failure::Input(error) => std::io::Error::other(error),
            Failure::Said(text) => std::io::Error::other(text),
            Failure::Interrupted | Failure::Findings => std::io::ErrorKind::Interrupted.into(),
        })
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn open_capture(path: &Path) -> Result<(String, Writer<Sink>), Failure> {
    let name = path.display().to_string();
    let sink = Sink(Output::create(Some(path))?);
    let is_pcapng = path.extension().is_some_and(|extension| extension == "pcapng");
    let writer = if is_pcapng { Writer::pcapng(sink, &["out"], Clock::Nanoseconds) } else { Writer::pcap(sink) };
    Ok((name.clone(), writer.map_err(|error| cannot_write(&name, &error))?))
}

fn stopped_because(stopped: Stopped<Failure>, name: impl Fn(usize) -> String) -> Failure {
    let (place, problem, help) = match stopped {
        Stopped::Output(failure) => return failure,
        Stopped::Time(end) => return replay::too_late(end),
        Stopped::Capture(port, bad) => (name(port), bad.to_string(), "check it with `capinfos`, or make it again"),
        Stopped::Cut(port, frame, length) => {
            let problem = format!("frame {frame}: only a part of its {length} bytes was captured");
            (name(port), problem, "capture whole frames (tcpdump -s 0)")
        }
        Stopped::TooLate(port, frame) => {
            let problem = format!("frame {frame}: it was captured more than 213 days after the first");
            (name(port), problem, "give captures of one time")
        }
        Stopped::TooLong(port, length) => {
            let problem = format!("a frame of {length} bytes does not fit a frame buffer");
            (name(port), problem, "set live.frame to 4096, 8192 or 16384")
        }
        Stopped::NoBuffer => {
            let problem = "all frame buffers hold frames that wait".to_owned();
            ("live.frames".to_owned(), problem, "give more, at least as many as the buffer has packets")
        }
    };
    Failure::refused(place, problem, help)
}
