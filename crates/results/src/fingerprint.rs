//! Names for results that say what they are made of.

use std::fmt;

/// A hash of texts: FNV-1a with 128 bits. Chance makes two of a million results alike once in 10^26 times; nobody is
/// kept from making them alike on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u128);

impl Fingerprint {
    /// Of nothing.
    pub fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds a text and its end.
    pub fn add(&mut self, text: &str) {
        self.add_bytes(text.as_bytes());
    }

    /// Adds bytes and their end.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    /// Of some texts.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut all = Self::new();
        texts.into_iter().for_each(|text| all.add(text));
        all
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Fingerprint {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_texts_count() {
        let of = |texts: &[&str]| Fingerprint::of(texts.iter().copied()).to_string();
        assert_eq!(of(&["ab", "c"]).len(), 32);
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
        // FNV-1a of the byte 0xff alone.
        assert_eq!(of(&[""]), "d228cb68f51a8caf78912b704e49f346");
    }
}
