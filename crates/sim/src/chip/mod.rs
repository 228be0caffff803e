//! A programmable chip: pipelines that run a program in front of and behind the traffic manager, and the ports inside
//! the chip.
//!
//! A pipeline serves some of the switch's ports and has state of its own. It has two more ports, which nothing is
//! connected to: packets that the traffic manager has no room for are *deflected* to one, and what the other sends is
//! *recirculated*, it comes in again after a while. Both send at their own rate and have a queue. A packet generator
//! makes control packets.

mod control;
mod depths;
mod egress;
mod ingress;
mod reference;
mod side;

use crate::measure::chip::{ChipRecord, PipelineRecord};
use crate::net::{Context, Net};
use crate::packet::{Kind, Metadata, Packet, Slot, flag};
use crate::scenario::ChipSetup;
use crate::switch::{Forwarding, PlainSwitch, Rejected, SwitchKind, like_its_switch, runs_for_slots};
use depths::DelayedDepths;
use forebay_pisa::programs::Image;
use forebay_pisa::{ANSWER, DATA, HEADER, HEADERS, Pipeline};
use forebay_tm::random::Random;
use forebay_tm::{Instant, ValidConfig, View};
use reference::ReferenceSwitch;
use side::SidePort;
use std::sync::Arc;

/// Which packets of the chip's own ports an event is about.
const DEFLECTION: usize = 0;
const RECIRCULATION: usize = 1;

/// A packet inside the chip that is on none of the switch's ports: a control packet of the program, or a deflected
/// packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    kind: u8,
    /// Where the packet that it was made of came in, and where it was to go.
    in_port: u32,
    out_port: u32,
    out_queue: u32,
    bytes: u32,
    headers: [u64; HEADERS],
    /// The packet that it carries on, or its header.
    carried: Option<Slot>,
}

/// Control packets in recycled places.
#[derive(Debug, Default)]
struct Controls {
    all: Vec<Control>,
    free: Vec<u32>,
}

impl Controls {
    fn insert(&mut self, control: Control) -> u32 {
        if let Some(place) = self.free.pop() {
            self.all[place as usize] = control;
            return place;
        }
        self.all.push(control);
        self.all.len() as u32 - 1
    }

    fn remove(&mut self, place: u32) -> Control {
        self.free.push(place);
        self.all[place as usize]
    }
}

/// A packet generator, and when it is due.
struct Generator {
    plan: forebay_pisa::programs::Generator,
    due: Instant,
}

/// The chip of a switch.
struct Chip {
    setup: ChipSetup,
    pipelines: Vec<Pipeline>,
    /// Of each pipeline, its deflection port and its recirculation port.
    sides: Vec<SidePort>,
    controls: Controls,
    generators: Vec<Generator>,
    random: Random,
    /// Whether the program asks for random numbers.
    draws: bool,
    /// When each waiting packet was enqueued, and how long its queue was then, by the packet's slot; if the program
    /// asks for it.
    enqueued: Option<Vec<(Instant, u32)>>,
    /// Queue lengths as ingress sees them, on chips where it does.
    depths: Option<DelayedDepths>,
    witness: Option<ReferenceSwitch>,
    /// Whether the program does anything at egress with a packet of each kind.
    at_egress: [bool; 16],
    record: ChipRecord,
}

impl Chip {
    /// The chip of a switch with so many ports and one buffer. The recirculation links follow the links that the switch
    /// receives from.
    fn new(setup: &ChipSetup, buffer: &ValidConfig, forwarding: &Forwarding, seed: u64) -> Self {
        let (switch, ports) = (forwarding.number, forwarding.ports.len());
        let Image { program, generators } = setup.load(buffer).expect("it was loaded when the scenario was read");
        let program = Arc::new(program);
        let pipelines = setup.pipelines(ports);
        let sides = (0..pipelines).flat_map(|pipeline| {
            let slot = ports + 2 * pipeline;
            let link = forwarding.first_incoming + (ports + pipeline) as u32;
            [
                SidePort::new(&setup.deflection(), slot, None),
                SidePort::new(&setup.recirculation(), slot + 1, Some((link, ports + pipeline))),
            ]
        });
        let mut at_egress = [false; 16];
        for (kind, runs) in at_egress.iter_mut().enumerate() {
            *runs = program.runs(true, kind as u8);
        }
        let queues = ports * buffer.queues;
        Self {
            sides: sides.collect(),
            pipelines: (0..pipelines as u32).map(|number| Pipeline::new(&program, number)).collect(),
            controls: Controls::default(),
            generators: generators
                .into_iter()
                .map(|plan| Generator { due: Instant::from_ps(plan.start), plan })
                .collect(),
            random: Random::stream(seed, "chip", u64::from(switch)),
            enqueued: program.reads_waiting().then(Vec::new),
            draws: program.reads_random(),
            depths: program.target().depth_at_ingress.then(|| DelayedDepths::new(queues, setup.depth_delay)),
            witness: setup.witness.then(|| ReferenceSwitch::new(setup, &program, buffer)),
            at_egress,
            record: ChipRecord {
                switch,
                pipelines: vec![PipelineRecord::default(); pipelines],
                ..ChipRecord::default()
            },
            setup: setup.clone(),
        }
    }

