//! Points of the specification that its examples may not settle, worked out by hand. Ports have 8 Gbps, so that 1000
//! bytes take 1,000,000 ps.

use forebay_naive::{Arrival, Policy, Scheduler, Switch, Trim, run, run_observed, verdicts_csv};

const US: u64 = 1_000_000;

fn switch(ports: usize, queues: usize, buffer: u64, policy: Policy, by: Scheduler) -> Switch {
    Switch {
        rates: vec![8_000_000_000; ports],
        queues,
        buffer,
        cell: 1,
        queue_capacity: None,
        policy,
        scheduler: by,
        ecn: None,
        wred: None,
        trim: None,
    }
}

fn packet(time: u64, bytes: u64, port: usize, queue: usize) -> Arrival {
    Arrival { time, bytes, port, queue, flow: 0, rank: 0, class: 0, unscheduled: false, ect: false, colour: 0 }
}

fn ranked(time: u64, bytes: u64, rank: u64) -> Arrival {
    Arrival { rank, ..packet(time, bytes, 0, 0) }
}

/// The lines of the verdicts without the packet's number, times in us.
fn verdicts(switch: &Switch, arrivals: &[Arrival]) -> Vec<String> {
    verdicts_csv(&run(switch, arrivals))
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let us = |text: &str| match text.parse::<f64>() {
                Ok(ps) => format!(" {}", ps / US as f64),
                Err(_) => String::new(),
            };
            let mark = if fields[3] == "1" { "*" } else { "" };
            let times = us(fields[4]) + &us(fields[5]);
            format!("{}{mark} {}{times}", fields[1], fields[2])
        })
        .collect()
}

/// Section 7: the last packet of the visited queue is pushed out, which ends the visit; a packet that joins the queue
/// before the next pick does not find the rest of the deficit.
#[test]
fn a_push_out_ends_a_drr_visit() {
    let arrivals = [
        packet(0, 1000, 0, 0),            // at once; the queue empties, the visit ends
        packet(0, 1000, 0, 0),            // at 2 us; deficit 2000 - 1000
        packet(0, 1000, 0, 0),            // pushed out at 2.5 us
        packet(0, 1000, 0, 1),            // at 1 us
        packet(5 * US / 2, 2500, 1, 0),   // does not fit beside the third
        packet(26 * US / 10, 500, 0, 0),  // would be next if the visit went on
        packet(26 * US / 10, 100, 0, 1),  // is next
        packet(26 * US / 10, 100, 0, 1),  // in the same visit
        packet(27 * US / 10, 1000, 0, 1), // deficit 1000 - 200: another visit
    ];
    let wanted = [
        "sent  0 1",
        "sent  2 3",
        "dropped pushed-out",
        "sent  1 2",
        "sent  2.5 5",
        "sent  3.2 3.7",
        "sent  3 3.1",
        "sent  3.1 3.2",
        "sent  3.7 4.7",
    ];
    let drr = Scheduler::Drr { weights: vec![2, 1], quantum: 1000 };
    let drr = switch(2, 2, 3000, Policy::Pushout, drr);
    assert_eq!(verdicts(&drr, &arrivals), wanted);
}

/// The same for WRR, whose visits also end when the queue empties.
#[test]
fn a_push_out_ends_a_wrr_visit() {
    let arrivals = [
        packet(0, 1000, 0, 0),
        packet(0, 1000, 0, 0), // at 2 us, the first of 2
        packet(0, 1000, 0, 0), // pushed out at 2.5 us
        packet(0, 1000, 0, 1), // at 1 us
        packet(5 * US / 2, 2500, 1, 0),
        packet(26 * US / 10, 500, 0, 0),
        packet(26 * US / 10, 100, 0, 1), // next
        packet(26 * US / 10, 100, 0, 1), // in a visit after that to queue 0
    ];
    let wanted = [
        "sent  0 1",
        "sent  2 3",
        "dropped pushed-out",
        "sent  1 2",
        "sent  2.5 5",
        "sent  3.1 3.6",
        "sent  3 3.1",
        "sent  3.6 3.7",
    ];
    let wrr = Scheduler::Wrr { weights: vec![2, 1] };
    let wrr = switch(2, 2, 3000, Policy::Pushout, wrr);
    assert_eq!(verdicts(&wrr, &arrivals), wanted);
}

/// Section 8: AIFO counts what it sees, also what it rejects, but it does not see an oversize packet.
#[test]
fn aifo_counts_what_it_sees() {
    let aifo = Scheduler::Aifo { capacity: 2, headroom: 0.0, window: 1, sample: 2 };
    let arrivals = [
        ranked(0, 1000, 5),        // counter 0: the window is [5]
        ranked(0, 6000, 1),        // not seen
        ranked(0, 1000, 3),        // 1
        ranked(0, 1000, 4),        // 2: [4]; had the oversize packet counted, [3] would reject it
        ranked(0, 1000, 0),        // 3: c = C
        ranked(10 * US, 1000, 50), // 4: [50]
        ranked(10 * US, 1000, 60), // 5: 1 * 2 <= (2 - 0) * 1
        ranked(10 * US, 1000, 61), // 6: [61]; else [60] and 1 * 2 > (2 - 1) * 1
    ];
    let wanted = [
        "sent  0 1",
        "dropped oversize",
        "sent  1 2",
        "sent  2 3",
        "dropped rank",
        "sent  10 11",
        "sent  11 12",
        "sent  12 13",
    ];
    let aifo = switch(1, 1, 5000, Policy::Cs, aifo);
    assert_eq!(verdicts(&aifo, &arrivals), wanted);
}

