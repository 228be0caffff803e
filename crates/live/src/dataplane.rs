//! The path of a frame: where it goes, which queue it joins, what the traffic manager says, and what is done to the
//! frame.
//!
//! The traffic manager has wires behind it, in the `Driver` that `forebay replay` has, too, so that the same arrivals
//! get the same verdicts. Frames stay where they are; only the numbers of their frame buffers move.

mod handler;

use crate::books::CutInQueue;
pub use crate::books::{Books, Unforwarded};
use crate::classify::{Classifier, Kind, addresses, flow_of};
use crate::edit::{self, Lengths};
use crate::frame::{Headers, Mac};
use crate::mac_table::MacTable;
use crate::pool::{Pool, Slot};
use crate::remaining::Remaining;
use crate::routes::Routes;
use forebay_tm::View as _;
use forebay_tm::drive::{Driver, EndOfTime};
use forebay_tm::{Bytes, ConfigError, Count, Counters, Instant, Packet, PacketId, Tm, TmConfig};
pub use handler::FrameObserver;
use handler::{FrameHandler, Known};

/// How frames find their ports.
#[derive(Clone, Debug)]
pub enum Forwarding {
    /// By the address of the interface, learned or given; to all ports if it is not known.
    Learn(MacTable),
    /// By the longest prefix of the IP address. What is no IP packet, or is for the switch itself, goes nowhere.
    Routes(Routes),
}

/// Where a packet's rank comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankFrom {
    /// All have rank 0 (or the scheduler makes its own, as STFQ does).
    #[default]
    Nothing,
    /// The code point of differentiated services: a larger one is more important.
    Dscp,
    /// A number of 1 to 8 bytes, so many bytes behind the transport header: what the sender wrote there, such as the
    /// bytes left of its flow.
    Payload {
        /// Bytes behind the transport header.
        offset: usize,
        /// Bytes of the number.
        bytes: usize,
    },
    /// What is left of the flow, which its sender has told at its start.
    Remaining,
}

/// What is done to packets on their way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Treatment {
    /// Where ranks come from.
    pub rank: RankFrom,
    /// What is left of a trimmed packet, at least its headers.
    pub trim_size: usize,
    /// What a trimmed packet says about its length.
    pub trim_lengths: Lengths,
    /// The code point that a trimmed packet gets at each port; ports beyond the list give none.
    pub trim_dscp: Vec<Option<u8>>,
    /// Where headers of trimmed packets wait.
    pub trim_to: HeaderPlace,
}

/// Where headers of trimmed packets wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderPlace {
    /// In a queue of headers that each port has.
    #[default]
    Apart,
    /// In the queues of their packets (cut payload).
    OwnQueue,
    /// In the queue of this number, at the port of their packets.
    TrimQueue(usize),
}

/// A frame that is to be put on the wire.
#[derive(Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// When its wire was free.
    pub at: Instant,
    /// By which port.
    pub port: usize,
    /// The frame buffer it is in.
    pub slot: Slot,
    /// Bytes.
    pub length: usize,
}

/// Where frames come from that came in by no port, such as those of a file.
pub const NO_PORT: usize = u32::MAX as usize;

/// The path of a frame.
#[derive(Debug)]
pub struct Dataplane<W = ()> {
    driver: Driver,
    forwarding: Forwarding,
    classifier: Classifier,
    handler: FrameHandler<W>,
    unforwarded: Unforwarded,
    ports: usize,
    /// What flows have said about their lengths.
    remaining: Remaining,
    /// Per queue, the most bytes since somebody asked.
    watermarks: Vec<Bytes>,
}

/// What a path is made of.
#[derive(Debug)]
pub struct Parts {
    /// The memory of the frames.
    pub pool: Pool,
    /// How frames find their ports.
    pub forwarding: Forwarding,
    /// How they find their queues.
    pub classifier: Classifier,
    /// What is done to them.
    pub treatment: Treatment,
    /// Bytes that each frame takes of its wire beside its own: 24 on Ethernet (preamble, checksum and gap).
    pub overhead: u32,
}

