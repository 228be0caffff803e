//! A column chunk with few different values: a page with each of them, and a page with the place of each row in it.
//!
//! The Parquet library finds these places by hashing every value. Texts have theirs already ([`Texts`]), and small whole
//! numbers are found in an array.

use crate::table::Texts;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::Write;

/// The values of some rows, without those that are absent.
#[derive(Default)]
pub(super) struct Coded {
    /// The different values in the encoding PLAIN, in order of first use, and how many these are.
    plain: Vec<u8>,
    different: u32,
    /// Which of them a row has.
    codes: Vec<u32>,
}

/// Whole numbers have codes if the largest is less than this above the smallest.
const RANGE: u64 = 4_096;
/// No code yet.
const NEW: u32 = u32::MAX;

impl Coded {
    /// The next number for a value that is new.
    fn number(&mut self, code: &mut u32) {
        *code = self.different;
        self.different += 1;
    }

    /// The texts of these rows.
    pub(super) fn texts(texts: &Texts, rows: impl Iterator<Item = usize>) -> Self {
        let most = rows.size_hint().1.unwrap_or(0);
        let mut coded = Self { codes: Vec::with_capacity(most), ..Self::default() };
        let mut codes = vec![NEW; texts.names().len()];
        for row in rows {
            let code = texts.code(row);
            if codes[code] == NEW {
                let name = &texts.names()[code];
                coded.number(&mut codes[code]);
                coded.plain.extend((name.len() as u32).to_le_bytes());
                coded.plain.extend(name.as_bytes());
            }
            coded.codes.push(codes[code]);
        }
        coded
    }

    /// Whole numbers; `None` if there are many different ones.
    pub(super) fn ints(values: &[i64]) -> Option<Self> {
        let (mut least, mut most) = (*values.first()?, *values.first()?);
        for some in values.chunks(1_024) {
            (least, most) =
                some.iter().fold((least, most), |(least, most), value| (least.min(*value), most.max(*value)));
            if most.abs_diff(least) >= RANGE {
                return None;
            }
        }
        let mut coded = Self::default();
        let mut codes = [NEW; RANGE as usize];
        let place = |value: i64| (value - least) as usize & (RANGE as usize - 1);
        for some in values.chunks(1_024) {
            for value in some {
                if codes[place(*value)] == NEW {
                    coded.number(&mut codes[place(*value)]);
                    coded.plain.extend(value.to_le_bytes());
                }
            }
            // One in sixteen may be new: a place in a dictionary is then shorter than most differences.
            if coded.different as usize > values.len() / 16 {
                return None;
            }
        }
        coded.codes = values.iter().map(|value| codes[place(*value)]).collect();
        Some(coded)
    }