fn occamy(token_cell: u64, bucket: u64) -> Switch {
    let policy = Policy::Occamy { alpha: vec![1.0], token_cell, bucket };
    switch(2, 1, 5000, policy, Scheduler::Fifo)
}

/// Section 6: two ports of 8 Gbps fill a token of 1000 bytes in half a microsecond.
#[test]
fn an_expulsion_waits_for_its_tokens() {
    let mut arrivals = vec![
        packet(0, 1000, 0, 0), // takes the one token
        packet(0, 1000, 0, 0),
        packet(0, 1000, 0, 0),
        packet(0, 1000, 0, 0), // 3000 wait, of 5000: over-allocated
    ];
    let mut instants = Vec::new();
    let _ = run_observed(&occamy(1000, 1), &arrivals, &mut |time, lengths| {
        instants.push((time, lengths.to_vec()));
    });
    let wanted = [(0, 3000), (US / 2, 2000), (US, 1000), (2 * US, 0), (3 * US, 0)];
    let wanted = wanted.map(|(time, length)| (time, vec![length, 0]));
    assert_eq!(instants, wanted);
    let wanted = ["sent  0 1", "dropped expelled", "sent  1 2", "sent  2 3"];
    assert_eq!(verdicts(&occamy(1000, 1), &arrivals), wanted);

    // A packet picked meanwhile takes the tokens: 0.8 - 1. They would be there at 1 us, but then the first
    // transmission ends, a packet is picked before any expulsion, and nothing is over-allocated any more.
    arrivals.push(packet(2 * US / 5, 1000, 1, 0));
    let wanted = ["sent  0 1", "sent  1 2", "sent  2 3", "sent  3 4", "sent  0.4 1.4"];
    assert_eq!(verdicts(&occamy(1000, 1), &arrivals), wanted);

    // A head that needs more than the bucket holds is never expelled.
    assert_eq!(verdicts(&occamy(999, 1), &arrivals), wanted);
}

/// Section 6: an expulsion that waits chooses its candidate again at an event before its tokens are there.
#[test]
fn the_candidate_is_chosen_again() {
    // A token of 500 bytes takes 0.25 us; there are four. The pointer is at 0.
    let arrivals = [
        packet(0, 500, 0, 0), // takes a token
        packet(0, 500, 1, 0), // takes a token
        packet(0, 500, 0, 0),
        packet(0, 1500, 1, 0),
        packet(0, 1500, 1, 0), // 3000 > 5000 - 3500, but the head needs 3 tokens of 2: at 0.25 us
        // 1200 > 5000 - 4200 and 2.8 tokens: queue 0 comes first, and its head needs 1. Then queue 1 needs 3 of 1.8,
        // which is at 0.5 us; but then both ports pick, before any expulsion.
        packet(US / 5, 700, 0, 0),
    ];
    let wanted = ["sent  0 0.5", "sent  0 0.5", "dropped expelled", "sent  0.5 2", "sent  2 3.5", "sent  0.5 1.2"];
    let mut instants = Vec::new();
    let _ = run_observed(&occamy(500, 4), &arrivals, &mut |time, _| {
        instants.push(time);
    });
    let tenths = [0, 2, 5, 12, 20, 35];
    assert_eq!(instants, tenths.map(|tenth| tenth * US / 10));
    assert_eq!(verdicts(&occamy(500, 4), &arrivals), wanted);
}

/// Section 6: before FBA's first update `a_i = alpha_k`; the update comes after the picks and before the arrivals of
/// its instant.
#[test]
fn fba_begins_with_alpha() {
    let policy = Policy::Fba { alpha: vec![1.0], groups: None, interval: US };
    let fba = switch(2, 1, 8000, policy, Scheduler::Fifo);
    let arrivals = [
        packet(0, 1000, 0, 0),
        packet(0, 1000, 0, 0),
        packet(0, 1000, 0, 0),
        packet(0, 1000, 0, 0),
        packet(0, 1000, 1, 0),
        packet(0, 1000, 1, 0),
        packet(0, 1000, 1, 0),
        packet(US - 1, 1000, 1, 0),  // Q = 5000: 3000 <= 1 * 3000
        packet(US, 1000, 0, 0),      // 2000 wait at either port, N' = 2: 3000 > 0.5 * 4000
        packet(US, 1, 1, 0),         // 2001 > 0.5 * 4000
        packet(20 * US, 8000, 0, 0), // N' = 0 counts as 1: 8000 <= 1 * 8000
        packet(20 * US, 4001, 0, 0), // a is 1 until the next update: 4001 <= 1 * 8000
    ];
    let verdicts = verdicts(&fba, &arrivals);
    let wanted = ["sent  3 4", "dropped threshold", "dropped threshold", "sent  20 28", "sent  28 32.001"];
    assert_eq!(verdicts[7..], wanted);
}

