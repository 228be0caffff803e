//! One small program for each feature of the language.

use forebay_pisa::{ANSWER, Checked, DATA, DEFLECTED, HEADER, MeterConfig, Outcome, Pass, Pipeline, Program, Target};
use std::sync::Arc;

/// A program that keeps to the rules of Tofino.
fn checked(text: &str, constants: &[(&str, u64)]) -> Checked {
    let program = Program::parse("test.pisa", text).unwrap_or_else(|errors| panic!("{errors}"));
    program.check(&Target::tofino(), constants).unwrap_or_else(|errors| panic!("{errors}"))
}

fn pipeline(text: &str) -> Pipeline {
    Pipeline::new(&Arc::new(checked(text, &[])), 2)
}

/// A program of one ingress section.
fn ingress(declarations: &str, body: &str) -> Pipeline {
    pipeline(&format!("program test\nheader h : 32\nheader g : 48\n{declarations}\ningress\n{body}"))
}

/// The first header field after a pass.
fn h(pipeline: &mut Pipeline, pass: &Pass) -> u64 {
    pipeline.ingress(pass).headers[0]
}

#[test]
fn every_operation() {
    let cases: [(&str, u64); 14] = [
        ("rank + 5", 105),
        ("rank - 5", 95),
        ("5 - rank", 5u64.wrapping_sub(100) & 0xffff_ffff),
        ("5 -| rank", 0),
        ("rank -| 5", 95),
        ("min(rank, 7)", 7),
        ("max(rank, 7)", 100),
        ("rank << 3", 800),
        ("rank << 31", 0),
        ("rank >> 3", 12),
        ("rank & 0x0f", 4),
        ("rank | 0x0f", 111),
        ("rank ^ 0xff", 155),
        ("rank[6:2]", 25),
    ];
    for (expression, result) in cases {
        let mut pipeline = ingress("", &format!("stage 0\n  h = {expression}\n"));
        assert_eq!(h(&mut pipeline, &Pass { rank: 100, ..Pass::default() }), result, "{expression}");
    }
}

#[test]
fn built_in_fields_are_what_the_packet_has() {
    let pass = Pass {
        now: 1_234_567,
        kind: HEADER,
        in_port: 3,
        out_port: 4,
        out_queue: 5,
        class: 6,
        bytes: 1500,
        rank: 7,
        flow: 8,
        random: 9,
        depth: 10,
        enqueued_depth: 11,
        wait: 12,
        headers: [0; 6],
    };
    let fields = [
        ("now", 1234),
        ("kind", 1),
        ("in_port", 3),
        ("pipe", 2),
        ("bytes", 1500),
        ("class", 6),
        ("rank", 7),
        ("flow", 8),
        ("out_port", 4),
        ("out_queue", 5),
        ("random", 9),
        ("depth", 10),
        ("enqueued_depth", 11),
        ("wait", 12),
    ];
    for (field, value) in fields {
        let mut pipeline = pipeline(&format!("program test\nheader g : 48\negress\nstage 0\n  g = {field}\n"));
        assert_eq!(pipeline.egress(&pass).headers[0], value, "{field}");
    }
}

#[test]
fn what_is_wider_than_a_field_is_cut_as_it_comes() {
    let mut pipeline = ingress("", "stage 0\n  h = in_port\n");
    assert_eq!(h(&mut pipeline, &Pass { in_port: 0x203, ..Pass::default() }), 3);
}

#[test]
fn when_takes_one_arm() {
    let text = "stage 0
  when rank < 10
    h = 1
  else when rank < 20 and bytes > 100
    h = 2
  else when rank == 30 or rank == 40 or bytes == 1
    h = 3
  else
    h = 4
  end
";
    let mut pipeline = ingress("", text);
    for (rank, bytes, arm) in [
        (9, 0, 1),
        (10, 101, 2),
        (10, 100, 4),
        (30, 0, 3),
        (40, 0, 3),
        (50, 1, 3),
        (50, 2, 4),
        (19, 101, 2),
        (20, 101, 4),
    ] {
        assert_eq!(h(&mut pipeline, &Pass { rank, bytes, ..Pass::default() }), arm, "rank {rank}, {bytes} bytes");
    }
}

#[test]
fn every_comparison() {
    for (relation, holds) in [
        ("==", [false, true, false]),
        ("!=", [true, false, true]),
        ("<", [true, false, false]),
        ("<=", [true, true, false]),
        (">", [false, false, true]),
        (">=", [false, true, true]),
    ] {
        let mut gateway = ingress("", &format!("stage 0\n  h = 1 when rank {relation} 10\n"));
        let mut alu =
            ingress("", &format!("register r : 32 x 1 @ 0\nstage 0\n  h = r[0] {{ out rank {relation} mem }}\n"));
        assert!(alu.set_register("r", 0, 10));
        for (rank, holds) in [9, 10, 11].into_iter().zip(holds) {
            let pass = Pass { rank, ..Pass::default() };
            assert_eq!(h(&mut gateway, &pass), u64::from(holds), "{rank} {relation} 10");
            assert_eq!(h(&mut alu, &pass), u64::from(holds), "{rank} {relation} mem");
        }
    }
}