    /// Writes the values as the next column. `present`: for an optional column, whether each row has a value.
    pub(super) fn write<W: Write + Send>(
        self,
        column: ColumnDescPtr,
        group: &mut SerializedRowGroupWriter<'_, W>,
        present: Option<Vec<u32>>,
    ) -> Result<()> {
        let rows = present.as_ref().map_or(self.codes.len(), Vec::len) as u32;
        let mut data = Vec::new();
        if let Some(present) = present {
            let levels = hybrid(&present, 1);
            data.extend((levels.len() as u32).to_le_bytes());
            data.extend(levels);
        }
        let width = (u32::BITS - self.different.saturating_sub(1).leading_zeros()) as u8;
        data.push(width);
        data.extend(hybrid(&self.codes, u32::from(width)));

        let dictionary =
            |buf| Page::DictionaryPage { buf, num_values: self.different, encoding: Encoding::PLAIN, is_sorted: false };
        let places = |buf| Page::DataPage {
            buf,
            num_values: rows,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let mut file = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut file);
        let first = writer.write_page(compressed(&self.plain, dictionary)?)?;
        let second = writer.write_page(compressed(&data, places)?)?;
        let bytes: Bytes = file.into_inner()?.into();
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression(Compression::SNAPPY)
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_num_values(i64::from(rows))
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size((first.uncompressed_size + second.uncompressed_size) as i64)
            .set_dictionary_page_offset(Some(first.offset as i64))
            .set_data_page_offset(second.offset as i64)
            .build()?;
        let (bytes_written, rows_written) = (bytes.len() as u64, u64::from(rows));
        let close = ColumnCloseResult {
            bytes_written,
            rows_written,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        group.append_column(&bytes, close)
    }
}

fn compressed(bytes: &[u8], page: impl FnOnce(Bytes) -> Page) -> Result<CompressedPage> {
    let packed = snap::raw::Encoder::new().compress_vec(bytes);
    let packed = packed.map_err(|error| ParquetError::External(Box::new(error)))?;
    Ok(CompressedPage::new(page(packed.into()), bytes.len()))
}

/// Parquet's hybrid of runs and packed bits. Eight codes are a part of a run if they are the same, and else are packed.
fn hybrid(codes: &[u32], width: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 + codes.len() * width as usize / 8);
    let is_run = |eight: &[u32]| eight.iter().all(|code| *code == eight[0]);
    if width == 0 {
        put_header(&mut bytes, (codes.len() as u64) << 1);
        return bytes;
    }
    let mut rest = codes;
    while let Some(first) = rest.first() {
        let eights = || rest.chunks(8);
        let same = eights().take_while(|eight| eight[0] == *first && is_run(eight)).count();
        let different = if same > 0 { 0 } else { eights().take_while(|eight| !is_run(eight)).count() };
        let (part, others) = rest.split_at((8 * (same + different)).min(rest.len()));
        rest = others;
        if same > 0 {
            put_header(&mut bytes, (part.len() as u64) << 1);
            bytes.extend(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
            continue;
        }
        put_header(&mut bytes, (different as u64) << 1 | 1);
        for eight in part.chunks(8) {
            // A row group has 2^16 rows: no code has more than 16 bits.
            let packed = eight.iter().rev().fold(0u128, |packed, code| packed << width | u128::from(*code));
            bytes.extend(&packed.to_le_bytes()[..width as usize]);
        }
    }
    bytes
}

/// A number in groups of seven bits, the lowest first.
fn put_header(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_tm::random::Random;

    /// Reads what [`hybrid`] wrote, by the words of the specification.
    fn read(mut bytes: &[u8], width: u32, wanted: usize) -> Vec<u32> {
        let mut codes = Vec::new();
        while codes.len() < wanted {
            let (mut header, mut shift) = (0u64, 0);
            loop {
                let byte = bytes[0];
                bytes = &bytes[1..];
                header |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            if header & 1 == 0 {
                let (value, rest) = bytes.split_at(width.div_ceil(8) as usize);
                let value = value.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                codes.extend(std::iter::repeat_n(value, (header >> 1) as usize));
                bytes = rest;
            } else {
                let (packed, rest) = bytes.split_at((header >> 1) as usize * width as usize);
                let bit = |at: usize| u32::from(packed[at / 8] >> (at % 8) & 1);
                let width = width as usize;
                let code = |number: usize| (0..width).fold(0, |code, k| code | bit(number * width + k) << k);
                codes.extend((0..(header >> 1) as usize * 8).map(code));
                bytes = rest;
            }
        }
        assert!(bytes.is_empty());
        codes.truncate(wanted);
        codes
    }

    #[test]
    fn runs_and_packed_bits_are_read_back() {
        let mut random = Random::stream(1, "codes", 0);
        for round in 0..400u32 {
            let width = 1 + round % 16;
            let mut codes = Vec::new();
            while codes.len() < 1 + 7 * round as usize % 500 {
                let code = random.below(1 << width) as u32;
                let times = if random.below(4) == 0 { random.below(300) } else { 1 };
                codes.extend(std::iter::repeat_n(code, times as usize));
            }
            assert_eq!(read(&hybrid(&codes, width), width, codes.len()), codes, "round {round}");
        }
        assert_eq!(hybrid(&[0; 1_000], 0), [0xd0, 0x0f], "a run of 1,000 without a bit each");
    }

    #[test]
    fn few_different_numbers_have_codes() {
        let ints = |values: &[i64]| Coded::ints(values).map(|coded| (coded.different, coded.codes));
        assert_eq!(ints(&[i64::MAX; 16]), Some((1, vec![0; 16])));
        assert_eq!(ints(&[i64::MAX; 15]), None, "a column so short has none");
        assert_eq!(ints(&[]), None);
        let values = |values: i64| (0..64).map(|row| -10 - row % values).collect::<Vec<_>>();
        assert_eq!(ints(&values(4)), Some((4, (0..64).map(|row| row % 4).collect())));
        assert_eq!(ints(&values(5)), None, "many different ones");
        let far = |distance: i64| (0..64).map(|row| row % 2 * distance).collect::<Vec<_>>();
        assert_eq!(ints(&far(4_095)).map(|(different, _)| different), Some(2));
        assert_eq!((ints(&far(4_096)), ints(&[i64::MIN, i64::MAX].repeat(32))), (None, None), "far apart");
    }
}
