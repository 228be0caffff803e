//! Parts of a list of runs, for machines that know nothing of each other.

use crate::Error;

/// One of several parts: every run whose number, divided by how many parts there are, leaves the part's own.
/// Neighbours, which are often alike in cost, so go to different parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Counted from 0.
    pub index: usize,
    /// How many parts there are.
    pub of: usize,
}

impl Shard {
    /// All runs.
    pub const ALL: Self = Self { index: 0, of: 1 };
    /// More parts than a sweep can have runs are a mistake.
    const MOST: usize = 100_000;

    /// From `3/8`, counted from 1. `argument` is what errors call it.
    pub fn parse(argument: &str, text: &str) -> Result<Self, Error> {
        let refused = |problem: &str, remedy: &str| Error::refused(format!("{argument} {text}"), problem, remedy);
        let parts = text
            .split_once('/')
            .and_then(|(index, of)| Some((index.trim().parse::<usize>().ok()?, of.trim().parse::<usize>().ok()?)));
        match parts {
            None => Err(refused("this is not a part", "write 3/8 for the third of eight")),
            Some((_, 0)) => Err(refused("there are no parts", "write 1/1 for all runs")),
            Some((_, of)) if of > Self::MOST => {
                Err(refused("these are too many parts", &format!("give at most {}", Self::MOST)))
            }
            Some((index, of)) if index == 0 || index > of => {
                Err(refused(&format!("there is no part {index} of {of}"), &format!("give 1/{of} to {of}/{of}")))
            }
            Some((index, of)) => Ok(Self { index: index - 1, of }),
        }
    }

    /// Whether a run, by its number, is of this part.
    pub fn has(&self, run: usize) -> bool {
        run % self.of == self.index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_of_one_part() {
        for of in [1, 3, 8] {
            let shards: Vec<Shard> =
                (1..=of).map(|index| Shard::parse("--shard", &format!("{index}/{of}")).unwrap()).collect();
            for run in 0..20 {
                assert_eq!(shards.iter().filter(|shard| shard.has(run)).count(), 1);
            }
        }
        assert!(Shard::ALL.has(7));
    }

    #[test]
    fn what_is_not_a_part_is_refused() {
        for text in ["", "3", "0/3", "4/3", "1/0", "a/b", "-1/3", "1/3/5", "1/999999999999999999999", "1/100001"] {
            let error = Shard::parse("--shard", text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("error: --shard {text}: ")) && error.contains("help:"), "{error}");
        }
    }
}