/// Section 9: a packet shorter than the trim size is not cut, but its verdict is `trimmed`.
#[test]
fn a_short_packet_is_trimmed_whole() {
    let mut trimming = switch(1, 1, 5000, Policy::Cs, Scheduler::Fifo);
    trimming.queue_capacity = Some(1);
    trimming.trim =
        Some(Trim { size: 100, header_capacity: 3, header_ratio: 2, strict: false, return_to_sender: false });
    let arrivals = [
        packet(0, 1000, 0, 0),
        packet(0, 1000, 0, 0),
        packet(0, 60, 0, 0),
        packet(0, 100, 0, 0),
        packet(0, 300, 0, 0),
        packet(0, 300, 0, 0),
        packet(3 * US, 5001, 0, 0), // oversize: not trimmed
    ];
    let wanted = [
        "sent  0 1",
        "sent  1.16 2.16",
        "trimmed queue-full 1 1.06",
        "trimmed queue-full 1.06 1.16",
        "trimmed queue-full 2.16 2.26",
        "dropped header-full",
        "dropped oversize",
    ];
    assert_eq!(verdicts(&trimming, &arrivals), wanted);
}

/// Section 3: a header for an idle port is picked at once.
#[test]
fn a_header_does_not_wait_at_an_idle_port() {
    let policy = Policy::Dt { alpha: vec![0.5], reserved: 0.0 };
    let mut trimming = switch(1, 1, 1500, policy, Scheduler::Fifo);
    trimming.trim =
        Some(Trim { size: 100, header_capacity: 1, header_ratio: 0, strict: false, return_to_sender: true });
    let arrivals = [
        packet(0, 1000, 0, 0), // 1000 > 0.5 * 1500, though the port is idle
        packet(0, 1000, 0, 0), // waits in the header queue
        packet(0, 750, 0, 0),  // waits; with a header_ratio of 0 it goes before the header
        packet(0, 1000, 0, 0), // 1750 > 1500
    ];
    let wanted = ["trimmed threshold 0 0.1", "trimmed threshold 0.85 0.95", "sent  0.1 0.85", "returned full"];
    assert_eq!(verdicts(&trimming, &arrivals), wanted);
}

/// Section 3: a packet that PIFO pushes out keeps its mark, one that it does not let in has none, and the queue's
/// length is the one before PIFO made room.
#[test]
fn pifo_and_marks() {
    let mut pifo = switch(1, 1, 9000, Policy::Cs, Scheduler::Pifo { capacity: 2 });
    pifo.ecn = Some(2000);
    let mut arrivals = [
        ranked(0, 1000, 1),
        ranked(0, 2000, 7),
        ranked(0, 1000, 7), // marked: 2000; the last of those equal is pushed out
        ranked(0, 500, 7),  // not let in: no mark
        ranked(0, 500, 6),  // marked: 3000 before the push-out
    ];
    for arrival in &mut arrivals {
        arrival.ect = true;
    }
    let wanted = ["sent  0 1", "sent  1.5 3.5", "dropped* pushed-out", "dropped rank", "sent*  1 1.5"];
    assert_eq!(verdicts(&pifo, &arrivals), wanted);
}

/// Section 8: a packet that SP-PIFO drops has moved the bounds; the tail that pushout takes is the last to be picked.
#[test]
fn sp_pifo_bounds_and_tails() {
    let sp_pifo = Scheduler::SpPifo { queues: 2, capacity: 1 };
    let arrivals = [
        ranked(0, 1000, 3),     // queue 1, bounds 0 and 3; on the wire
        ranked(0, 1000, 5),     // queue 1, bounds 0 and 5
        ranked(0, 1000, 4),     // queue 0, bounds 4 and 5
        ranked(0, 1000, 6),     // queue 1 is full, bounds 4 and 6
        ranked(0, 1000, 1),     // push-down by 3: bounds 1 and 3; queue 0 is full
        ranked(US, 1000, 4),    // the rank 4 is on the wire; rank 4 >= 3: queue 1 is full
        ranked(US, 1000, 2),    // queue 0; picked before the rank 5
        packet(US, 8000, 1, 0), // room for two: the tail goes, rank 5 in queue 1
    ];
    let wanted = [
        "sent  0 1",
        "dropped pushed-out",
        "sent  1 2",
        "dropped rank",
        "dropped rank",
        "dropped rank",
        "sent  2 3",
        "sent  1 9",
    ];
    let sp_pifo = switch(2, 1, 9000, Policy::Pushout, sp_pifo);
    assert_eq!(verdicts(&sp_pifo, &arrivals), wanted);
}
