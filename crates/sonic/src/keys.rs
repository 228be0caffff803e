//! Keys such as `Ethernet0,Ethernet4|3-4` and references such as `[BUFFER_PROFILE|name]`.

use std::collections::HashMap;

/// Ports by name, for keys that name several.
pub(crate) struct PortNames<'a> {
    places: HashMap<&'a str, usize>,
}

/// What a key means.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) ports: Vec<usize>,
    pub(crate) numbers: Vec<u8>,
    /// Ports that are not there.
    pub(crate) unknown: Vec<String>,
    /// `0-2,4`: more than one number or range.
    pub(crate) is_list: bool,
    /// A key of a chassis: `host|asic|port|queue`.
    pub(crate) is_voq: bool,
}

impl<'a> PortNames<'a> {
    pub(crate) fn new(names: impl Iterator<Item = &'a str>) -> Self {
        Self { places: names.enumerate().map(|(place, name)| (name, place)).collect() }
    }

    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Reads `ports|numbers`, with numbers up to `last`.
    pub(crate) fn read(&self, key: &str, last: u8) -> Result<Places, String> {
        let parts: Vec<&str> = key.split('|').collect();
        let (ports, numbers, is_voq) = match parts[..] {
            [ports, numbers] => (ports, numbers, false),
            [_, _, port, numbers] => (port, numbers, true),
            _ => return Err("this is not port|number".to_owned()),
        };
        let mut places = Places { is_voq, is_list: numbers.contains(','), ..Places::default() };
        for part in numbers.split(',') {
            let (first, end) = range(part)?;
            if end > u64::from(last) {
                return Err(format!("{end} is beyond {last}"));
            }
            places.numbers.extend((first as u8)..=(end as u8));
        }
        places.numbers.sort_unstable();
        places.numbers.dedup();
        for name in ports.split(',') {
            self.ports(name, &mut places)?;
        }
        Ok(places)
    }

    /// One name, or a range of numbers after a prefix: `Ethernet0-8`.
    fn ports(&self, name: &str, places: &mut Places) -> Result<(), String> {
        if let Some(place) = self.place(name) {
            places.ports.push(place);
            return Ok(());
        }
        let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let (prefix, numbers) = name.split_at(digits);
        if !numbers.contains('-') {
            places.unknown.push(name.to_owned());
            return Ok(());
        }
        let (first, last) = range(numbers)?;
        let mut found: Vec<usize> = self
            .places
            .iter()
            .filter(|(known, _)| {
                let number = known.strip_prefix(prefix).and_then(|number| number.parse::<u64>().ok());
                number.is_some_and(|number| (first..=last).contains(&number))
            })
            .map(|(_, place)| *place)
            .collect();
        found.sort_unstable();
        if found.is_empty() {
            places.unknown.push(name.to_owned());
        }
        places.ports.extend(found);
        Ok(())
    }
}

/// `3` or `3-4`.
fn range(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u64>().ok()).flatten().ok_or_else(|| format!("\"{text}\" is not a number"))
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (number(first)?, number(last)?);
    if first > last { Err(format!("{first}-{last} runs backwards")) } else { Ok((first, last)) }
}

/// Names in a list of references, and whether they are of the old form `[TABLE|name]`.
pub(crate) fn references(text: &str) -> (Vec<&str>, bool) {
    let mut is_old = false;
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(|name| {
        let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        is_old |= inner.is_some();
        inner.map_or(name, |inner| inner.rsplit('|').next().unwrap_or(inner))
    });
    (names.collect(), is_old)
}

/// Numbers with commas between them: `3,4`.
pub(crate) fn priorities(text: &str) -> Result<Vec<u8>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| match range(part)? {
            (first, last) if first == last && last <= 7 => Ok(first as u8),
            _ => Err(format!("\"{part}\" is not a priority from 0 to 7")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(key: &str) -> Result<(Vec<usize>, Vec<u8>, usize), String> {
        let names = PortNames::new(["Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"].into_iter());
        names.read(key, 7).map(|places| (places.ports, places.numbers, places.unknown.len()))
    }

    #[test]
    fn keys_name_ports_and_numbers() {
        assert_eq!(read("Ethernet4|3-4"), Ok((vec![1], vec![3, 4], 0)));
        assert_eq!(read("Ethernet0,Ethernet8|0"), Ok((vec![0, 2], vec![0], 0)));
        assert_eq!(read("Ethernet0-8|3-4"), Ok((vec![0, 1, 2], vec![3, 4], 0)));
        assert_eq!(read("Ethernet0|0-2,4"), Ok((vec![0], vec![0, 1, 2, 4], 0)));
        assert_eq!(read("host|asic0|Ethernet0|5"), Ok((vec![0], vec![5], 0)));
        // The switch knows no port with a blank in its name.
        assert_eq!(read(" Ethernet0|5"), Ok((vec![], vec![5], 1)));
        assert_eq!(read("Ethernet1|5"), Ok((vec![], vec![5], 1)));
        assert_eq!(read("Ethernet100-200|5"), Ok((vec![], vec![5], 1)));
        for bad in [
            "Ethernet0",
            "Ethernet0|",
            "Ethernet0|a",
            "Ethernet0|4-3",
            "Ethernet0|3-8",
            "Ethernet0|-1",
            "a|b|c",
            "Ethernet0|99999999999",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn references_are_old_or_new() {
        assert_eq!(references("[BUFFER_POOL|egress]"), (vec!["egress"], true));
        assert_eq!(references("one, two"), (vec!["one", "two"], false));
        assert_eq!(references("[BUFFER_PROFILE|a],[BUFFER_PROFILE|b]"), (vec!["a", "b"], true));
        assert_eq!(priorities("3,4"), Ok(vec![3, 4]));
        assert_eq!(priorities(""), Ok(vec![]));
        assert!(priorities("8").is_err() && priorities("x").is_err());
    }
}