impl<W: FrameObserver> Dataplane<W> {
    /// A path through a traffic manager.
    pub fn new(tm: Tm, parts: Parts, observer: W) -> Self {
        let Parts { pool, forwarding, classifier, treatment, overhead } = parts;
        let ports = tm.config().rates.len();
        let known = vec![Known::default(); pool.buffers()];
        let queues = tm.config().queues;
        let handler = FrameHandler {
            observer,
            pool,
            known,
            treatment,
            outgoing: Vec::new(),
            returned: None,
            untrimmable: vec![0; ports],
            transmitted: vec![Count::default(); ports],
            books: Books::default(),
            cut: vec![CutInQueue::default(); ports * queues],
            queues,
        };
        let driver = Driver::new(tm).with_overhead(overhead);
        let watermarks = vec![Bytes::ZERO; ports * queues];
        Self {
            driver,
            forwarding,
            classifier,
            handler,
            unforwarded: Unforwarded::default(),
            ports,
            remaining: Remaining::default(),
            watermarks,
        }
    }

    /// Changes settings between two frames: all of them, or none if the traffic manager refuses its own. Gives what was
    /// there before.
    pub fn reconfigure(
        &mut self,
        tm: TmConfig,
        classifier: Classifier,
        treatment: Treatment,
    ) -> Result<(Classifier, Treatment), ConfigError> {
        self.driver.reconfigure(tm)?;
        let classifier = std::mem::replace(&mut self.classifier, classifier);
        Ok((classifier, std::mem::replace(&mut self.handler.treatment, treatment)))
    }

    /// The most bytes that a queue has held since this was last asked.
    pub fn take_watermark(&mut self, queue: usize) -> Bytes {
        let now = self.driver.tm().queue_bytes(queue);
        std::mem::replace(&mut self.watermarks[queue], now).max(now)
    }

    /// Who is told.
    pub fn observer(&mut self) -> &mut W {
        &mut self.handler.observer
    }

    /// Who was told, when all is over.
    pub fn into_observer(self) -> W {
        self.handler.observer
    }

    /// Lets time pass until nothing waits any more.
    pub fn finish(&mut self) -> Result<(), EndOfTime> {
        self.driver.finish(&mut self.handler)
    }

    /// The traffic manager.
    pub fn tm(&self) -> &Tm {
        self.driver.tm()
    }

    /// The frames' memory.
    pub fn pool(&mut self) -> &mut Pool {
        &mut self.handler.pool
    }

    /// Forgets which interfaces were seen behind a port: its own is gone.
    pub fn forget(&mut self, port: usize) {
        if let Forwarding::Learn(table) = &mut self.forwarding {
            table.forget(port);
        }
    }

    /// Frames that were to be cut to leave by a port, and could not be since they are no IP packets: they were dropped.
    pub fn untrimmable(&self, port: usize) -> u64 {
        self.handler.untrimmable[port]
    }

    /// Frames that were put on the wire of a port, and their bytes.
    pub fn transmitted(&self, port: usize) -> Count {
        self.handler.transmitted[port]
    }

    /// Where all frames are.
    pub fn books(&self) -> Books {
        let tm = self.driver.tm();
        let headers: usize = (0..self.ports).map(|port| tm.header_packets(port)).sum();
        Books {
            waiting: tm.pool_counters().waiting.packets + headers as u64,
            unforwarded: self.unforwarded.whole(),
            ..self.handler.books
        }
    }

    /// Headers that wait in a queue.
    pub fn cut_waiting(&self, queue: usize) -> u64 {
        self.handler.cut[queue].waiting
    }

