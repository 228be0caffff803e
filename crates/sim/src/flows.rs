//! The flows of a run: what every packet needs of its flow, and what is recorded.

use crate::flow::{Application, FlowRecord, FlowSpec, NONE};
use crate::nic::End;
use crate::prefetch;
use crate::routing::{Address, Addresses};
use crate::transport::linux::Connection;
use crate::transport::{Receiver, Sender, TransportConfig};
use forebay_tm::random::mix;
use forebay_tm::{Duration, Instant};
use std::collections::{BTreeMap, HashMap};

/// What packets need of their flow: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Flow {
    /// The addresses of its source and of its destination.
    pub(crate) source: Address,
    pub(crate) destination: Address,
    /// Its sender and receiver in their slabs, while it has them.
    pub(crate) sender: u32,
    pub(crate) receiver: u32,
    /// Its queues in front of the links of its source and of its receiver, while it has them: see [`End`].
    pub(crate) queues: [u32; 2],
    /// What its data chooses paths by, and what its replies do.
    pub(crate) hash: u32,
    pub(crate) ack_hash: u32,
    pub(crate) transport: u16,
    pub(crate) class: u8,
    pub(crate) ack_class: u8,
    /// Bytes of a full packet, of a header, and of a reply.
    pub(crate) full: u32,
    pub(crate) header: u32,
    pub(crate) ack_bytes: u32,
    /// Packets in all.
    pub(crate) packets: u32,
    /// Flows that it still waits for.
    pub(crate) waits_for: u16,
    pub(crate) traced: bool,
    /// It goes over the connection of an earlier flow.
    pub(crate) kept: bool,
}

impl Flow {
    /// Whether the transport of one of its ends is there.
    pub(crate) fn is_open(&self, end: End) -> bool {
        let machine = match end {
            End::Source => self.sender,
            End::Receiver => self.receiver,
        };
        machine != NONE
    }
}

