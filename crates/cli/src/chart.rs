//! Small charts in text.

const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A curve over time in `height` lines of block characters, `full` being the top.
pub(crate) fn curve(values: &[u64], full: u64, height: usize) -> Vec<String> {
    let steps = (height * 8) as u64;
    let level = |value: u64| {
        let level = (value * steps).div_ceil(full.max(1)).min(steps);
        level as usize
    };
    (0..height)
        .rev()
        .map(|row| values.iter().map(|value| BARS[level(*value).saturating_sub(row * 8).min(8)]).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp() {
        assert_eq!(curve(&[0, 1, 4, 8, 12, 16], 16, 2), ["    ▄█", " ▁▄███"]);
        assert_eq!(curve(&[0, 5], 0, 1), [" █"]);
    }
}
