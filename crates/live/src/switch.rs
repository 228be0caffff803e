//! The switch: ports, the clock, and the path between them, polled.

use crate::clock::{Clock, Stalls};
use crate::dataplane::{Dataplane, FrameObserver, Outgoing};
use crate::pool::Pool;
use crate::port::{Outside, Port, Received};
use forebay_tm::Instant;
use forebay_tm::View as _;
use forebay_tm::drive::EndOfTime;
use std::io;

/// Frames that are taken from a port at a time.
const BATCH: usize = 64;

/// Why a switch cannot go on.
#[derive(Debug)]
pub enum Trouble {
    /// A port has failed: its number and why.
    Port(usize, io::Error),
    /// Its time is over.
    Time(EndOfTime),
}

/// Someone who keeps the time of the parts of a turn: each call ends a part.
pub trait Timer {
    /// The data path and the traffic manager were at work on so many frames that came in.
    fn core(&mut self, _frames: usize) {}
    /// Frames were received or sent.
    fn io(&mut self) {}
}

impl Timer for () {}

/// Ports around a data path.
#[derive(Debug)]
pub struct Switch<P, W = ()> {
    ports: Vec<P>,
    path: Dataplane<W>,
    clock: Clock,
    received: Vec<Received>,
    outgoing: Vec<Outgoing>,
}

impl<P: Port, W: FrameObserver> Switch<P, W> {
    /// As many ports as the traffic manager has.
    pub fn new(ports: Vec<P>, path: Dataplane<W>, clock: Clock) -> Self {
        assert_eq!(ports.len(), path.tm().config().rates.len(), "a port of the traffic manager for each");
        Self { ports, path, clock, received: Vec::new(), outgoing: Vec::new() }
    }

    /// Looks once at everything: sends what should have left by now, then takes what has come in. True if there was
    /// anything to do.
    pub fn poll(&mut self, machine: Instant) -> Result<bool, Trouble> {
        self.poll_timed(machine, &mut ())
    }

    /// [`Switch::poll`] with someone who keeps the time of its parts.
    pub fn poll_timed(&mut self, machine: Instant, timer: &mut impl Timer) -> Result<bool, Trouble> {
        let now = self.clock.read(machine);
        self.path.advance(now).map_err(Trouble::Time)?;
        timer.core(0);
        let mut busy = self.send()?;
        for port in 0..self.ports.len() {
            let received = self.ports[port].receive(self.path.pool(), &mut self.received, BATCH);
            timer.io();
            // What came before a port failed is not lost.
            let frames = self.received.len();
            for frame in self.received.drain(..) {
                self.path.arrive(now, port, frame.slot, frame.length).map_err(Trouble::Time)?;
            }
            busy |= frames != 0;
            timer.core(frames);
            received.map_err(|error| Trouble::Port(port, error))?;
        }
        busy |= self.send()?;
        timer.io();
        Ok(busy)
    }

    fn send(&mut self) -> Result<bool, Trouble> {
        self.outgoing.extend(self.path.outgoing());
        let any = !self.outgoing.is_empty();
        for Outgoing { port, slot, length, .. } in self.outgoing.drain(..) {
            self.ports[port].send(self.path.pool(), slot, length);
        }
        for (number, port) in self.ports.iter_mut().enumerate() {
            port.flush(self.path.pool()).map_err(|error| Trouble::Port(number, error))?;
        }
        Ok(any)
    }

    /// A port, with the pool that its frame buffers belong to.
    pub fn port_and_pool(&mut self, port: usize) -> (&mut P, &mut Pool) {
        (&mut self.ports[port], self.path.pool())
    }

    /// The data path.
    pub fn path(&mut self) -> &mut Dataplane<W> {
        &mut self.path
    }

    /// When the next frame is due to leave; none if nothing waits. In the machine's time.
    pub fn next_departure(&self) -> Option<Instant> {
        self.path.next_departure().map(|at| self.clock.machine(at))
    }

    /// The ports.
    pub fn ports(&mut self) -> &mut [P] {
        &mut self.ports
    }

    /// How often the machine was away.
    pub fn stalls(&self) -> Stalls {
        self.clock.stalls()
    }

