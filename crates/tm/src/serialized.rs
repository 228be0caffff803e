//! Reasons by their names in files, and drops by their reasons, for whoever reads and writes counters.

use crate::verdict::Reason;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = alloc::borrow::Cow::<str>::deserialize(from)?;
        Self::every().find(|reason| reason.as_str() == name).ok_or_else(|| D::Error::custom("no reason of a drop"))
    }
}

/// Only the reasons that occurred.
pub(crate) mod drops {
    use super::{Deserialize, Deserializer, Reason, Serialize, Serializer};
    use crate::buffer::Count;
    use alloc::collections::BTreeMap;

    type ByReason = [Count; Reason::COUNT];

    pub(crate) fn serialize<S: Serializer>(drops: &ByReason, to: S) -> Result<S::Ok, S::Error> {
        let counts = Reason::every().map(|reason| (reason, drops[reason as usize]));
        counts.filter(|(_, count)| count.packets > 0).collect::<BTreeMap<_, _>>().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ByReason, D::Error> {
        let mut drops = ByReason::default();
        for (reason, count) in BTreeMap::<Reason, Count>::deserialize(from)? {
            drops[reason as usize] = count;
        }
        Ok(drops)
    }
}
