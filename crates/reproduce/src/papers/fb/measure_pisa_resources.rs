//! What PISA FB needs of a chip.

use crate::figure::Point;
use crate::metrics::Metrics;
use crate::papers::measure_resources::{facts, resources};
use forebay_pisa::programs::{FbProgram, Generator, Image, ProgramConfig};

/// The resources of the program, and of its control packets: times around in an interval (`passes`), their rate every
/// microsecond (`gbps`), the interval in milliseconds at which they take 30 Mb/s (`interval_ms`), and the least
/// interval in microseconds that the recirculation port can carry (`least_us`).
pub(super) fn pisa_fb(point: &Point) -> Result<Metrics, String> {
    let facts = facts(point)?;
    let mut groups = vec![1; facts.queues];
    groups[0] = 0;
    let program = ProgramConfig::Fb(FbProgram { groups, ..FbProgram::default() });
    let mut metrics = Metrics::default();
    let image = resources(&mut metrics, &program, &facts)?;
    let passes: u64 = image.generators.iter().map(|generator| passes(generator, &image)).sum();
    let bits = passes as f64 * point.need("control")? * 8.0;
    metrics.set("passes", passes as f64);
    metrics.set("gbps", bits / 1e3);
    metrics.set("interval_ms", bits / 30e6 * 1e3);
    metrics.set("least_us", bits / (point.need("recirculation")? * 1e9) * 1e6);
    Ok(metrics)
}

/// How often a control packet goes around: once for each queue that it reads.
fn passes(generator: &Generator, image: &Image) -> u64 {
    let header = |name: &str| image.program.header(name).map_or(0, |place| generator.headers[place]);
    (header("last") - header("cursor")) / header("step").max(1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_packets_go_around_for_each_queue() {
        let parameters = [
            ("ports", "8"),
            ("queues", "8"),
            ("cell", "80"),
            ("buffer", "1MB"),
            ("control", "64"),
            ("recirculation", "100"),
        ];
        let parameters = parameters.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        let metrics = pisa_fb(&Point { parameters, ..Point::default() }).unwrap();
        // All queues for lengths, all for ports, all for the large group, and one of each port for the other: as in the
        // simulator.
        assert_eq!((metrics.get("passes"), metrics.get("gbps")), (200.0, 102.4));
    }
}
