//! Flows by size.

/// A range of flow sizes: payload, in powers of 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Its name in `summary.json` and in tables.
    pub name: &'static str,
    /// The smallest payload in it.
    pub from: u64,
    /// The smallest payload above it.
    pub to: u64,
}

/// All sizes.
pub const ALL: &str = "all";
/// Flows below 100 KB: what the papers on buffers call short. The two smallest buckets together.
pub const SHORT: &str = "short <100KB";
/// The buckets that share the short flows out.
pub const SHORT_PARTS: [&str; 2] = ["<10KB", "10KB-100KB"];
/// Flows of 1 MB and more: what the papers on buffers call long.
pub const LONG: &str = ">=1MB";

/// The buckets of a summary, in its order. The first holds all flows and the last repeats the two smallest; those
/// between share the flows out.
pub const BUCKETS: [Bucket; 6] = [
    Bucket { name: ALL, from: 0, to: u64::MAX },
    Bucket { name: SHORT_PARTS[0], from: 0, to: 10_000 },
    Bucket { name: SHORT_PARTS[1], from: 10_000, to: 100_000 },
    Bucket { name: "100KB-1MB", from: 100_000, to: 1_000_000 },
    Bucket { name: LONG, from: 1_000_000, to: u64::MAX },
    Bucket { name: SHORT, from: 0, to: 100_000 },
];

impl Bucket {
    /// Whether a payload belongs to it.
    pub fn holds(&self, bytes: u64) -> bool {
        (self.from..self.to).contains(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_in_all_in_one_part_and_maybe_short() {
        for bytes in [0, 9_999, 10_000, 99_999, 100_000, 999_999, 1_000_000, u64::MAX - 1] {
            let names: Vec<&str> = BUCKETS.iter().filter(|bucket| bucket.holds(bytes)).map(|b| b.name).collect();
            assert_eq!(names[0], ALL);
            assert_eq!(names.contains(&SHORT), bytes < 100_000);
            assert_eq!(names.len(), if bytes < 100_000 { 3 } else { 2 }, "{bytes}");
        }
    }
}
