//! What programs need of a Tofino, counted from the programs themselves.

use crate::figure::Point;
use crate::metrics::Metrics;
use forebay_pisa::Target;
use forebay_pisa::programs::{Facts, Image, ProgramConfig};

/// The chip that a point describes: `ports`, `queues`, `cell`, `buffer`.
pub(super) fn facts(point: &Point) -> Result<Facts, String> {
    let cell = point.need("cell")? as u64;
    Ok(Facts {
        rates: vec![100_000_000_000; point.need("ports")? as usize],
        queues: point.need("queues")? as usize,
        cell,
        buffer: point.need("buffer")? as u64 / cell,
        pipelines: 1,
    })
}

/// Loads a program, and adds its resources: `NAME` of what it uses and `NAME.share` of the chip, with spaces as `-`.
pub(super) fn resources(metrics: &mut Metrics, program: &ProgramConfig, facts: &Facts) -> Result<Image, String> {
    let target = Target::tofino();
    let image = program.load(&target, facts).map_err(|error| error.to_string())?;
    for share in image.program.resources().of(&target) {
        let name = share.name.replace(' ', "-");
        metrics.set(name.as_str(), share.used as f64);
        metrics.set_some(format!("{name}.share"), share.part());
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_those_of_the_program() {
        let parameters = [("ports", "4"), ("queues", "1"), ("cell", "80"), ("buffer", "1MB")];
        let parameters = parameters.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        let point = Point { parameters, ..Point::default() };
        let mut metrics = Metrics::default();
        let program = ProgramConfig::by_name("aifo").unwrap();
        resources(&mut metrics, &program, &facts(&point).unwrap()).unwrap();
        // 16 of the window, a sampler, a tagger, and the lengths at ingress and at egress.
        assert_eq!(metrics.get("stateful-ALUs"), 20.0);
        assert!((metrics.get("stateful-ALUs.share") - 20.0 / 48.0).abs() < 1e-6);
        assert_eq!(metrics.get("ingress-stages"), 12.0);
    }
}