    fn generators(&self, ports: usize) -> impl Iterator<Item = (usize, Instant)> {
        let first = ports + self.sides.len();
        self.generators.iter().enumerate().map(move |(number, generator)| (first + number, generator.due))
    }

    /// What it has seen.
    fn record(&self) -> ChipRecord {
        let mut record = self.record.clone();
        for (pipeline, ports) in record.pipelines.iter_mut().zip(self.sides.chunks(2)) {
            pipeline.deflection = ports[0].record;
            pipeline.recirculation = ports[1].record;
        }
        record.witness = self.witness.as_ref().map(ReferenceSwitch::record).unwrap_or_default();
        record
    }

    fn pipeline_of(&self, port: usize) -> usize {
        port / self.setup.ports_per_pipeline
    }

    /// Sixteen random bits, if the program asks for any.
    #[inline(always)]
    fn draw(&mut self) -> u64 {
        if !self.draws {
            return 0;
        }
        (self.random.unit() * 65_536.0) as u64
    }
}

/// A switch that is a programmable chip. It has one buffer.
pub(crate) struct ChipSwitch {
    switch: PlainSwitch,
    chip: Chip,
}

impl ChipSwitch {
    /// Its recirculation links have to follow those it receives from.
    pub(crate) fn new(switch: PlainSwitch, setup: &ChipSetup, seed: u64) -> Self {
        let chip = Chip::new(setup, switch.buffers[0].config(), &switch.forwarding, seed);
        Self { switch, chip }
    }

    /// What the chip has seen.
    pub(crate) fn record(&self) -> ChipRecord {
        self.chip.record()
    }

    /// The slots of its generators, behind those of ports, and when they are due first.
    pub(crate) fn generators(&self) -> impl Iterator<Item = (usize, Instant)> {
        self.chip.generators(self.switch.forwarding.ports.len())
    }
}

impl SwitchKind for ChipSwitch {
    runs_for_slots!(32 256);

    like_its_switch!();

    #[inline(always)]
    fn due<const NODES: usize>(&mut self, now: Instant, slot: usize, cx: Context<'_, NODES>) {
        if slot < self.switch.forwarding.ports.len() {
            self.transmit(now, slot, cx);
        } else {
            self.own_due(now, slot, cx);
        }
    }

    #[inline(always)]
    fn arrive<const NODES: usize>(
        &mut self,
        now: Instant,
        from: usize,
        metadata: Metadata,
        cx: Context<'_, NODES>,
    ) -> Option<Rejected> {
        match from.checked_sub(self.switch.forwarding.ports.len()) {
            None => self.ingress(now, from, metadata, cx),
            Some(pipeline) => self.arrive_again(now, pipeline, metadata, cx),
        }
        None
    }
}

/// What a packet is to a program.
fn kind_of(packet: &Packet) -> u8 {
    match packet.kind {
        Kind::Data if packet.has(flag::TRIMMED) => HEADER,
        Kind::Data => DATA,
        _ => ANSWER,
    }
}

/// Marks a packet, if it can be marked.
fn mark(slot: Slot, net: &mut Net) {
    let packet = net.wires.arena.get_mut(slot);
    if packet.has(flag::ECT) {
        packet.flags |= flag::CE;
        let flow = packet.flow;
        net.flows.marked(flow);
    }
}