/// A recycled set of state machines.
pub(crate) struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(crate) fn insert(&mut self, entry: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.entries[slot as usize] = entry;
            slot
        } else {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        }
    }

    pub(crate) fn get(&self, slot: u32) -> &T {
        &self.entries[slot as usize]
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut T {
        &mut self.entries[slot as usize]
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

/// A state machine and when the host will look at its deadline.
pub(crate) struct Armed<T> {
    pub(crate) machine: T,
    /// The earliest entry in the host's timers; [`Instant::NEVER`] if there is none.
    pub(crate) armed: Instant,
    /// The entry there for its pacing; [`Instant::NEVER`] if there is none.
    pub(crate) paced: Instant,
    /// It is stopped at this time.
    pub(crate) until: Instant,
}

/// All flows.
pub(crate) struct FlowTable {
    pub(crate) flows: Vec<Flow>,
    pub(crate) records: Vec<FlowRecord>,
    pub(crate) transports: Vec<TransportConfig>,
    pub(crate) senders: Slab<Armed<Sender>>,
    pub(crate) receivers: Slab<Armed<Receiver>>,
    /// Connections that wait for another flow, by source, destination and transport.
    pub(crate) idle: HashMap<(u32, u32, u16), Vec<Connection>>,
    /// What applications do beyond writing and reading all at once.
    pub(crate) applications: BTreeMap<u32, Application>,
    /// Round trips are longer by this than links make them.
    pub(crate) held: Duration,
    /// Flows with an end that have not arrived whole. In a partition: how many more there are than when the run began.
    pub(crate) unfinished: i64,
    addresses: Addresses,
    seed: u64,
    /// If this is the table of one of several partitions.
    shared: Option<Shared>,
}

/// How the tables of several partitions are kept the same, where both ends of a flow and the switches between them
/// need it.
struct Shared {
    /// The number of the next flow that is added here, and how far apart these numbers are: every partition has its
    /// own.
    next: u32,
    stride: u32,
    /// What the other partitions are to be told.
    news: Vec<News>,
}

/// What other partitions are told of a flow before its packets can be there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    /// It was added.
    Added {
        number: u32,
        spec: FlowSpec,
        name: u64,
        /// For a request: how many its client has made, and the size of the response.
        asked: (u64, u64),
    },
    /// It goes over the connection of an earlier flow.
    Kept(u32),
}

impl FlowTable {
    pub(crate) fn new(transports: Vec<TransportConfig>, addresses: Addresses, seed: u64) -> Self {
        Self {
            flows: Vec::new(),
            records: Vec::new(),
            transports,
            senders: Slab::default(),
            receivers: Slab::default(),
            idle: HashMap::new(),
            applications: BTreeMap::new(),
            held: Duration::ZERO,
            unfinished: 0,
            addresses,
            seed,
            shared: None,
        }
    }

    /// The table of each of so many partitions, before anything has happened. The first has those that are unfinished.
    pub(crate) fn split(self, parts: usize) -> Vec<Self> {
        let first = self.flows.len() as u32;
        let part = |part: usize| Self {
            flows: self.flows.clone(),
            records: self.records.clone(),
            applications: self.applications.clone(),
            held: self.held,
            unfinished: if part == 0 { self.unfinished } else { 0 },
            shared: Some(Shared { next: first + part as u32, stride: parts as u32, news: Vec::new() }),
            ..Self::new(self.transports.clone(), self.addresses.clone(), self.seed)
        };
        (0..parts).map(part).collect()
    }

    /// Adds a flow as the run goes on. `asked` is what is to be known of it where its destination is, if it is a
    /// request.
    pub(crate) fn add_later(&mut self, spec: FlowSpec, name: u64, asked: (u64, u64)) -> u32 {
        let Some(shared) = &mut self.shared else { return self.add(spec, name) };
        let number = shared.next;
        shared.next += shared.stride;
        shared.news.push(News::Added { number, spec, name, asked });
        self.put(number, spec, name);
        self.unfinished += i64::from(spec.bytes != crate::transport::FlowInfo::ENDLESS);
        number
    }

    /// Adds a flow with this number. Numbers before it that are not known yet are left open.
    pub(crate) fn put(&mut self, number: u32, spec: FlowSpec, name: u64) {
        let unfinished = self.unfinished;
        while self.flows.len() < number as usize {
            self.add(FlowSpec { src: NONE, ..FlowSpec::default() }, 0);
        }
        self.add(spec, name);
        if self.flows.len() > number as usize + 1 {
            // It takes the place that was left open for it.
            self.flows.swap_remove(number as usize);
            self.records.swap_remove(number as usize);
        }
        self.unfinished = unfinished;
    }

    /// A flow goes over the connection of an earlier one.
    pub(crate) fn keep_connection(&mut self, number: u32) {
        self.flows[number as usize].kept = true;
        if let Some(shared) = &mut self.shared {
            shared.news.push(News::Kept(number));
        }
    }

    /// What the other partitions are to be told, once.
    pub(crate) fn take_news(&mut self) -> Vec<News> {
        self.shared.as_mut().map_or_else(Vec::new, |shared| core::mem::take(&mut shared.news))
    }

    /// Takes over what a partition has recorded. `here` says whether a host is of that partition.
    pub(crate) fn join(&mut self, part: Self, here: impl Fn(u32) -> bool) {
        self.unfinished += part.unfinished;
        for (mine, theirs) in self.records.iter_mut().zip(part.records) {
            mine.join(&theirs, here(theirs.spec.src), here(theirs.spec.dst));
        }
    }

    /// Adds a flow; `name` is what tells it from all others, whatever the order in which they come.
    pub(crate) fn add(&mut self, spec: FlowSpec, name: u64) -> u32 {
        let number = self.flows.len() as u32;
        let common = &self.transports[usize::from(spec.transport)].common;
        let hash = mix(self.seed ^ mix(name));
        self.flows.push(Flow {
            source: self.address(spec.src),
            destination: self.address(spec.dst),
            sender: NONE,
            receiver: NONE,
            queues: [NONE; 2],
            hash: hash as u32,
            ack_hash: (hash >> 32) as u32,
            transport: spec.transport,
            class: spec.class,
            ack_class: common.ack_class.unwrap_or(spec.class),
            full: common.mss + common.header,
            header: common.header,
            ack_bytes: common.ack_bytes,
            packets: crate::transport::FlowInfo::packets_of(spec.bytes, common.mss),
            waits_for: spec.waits_for,
            traced: false,
            kept: false,
        });
        self.records.push(FlowRecord {
            spec,
            end: Instant::NEVER,
            acked: Instant::NEVER,
            ideal: Duration::ZERO,
            received: 0,
            retransmissions: 0,
            timeouts: 0,
            probes: 0,
            drops: 0,
            trims: 0,
            marks: 0,
        });
        if spec.bytes != crate::transport::FlowInfo::ENDLESS {
            self.unfinished += 1;
        }
        number
    }

    pub(crate) fn dropped(&mut self, flow: u32) {
        self.records[flow as usize].drops += 1;
    }

    pub(crate) fn trimmed(&mut self, flow: u32) {
        self.records[flow as usize].trims += 1;
    }

    /// Asks for the record of a flow.
    pub(crate) fn ask_for_record(&self, flow: u32) {
        prefetch::element(&self.records, flow as usize);
    }

    pub(crate) fn marked(&mut self, flow: u32) {
        self.records[flow as usize].marks += 1;
    }

    /// The address of a host; that of a flow that is not known yet is never used.
    fn address(&self, host: u32) -> Address {
        self.addresses.of_hosts.get(host as usize).copied().unwrap_or_default()
    }

    pub(crate) fn source(&self, flow: u32) -> Address {
        self.flows[flow as usize].source
    }

    /// Bytes that a flow's packets have beside their payload.
    pub(crate) fn header(&self, flow: u32) -> u32 {
        self.flows[flow as usize].header
    }

    pub(crate) fn ack_bytes(&self, flow: u32) -> u32 {
        self.flows[flow as usize].ack_bytes
    }

    pub(crate) fn ack_class(&self, flow: u32) -> u8 {
        self.flows[flow as usize].ack_class
    }
}
