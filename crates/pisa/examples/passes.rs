//! Runs packets through one program, to count instructions: `passes N` under callgrind, with two values of N.

use forebay_pisa::{MeterConfig, Pass, Pipeline, Program, Target};
use std::sync::Arc;

const TEXT: &str = "program passes
constant ports = 64
packet NOTIFY
header victim : 9
field colour : 2
field until : 32
field expired : 1
field by : 5
field value : 32
ingress
meter m : ports @ 1
register t : 32 x ports @ 2
table shift : exact(c 3, p 4) -> by 5 size 128 @ 3
stage 0
  until = now[31:0] + 3000
stage 1
  when kind == DATA and bytes > 64
    colour = m[out_port](bytes)
  else when kind == NOTIFY
    drop
  end
stage 2
  when kind == NOTIFY
    t[victim] { mem = until }
  else
    expired = t[out_port] { out now[31:0] > mem; mem = 0 if now[31:0] > mem }
  end
stage 3
  by = shift(class[2:0], out_port[3:0])
stage 4
  value = rank >> by
stage 5
  mark when value > 1000
  trim when colour == 2
";

fn main() {
    let passes: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let program = Program::parse("passes", TEXT).expect("the program is readable");
    let mut checked = program.check(&Target::tofino(), &[]).expect("the program keeps to the rules");
    let rate = 100_000_000_000;
    let config = MeterConfig { committed: rate, peak: rate, committed_burst: 15_000, peak_burst: 15_000 };
    checked.set_meter("m", config).expect("there is a meter m");
    for class in 0..8 {
        checked.insert("shift", &[class, 3], &[class]).expect("there is room");
    }
    let mut pipeline = Pipeline::new(&Arc::new(checked), 0);
    let mut trims = 0u64;
    for i in 0..passes {
        let pass =
            Pass { now: i * 100_000, out_port: 3, class: (i % 8) as u32, bytes: 1500, rank: i, ..Pass::default() };
        trims += u64::from(pipeline.ingress(&pass).trim);
    }
    println!("{trims} of {passes} trimmed");
}
