//! One switch of the core with packets at constant rates, as in Occamy's figures 3, 10 and 11 and its equations: some
//! queues have been full for long, then others receive bursts.

use forebay_tm::View as _;
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::{Departure, Duration, Eviction, Instant, Packet, PacketId, Rate, Tm, TmConfig, Verdict};

/// Where packets go, and how fast they come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) port: u32,
    pub(super) queue: u32,
    pub(super) rate: Rate,
}

/// Long-lived streams from the beginning, and bursts that come when these have filled their queues.
#[derive(Clone, Debug)]
pub(super) struct Bench {
    pub(super) switch: TmConfig,
    /// Bytes of every packet.
    pub(super) packet: u32,
    pub(super) lasting: Vec<Stream>,
    pub(super) bursts: Vec<Stream>,
    /// When the bursts begin.
    pub(super) burst_at: Duration,
    /// Packets of each burst.
    pub(super) burst_packets: u64,
    /// How long to look on when the bursts are over.
    pub(super) after: Duration,
    /// Look no further than the first loss of a burst.
    pub(super) until_loss: bool,
    /// By which part of a packet's time the bursts come later, from 0 to 1: which packet is just in front of them is
    /// chance.
    pub(super) phase: f64,
}

/// The first lasting queue and the first burst's queue at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment {
    pub(super) at: Instant,
    pub(super) lasting: f64,
    pub(super) burst: f64,
    /// The threshold of the burst's queue.
    pub(super) threshold: f64,
    /// Of the whole buffer.
    pub(super) free: f64,
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// Just before the bursts.
    pub(super) before: Moment,
    /// When the first packet of a burst was lost.
    pub(super) at_first_loss: Option<Moment>,
    /// Packets of the bursts that had come by then, that one not counted.
    pub(super) packets_before_loss: u64,
    /// When the last packet of the bursts had come.
    pub(super) at_end_of_burst: Moment,
    /// Packets of the bursts: all, and those lost.
    pub(super) burst_sent: u64,
    pub(super) burst_lost: u64,
    /// Every moment from just before the bursts on.
    pub(super) moments: Vec<Moment>,
}

/// Packets of bursts have numbers from here on.
const BURST: u64 = 1 << 63;

struct Watcher {
    lasting: usize,
    burst: usize,
    from: Instant,
    seen: Outcome,
    /// A packet of a burst was lost in this instant.
    lost_now: bool,
}

impl Watcher {
    fn look(&self, at: Instant, tm: &Tm) -> Moment {
        Moment {
            at,
            lasting: tm.queue_bytes(self.lasting).as_f64(),
            burst: tm.queue_bytes(self.burst).as_f64(),
            threshold: tm.threshold(self.burst).map_or(f64::NAN, |threshold| threshold.value),
            free: tm.config().buffer.as_f64() - tm.used().as_f64(),
        }
    }

    fn lose(&mut self, id: PacketId) {
        if id.0 >= BURST {
            self.seen.burst_lost += 1;
            self.lost_now = true;
        }
    }
}

impl Observer for Watcher {
    fn arrived(&mut self, _: Instant, packet: &Packet, verdict: Verdict) {
        self.seen.burst_sent += u64::from(packet.id.0 >= BURST);
        if matches!(verdict, Verdict::Dropped { .. }) {
            self.lose(packet.id);
        }
    }

    fn started(&mut self, _: Instant, _: usize, _: &Departure, _: Instant) {}

    fn evicted(&mut self, eviction: Eviction) {
        self.lose(eviction.id);
    }

    fn instant_over(&mut self, now: Instant, tm: &Tm) {
        let moment = self.look(now, tm);
        if now < self.from {
            self.seen.before = moment;
            return;
        }
        self.seen.moments.push(moment);
        if std::mem::take(&mut self.lost_now) && self.seen.at_first_loss.is_none() {
            self.seen.at_first_loss = Some(moment);
            self.seen.packets_before_loss = self.seen.burst_sent - self.seen.burst_lost;
        }
    }
}

/// The arrivals of one stream: number, time of the first, time from one to the next, how many there are.
struct Arrivals {
    stream: Stream,
    id: u64,
    first: Instant,
    every: Duration,
    left: u64,
}

impl Bench {
    /// What becomes of the bursts.
    pub(super) fn run(&self) -> Result<Outcome, String> {
        let config = self.switch.clone().validate().map_err(|error| error.to_string())?;
        let mut driver = Driver::watching(Tm::new(config));
        let tm = driver.tm();
        let index = |stream: &Stream| tm.queue_index(stream.port as usize, stream.queue as usize);
        let burst_at = Instant::ZERO + self.burst_at;
        let mut watcher = Watcher {
            lasting: index(&self.lasting[0]),
            burst: index(&self.bursts[0]),
            from: burst_at,
            seen: Outcome::default(),
            lost_now: false,
        };
        let every = |stream: &Stream| stream.rate.serialization(u64::from(self.packet));
        let later = |span: Duration, part: f64| Duration::from_ps((span.ps() as f64 * part) as u64);
        // Streams of one kind take turns.
        let turn = |place: usize, of: usize| place as f64 / of as f64;
        let lasting = self.lasting.iter().enumerate().map(|(place, stream)| Arrivals {
            stream: *stream,
            id: (place as u64) << 40,
            first: Instant::ZERO + later(every(stream), turn(place, self.lasting.len())),
            every: every(stream),
            left: u64::MAX,
        });
        let bursts = self.bursts.iter().enumerate().map(|(place, stream)| Arrivals {
            stream: *stream,
            id: BURST + ((place as u64) << 40),
            first: burst_at
                + later(every(&self.lasting[0]), self.phase)
                + later(every(stream), turn(place, self.bursts.len())),
            every: every(stream),
            left: self.burst_packets,
        });
        let mut streams: Vec<Arrivals> = lasting.chain(bursts).collect();
        let mut of_bursts = self.burst_packets * self.bursts.len() as u64;
        let mut end = None;
        while let Some(next) = streams.iter_mut().filter(|stream| stream.left > 0).min_by_key(|stream| stream.first) {
            let now = next.first;
            let is_seen = self.until_loss && watcher.seen.at_first_loss.is_some();
            if is_seen || end.is_some_and(|end| now > end) {
                break;
            }
            let Stream { port, queue, .. } = next.stream;
            let packet = Packet { id: PacketId(next.id), bytes: self.packet, port, queue, ..Packet::default() };
            driver.arrive(now, &packet, &mut watcher).map_err(|error| error.to_string())?;
            next.id += 1;
            next.left -= 1;
            next.first = now + next.every;
            if packet.id.0 >= BURST {
                of_bursts -= 1;
                if of_bursts == 0 {
                    watcher.seen.at_end_of_burst = watcher.look(now, driver.tm());
                    end = Some(now + self.after);
                }
            }
        }
        if let Some(end) = end {
            driver.advance(end, &mut watcher).map_err(|error| error.to_string())?;
        }
        Ok(watcher.seen)
    }
}
