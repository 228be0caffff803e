//! Control packets of the programs that synchronize ingress with egress: what they read is what arrives.

use forebay_pisa::programs::{Facts, FbProgram, Image, OccamyProgram, ProgramConfig};
use forebay_pisa::{DATA, Pass, Pipeline, Target};
use std::sync::Arc;

const CELLS: u64 = 1_000;

fn load(program: &ProgramConfig) -> Image {
    let facts = Facts { rates: vec![1_000_000_000; 2], queues: 2, cell: 80, buffer: CELLS, pipelines: 1 };
    program.load(&Target::tofino(), &facts).unwrap()
}

fn start(image: &Image) -> Pipeline {
    Pipeline::new(&Arc::new(image.program.clone()), 0)
}

/// A packet leaves a queue of this length.
fn leave(pipeline: &mut Pipeline, port: u32, queue: u32, depth: u64) {
    pipeline.egress(&Pass { kind: DATA, out_port: port, out_queue: queue, class: queue, depth, ..Pass::default() });
}

/// Whether a packet to a queue is admitted.
fn admits(pipeline: &mut Pipeline, port: u32, queue: u32) -> bool {
    !pipeline.ingress(&Pass { kind: DATA, out_port: port, out_queue: queue, class: queue, ..Pass::default() }).drop
}

/// Lets all generated packets go around so often, or until they are dropped.
fn go_around(pipeline: &mut Pipeline, image: &Image, times: usize) {
    for generator in &image.generators {
        let mut headers = generator.headers;
        for _ in 0..times {
            let pass = Pass { kind: generator.kind, headers, ..Pass::default() };
            let outcome = pipeline.ingress(&pass);
            if outcome.drop {
                break;
            }
            assert!(outcome.recirculate, "a control packet goes around or is dropped");
            headers = pipeline.egress(&Pass { headers: outcome.headers, ..pass }).headers;
        }
    }
}

#[test]
fn fb_knows_every_queue() {
    let config = ProgramConfig::Fb(FbProgram { groups: vec![0, 0], ..FbProgram::default() });
    let image = load(&config);
    for full in 0..4u32 {
        let mut pipeline = start(&image);
        leave(&mut pipeline, full / 2, full % 2, 600);
        go_around(&mut pipeline, &image, 100);
        // alpha is 1: a queue with 600 of 1,000 cells is above its threshold of 400, the others are empty.
        for queue in 0..4u32 {
            assert_eq!(
                admits(&mut pipeline, queue / 2, queue % 2),
                queue != full,
                "queue {queue} while {full} is full"
            );
        }
    }
}

#[test]
fn occamy_knows_every_queue() {
    let config = ProgramConfig::Occamy(OccamyProgram { alpha: 1, syncs: 3, ..OccamyProgram::default() });
    let image = load(&config);
    for full in 0..4u32 {
        let mut pipeline = start(&image);
        leave(&mut pipeline, full / 2, full % 2, 600);
        go_around(&mut pipeline, &image, 20);
        for queue in 0..4u32 {
            assert_eq!(
                admits(&mut pipeline, queue / 2, queue % 2),
                queue != full,
                "queue {queue} while {full} is full"
            );
        }
    }
}

#[test]
fn fb_counts_no_further_than_its_table() {
    let facts = Facts { rates: vec![1_000_000_000; 20], queues: 8, cell: 80, buffer: 1 << 20, pipelines: 1 };
    let config = ProgramConfig::Fb(FbProgram { groups: vec![0; 8], ..FbProgram::default() });
    let image = config.load(&Target::tofino(), &facts).unwrap();
    let mut pipeline = start(&image);
    for queue in 0..160 {
        leave(&mut pipeline, queue / 8, queue % 8, 1_000);
    }
    go_around(&mut pipeline, &image, 1_000);
    // 160 queues of 1,000 cells are congested, all at once: 888,576 cells are free, and 1 / (8 * 127) is a 1,024th of
    // them. Without an end of counting it would be all of them.
    assert!(!admits(&mut pipeline, 3, 3));
}