    /// The counters of queues with every packet once: a header that waits among packets is a trimmed packet and
    /// none that waits, and one that was pushed out is a dropped packet and none that was trimmed. With a trim queue,
    /// the drop is that of the trim queue, and only the counters of a port add up.
    pub fn settle(&self, counters: &mut Counters, queues: impl Iterator<Item = usize>) {
        for queue in queues {
            let CutInQueue { waiting, lost } = self.handler.cut[queue];
            counters.waiting.packets -= waiting;
            counters.trimmed.packets -= lost;
        }
    }

    /// Frames that never reached the traffic manager.
    pub fn unforwarded(&self) -> Unforwarded {
        self.unforwarded
    }

    /// Lets time pass up to `now`: what should have left by now is in [`Dataplane::outgoing`] then.
    pub fn advance(&mut self, now: Instant) -> Result<(), EndOfTime> {
        self.driver.advance(now, &mut self.handler)
    }

    /// The switch's time.
    pub fn now(&self) -> Instant {
        self.driver.now()
    }

    /// When a wire is free next while frames may wait for it; none if all are idle.
    pub fn next_departure(&self) -> Option<Instant> {
        self.driver.next()
    }

    /// Frames to be put on the wire, in order of their departures; whoever takes them sends them.
    pub fn outgoing(&mut self) -> std::vec::Drain<'_, Outgoing> {
        self.handler.outgoing.drain(..)
    }

    /// A frame has come in by a port.
    pub fn arrive(&mut self, now: Instant, ingress: usize, mut slot: Slot, length: usize) -> Result<(), EndOfTime> {
        self.handler.books.received += 1;
        let Some(headers) = Headers::parse(self.handler.pool.bytes(&slot, length)) else {
            self.unforwarded.runts += 1;
            self.handler.pool.give(slot);
            return Ok(());
        };
        self.handler.known[slot.number() as usize] =
            Known { length: length as u32, ingress: ingress as u32, headers: Some(headers), ..Known::default() };
        match self.port_for(now, ingress, &mut slot, length, &headers) {
            Target::Port(port) => self.join(now, slot, port),
            Target::Flood => self.flood(now, ingress, slot, length),
            Target::Nowhere => {
                self.handler.pool.give(slot);
                Ok(())
            }
        }
    }

    fn port_for(&mut self, now: Instant, ingress: usize, slot: &mut Slot, length: usize, headers: &Headers) -> Target {
        match &mut self.forwarding {
            Forwarding::Learn(table) => {
                let vlan = headers.tag.map_or(0, |tag| tag & 0x0fff);
                if ingress < self.ports {
                    table.learn(headers.source, vlan, ingress, now);
                }
                let group = headers.destination.is_group();
                match table.port_of(headers.destination, vlan, now).filter(|_| !group) {
                    Some(port) if port == ingress => {
                        self.unforwarded.back += 1;
                        Target::Nowhere
                    }
                    Some(port) => Target::Port(port),
                    None if table.may_flood(ingress, length, now) => Target::Flood,
                    None => {
                        self.unforwarded.storm += 1;
                        Target::Nowhere
                    }
                }
            }
            Forwarding::Routes(routes) => {
                let Some(hop) = addresses(headers).1.and_then(|address| routes.find(address)) else {
                    self.unforwarded.no_route += 1;
                    return Target::Nowhere;
                };
                let frame = self.handler.pool.bytes_mut(slot, length);
                if !edit::take_hop(frame, headers) {
                    self.unforwarded.no_hops += 1;
                    return Target::Nowhere;
                }
                let (port, Mac(destination), Mac(source)) = (hop.port, hop.destination, hop.source);
                frame[..6].copy_from_slice(&destination);
                frame[6..12].copy_from_slice(&source);
                let headers = Headers::parse(frame);
                self.handler.known[slot.number() as usize].headers = headers;
                Target::Port(port)
            }
        }
    }

    /// A frame joins the queue of a port.
    fn join(&mut self, now: Instant, slot: Slot, port: usize) -> Result<(), EndOfTime> {
        let Known { length, ingress, headers, .. } = self.handler.known[slot.number() as usize];
        let Some(headers) = headers else {
            self.unforwarded.runts += 1;
            self.handler.pool.give(slot);
            return Ok(());
        };
        let flow = flow_of(&headers);
        let rank = self.rank(&slot, length as usize, &headers, flow);
        let kind = self.classifier.kind(&headers, ingress as usize);
        let packet = Packet {
            id: PacketId(u64::from(self.handler.pool.park(slot))),
            bytes: length,
            port: port as u32,
            queue: kind.queue,
            class: kind.class,
            unscheduled: kind.unscheduled,
            flow,
            rank,
            ect: headers.is_ect(),
            ..Packet::default()
        };
        self.driver.arrive(now, &packet, &mut self.handler)?;
        let index = self.driver.tm().queue_index(port, kind.queue as usize);
        let watermark = &mut self.watermarks[index];
        *watermark = (*watermark).max(self.driver.tm().queue_bytes(index));
        match self.handler.returned.take() {
            Some(number) if ingress as usize >= self.ports => self.give_up(number),
            Some(number) => self.send_back(now, number, &packet)?,
            None => {}
        }
        Ok(())
    }

    /// A packet that was turned around leaves by the port that it came from. It is short, and is not returned again: if
    /// there is no room for it, it is lost.
    fn send_back(&mut self, now: Instant, number: u32, packet: &Packet) -> Result<(), EndOfTime> {
        let headers = self.handler.with(number, |frame, _| Headers::parse(frame)).flatten();
        let known = &mut self.handler.known[number as usize];
        (known.headers, known.cut_from) = (headers, None);
        let Known { length, ingress, .. } = *known;
        let kind = headers.map_or(Kind::default(), |headers| self.classifier.kind(&headers, packet.port as usize));
        let back = Packet { bytes: length, port: ingress, queue: kind.queue, class: kind.class, ..*packet };
        self.driver.arrive(now, &back, &mut self.handler)?;
        if let Some(number) = self.handler.returned.take() {
            self.give_up(number);
        }
        Ok(())
    }

    /// A packet cannot go back to its sender.
    fn give_up(&mut self, number: u32) {
        self.handler.books.unreturned += 1;
        self.handler.free(number);
    }

    fn rank(&mut self, slot: &Slot, length: usize, headers: &Headers, flow: u64) -> u64 {
        match self.handler.treatment.rank {
            RankFrom::Nothing => 0,
            RankFrom::Dscp => 63 - u64::from(headers.traffic_class().unwrap_or(0) >> 2),
            RankFrom::Payload { offset, bytes } => {
                let frame = self.handler.pool.bytes(slot, length);
                let number = frame.get(headers.end + offset..headers.end + offset + bytes).unwrap_or_default();
                number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
            }
            RankFrom::Remaining => self.remaining.of(self.handler.pool.bytes(slot, length), headers, flow),
        }
    }

    /// A frame goes to all other ports: the last gets it, the others copies.
    fn flood(&mut self, now: Instant, ingress: usize, slot: Slot, length: usize) -> Result<(), EndOfTime> {
        let Some(last) = (0..self.ports).rev().find(|port| *port != ingress) else {
            self.unforwarded.back += 1;
            self.handler.pool.give(slot);
            return Ok(());
        };
        for port in (0..last).filter(|port| *port != ingress) {
            let Some(copy) = self.handler.pool.copy(&slot, length) else {
                self.unforwarded.no_buffer += 1;
                continue;
            };
            self.handler.books.copies += 1;
            self.handler.known[copy.number() as usize] = self.handler.known[slot.number() as usize];
            self.join(now, copy, port)?;
        }
        self.join(now, slot, last)
    }
}

/// Where a frame goes.
enum Target {
    Port(usize),
    Flood,
    Nowhere,
}