#[test]
fn kinds_are_decided_before_the_packet_comes() {
    let text = "program test
packet UPDATE
packet NOTIFY
ingress
stage 0
  mark when kind == DATA
  recirculate when kind == UPDATE
egress
stage 0
  when kind == DEFLECTED
    mirror NOTIFY
    drop
  end
";
    let checked = Arc::new(checked(text, &[]));
    assert_eq!(
        (checked.kind("UPDATE"), checked.kind("NOTIFY"), checked.kind("ANSWER")),
        (Some(4), Some(5), Some(ANSWER))
    );
    assert_eq!(checked.kind("OTHER"), None);
    let runs = |egress| (0..8).filter(|kind| checked.runs(egress, *kind)).collect::<Vec<u8>>();
    assert_eq!((runs(false), runs(true)), (vec![DATA, 4], vec![DEFLECTED]));
    let mut pipeline = Pipeline::new(&checked, 0);
    let pass = |kind| Pass { kind, out_port: 700, headers: [1, 2, 3, 4, 5, 6], ..Pass::default() };
    assert!(pipeline.ingress(&pass(DATA)).mark && pipeline.ingress(&pass(4)).recirculate);
    assert_eq!(
        pipeline.ingress(&pass(HEADER)),
        Outcome { out_port: 700, headers: [1, 2, 3, 4, 5, 6], ..Outcome::default() },
        "what the program does not touch stays as it is"
    );
    assert_eq!(pipeline.ingress(&pass(99)).headers, [1, 2, 3, 4, 5, 6]);
    let outcome = pipeline.egress(&pass(DEFLECTED));
    assert!(outcome.drop && outcome.mirror == 5 && outcome.multicast == 0);
}

#[test]
fn what_becomes_of_a_packet() {
    let statements = "drop when class == 1
  trim when class == 2
  mark when class == 3
  recirculate when class == 4
  mirror HEADER when class == 5
  multicast UPDATE when class == 6
  out_port = 9 when class == 7
  out_queue = 3 when class == 8
";
    let mut pipeline = ingress("packet UPDATE", &format!("stage 0\n  {statements}"));
    let plain = Outcome { out_port: 1, out_queue: 2, ..Outcome::default() };
    let expected = [
        plain,
        Outcome { drop: true, ..plain },
        Outcome { trim: true, ..plain },
        Outcome { mark: true, ..plain },
        Outcome { recirculate: true, ..plain },
        Outcome { mirror: HEADER, ..plain },
        Outcome { multicast: 4, ..plain },
        Outcome { out_port: 9, ..plain },
        Outcome { out_queue: 3, ..plain },
    ];
    for (class, expected) in expected.into_iter().enumerate() {
        let pass = Pass { class: class as u32, out_port: 1, out_queue: 2, ..Pass::default() };
        assert_eq!(pipeline.ingress(&pass), expected, "class {class}");
    }
}

#[test]
fn a_register_is_read_and_written_in_one_go() {
    let text = "register count : 16 x 4 @ 3
register seen : 32+32 x 2 @ 4
stage 3
  h = count[in_port] { mem = mem + 1; out mem }
stage 4
  g = seen[0] { out mem2 if bytes > 100 else rank; mem = bytes if bytes > mem; mem2 = mem if bytes > mem else mem2 + 1 }
";
    let mut pipeline = ingress("", text);
    let mut pass = |in_port, bytes| {
        let headers = pipeline.ingress(&Pass { in_port, bytes, rank: 77, ..Pass::default() }).headers;
        (headers[0], headers[1], pipeline.register("seen").map(|v| v[0]), pipeline.register("seen.mem2").map(|v| v[0]))
    };
    assert_eq!(pass(1, 50), (0, 77, Some(50), Some(0)));
    assert_eq!(pass(1, 200), (1, 0, Some(200), Some(50)));
    assert_eq!(pass(2, 150), (0, 50, Some(200), Some(51)));
    assert_eq!(pass(4, 150), (0, 51, Some(200), Some(52)), "there is no entry 4: nothing is read");
    assert_eq!(pipeline.register("count"), Some(&[0, 2, 1, 0][..]));
    assert!(pipeline.set_register("count", 3, 0xffff));
    assert!(!pipeline.set_register("count", 3, 0x1_0000) && !pipeline.set_register("count", 4, 0));
    assert_eq!(h(&mut pipeline, &Pass { in_port: 3, ..Pass::default() }), 0xffff);
    assert_eq!(pipeline.register("count"), Some(&[0, 2, 1, 0][..]), "16 bits wrap");
    assert_eq!((pipeline.register("none"), pipeline.register("count.mem2")), (None, None));
}