    /// What was lost outside the buffer, by port.
    pub fn outside(&self) -> impl Iterator<Item = Outside> {
        self.ports.iter().map(Port::outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Classifier, Kind};
    use crate::dataplane::{Forwarding, Parts, Treatment};
    use crate::edit::Lengths;
    use crate::frame::{Headers, Mac};
    use crate::mac_table::MacTable;
    use crate::memory::Memory;
    use crate::routes::{NextHop, Prefix, Routes};
    use crate::testing::{Build, checksums_are_right};
    use forebay_settings::read_switch;
    use forebay_tm::{Duration, Tm};

    const BUFFERS: u32 = 256;

    fn switch(text: &str, forwarding: Forwarding, overhead: u32) -> Switch<Memory> {
        let config = read_switch("switch.toml", text).unwrap();
        let ports = config.rates.len();
        let parts = Parts {
            pool: Pool::new(BUFFERS, 2_048).unwrap(),
            forwarding,
            classifier: Classifier::new(vec![], Kind::default()),
            treatment: Treatment {
                trim_size: 64,
                trim_lengths: Lengths::Cut,
                trim_dscp: vec![Some(46); ports],
                ..Treatment::default()
            },
            overhead,
        };
        let path = Dataplane::new(Tm::new(config), parts, ());
        let clock = Clock::new(Duration::from_us(10_000), Duration::from_us(1_000));
        Switch::new((0..ports).map(|_| Memory::default()).collect(), path, clock)
    }

    fn learning() -> Forwarding {
        Forwarding::Learn(MacTable::new(Duration::from_us(300_000_000), 1))
    }

    const PLAIN: &str = "ports = 4\nrate = \"100Mbps\"\nbuffer = \"100KB\"\n[policy]\nkind = \"cs\"\n";

    /// Polls every 10 us for so long.
    fn run(switch: &mut Switch<Memory>, from_us: u64, to_us: u64) {
        for us in (from_us..=to_us).step_by(10) {
            switch.poll(Instant::from_ps(us * 1_000_000)).unwrap();
        }
    }

    fn sent(switch: &mut Switch<Memory>) -> Vec<usize> {
        switch.ports().iter().map(|port| port.sent.len()).collect()
    }

    #[test]
    fn unknown_addresses_are_flooded_to_and_learned() {
        let mut switch = switch(PLAIN, learning(), 0);
        let [udp, ..] = Build::all();
        switch.ports()[1].incoming.push_back(udp.frame(100));
        run(&mut switch, 0, 1_000);
        assert_eq!(sent(&mut switch), [1, 0, 1, 1], "to all but where it came from");
        // The answer goes to the one port behind which the first sender is.
        switch.ports()[3].incoming.push_back(Build { source: 2, destination: 1, ..udp }.frame(100));
        run(&mut switch, 1_010, 2_000);
        assert_eq!(sent(&mut switch), [1, 1, 1, 1]);
        switch.ports()[3].incoming.push_back(Build { source: 9, destination: 2, ..udp }.frame(100));
        run(&mut switch, 2_010, 3_000);
        assert_eq!(sent(&mut switch), [1, 1, 1, 1], "what is for its own port goes nowhere");
        assert_eq!(switch.path().unforwarded().back, 1);
        switch.ports()[0].incoming.push_back(vec![0; 13]);
        run(&mut switch, 3_010, 3_010);
        assert_eq!(switch.path().unforwarded().runts, 1);
        assert_eq!(switch.path().pool().free(), BUFFERS as usize, "every frame buffer is back");
    }

    #[test]
    fn frames_leave_at_the_ports_rate_with_what_the_wire_takes() {
        let mut switch = switch(PLAIN, learning(), 24);
        let [udp, ..] = Build::all();
        // Port 0 learns address 2.
        switch.ports()[0].incoming.push_back(Build { source: 2, destination: 1, ..udp }.frame(0));
        run(&mut switch, 0, 100);
        let before = sent(&mut switch)[0];
        // 60 frames of 1,000 bytes take 1,024 bytes of the wire each: 81.92 us at 100 Mb/s.
        for _ in 0..60 {
            switch.ports()[1].incoming.push_back(udp.frame(1_000 - 42));
        }
        run(&mut switch, 110, 110 + 2_000);
        assert_eq!(sent(&mut switch)[0] - before, 1 + 2_000_000 / 81_920);
        run(&mut switch, 2_120, 6_000);
        assert_eq!(sent(&mut switch)[0] - before, 60);
    }

    #[test]
    fn routed_packets_lose_a_hop_and_get_new_addresses() {
        let hop = NextHop { port: 2, destination: Mac([2, 9, 9, 9, 9, 9]), source: Mac([2, 8, 8, 8, 8, 8]) };
        let routes =
            Routes::new(&[(Prefix::parse("10.0.0.0/24").unwrap(), hop), (Prefix::parse("fd00::/64").unwrap(), hop)]);
        let mut switch = switch(PLAIN, Forwarding::Routes(routes), 0);
        for build in Build::all() {
            switch.ports()[0].incoming.push_back(build.frame(100));
            switch.ports()[0].incoming.push_back(build.ttl(1).frame(100));
        }
        let mut arp = Build::all()[0].frame(100);
        arp[12..14].copy_from_slice(&[0x08, 0x06]);
        switch.ports()[0].incoming.push_back(arp);
        run(&mut switch, 0, 1_000);
        assert_eq!(sent(&mut switch), [0, 0, 4, 0]);
        let unforwarded = switch.path().unforwarded();
        assert_eq!((unforwarded.no_hops, unforwarded.no_route), (4, 1));
        for frame in &switch.ports()[2].sent {
            let headers = Headers::parse(frame).unwrap();
            assert_eq!((headers.destination, headers.source), (hop.destination, hop.source));
            assert!(checksums_are_right(frame));
        }
    }

    #[test]
    fn full_queues_mark_and_then_trim() {
        let text = "ports = 2\nrate = \"100Mbps\"\nbuffer = \"100KB\"\nqueue_capacity = 8\n[policy]\nkind = \"cs\"\n\
                    [ecn]\nkind = \"step\"\nthreshold = \"3KB\"\n[trim]\n";
        let mut switch = switch(text, learning(), 0);
        let build = Build::all()[1].ect(2);
        for _ in 0..20 {
            switch.ports()[0].incoming.push_back(build.frame(1_000));
        }
        run(&mut switch, 0, 5_000);
        let frames = &switch.ports()[1].sent;
        assert_eq!(frames.len(), 20, "each packet arrives whole, or its header does");
        assert!(frames.iter().all(|frame| checksums_are_right(frame)));
        let class = |frame: &[u8]| Headers::parse(frame).unwrap().traffic_class().unwrap();
        let whole: Vec<_> = frames.iter().filter(|frame| frame.len() > 1_000).collect();
        let cut: Vec<_> = frames.iter().filter(|frame| frame.len() == 64).collect();
        // One is on the wire and eight wait: those that found 3,000 bytes and more, three packets, are marked.
        assert_eq!((whole.len(), cut.len()), (9, 11));
        assert_eq!(whole.iter().filter(|frame| class(frame) & 3 == 3).count(), 5);
        assert!(cut.iter().all(|frame| class(frame) >> 2 == 46), "headers are told by their code point");
    }

    #[test]
    fn headers_without_room_go_back_to_their_senders() {
        let text = "ports = 2\nrate = \"100Mbps\"\nbuffer = \"100KB\"\nqueue_capacity = 2\n[policy]\nkind = \"cs\"\n\
                    [trim]\nheader_capacity = 1\nreturn_to_sender = true\n";
        let mut switch = switch(text, learning(), 0);
        for _ in 0..10 {
            switch.ports()[0].incoming.push_back(Build::all()[1].frame(1_000));
        }
        run(&mut switch, 0, 5_000);
        // One on the wire, two in the queue, one header; six are returned, for which there is as much room on the way
        // back.
        assert_eq!(sent(&mut switch), [4, 4]);
        assert_eq!(switch.path().pool().free(), BUFFERS as usize);
        for frame in &switch.ports()[0].sent {
            let headers = Headers::parse(frame).unwrap();
            assert_eq!((headers.ports, frame.len()), (Some((2_000, 1_000)), 64));
            assert!(checksums_are_right(frame));
        }
    }

    /// Frames that are no IP packets cannot be cut: they do not leave whole in the place of headers.
    #[test]
    fn what_cannot_be_cut_is_dropped_and_the_rate_holds() {
        for (trim, free) in [("[trim]\n", 0), ("[trim]\nheader_capacity = 1\nreturn_to_sender = true\n", 0)] {
            let text = format!(
                "ports = 2\nrate = \"50Mbps\"\nbuffer = \"100KB\"\nqueue_capacity = 8\n[policy]\nkind = \"cs\"\n{trim}"
            );
            let mut switch = switch(&text, learning(), 24);
            let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5];
            frame.resize(1_000, 7);
            // 400 Mb/s for 5 ms.
            for us in (0..5_000).step_by(20) {
                switch.ports()[0].incoming.push_back(frame.clone());
                switch.poll(Instant::from_ps(us * 1_000_000)).unwrap();
            }
            let sent = &switch.ports()[1].sent;
            assert!(sent.iter().all(|sent| *sent == frame));
            // A frame takes 1,024 bytes of the wire: 163.84 us at 50 Mb/s.
            assert_eq!(sent.len(), 1 + 4_980_000 / 163_840);
            run(&mut switch, 5_000, 20_000);
            let (untrimmable, counters) = (switch.path().untrimmable(1), switch.path().tm().pool_counters());
            assert!(untrimmable > 100, "{untrimmable}");
            let whole = switch.ports()[1].sent.len() as u64;
            assert_eq!(whole + untrimmable + counters.dropped.packets, 250, "{counters:?}");
            assert_eq!(switch.ports()[0].sent.len(), free, "none goes back");
            assert_eq!(switch.path().pool().free(), BUFFERS as usize);
        }
    }

