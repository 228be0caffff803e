//! Which interface is behind which port: learned from frames as they come, or given.
//!
//! As in switch chips, an address has a few places where it may stand. So the table never grows, a flood of made-up
//! addresses can push out only what shares its places, and what was given is never pushed out.

use crate::frame::Mac;
use crate::storm::Storm;
use forebay_tm::random::Random;
use forebay_tm::{Duration, Instant};

/// Places of an address.
const WAYS: usize = 4;
/// Sets of places.
const SETS: usize = 4_096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    mac: Mac,
    /// The VLAN, 0 without one.
    vlan: u16,
    port: u16,
    /// When a frame of it was last seen; [`Instant::NEVER`] if it was given.
    seen: Instant,
}

/// The table.
#[derive(Clone, Debug)]
pub struct MacTable {
    sets: Vec<[Option<Entry>; WAYS]>,
    age: Duration,
    hash: Box<Hash>,
    storm: Option<Storm>,
}

/// Where an address stands: a random set for each value of each of its bytes, put together (tabulation). Who does not
/// know the sets cannot tell which addresses share their places.
#[derive(Clone, Debug)]
struct Hash([[u16; 256]; 8]);

impl Hash {
    fn new(seed: u64) -> Box<Self> {
        let mut random = Random::stream(seed, "mac_table", 0);
        let mut tables = Box::new(Self([[0; 256]; 8]));
        tables.0.iter_mut().flatten().for_each(|set| *set = random.below(SETS as u64) as u16);
        tables
    }
}

impl MacTable {
    /// An empty table that forgets after `age` without a frame. Where addresses stand follows from the seed; where
    /// strangers may send, it is a secret.
    pub fn new(age: Duration, seed: u64) -> Self {
        Self { sets: vec![[None; WAYS]; SETS], age, hash: Hash::new(seed), storm: None }
    }

    fn set_of(&self, mac: Mac, vlan: u16) -> usize {
        let [a, b, c, d, e, f] = mac.0;
        let key = [(vlan >> 8) as u8, vlan as u8, a, b, c, d, e, f];
        let set = key.iter().zip(&self.hash.0).fold(0, |set, (byte, table)| set ^ table[usize::from(*byte)]);
        usize::from(set) % SETS
    }

    fn is_old(&self, entry: &Entry, now: Instant) -> bool {
        entry.seen != Instant::NEVER && now > entry.seen && now.since(entry.seen) > self.age
    }

    /// The port of an interface, if it is known.
    pub fn port_of(&self, mac: Mac, vlan: u16, now: Instant) -> Option<usize> {
        let set = &self.sets[self.set_of(mac, vlan)];
        let entry = set.iter().flatten().find(|entry| entry.mac == mac && entry.vlan == vlan)?;
        (!self.is_old(entry, now)).then_some(usize::from(entry.port))
    }

    /// A frame of this interface came in by this port. Groups send nothing, and what was given stays.
    pub fn learn(&mut self, mac: Mac, vlan: u16, port: usize, now: Instant) {
        if mac.is_group() {
            return;
        }
        self.put(Entry { mac, vlan, port: port as u16, seen: now }, now);
    }

    /// Gives the port of an interface; false if all its places are taken by others that were given.
    pub fn give(&mut self, mac: Mac, vlan: u16, port: usize) -> bool {
        self.put(Entry { mac, vlan, port: port as u16, seen: Instant::NEVER }, Instant::ZERO)
    }

    fn put(&mut self, new: Entry, now: Instant) -> bool {
        let age = self.age;
        let index = self.set_of(new.mac, new.vlan);
        let set = &mut self.sets[index];
        if let Some(own) = set.iter_mut().flatten().find(|entry| entry.mac == new.mac && entry.vlan == new.vlan) {
            if own.seen != Instant::NEVER || new.seen == Instant::NEVER {
                *own = new;
            }
            return true;
        }
        let is_free = |entry: &Option<Entry>| match entry {
            None => true,
            Some(entry) => entry.seen != Instant::NEVER && now > entry.seen && now.since(entry.seen) > age,
        };
        let free = set.iter().position(is_free);
        let oldest = || {
            let learned = set.iter().enumerate().filter_map(|(way, entry)| Some((way, (*entry)?.seen)));
            learned.filter(|(_, seen)| *seen != Instant::NEVER).min_by_key(|(_, seen)| *seen).map(|(way, _)| way)
        };
        match free.or_else(oldest) {
            Some(way) => {
                set[way] = Some(new);
                true
            }
            None => false,
        }
    }