#[test]
fn two_comparisons_of_an_alu() {
    let text = "register r : 32 x 1 @ 0\nstage 0\n  h = r[0] { out rank > mem and bytes == 9; mem = rank if rank > mem or bytes == 9 }\n";
    let mut pipeline = ingress("", text);
    for (rank, bytes, out, mem) in [(5, 9, 1, 5), (5, 9, 0, 5), (3, 9, 0, 3), (2, 8, 0, 3), (4, 8, 0, 4)] {
        assert_eq!(h(&mut pipeline, &Pass { rank, bytes, ..Pass::default() }), out);
        assert_eq!(pipeline.register("r"), Some(&[mem][..]));
    }
}

#[test]
fn an_access_over_several_lines() {
    let text = "register r : 32 x 1 @ 0
stage 0
  h = r[0] {
    out mem          # the old one
    mem = rank
  }
";
    let mut pipeline = ingress("", text);
    assert_eq!(h(&mut pipeline, &Pass { rank: 4, ..Pass::default() }), 0);
    assert_eq!(h(&mut pipeline, &Pass { rank: 5, ..Pass::default() }), 4);
}

#[test]
fn metadata_lives_for_one_pass() {
    let text = "stage 0\n  m = rank when rank > 9\nstage 1\n  h = m\n";
    let mut pipeline = ingress("field m : 32", text);
    assert_eq!(h(&mut pipeline, &Pass { rank: 10, ..Pass::default() }), 10);
    assert_eq!(h(&mut pipeline, &Pass { rank: 9, ..Pass::default() }), 0);
}

#[test]
fn constants_are_given_or_have_a_default() {
    let text = "program test\nheader h : 32\nconstant a\nconstant b = 7\ningress\nregister r : 32 x b @ 0\nstage 0\n  r[0] { mem = a }\nstage 1\n  h = a + b\n";
    let program = Program::parse("test.pisa", text).unwrap();
    assert_eq!((program.name(), program.constants().collect::<Vec<_>>()), ("test", vec!["a", "b"]));
    for (constants, sum, entries) in [(&[("a", 3)][..], 10, 7), (&[("a", 3), ("b", 2)][..], 5, 2)] {
        let mut pipeline = Pipeline::new(&Arc::new(program.check(&Target::tofino(), constants).unwrap()), 0);
        assert_eq!(h(&mut pipeline, &Pass::default()), sum);
        assert_eq!(pipeline.register("r").unwrap().len(), entries);
    }
}

const TABLES: &str = "program test
header h : 32
header g : 48
ingress
table small : exact(port 9, class 5) -> a 8, b 4 size 3 @ 0
table large : exact(rank 32, flow 32) -> a 8 size 4 @ 1
table masked : ternary(rank 32, class 5) -> a 5 size 4 @ 2
";

#[test]
fn tables() {
    let text = TABLES.to_owned()
        + "stage 0\n  h, g = small(out_port, class)\nstage 1\n  out_port = large(rank, flow)\nstage 2\n  out_queue = masked(rank, class)\n";
    let mut program = checked(&text, &[]);
    program.insert("small", &[3, 1], &[200, 9]).unwrap();
    program.insert("small", &[3, 2], &[201, 10]).unwrap();
    program.insert("small", &[3, 1], &[202, 11]).unwrap();
    program.default_result("small", &[1, 2]).unwrap();
    for i in [5, 1, 3] {
        program.insert("large", &[i << 20, i], &[i]).unwrap();
    }
    program.insert_masked("masked", &[(0x100, 0xf00), (0, 0)], 2, &[1]).unwrap();
    program.insert_masked("masked", &[(0, 0), (4, 0x1f)], 1, &[2]).unwrap();
    program.insert_masked("masked", &[(0, 0), (0, 0)], 9, &[3]).unwrap();
    let mut pipeline = Pipeline::new(&Arc::new(program), 0);
    let mut found = |out_port, class, rank, flow| {
        let outcome = pipeline.ingress(&Pass { out_port, class, rank, flow, ..Pass::default() });
        (outcome.headers[0], outcome.headers[1], outcome.out_port, outcome.out_queue)
    };
    assert_eq!(found(3, 1, 5 << 20, 5), (202, 11, 5, 3));
    assert_eq!(found(3, 2, 0x1ff, 0), (201, 10, 0, 1));
    assert_eq!(found(2, 4, 0x1ff, 0), (1, 2, 0, 2));
    assert_eq!(found(2, 4, 3 << 20, 3), (1, 2, 3, 2));
}