    /// Headers that are longer than the traffic manager takes them for have the time on the wire that they need.
    #[test]
    fn headers_take_the_wire_for_as_long_as_they_are() {
        let text =
            "ports = 2\nrate = \"10Mbps\"\nbuffer = \"100KB\"\nqueue_capacity = 1\n[policy]\nkind = \"cs\"\n[trim]\n";
        let mut switch = switch(text, learning(), 0);
        // IPv6 and TCP behind two tags: 82 bytes of headers, which are cut to 64 as the traffic manager sees it.
        let build = Build::all()[3].tags(2);
        for _ in 0..12 {
            switch.ports()[0].incoming.push_back(build.frame(1_000));
        }
        switch.poll(Instant::ZERO).unwrap();
        let whole = build.frame(1_000).len();
        // The first one is on the wire until then; the headers follow.
        let start = whole as u64 * 8 / 10;
        run(&mut switch, 10, start + 10 * 82 * 8 / 10 - 10);
        let lengths: Vec<usize> = switch.ports()[1].sent.iter().map(Vec::len).collect();
        assert_eq!(lengths.iter().filter(|length| **length == 82).count(), 10, "{lengths:?}");
        assert_eq!(lengths.len(), 11, "the second whole one is not due yet: {lengths:?}");
        run(&mut switch, start + 10 * 82 * 8 / 10, start + 10 * 82 * 8 / 10 + 20);
        assert_eq!(switch.ports()[1].sent.len(), 12);
    }

