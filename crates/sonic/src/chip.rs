//! Chip families: what each makes of a SONiC buffer configuration. They are read from `chips.toml`.

use crate::SonicError;
use forebay_settings::nearest;
use forebay_tm::ingress::Alpha;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What `BUFFER_POOL.size` of an ingress pool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeMeaning {
    /// Shared cells; xoff and minimums come on top.
    Net,
    /// Everything: shared cells, xoff and minimums.
    Gross,
}

/// What the size of an egress pool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EgressMeaning {
    Net,
    LessQueues,
    AsIngress,
}

/// Queue minimums that a gross size includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum QueueMinimums {
    PerPort(u64),
    Named(NamedMinimums),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NamedMinimums {
    None,
    Lossy,
}

/// The minimum of a lossless PG.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GroupMinimum {
    Size,
    #[serde(rename = "size-xoff")]
    SizeLessXoff,
    Xon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HeadroomOf {
    Pg,
    Port,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Resume {
    Offset,
    Xon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StaticUnit {
    Total,
    Partition,
}

/// A chip family.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chip {
    /// Its name: `td3`, `th5`, `spc4`.
    pub name: String,
    /// What it is.
    pub about: String,
    names: Vec<String>,
    /// Bytes of a cell.
    pub cell: u32,
    /// Parts of the memory with pools of their own.
    pub partitions: u64,
    /// Bytes of packet memory, rounded up, if known.
    pub memory: Option<u64>,
    /// What the size of an ingress pool is.
    pub size: SizeMeaning,
    pub(crate) minimums: QueueMinimums,
    pub(crate) egress: EgressMeaning,
    pub(crate) pg: GroupMinimum,
    pub(crate) headroom: HeadroomOf,
    #[serde(default)]
    pub(crate) overhead: u64,
    pub(crate) resume: Resume,
    #[serde(rename = "static")]
    pub(crate) static_unit: StaticUnit,
    /// Whether a port's profile limits the port, and its PGs share what that leaves.
    #[serde(default)]
    pub port_alpha: bool,
    #[serde(default)]
    alphas: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Families {
    chip: Vec<Chip>,
}

/// The families that come with Forebay.
pub static CHIPS: LazyLock<Vec<Chip>> = LazyLock::new(|| {
    let families: Families = toml::from_str(include_str!("chips.toml")).expect("chips.toml is right");
    families.chip
});

impl Chip {
    /// The family of a name.
    ///
    /// # Errors
    /// If there is none.
    pub fn by_name(name: &str) -> Result<&'static Self, SonicError> {
        let found = CHIPS.iter().find(|chip| chip.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names: Vec<&str> = CHIPS.iter().map(|chip| chip.name.as_str()).collect();
            let remedy = match nearest(name, &names) {
                Some(meant) => format!("did you mean {meant}?"),
                None => format!("write one of {}", names.join(", ")),
            };
            SonicError::new(format!("chip \"{name}\""), "there is no such chip family", remedy)
        })
    }

    /// The family of a device, by its `hwsku` and `platform`: the longest name that is in either.
    pub fn of_device(hwsku: &str, platform: &str) -> Option<&'static Self> {
        let (hwsku, platform) = (hwsku.to_ascii_lowercase(), platform.to_ascii_lowercase());
        let named = CHIPS.iter().flat_map(|chip| chip.names.iter().map(move |name| (name, chip)));
        let fits = named.filter(|(name, _)| hwsku.contains(name.as_str()) || platform.contains(name.as_str()));
        fits.max_by_key(|(name, _)| name.len()).map(|(_, chip)| chip)
    }

    /// The factor that `dynamic_th` stands for.
    pub fn alpha(&self, dynamic_th: i64) -> Alpha {
        match self.alphas.get(&dynamic_th.to_string()) {
            Some(&num) => Alpha { num, den: 1 },
            None => Alpha::power_of_two(dynamic_th.clamp(-10, 10) as i32),
        }
    }

    /// Whether -8 means that nothing is shared.
    pub fn has_zero_alpha(&self) -> bool {
        self.alpha(-8).num == 0
    }
}
