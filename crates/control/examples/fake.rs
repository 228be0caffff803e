//! A switch without interfaces, to look at the page and for tests: a traffic manager under made-up traffic that comes
//! and goes.
//!
//! `cargo run -p forebay-control --example fake [ADDRESS [SOCKET [SETTINGS]]]`

use forebay_live::clock::Stalls;
use forebay_live::dataplane::{Books, Unforwarded};
use forebay_live::handle::{Request, SwitchHandle};
use forebay_live::port::Outside;
use forebay_live::snapshot::{Cost, Fate, FrameBuffers, Loss, PortState, QueueState, RECENT, Snapshot};
use forebay_settings::{Diagnostic, Document, Settings, SwitchTables, read_switch_tables, write_switch_tables};
use forebay_tm::View as _;
use forebay_tm::counters::Count;
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::packet::{Packet, PacketId};
use forebay_tm::{Bytes, Departure, Duration, Eviction, Instant, Rate, Tm, TmConfig, Verdict};

/// The settings it starts with.
pub(crate) const SETTINGS: &str = "rate = \"100Mbps\"
queues = 2
buffer = \"410KB\"
[policy]
kind = \"dt\"
alpha = 1.0
[scheduler]
kind = \"drr\"
[ecn]
kind = \"step\"
threshold = \"30KB\"
[[interface]]
name = \"fb-h1\"
[[interface]]
name = \"fb-h2\"
[[interface]]
name = \"fb-h3\"
[[interface]]
name = \"fb-h4\"
rate = \"50Mbps\"
";

/// How often traffic is brought.
const TICK: Duration = Duration::from_us(100);
/// Bytes of a packet.
const PACKET: u32 = 1500;

/// The losses since the snapshot before.
#[derive(Default)]
struct Losses {
    queues: usize,
    recent: Vec<Loss>,
}

impl Losses {
    fn add(&mut self, at: Instant, queue: usize, bytes: u32, fate: Fate) {
        if self.recent.len() < RECENT {
            self.recent.push(Loss { at, port: queue / self.queues, queue: queue % self.queues, bytes, fate });
        }
    }
}

impl Observer for Losses {
    fn arrived(&mut self, now: Instant, packet: &Packet, verdict: Verdict) {
        let fate = match verdict {
            Verdict::Queued { .. } => return,
            Verdict::Trimmed { .. } => Fate::Trimmed,
            Verdict::Returned { .. } => Fate::Returned,
            Verdict::Dropped { reason } => Fate::Dropped(reason),
        };
        self.add(now, packet.port as usize * self.queues + packet.queue as usize, packet.bytes, fate);
    }
    fn started(&mut self, _: Instant, _: usize, _: &Departure, _: Instant) {}
    fn evicted(&mut self, eviction: Eviction) {
        self.add(eviction.at, eviction.queue, eviction.bytes, Fate::Dropped(eviction.reason));
    }
}

/// The switch.
pub(crate) struct Fake {
    driver: Driver,
    losses: Losses,
    tables: SwitchTables,
    names: Vec<String>,
    now: Instant,
    ticks: u64,
    /// Bytes that are to arrive for each queue.
    credit: Vec<f64>,
    watermarks: Vec<u64>,
    received: Vec<Count>,
    packets: u64,
    sequence: u64,
    changes: u64,
}

/// What settings say: the traffic manager, its tables, and the names of the ports.
fn read(settings: &str, changes: &[(String, String)]) -> Result<(TmConfig, SwitchTables, Vec<String>), Diagnostic> {
    let arguments = Settings::new(settings, changes)?;
    let document = Document::parse_with("settings", settings, &arguments)?;
    let root = document.root();
    let all = root.need("rate", "rate = \"1Gbps\"")?;
    let (mut rates, mut names): (Vec<Rate>, Vec<String>) = Default::default();
    for interface in root.tables("interface")? {
        names.push(interface.need("name", "name = \"eth0\"")?.text()?.to_owned());
        rates.push(interface.get("rate").unwrap_or_else(|| all.clone()).rate()?);
    }
    let mut config = TmConfig::new(rates, root.need("buffer", "buffer = \"1MB\"")?.bytes()?);
    config.queues = root.need("queues", "queues = 1")?.number()?;
    let tables = read_switch_tables(&root)?;
    config.policy = tables.policy.clone().ok_or_else(|| root.missing("policy", ""))?;
    if let Some((scheduler, rank)) = tables.scheduler.clone() {
        (config.scheduler, config.rank) = (scheduler, rank);
    }
    config.mark = tables.mark.clone().flatten();
    config.trim = tables.trim.clone().flatten();
    config.clone().validate().map_err(|error| document.locate(&error))?;
    Ok((config, tables, names))
}

