//! The distributions that come with the simulator, each with its source in its first line.

use super::distribution::{Interpolation, SizeDistribution};

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../distributions/", $name, ".txt")))),*]
    };
}

/// Names and texts.
pub const BUNDLED: &[(&str, &str)] = bundled![
    "alistorage",
    "datamining",
    "datamining_hkust",
    "fb_cache_follower",
    "fb_hadoop",
    "fb_hadoop_abm",
    "fb_hadoop_hpcc",
    "fb_kv_hkust",
    "fb_webserver",
    "google_rpc2008",
    "google_rpc_all",
    "google_rpc_search",
    "solar2022",
    "websearch",
    "websearch_hkust",
    "websearch_hpcc",
    "websearch_netbench",
];

impl SizeDistribution {
    /// A bundled distribution, if there is one of that name.
    pub fn bundled(name: &str) -> Option<Self> {
        Self::bundled_as(name, None)
    }

    /// A bundled distribution with another interpolation than its own.
    pub fn bundled_as(name: &str, interpolation: Option<Interpolation>) -> Option<Self> {
        let (name, text) = BUNDLED.iter().find(|(known, _)| *known == name)?;
        Self::parse(name, text, interpolation).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out apart from this code, from the points.
    const MEANS: [(&str, f64); 17] = [
        ("alistorage", 40_869.8),
        ("datamining", 5_036_535.175),
        ("datamining_hkust", 12_658_198.6),
        ("fb_cache_follower", 686_866.116_3),
        ("fb_hadoop", 121_848.960_505),
        ("fb_hadoop_abm", 3_423_728.354_628_773),
        ("fb_hadoop_hpcc", 120_420.75),
        ("fb_kv_hkust", 342.235_1),
        ("fb_webserver", 62_228.780_275),
        ("google_rpc2008", 2_891.621_250_05),
        ("google_rpc_all", 2_890.271_570_64),
        ("google_rpc_search", 423.402_486_473),
        ("solar2022", 39_423.504_52),
        ("websearch", 1_711_222.5),
        ("websearch_hkust", 1_711_250.0),
        ("websearch_hpcc", 1_711_250.0),
        ("websearch_netbench", 987_600.15),
    ];

    #[test]
    fn all_can_be_read_and_have_their_means() {
        assert_eq!(BUNDLED.len(), MEANS.len());
        for ((name, text), (expected, mean)) in BUNDLED.iter().zip(MEANS) {
            assert_eq!(*name, expected);
            let sizes = SizeDistribution::parse(name, text, None).unwrap_or_else(|error| panic!("{error}"));
            assert!((sizes.mean() / mean - 1.0).abs() < 1e-9, "{name}: {} for {mean}", sizes.mean());
        }
        assert_eq!(SizeDistribution::bundled("nothing"), None);
    }

    #[test]
    fn each_names_its_source() {
        for (name, text) in BUNDLED {
            assert!(text.starts_with("# ") && text.lines().next().unwrap().contains("; source: "), "{name}");
        }
    }

    #[test]
    fn the_steps_of_the_last_are_eleven() {
        let Some(SizeDistribution::Table { points, interpolation }) = SizeDistribution::bundled("websearch_netbench")
        else {
            panic!("not a table");
        };
        assert_eq!((points.len(), interpolation), (11, Interpolation::Step));
    }
}
