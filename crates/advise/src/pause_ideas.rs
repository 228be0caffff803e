//! What could be changed so that a lossless class is not paused, or loses nothing: alphas of PGs, a profile of its own
//! for a PG, and headroom.

use crate::candidates::{EXPONENTS, Idea, Searcher, mark_nearest, size};
use crate::goal::Traffic;
use crate::network;
use crate::patch::Operation;
use forebay_sonic::SonicError;
use forebay_sonic::config::threshold_text;
use forebay_tm::{Bytes, Rate};
use serde_json::{Map, Value, json};

impl Searcher<'_> {
    /// Lossless profiles of a PG number on ports that are up.
    fn profiles_of(&self, group: u8) -> Vec<usize> {
        let of_port = |port: &usize| self.parsed.groups.get(&(*port, group)).copied();
        let mut profiles: Vec<usize> = self.ports.iter().filter_map(of_port).collect();
        profiles.sort_unstable();
        profiles.dedup();
        profiles.retain(|profile| self.parsed.profiles[*profile].bytes.xoff.is_some());
        profiles
    }

    /// Whether PGs of other numbers have these profiles, too.
    fn is_shared(&self, group: u8, profiles: &[usize]) -> bool {
        let mut others = self.parsed.groups.iter().filter(|((_, number), _)| *number != group);
        others.any(|(_, profile)| profiles.contains(profile))
    }

    /// Sets `dynamic_th` of all lossless PGs of a number; of these alone, if they share their profiles.
    fn group_exponent(&self, group: u8, th: i64) -> Option<(String, Vec<Operation>)> {
        let profiles = self.profiles_of(group);
        let first = *profiles.first()?;
        let was = threshold_text(self.parsed.profiles[first].bytes.threshold);
        if !self.is_shared(group, &profiles) {
            let patch = profiles.iter().flat_map(|profile| self.exponent(*profile, th).1).collect();
            return Some((format!("PG {group}: {was} -> dynamic_th {th}"), patch));
        }
        let mut patch = vec![];
        for profile in &profiles {
            let name = &self.parsed.profiles[*profile].name;
            let mut entry = self.config.get("BUFFER_PROFILE")?.get(name)?.as_object()?.clone();
            entry.remove("static_th");
            entry.insert("dynamic_th".to_owned(), Value::String(th.to_string()));
            patch.push(Operation::add("BUFFER_PROFILE", &own_name(name, group), Value::Object(entry)));
        }
        let bound = self.rebound(group, &profiles)?;
        (!bound.is_empty()).then(|| {
            patch.extend(bound);
            (format!("PG {group} with a profile of its own: {was} -> dynamic_th {th}"), patch)
        })
    }

    /// Binds PGs of a number to their own profiles: entries of several numbers are divided.
    fn rebound(&self, group: u8, profiles: &[usize]) -> Option<Vec<Operation>> {
        let mut patch = vec![];
        for (key, entry) in self.config.get("BUFFER_PG")?.as_object()? {
            let (ports, numbers) = key.rsplit_once('|')?;
            let named = entry.get("profile").and_then(Value::as_str).unwrap_or("");
            let name = named.trim_matches(['[', ']']).rsplit('|').next().unwrap_or(named);
            let is_meant = profiles.iter().any(|profile| self.parsed.profiles[*profile].name == name);
            let Some(numbers) = listed(numbers).filter(|numbers| is_meant && numbers.contains(&group)) else {
                continue;
            };
            let own = json!({ "profile": own_name(name, group) });
            if numbers.len() == 1 {
                patch.push(Operation::set(self.config, "BUFFER_PG", key, "profile", &own_name(name, group)));
                continue;
            }
            patch.push(Operation::remove_entry("BUFFER_PG", key));
            patch.push(Operation::add("BUFFER_PG", &format!("{ports}|{group}"), own));
            let left: Vec<u8> = numbers.into_iter().filter(|number| *number != group).collect();
            let fields: Map<String, Value> = entry.as_object()?.clone();
            for run in runs(&left) {
                patch.push(Operation::add("BUFFER_PG", &format!("{ports}|{run}"), Value::Object(fields.clone())));
            }
        }
        Some(patch)
    }

    /// The alpha of the PG, and that of the PG that congests: `S * a / (1 + n * a + m * b)` is what each of `n` senders
    /// may have beside `m` others.
    pub(super) fn no_pause(
        &self,
        queue: u8,
        traffic: &Traffic,
        from: Option<(u8, usize)>,
    ) -> Result<Vec<Idea>, SonicError> {
        let (group, other) = (self.group_of(queue), from.map(|(queue, count)| (self.group_of(queue), count)));
        let (senders, needed) = match traffic {
            // What is left of a burst in the PG of a sender while the port takes one share in so many.
            Traffic::Burst { senders, bytes } => (*senders, bytes.as_f64() * (1.0 - 1.0 / *senders as f64)),
            Traffic::Load { .. } => (1, 0.0),
        };
        let Some(&profile) = self.profiles_of(group).first() else { return Ok(vec![]) };
        let shared = self.shared(profile)?;
        let exponent = |group: u8| self.profiles_of(group).first().and_then(|profile| self.current(*profile));
        let mut ideas = vec![];
        for changed in [Some(group), other.map(|(group, _)| group)].into_iter().flatten() {
            let now = exponent(changed);
            for th in EXPONENTS.filter(|th| Some(*th) != now) {
                // A larger alpha of its own, or a smaller one of the other.
                if now.is_some_and(|now| if changed == group { th < now } else { th > now }) {
                    continue;
                }
                let of = |group: u8| if group == changed { Some(th) } else { exponent(group) };
                let Some(own) = of(group).map(|th| self.alpha(th)) else { continue };
                let held = other.map_or(Some(0.0), |(group, count)| Some(self.alpha(of(group)?) * count as f64));
                let Some(held) = held else { continue };
                let share = shared * own / (1.0 + senders as f64 * own + held);
                let Some((change, patch)) = self.group_exponent(changed, th) else { continue };
                let closed_form = match traffic {
                    Traffic::Burst { .. } => format!("{} of {} in each PG", size(share), size(needed)),
                    Traffic::Load { .. } => format!("a PG pauses at {} then", size(share)),
                };
                let distance = now.map_or(0, |now| now.abs_diff(th));
                ideas.push((distance, (Idea { change, patch, closed_form, is_promising: share >= needed }, share)));
            }
        }
        // The smallest changes are tried first.
        ideas.sort_by_key(|(distance, _)| *distance);
        Ok(mark_nearest(ideas.into_iter().map(|(_, idea)| idea).collect()))
    }

    /// `xoff` of the PG's profiles, and of the pool if that is shared.
    pub(super) fn headroom(&self, queue: u8, senders: usize, cable: Option<u64>) -> Vec<Idea> {
        let profiles = self.profiles_of(self.group_of(queue));
        let Some(&first) = profiles.first() else { return vec![] };
        let up = self.ports.iter().filter_map(|port| self.parsed.ports[*port].cable).max();
        let metres = cable.or(up).unwrap_or(5);
        let cell = u64::from(self.device.chip.cell);
        let rate = Rate::from_bps(self.parsed.ports[self.port].speed.saturating_mul(1_000_000));
        let needed = network::headroom(rate, metres, cell).get();
        let pool = &self.parsed.pools[self.parsed.profiles[first].pool];
        let all = needed.saturating_mul(senders as u64).saturating_mul(self.device.chip.partitions);
        let idea = |with_pool: bool| {
            let mut change = vec![];
            let mut patch = vec![];
            for profile in profiles.iter().map(|profile| &self.parsed.profiles[*profile]) {
                let was = profile.bytes.xoff.unwrap_or(0);
                if was < needed {
                    change.push(format!("{}: xoff {was} -> {needed}", profile.name));
                    patch.push(Operation::set(self.config, "BUFFER_PROFILE", &profile.name, "xoff", &needed));
                }
            }
            if with_pool {
                change.push(format!("{}: xoff {} -> {all}", pool.name, pool.bytes.xoff));
                patch.push(Operation::set(self.config, "BUFFER_POOL", &pool.name, "xoff", &all));
            }
            Idea {
                change: change.join(", "),
                patch,
                closed_form: format!("{} in flight over {metres} m", Bytes::new(needed)),
                is_promising: true,
            }
        };
        let mut ideas = vec![idea(false)];
        if pool.bytes.xoff > 0 && pool.bytes.xoff < all {
            ideas.push(idea(true));
        }
        ideas.retain(|idea| !idea.patch.is_empty());
        ideas
    }

    /// The PG of a queue's packets, by the maps of the first port.
    fn group_of(&self, queue: u8) -> u8 {
        forebay_sonic::import::group_of_queue(self.device, self.port, queue)
    }
}

fn own_name(profile: &str, group: u8) -> String {
    format!("{profile}_pg{group}")
}

/// `3-4` or `0,2-3` as numbers.
fn listed(text: &str) -> Option<Vec<u8>> {
    let mut numbers = vec![];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        numbers.extend(first.trim().parse::<u8>().ok()?..=last.trim().parse::<u8>().ok()?);
    }
    Some(numbers)
}

/// Numbers as keys have them: one text for each run of neighbours.
fn runs(numbers: &[u8]) -> Vec<String> {
    let mut runs: Vec<(u8, u8)> = vec![];
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs.into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_divided_into_runs() {
        assert_eq!(listed("0-2,4"), Some(vec![0, 1, 2, 4]));
        assert_eq!(listed("a"), None);
        assert_eq!(runs(&[0, 1, 2, 4]), ["0-2", "4"]);
        assert!(runs(&[]).is_empty());
    }
}
