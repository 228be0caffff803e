//! What the ingress side adds to an arrival and a departure under DT, in instructions (callgrind): a switch of 64 ports
//! with 8 queues at overload, alone and behind an ingress side that refuses next to nothing. `--check` fails above the
//! limit.

mod callgrind;

use forebay_tm::admit::{DynamicThresholdsConfig, PolicyConfig};
use forebay_tm::ingress::{Alpha, GroupConfig, IngressConfig, Limit, LosslessConfig, PoolConfig, PortConfig};
use forebay_tm::random::Random;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::{Bytes, Instant, Mmu, MmuConfig, Packet, PacketId, Rate, Tm, TmConfig, Wire};
use std::hint::black_box;
use std::process::ExitCode;

/// What the ingress side may add: 59.2 are measured.
const LIMIT: f64 = 60.0;
const PORTS: usize = 64;
const QUEUES: usize = 8;
/// Arrivals of the two runs whose difference counts. For five of them there are four departures.
const FEW: usize = 20_480;
const MANY: usize = 122_880;

/// Five arrivals for every four departures. A port sends a packet of the mean size (816 B) every 65 ns.
macro_rules! overload {
    ($tm:ident, $arrivals:expr) => {{
        let (mut now, mut seen) = (0, 0u64);
        for (number, packet) in packets().iter().cycle().take($arrivals).enumerate() {
            now += 65_280 / PORTS as u64 * 4 / 5;
            if number % 5 != 4 {
                seen += u64::from($tm.dequeue(Instant::from_ps(now), number % PORTS).is_some());
            }
            seen +=
                u64::from(matches!($tm.offer(Instant::from_ps(now), packet, Wire::Busy), forebay_tm::Outcome::Sent));
        }
        black_box(seen)
    }};
}

fn packets() -> Vec<Packet> {
    let mut random = Random::stream(7, "benchmark", 0);
    let mut draw = |below: usize| (random.unit() * below as f64) as usize;
    let packet = |id| Packet {
        id: PacketId(id),
        bytes: [64, 256, 576, 1_000, 1_500, 1_500][draw(6)],
        port: draw(PORTS) as u32,
        queue: draw(QUEUES) as u32,
        in_port: draw(PORTS) as u32,
        ..Packet::default()
    };
    (0..FEW as u64).map(packet).collect()
}

fn switch() -> TmConfig {
    let mut config = TmConfig::new(vec![Rate::from_gbps(100); PORTS], Bytes::new(PORTS as u64 * 9_600 * 10));
    config.queues = QUEUES;
    config.policy = PolicyConfig::DynamicThresholds(DynamicThresholdsConfig::default());
    config.scheduler = SchedulerConfig::RoundRobin;
    config
}

/// A lossless group of each port, in one pool that holds more than the egress side.
fn both_sides() -> MmuConfig {
    let switch = switch();
    let group = |port| GroupConfig {
        port,
        minimum: 20,
        limit: Limit::Dynamic(Alpha::power_of_two(3)),
        lossless: Some(LosslessConfig { headroom: 100, xon: 0, xon_offset: 10 }),
        ..GroupConfig::default()
    };
    let pools = vec![PoolConfig { shared: 10 * switch.buffer.get() / 256, headroom: None }];
    let (ports, groups) = (vec![PortConfig::default(); PORTS], (0..PORTS).map(group).collect());
    MmuConfig { ingress: IngressConfig { cell: 256, partitions: 1, pools, ports, groups }, switch }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--run") {
        let arrivals = args[at + 2].parse().expect("a number of arrivals");
        if args[at + 1] == "both" {
            let mut mmu = Mmu::new(both_sides()).expect("the benchmark's configuration is right");
            overload!(mmu, arrivals);
        } else {
            let mut tm = Tm::new(switch().validate().expect("the benchmark's configuration is right"));
            overload!(tm, arrivals);
        }
        return ExitCode::SUCCESS;
    }
    let cost = |sides: &str| {
        let of = |arrivals: usize| callgrind::count(&["--run", sides, &arrivals.to_string()]).0;
        // A pair is an arrival and a departure: for five of one there are four of the other.
        (of(MANY) - of(FEW)) / ((MANY - FEW) as f64 * 0.9)
    };
    let (egress, both) = (cost("egress"), cost("both"));
    let added = both - egress;
    println!(
        "an arrival and a departure under dt: {egress:.1} instructions; the ingress side adds {added:.1}; limit \
         {LIMIT:.0}"
    );
    if added > LIMIT && args.iter().any(|arg| arg == "--check") { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