#[test]
fn what_cannot_be_loaded() {
    let text = format!("{TABLES}meter m : 2 @ 3\n");
    let mut program = checked(&text, &[]);
    let config = MeterConfig { committed: 2, peak: 1, committed_burst: 1, peak_burst: 1 };
    let mut messages = vec![
        program.insert("smal", &[], &[]),
        program.insert("small", &[1], &[1, 1]),
        program.insert("small", &[1, 1], &[1]),
        program.insert("small", &[1, 32], &[1, 1]),
        program.insert("small", &[1, 1], &[256, 1]),
        program.insert("masked", &[1, 1], &[1]),
        program.insert_masked("large", &[(1, 1), (1, 1)], 1, &[1]),
        program.insert_masked("masked", &[(1, 1), (1, 32)], 1, &[1]),
        program.default_result("small", &[256, 1]),
        program.set_meter("m", config),
        program.set_meter("n", MeterConfig { peak: 2, ..config }),
        program.set_meter_entry("m", 2, MeterConfig { peak: 2, ..config }),
    ];
    messages.extend((0..4).map(|i| program.insert("small", &[i, i], &[0, 0])));
    messages.extend((0..5).map(|i| program.insert_masked("masked", &[(i, i), (0, 0)], 0, &[0])));
    messages.extend((0..5).map(|i| program.insert("large", &[i, i], &[0])));
    let messages: Vec<String> = messages.into_iter().filter_map(Result::err).map(|error| error.to_string()).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn meters_have_three_colours() {
    let text = "program test\nfield c : 2\nheader h : 32\ningress\nmeter m : 2 @ 0\nstage 0\n  c = m[in_port](bytes)\nstage 1\n  h = c\n";
    let mut program = checked(text, &[]);
    // 1 and 2 bytes a nanosecond.
    let config =
        MeterConfig { committed: 8_000_000_000, peak: 16_000_000_000, committed_burst: 1500, peak_burst: 3000 };
    program.set_meter("m", config).unwrap();
    program.set_meter_entry("m", 1, MeterConfig { committed_burst: 0, ..config }).unwrap();
    let mut pipeline = Pipeline::new(&Arc::new(program), 0);
    let mut colour = |in_port, now| h(&mut pipeline, &Pass { in_port, now, bytes: 1500, ..Pass::default() });
    assert_eq!([colour(0, 0), colour(0, 0), colour(0, 0)], [0, 1, 2]);
    assert_eq!([colour(1, 0), colour(1, 0), colour(1, 0)], [1, 1, 2]);
    assert_eq!([colour(0, 750_000), colour(0, 1_500_000)], [1, 0]);
    assert_eq!([colour(2, 0), colour(2, 0), colour(2, 0)], [0, 0, 0], "there is no third meter");
}

#[test]
fn a_window_of_recent_ranks() {
    let arrays: String = (0..3).map(|i| format!("register w{i} : 32 x 2 @ {i}\n")).collect();
    let slot = |(i, field): (u32, &str)| {
        format!("stage {i}\n  {field} = w{i}[in_port] {{ out mem < rank; mem = rank if h == {i} }}\n")
    };
    let slots: String = [(0, "a"), (1, "b"), (2, "c")].map(slot).concat();
    let mut window = ingress(
        "field a : 1\nfield b : 1\nfield c : 1",
        &format!("{arrays}{slots}stage 3\n  g = a + b\nstage 4\n  g = g + c\n"),
    );
    let mut below = |position, in_port, rank| {
        let headers = [position, 0, 0, 0, 0, 0];
        window.ingress(&Pass { in_port, rank, headers, ..Pass::default() }).headers[1]
    };
    assert_eq!([below(0, 1, 5), below(1, 1, 7), below(2, 1, 6), below(9, 1, 7)], [3, 3, 2, 2]);
    assert_eq!(below(0, 2, 9), 0, "there is no entry 2");
    assert_eq!([0, 1, 2].map(|i| window.register(&format!("w{i}")).unwrap()[1]), [5, 7, 6]);
}

#[test]
fn a_later_access_sees_what_an_earlier_one_gave() {
    let slot = |i| format!("{} = w{i}[0] {{ out mem < rank; mem = rank if a == 0 }}\n", ["a", "b"][i]);
    let arrays = "register w0 : 32 x 1 @ 0\nregister w1 : 32 x 1 @ 1\n";
    let mut pipeline =
        ingress("field a : 1\nfield b : 1", &format!("{arrays}stage 0\n{}stage 1\n{}", slot(0), slot(1)));
    pipeline.ingress(&Pass { rank: 5, ..Pass::default() });
    assert_eq!((pipeline.register("w0"), pipeline.register("w1")), (Some(&[5][..]), Some(&[0][..])));
}