    /// The same table with a limit to what every port may flood.
    #[must_use]
    pub fn with_storm(self, storm: Option<Storm>) -> Self {
        Self { storm, ..self }
    }

    /// Whether a frame that came in by a port may go to all others now.
    pub fn may_flood(&mut self, port: usize, bytes: usize, now: Instant) -> bool {
        self.storm.as_mut().is_none_or(|storm| storm.may_pass(port, bytes, now))
    }

    /// Forgets all that was learned behind a port, as when its link goes down.
    pub fn forget(&mut self, port: usize) {
        for entry in self.sets.iter_mut().flatten() {
            if entry.is_some_and(|own| own.port == port as u16 && own.seen != Instant::NEVER) {
                *entry = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mac(number: u64) -> Mac {
        let bytes = number.to_be_bytes();
        Mac([2, bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]])
    }

    fn at(seconds: u64) -> Instant {
        Instant::from_ps(seconds * 1_000_000_000_000)
    }

    fn table() -> MacTable {
        MacTable::new(Duration::from_us(300_000_000), 1)
    }

    #[test]
    fn learned_moved_and_forgotten() {
        let mut table = table();
        assert_eq!(table.port_of(mac(1), 0, at(0)), None);
        table.learn(mac(1), 0, 3, at(0));
        assert_eq!(table.port_of(mac(1), 0, at(300)), Some(3));
        assert_eq!(table.port_of(mac(1), 7, at(1)), None, "another VLAN is another place");
        assert_eq!(table.port_of(mac(1), 0, at(301)), None, "too old");
        table.learn(mac(1), 0, 5, at(302));
        assert_eq!(table.port_of(mac(1), 0, at(303)), Some(5));
        table.forget(5);
        assert_eq!(table.port_of(mac(1), 0, at(303)), None);
        table.learn(Mac::BROADCAST, 0, 1, at(303));
        assert_eq!(table.port_of(Mac::BROADCAST, 0, at(303)), None);
    }

    /// Addresses that share their places under one seed do not under another.
    #[test]
    fn who_does_not_know_the_seed_cannot_choose_addresses_that_push_out() {
        let known = table();
        let place = known.set_of(mac(1), 0);
        let chosen: Vec<u64> = (2..200_000).filter(|number| known.set_of(mac(*number), 0) == place).take(20).collect();
        assert_eq!(chosen.len(), 20);
        let pushed_out = |seed| {
            let mut table = MacTable::new(Duration::from_us(300_000_000), seed);
            table.learn(mac(1), 0, 3, at(0));
            chosen.iter().for_each(|number| table.learn(mac(*number), 0, 9, at(1)));
            table.port_of(mac(1), 0, at(1)).is_none()
        };
        assert!(pushed_out(1));
        assert_eq!((2..100).filter(|seed| pushed_out(*seed)).count(), 0);
        // All sets are used about alike.
        let mut counts = vec![0; SETS];
        (0..SETS as u64 * 16).for_each(|number| counts[known.set_of(mac(number), 7)] += 1);
        assert!(counts.iter().all(|count| (1..60).contains(count)), "{:?}", counts.iter().max());
    }

    #[test]
    fn a_flood_of_addresses_pushes_out_nothing_that_was_given() {
        let mut table = table();
        assert!((0..64).all(|number| table.give(mac(number), 0, number as usize)));
        for number in 100..200_000 {
            table.learn(mac(number), 0, 9, at(1));
        }
        assert!((0..64).all(|number| table.port_of(mac(number), 0, at(2)) == Some(number as usize)));
        table.learn(mac(3), 0, 9, at(2));
        assert_eq!(table.port_of(mac(3), 0, at(2)), Some(3), "what was given does not move");
        assert_eq!(table.port_of(mac(199_999), 0, at(2)), Some(9), "the last that came is known");
    }
}
