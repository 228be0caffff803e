//! Nanoseconds for one arrival and one departure at overload: `cargo bench` in this directory.

#[allow(dead_code, reason = "the benchmark of instructions uses more of it")]
#[path = "../../../crates/tm/benches/overload/mod.rs"]
mod overload;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use overload::{CASES, Overload};

const PAIRS: usize = 10_000;

fn packets(criterion: &mut Criterion) {
    for queues in [512, 2_048] {
        let mut group = criterion.benchmark_group(format!("{queues} queues"));
        group.throughput(Throughput::Elements(PAIRS as u64));
        for case in &CASES {
            let mut overload = Overload::new(case, queues);
            group.bench_function(BenchmarkId::from_parameter(case.0), |bencher| bencher.iter(|| overload.run(PAIRS)));
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(1));
    targets = packets
}
criterion_main!(benches);
