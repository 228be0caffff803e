//! What the rules must not refuse: exclusive branches, old values, and a program with a bit of everything.

use forebay_pisa::{Pass, Pipeline, Program, Target};
use std::sync::Arc;

fn check(text: &str) -> Result<(), String> {
    let program = Program::parse("test.pisa", text).map_err(|errors| errors.to_string())?;
    program.check(&Target::tofino(), &[]).map(drop).map_err(|errors| errors.to_string())
}

/// A body of stage 1 with a register, a meter and a table in it.
fn stage(body: &str) -> Result<(), String> {
    check(&format!(
        "program test\npacket UPDATE\nfield a : 32\nfield b : 32\nfield c : 32\ningress\nregister r : 32 x 4 @ 1\nmeter m : 4 @ 1\n\
         table t : exact(c 5) -> x 8 size 4 @ 1\nstage 1\n{body}\n"
    ))
}

/// Whether two accesses to a register under two conditions are accepted.
fn exclusive(first: &str, second: &str) -> bool {
    stage(&format!("when {first}\n a = r[0] {{ out mem }}\nend\nwhen {second}\n a = r[1] {{ out mem }}\nend")).is_ok()
}

#[test]
fn conditions_that_exclude_each_other() {
    assert!(exclusive("kind == DATA", "kind == UPDATE"));
    assert!(exclusive("kind == DATA and bytes > 64", "rank == 5 and kind == UPDATE"));
    assert!(exclusive("class == 1", "class != 1"));
    assert!(exclusive("class < 3", "class >= 3"));
    assert!(exclusive("class <= 3", "class > 3"));
    assert!(exclusive("3 > class", "class == 3"));
    assert!(exclusive("rank < flow", "rank >= flow"));
    assert!(exclusive("rank[3:0] == 1", "rank[3:0] == 2"));
}

#[test]
fn conditions_that_do_not() {
    assert!(!exclusive("kind == DATA", "class == 1"));
    assert!(!exclusive("kind == DATA or class == 1", "kind == UPDATE"));
    assert!(!exclusive("class != 1", "class != 2"));
    assert!(!exclusive("class <= 3", "class >= 3"));
    assert!(!exclusive("rank < flow", "rank != flow"));
    assert!(!exclusive("rank[3:0] == 1", "rank[4:1] == 2"));
    assert!(!exclusive("rank < 5", "flow >= 5"));
}

#[test]
fn branches_of_one_block() {
    let block = "when bytes > 64 and class == 1
  a = r[0] { out mem }
else when rank > flow
  a = r[1] { out mem }
else
  when class == 3
    a = r[2] { out mem }
  end
end";
    assert_eq!(stage(block), Ok(()));
    let after = "when class == 1
  b = 1
else
  b = 2
end
a = r[0] { out mem } when class == 1
c = r[1] { out mem } when class > 1";
    assert_eq!(stage(after), Ok(()));
    let negated = "when class == 1 or class == 2\n  a = 1\nelse\n  a = r[0] { out mem }\nend\nb = r[1] { out mem } when class == 2";
    assert_eq!(stage(negated), Ok(()), "neither 1 nor 2 excludes 2");
}

#[test]
fn a_stage_reads_what_was_there_before_it_writes() {
    assert_eq!(stage("b = a + 1\na = 5"), Ok(()));
    assert_eq!(stage("a = a + 1"), Ok(()));
    assert_eq!(stage("when a == 5\n  a = 0\nelse when a == 6\n  a = 1\nend"), Ok(()));
    assert_eq!(stage("when class == 1\n  a = 1\nelse\n  b = a\nend"), Ok(()), "no packet does both");
}

#[test]
fn widths_that_fit() {
    assert_eq!(stage("r[0] { mem = now[31:0] }"), Ok(()));
    assert_eq!(stage("a = now >> 16"), Ok(()));
    assert_eq!(stage("a = now & 0xff"), Ok(()));
    assert_eq!(stage("a = min(now, 7)"), Ok(()));
    assert_eq!(stage("a = t(now[4:0])"), Ok(()));
}

#[test]
fn a_program_with_a_bit_of_everything() {
    let text = "program trim                         # its name
constant t0 = 3000
constant ports = 64
packet UPDATE
packet NOTIFY
header victim : 9
field colour : 2
field until : 32
field expired : 1
field x : 5
field y : 1
ingress
meter opti : ports @ 1
register t0_reg : 32 x ports @ 2
table shift : exact(alpha 3, n_port 4, n_priority 6) -> by 5, sign 1 size 4096 @ 3
table route : ternary(port 9, class 5) -> index 9 size 64 @ 0
stage 0
  until = now[31:0] + t0
  victim = route(out_port, class) when kind == DEFLECTED
stage 1
  when kind == DATA and bytes > 64
    colour = opti[out_port](bytes)
  else when kind == UPDATE
    drop
  end
stage 2
  when kind == NOTIFY
    t0_reg[victim] { mem = until }
  else
    expired = t0_reg[out_port] { out now[31:0] > mem; mem = 0 if now[31:0] > mem }
  end
stage 3
  x, y = shift(class[2:0], out_port[3:0], rank[5:0])
  trim when colour == 2
  multicast NOTIFY when kind == DEFLECTED and expired == 1
egress
register last : 32+32 x ports @ 0
stage 0
  last[out_port] {
    mem = depth if depth > mem else mem - 1
    mem2 = wait if depth > mem
  }
  mirror UPDATE when kind == DEFLECTED
  drop when kind == DEFLECTED
";
    let program = Program::parse("trim.pisa", text).unwrap_or_else(|errors| panic!("{errors}"));
    let checked = program.check(&Target::tofino(), &[]).unwrap_or_else(|errors| panic!("{errors}"));
    insta::assert_snapshot!(forebay_pisa::resource_table(&checked.resources().of(checked.target())));
}

#[test]
fn the_program_of_the_documentation() {
    let page = include_str!("../../../../docs/pipelines.md");
    let block = page.lines().skip_while(|line| *line != "    program count");
    let text: Vec<&str> = block.take_while(|line| line.is_empty() || line.starts_with("    ")).collect();
    assert!(text.len() > 15, "{text:?}");
    let program = Program::parse("count.pisa", &text.join("\n")).unwrap_or_else(|errors| panic!("{errors}"));
    let checked = program.check(&Target::tofino(), &[("ports", 64)]).unwrap_or_else(|errors| panic!("{errors}"));
    let clear = checked.kind("CLEAR").unwrap();
    let mut pipeline = Pipeline::new(&Arc::new(checked), 0);
    let data = Pass { out_port: 5, ..Pass::default() };
    let marked = |pipeline: &mut Pipeline| (0..2000).filter(|_| pipeline.ingress(&data).mark).count();
    assert_eq!(marked(&mut pipeline), 999, "0 to 1000 were sent before those that are not marked");
    assert!(pipeline.ingress(&Pass { kind: clear, headers: [5, 0, 0, 0, 0, 0], ..Pass::default() }).drop);
    assert_eq!(marked(&mut pipeline), 999);
}
