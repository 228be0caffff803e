//! Headroom against cables and pools.

use super::Linter;
use crate::chip::HeadroomOf;
use crate::findings::Severity::{Error, Note, Warning};
use std::collections::BTreeMap;

impl Linter<'_> {
    pub(super) fn headroom(&mut self) {
        let mut sums: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for (&(port, number), &profile) in &self.config.groups {
            let of = &self.config.profiles[profile];
            let Some(xoff) = of.bytes.xoff else { continue };
            let key = format!("BUFFER_PG|{}|{number}", self.config.ports[port].name);
            if self.config.ports[port].is_up {
                let sum = sums.entry(of.pool).or_default();
                *sum = (sum.0.saturating_add(xoff), sum.1 + 1);
            }
            if xoff == 0 {
                let why = format!("{} is lossless, but has no headroom (xoff 0)", of.name);
                let effect = "what is on the cable when the PG pauses is dropped";
                self.findings.add(("headroom-zero", Error), key, why, effect, "give xoff what speed and cable need");
                continue;
            }
            self.other_cable(&key, port, &of.name);
            self.in_flight(&key, port, profile, xoff);
            self.headroom_pool(profile);
        }
        for (pool, (sum, count)) in sums {
            let pool = &self.config.pools[pool];
            if pool.bytes.xoff > 0 && sum > pool.bytes.xoff {
                let factor = sum as f64 / pool.bytes.xoff as f64;
                let enough = u128::from(pool.bytes.xoff) * u128::from(count) / u128::from(sum);
                let why = format!(
                    "{count} lossless PGs may want {sum} B of headroom, {factor:.1} times the pool's xoff {}",
                    pool.bytes.xoff
                );
                let effect = format!(
                    "nothing is dropped while no more than about {enough} PGs are paused with full headroom at once"
                );
                let key = format!("BUFFER_POOL|{}.xoff", pool.name);
                self.findings.add(
                    ("headroom-overcommitted", Note),
                    key,
                    why,
                    effect,
                    "give xoff more, if more ports can be paused at once",
                );
            }
        }
    }

    /// A profile whose name is of another speed or cable than the port's.
    fn other_cable(&mut self, key: &str, port: usize, name: &str) {
        let port = &self.config.ports[port];
        let parts = name.strip_prefix("pg_lossless_").and_then(|name| name.strip_suffix("m_profile"));
        let Some((speed, cable)) = parts.and_then(|parts| parts.split_once('_')) else { return };
        let (Ok(speed), Ok(cable)) = (speed.parse::<u64>(), cable.parse::<u64>()) else { return };
        if speed != port.speed || port.cable.is_some_and(|metres| metres != cable) {
            let (now, metres) = (port.speed, port.cable.map_or("?".to_owned(), |metres| metres.to_string()));
            let why = format!("{name} is for {speed} Mb/s and {cable}m; the port has {now} Mb/s and {metres}m");
            let effect =
                "headroom is that of another cable or speed: too little drops lossless packets, too much wastes buffer";
            let cure = format!("bind pg_lossless_{now}_{metres}m_profile, or correct PORT and CABLE_LENGTH");
            self.findings.add(("headroom-of-other-cable", Warning), key, why, effect, cure);
        }
    }

    /// Light takes 5 ns a metre: what a round trip on the cable carries must fit the headroom.
    fn in_flight(&mut self, key: &str, port: usize, profile: usize, xoff: u64) {
        let of_port = self.config.lossless_xoff(port);
        let here = &self.config.ports[port];
        let Some(cable) = here.cable else { return };
        let in_flight = cable.saturating_mul(here.speed) / 800;
        if xoff >= in_flight {
            return;
        }
        let is_pooled =
            self.device.as_ref().is_some_and(|device| device.chip.headroom == HeadroomOf::Port) && of_port >= in_flight;
        let severity = if is_pooled { Warning } else { Error };
        let name = &self.config.profiles[profile].name;
        let why = format!(
            "xoff {xoff} of {name} is less than the {in_flight} B on {cable}m at {} Mb/s, there and back",
            here.speed
        );
        let effect = if is_pooled {
            "one PG alone may use the headroom of the port; two at once drop lossless packets"
        } else {
            "packets that are on the cable when the PG pauses are dropped"
        };
        let cure = format!(
            "give xoff more than {in_flight} (and for packets of both ends, and the peer's reaction), or correct the cable"
        );
        self.findings.add(("headroom-too-small", severity), key, why, effect, cure);
    }

    fn headroom_pool(&mut self, profile: usize) {
        let Some(device) = &self.device else { return };
        let of = &self.config.profiles[profile];
        let pool = &self.config.pools[of.pool];
        let (Some(pooled), Some(xoff)) = (device.chip.headroom_pool(&pool.bytes), of.bytes.xoff) else { return };
        let needed = xoff / self.cell();
        if needed > pooled {
            let why = format!("{} wants {needed} cells of headroom; the pool has {pooled} in each partition", of.name);
            let effect = "even a lone PG drops lossless packets";
            let key = format!("BUFFER_POOL|{}.xoff", pool.name);
            let cure = format!("give the pool's xoff at least {}", xoff.saturating_mul(device.chip.partitions));
            self.findings.add(("headroom-pool-too-small", Error), key, why, effect, cure);
        }
    }
}