impl Fake {
    /// A switch with these settings.
    pub(crate) fn new(settings: &str) -> Result<Self, Diagnostic> {
        let (config, tables, names) = read(settings, &[])?;
        let config = config.validate().map_err(|error| Diagnostic::of_file("settings", error.problem, error.remedy))?;
        let (ports, queues) = (config.rates.len(), config.total_queues());
        Ok(Self {
            losses: Losses { queues: config.queues, ..Losses::default() },
            driver: Driver::new(Tm::new(config)).with_overhead(24),
            tables,
            names,
            now: Instant::ZERO,
            ticks: 0,
            credit: vec![0.0; queues],
            watermarks: vec![0; queues],
            received: vec![Count::default(); ports],
            packets: 0,
            sequence: 0,
            changes: 0,
        })
    }

    /// The settings in force.
    pub(crate) fn settings(&self) -> String {
        let config = self.driver.tm().config();
        let mut text = format!("rate = \"1Gbps\"\nqueues = {}\nbuffer = \"{}\"\n", config.queues, config.buffer);
        write_switch_tables("", &self.tables, &mut text);
        for (name, rate) in self.names.iter().zip(&config.rates) {
            text += &format!("\n[[interface]]\nname = \"{name}\"\nrate = \"{rate}\"\n");
        }
        text
    }

    /// Changes settings, all or none.
    pub(crate) fn change(&mut self, changes: &[(String, String)]) -> Result<(), String> {
        let settings = self.settings();
        let (config, tables, _) = read(&settings, changes).map_err(|error| error.to_string())?;
        self.driver.reconfigure(config).map_err(|error| error.to_string())?;
        self.tables = tables;
        self.changes += 1;
        Ok(())
    }

    /// How much of its port a queue is offered at a time.
    fn load(&self, queue: usize) -> f64 {
        let t = self.now.ps() as f64 / 1e12;
        let wave = |period: f64, shift: f64| (std::f64::consts::TAU * (t / period + shift)).sin();
        let shift = queue as f64 * 0.29;
        let burst = if wave(3.1, shift * 1.7) > 0.97 { 3.0 } else { 0.0 };
        (0.45 + 0.35 * wave(9.0, shift) + 0.2 * wave(2.3, shift * 2.0) + burst).max(0.0)
    }