    /// A slip in a rate holds the wire for no longer than the slip itself.
    #[test]
    fn a_rate_that_changes_changes_the_frame_on_the_wire() {
        let mut switch = switch(PLAIN, learning(), 0);
        let [udp, ..] = Build::all();
        switch.ports()[0].incoming.push_back(Build { source: 2, destination: 1, ..udp }.frame(0));
        run(&mut switch, 0, 100);
        let before = sent(&mut switch)[0];
        let set = |switch: &mut Switch<Memory>, bps: u64| {
            let mut config = forebay_tm::TmConfig::clone(switch.path().tm().config());
            config.rates[0] = forebay_tm::Rate::from_bps(bps);
            let classifier = Classifier::new(vec![], Kind::default());
            switch.path().reconfigure(config, classifier, Treatment::default()).unwrap();
        };
        for _ in 0..3 {
            switch.ports()[1].incoming.push_back(udp.frame(1_000 - 42));
        }
        // Half of the first frame, 40 us, is on the wire when the rate falls to 1 b/s.
        run(&mut switch, 110, 150);
        set(&mut switch, 1);
        run(&mut switch, 160, 500_000);
        assert_eq!(sent(&mut switch)[0] - before, 1, "the wire is busy");
        set(&mut switch, 100_000_000);
        // The other half takes 40 us again, and the second frame follows.
        run(&mut switch, 500_010, 500_030);
        assert_eq!(sent(&mut switch)[0] - before, 1);
        run(&mut switch, 500_040, 500_050);
        assert_eq!(sent(&mut switch)[0] - before, 2);
        // A faster one: what is left of the second frame takes a tenth.
        set(&mut switch, 1_000_000_000);
        run(&mut switch, 500_060, 500_060);
        assert_eq!(sent(&mut switch)[0] - before, 3);
    }

    #[test]
    fn addresses_that_are_silent_are_forgotten_and_storms_are_cut() {
        let table = MacTable::new(Duration::from_us(1_000), 1);
        let storm = crate::storm::Storm::new(forebay_tm::Rate::from_bps(1_000_000), 4);
        let mut switch = switch(PLAIN, Forwarding::Learn(table.with_storm(Some(storm))), 0);
        let [udp, ..] = Build::all();
        switch.ports()[3].incoming.push_back(Build { source: 2, destination: 1, ..udp }.frame(0));
        run(&mut switch, 0, 900);
        let before = sent(&mut switch);
        switch.ports()[1].incoming.push_back(udp.frame(0));
        run(&mut switch, 910, 1_000);
        assert_eq!(sent(&mut switch), [before[0], before[1], before[2], before[3] + 1], "known");
        switch.ports()[1].incoming.push_back(udp.frame(0));
        run(&mut switch, 1_010, 1_100);
        assert_eq!(sent(&mut switch), [before[0] + 1, before[1], before[2] + 1, before[3] + 2], "forgotten");
        let books = switch.path().books();
        assert_eq!((books.received, books.copies, books.missing()), (3, 4, 0));
        // 1 Mb/s and bursts of 10 ms are 1,250 bytes: less than two of these.
        for _ in 0..50 {
            switch.ports()[0].incoming.push_back(udp.frame(1_000));
        }
        run(&mut switch, 1_110, 2_000);
        assert_eq!(switch.path().unforwarded().storm, 48);
        assert_eq!(switch.path().books().missing(), 0);
    }
}
