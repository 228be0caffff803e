//! Match tables as the machine looks things up in them.

use crate::compile::WORDS;

/// Keys of at most so many bits are looked up in an array.
const DENSE_BITS: u32 = 16;

/// The entries of a table.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    /// The widths of keys, the first in the highest bits of a packed key.
    pub(crate) keys: Vec<u32>,
    /// The widths of results.
    pub(crate) results: Vec<u32>,
    /// How many entries fit.
    pub(crate) size: usize,
    /// How many there are.
    pub(crate) used: usize,
    form: Form,
    /// Results, one row of them after another. The first row is the default.
    rows: Vec<u64>,
}

#[derive(Clone, Debug)]
enum Form {
    /// The row of every key there can be.
    Dense(Vec<u32>),
    /// Keys in ascending order and their rows.
    Sorted(Vec<(u128, u32)>),
    /// Priorities, keys, masks and rows; the first that matches counts.
    Ternary(Vec<(u32, u128, u128, u32)>),
}

impl Entries {
    /// An empty table, whose default is 0.
    pub(crate) fn new(ternary: bool, keys: Vec<u32>, results: Vec<u32>, size: usize) -> Self {
        let bits: u32 = keys.iter().sum();
        let form = match ternary {
            true => Form::Ternary(Vec::new()),
            false if bits <= DENSE_BITS => Form::Dense(vec![0; 1 << bits]),
            false => Form::Sorted(Vec::new()),
        };
        let rows = vec![0; results.len()];
        Self { keys, results, size, used: 0, form, rows }
    }

    /// Whether keys have masks.
    pub(crate) fn is_ternary(&self) -> bool {
        matches!(self.form, Form::Ternary(_))
    }

    /// Keys side by side in one number.
    fn pack(&self, keys: impl Iterator<Item = u64>) -> u128 {
        keys.zip(&self.keys).fold(0, |packed, (key, bits)| packed << bits | u128::from(key))
    }

    /// What is found if nothing matches.
    pub(crate) fn set_default(&mut self, results: &[u64]) {
        self.rows[..results.len()].copy_from_slice(results);
    }

    fn add_row(&mut self, results: &[u64]) -> u32 {
        let row = self.rows.len() / results.len();
        self.rows.extend_from_slice(results);
        row as u32
    }

    fn set_row(&mut self, row: u32, results: &[u64]) {
        let start = row as usize * results.len();
        self.rows[start..start + results.len()].copy_from_slice(results);
    }

    /// Adds an entry with exact keys, or changes the results of one; false if the table is full.
    pub(crate) fn insert(&mut self, keys: &[u64], results: &[u64]) -> bool {
        let key = self.pack(keys.iter().copied());
        let place = match &self.form {
            Form::Dense(rows) => match rows[key as usize] {
                0 => Err(key as usize),
                row => Ok(row),
            },
            Form::Sorted(rows) => rows.binary_search_by_key(&key, |entry| entry.0).map(|i| rows[i].1),
            Form::Ternary(_) => return false,
        };
        match place {
            Ok(row) => self.set_row(row, results),
            Err(_) if self.used == self.size => return false,
            Err(at) => {
                let row = self.add_row(results);
                match &mut self.form {
                    Form::Dense(rows) => rows[at] = row,
                    Form::Sorted(rows) => rows.insert(at, (key, row)),
                    Form::Ternary(_) => {}
                }
                self.used += 1;
            }
        }
        true
    }

    /// Adds an entry with masks; false if the table is full.
    pub(crate) fn insert_masked(&mut self, keys: &[(u64, u64)], priority: u32, results: &[u64]) -> bool {
        let mask = self.pack(keys.iter().map(|key| key.1));
        let key = self.pack(keys.iter().map(|key| key.0)) & mask;
        if self.used == self.size {
            return false;
        }
        let row = self.add_row(results);
        if let Form::Ternary(entries) = &mut self.form {
            let at = entries.partition_point(|entry| entry.0 <= priority);
            entries.insert(at, (priority, key, mask, row));
        }
        self.used += 1;
        true
    }

    /// The row for keys: words and how far they are shifted in the packed key, each no wider than its column.
    #[inline]
    pub(crate) fn find(&self, words: &[u64; WORDS], keys: &[(u8, u8)]) -> usize {
        let word = |key: &(u8, u8)| words[usize::from(key.0)];
        if let Form::Dense(rows) = &self.form {
            let mut packed = 0;
            for key in keys {
                packed |= word(key) << (key.1 & 63);
            }
            return rows.get(packed as usize).map_or(0, |row| *row as usize);
        }
        let mut packed = 0;
        for key in keys {
            packed |= u128::from(word(key)) << (key.1 & 127);
        }
        self.search(packed)
    }

    fn search(&self, key: u128) -> usize {
        let row = match &self.form {
            Form::Dense(rows) => rows.get(key as usize).copied(),
            Form::Sorted(rows) => rows.binary_search_by_key(&key, |entry| entry.0).ok().map(|i| rows[i].1),
            Form::Ternary(entries) => entries.iter().find(|entry| key & entry.2 == entry.1).map(|entry| entry.3),
        };
        row.map_or(0, |row| row as usize)
    }

    /// One of the results of a row.
    #[inline]
    pub(crate) fn result(&self, row: usize, column: usize) -> u64 {
        self.rows[row * self.results.len() + column]
    }
}