    /// Goes on for a while.
    pub(crate) fn go(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now = self.now + TICK;
            self.ticks += 1;
            self.tick();
        }
    }

    fn tick(&mut self) {
        let queues = self.losses.queues;
        for queue in 0..self.credit.len() {
            let port = queue / queues;
            let rate = self.driver.tm().rate(port).bps() as f64 / 8.0;
            self.credit[queue] += self.load(queue) * rate * TICK.ps() as f64 / 1e12;
            while self.credit[queue] >= f64::from(PACKET) {
                self.credit[queue] -= f64::from(PACKET);
                self.packets += 1;
                let packet = Packet {
                    id: PacketId(self.packets),
                    bytes: PACKET,
                    port: port as u32,
                    queue: (queue % queues) as u32,
                    flow: queue as u64,
                    ect: queue % 3 == 0,
                    ..Packet::default()
                };
                let from = (port + 1) % self.received.len();
                self.received[from] += Count { packets: 1, bytes: u64::from(PACKET) };
                self.driver.arrive(self.now, &packet, &mut self.losses).expect("time goes on");
            }
        }
        self.driver.advance(self.now, &mut self.losses).expect("time goes on");
        for (queue, mark) in self.watermarks.iter_mut().enumerate() {
            *mark = (*mark).max(self.driver.tm().queue_bytes(queue).get());
        }
    }

    /// How it is now.
    pub(crate) fn snapshot(&mut self) -> Snapshot {
        self.sequence += 1;
        let tm = self.driver.tm();
        let per_port = self.losses.queues;
        let queue = |queue: usize| QueueState {
            bytes: tm.queue_bytes(queue),
            packets: tm.queue_packets(queue),
            watermark: Bytes::new(self.watermarks[queue]),
            threshold: tm.threshold(queue).map(|threshold| threshold.value),
            counters: tm.queue_counters(queue),
        };
        let port = |port: usize| PortState {
            name: self.names[port].clone(),
            is_up: true,
            rate: tm.rate(port),
            counters: tm.port_counters(port),
            headers_waiting: tm.header_packets(port),
            outside: Outside {
                receive_overruns: if port == 2 { self.ticks / 100_000 } else { 0 },
                ..Outside::default()
            },
            received: self.received[port],
            transmitted: tm.port_counters(port).sent,
            untrimmable: 0,
            queues: (port * per_port..(port + 1) * per_port).map(queue).collect(),
        };
        let snapshot = Snapshot {
            sequence: self.sequence,
            uptime: self.now.since(Instant::ZERO),
            at: self.now,
            policy: tm.config().policy.name().to_owned(),
            buffer: tm.config().buffer,
            used: tm.used(),
            total: tm.pool_counters(),
            memory: tm.memory_reads(),
            ports: (0..self.names.len()).map(port).collect(),
            books: Books {
                received: self.packets + self.ticks / 10_000,
                sent: tm.pool_counters().sent.packets,
                dropped: tm.pool_counters().dropped.packets,
                unforwarded: self.ticks / 10_000,
                waiting: tm.pool_counters().waiting.packets,
                ..Books::default()
            },
            unforwarded: Unforwarded { back: self.ticks / 10_000, ..Unforwarded::default() },
            stalls: Stalls {
                count: self.ticks / 50_000,
                total: Duration::from_us(self.ticks / 50_000 * 1_700),
                longest: Duration::from_us(if self.ticks < 50_000 { 0 } else { 1_700 }),
                given_up: Duration::ZERO,
            },
            frame_buffers: FrameBuffers { all: 16_384, free: 16_384 - tm.pool_counters().waiting.packets as usize },
            cost: Cost {
                busy_turns: self.ticks / 2,
                turns: self.ticks,
                packets: self.packets,
                core_ns: self.packets * 90,
                io_ns: self.packets * 700,
            },
            changes: self.changes,
            last_drops: self.losses.recent.last().copied().into_iter().collect(),
            recent: std::mem::take(&mut self.losses.recent),
        };
        self.watermarks.fill(0);
        snapshot
    }

    /// Does what is asked; false if that is to stop. Refusals and changes are told to `heard`.
    pub(crate) fn hear(
        &mut self,
        switch_side: &SwitchHandle,
        heard: &mut impl FnMut(&[(String, String)], &Result<(), String>),
    ) -> bool {
        while let Some(request) = switch_side.request() {
            match request {
                Request::Change(changes, answer) => {
                    let outcome = self.change(&changes);
                    heard(&changes, &outcome);
                    let _ = answer.send(outcome);
                }
                Request::Reload(_, answer) => drop(answer.send(Err("this switch has no file".to_owned()))),
                Request::Settings(answer) => {
                    let _ = answer.send(self.settings());
                }
                Request::Stop => return false,
            }
        }
        true
    }

    /// Runs as a switch would, with the machine's clock, until it is asked to stop.
    pub(crate) fn run(
        mut self,
        switch_side: &SwitchHandle,
        mut heard: impl FnMut(&[(String, String)], &Result<(), String>),
    ) {
        const STEP: std::time::Duration = std::time::Duration::from_millis(50);
        let start = std::time::Instant::now();
        let mut turns = 0;
        while self.hear(switch_side, &mut heard) {
            let behind = start.elapsed().as_micros() as u64 * 1_000_000;
            if behind >= turns * 50_000_000_000 {
                turns += 1;
                self.go(Duration::from_us(50_000));
                switch_side.show(self.snapshot());
            } else {
                std::thread::sleep(STEP / 10);
            }
        }
    }
}

#[allow(dead_code, reason = "tests take the switch alone")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let listen = arguments.next().unwrap_or_else(|| "127.0.0.1:9099".into()).parse()?;
    let (handle, switch_side) = forebay_live::handle::pair();
    let token = std::env::var("TOKEN").ok();
    let http = forebay_control::HttpConfig { listen, token };
    let server = forebay_control::serve(handle, Some(http), arguments.next().map(Into::into))?;
    if let Some(address) = server.http_address() {
        println!("http://{address}/");
    }
    let settings = arguments.next().map_or(Ok(SETTINGS.into()), std::fs::read_to_string)?;
    let fake = Fake::new(&settings).map_err(|error| error.to_string())?;
    fake.run(&switch_side, |changes, outcome| println!("{changes:?}: {outcome:?}"));
    server.stop();
    Ok(())
}
