//! What the authors published beside their code: completion times in milliseconds of 1 s runs, one seed each, as their
//! figures have them.

/// The offered loads of the authors' runs: what they label 0.2, 0.3, ... 0.8.
pub(super) const LOADS: [f64; 7] = [0.1975, 0.2853, 0.3841, 0.4883, 0.609, 0.7764, 1.0425];

/// The load that is labelled 0.5.
pub(super) const LABEL_05: f64 = LOADS[3];

/// Means and 99th percentiles of small flows, and means of large flows, at each of [`LOADS`].
pub(super) struct Published {
    /// The variant's name in the scenario file.
    pub(super) name: &'static str,
    pub(super) small_mean: [f64; 7],
    /// NaN where the figure has none.
    pub(super) small_p99: [f64; 7],
    pub(super) large_mean: [f64; 7],
}

const NONE: [f64; 7] = [f64::NAN; 7];

impl Published {
    /// The values of a metric of `measure.rs`.
    pub(super) fn of(&self, metric: &str) -> &[f64; 7] {
        match metric {
            "small.mean_ms" => &self.small_mean,
            "small.p99_ms" => &self.small_p99,
            _ => &self.large_mean,
        }
    }

    /// The value at the load that is labelled 0.8.
    pub(super) fn at_08(&self, metric: &str) -> f64 {
        self.of(metric)[6]
    }
}

/// The published values of a variant.
pub(super) fn find(figure: &'static [Published], name: &str) -> &'static Published {
    figure.iter().find(|published| published.name == name).expect("every name in the claims is in its figure's table")
}

/// Figure 7. PIEO is in the paper's plots, but not in the published data.
pub(super) const FIG7: &[Published] = &[
    Published {
        name: "TCP",
        small_mean: [0.1318, 0.1864, 0.2527, 0.3329, 0.4583, 0.8631, 2.4689],
        small_p99: [0.8187, 0.9591, 1.2122, 1.5010, 2.0364, 4.1837, 12.6147],
        large_mean: [4.297, 5.451, 7.291, 10.164, 16.773, 43.095, 116.221],
    },
    Published {
        name: "DCTCP",
        small_mean: [0.0521, 0.0652, 0.0817, 0.1050, 0.1523, 0.3908, 1.4514],
        small_p99: [0.2308, 0.2791, 0.3497, 0.4703, 0.7844, 2.4402, 8.0016],
        large_mean: [4.213, 5.289, 7.023, 9.828, 17.168, 47.637, 118.003],
    },
    Published {
        name: "AIFO",
        small_mean: AIFO_20.0,
        small_p99: [0.5372, 0.5933, 0.5829, 0.5510, 0.5138, 0.4926, 0.4749],
        large_mean: AIFO_20.1,
    },
    Published {
        name: "PIFO",
        small_mean: [0.0613, 0.0746, 0.0904, 0.1062, 0.1220, 0.1322, 0.1380],
        small_p99: [0.2210, 0.2356, 0.2555, 0.2704, 0.2906, 0.3066, 0.3207],
        large_mean: [4.059, 4.967, 6.662, 10.017, 17.982, 27.600, 35.467],
    },
    Published {
        name: "SP-PIFO",
        small_mean: [0.0681, 0.0763, 0.0855, 0.0948, 0.1045, 0.1110, 0.1145],
        small_p99: [0.2115, 0.2329, 0.2528, 0.2682, 0.2840, 0.2992, 0.3146],
        large_mean: [3.929, 4.885, 6.709, 10.104, 17.778, 31.802, 43.197],
    },
];

/// AIFO as it is by default, which figures 7, 8 and 11 share: small and large means.
const AIFO_20: ([f64; 7], [f64; 7]) =
    ([0.1071, 0.1276, 0.1436, 0.1527, 0.1566, 0.1580, 0.1600], [4.534, 6.066, 9.145, 15.296, 23.490, 30.106, 37.097]);

/// The authors' code in runs of 40 ms at the label 0.5: small mean, small 99th percentile, large mean, ms.
pub(super) const SHORT: [(&str, [f64; 3]); 5] = [
    ("TCP", [0.2578, 1.285, 5.307]),
    ("DCTCP", [0.0835, 0.409, 5.110]),
    ("AIFO", [0.1296, 0.534, 4.162]),
    ("PIFO", [0.0857, 0.257, 3.990]),
    ("SP-PIFO", [0.0833, 0.251, 4.109]),
];

/// Figure 8; its FIFO and PIFO are TCP and PIFO of figure 7.
pub(super) const FIG8: &[Published] = &[
    Published { name: "k = 0.1", small_mean: AIFO_20.0, small_p99: FIG7[2].small_p99, large_mean: AIFO_20.1 },
    Published {
        name: "k = 0.3",
        small_mean: [0.1076, 0.1305, 0.1493, 0.1634, 0.1801, 0.2024, 0.2217],
        small_p99: [0.5519, 0.6298, 0.6201, 0.5874, 0.5597, 0.5791, 0.6158],
        large_mean: [4.290, 5.391, 7.302, 10.660, 18.068, 30.556, 39.377],
    },
    Published {
        name: "k = 0.7",
        small_mean: [0.1134, 0.1369, 0.1587, 0.1841, 0.2277, 0.3286, 0.4291],
        small_p99: [0.6754, 0.7441, 0.7315, 0.7409, 0.7995, 1.0557, 1.3865],
        large_mean: [3.949, 4.852, 6.395, 8.955, 14.796, 33.154, 55.319],
    },
    Published {
        name: "k = 0.9",
        small_mean: [0.1162, 0.1415, 0.1659, 0.2013, 0.2653, 0.4762, 0.9069],
        small_p99: [0.7621, 0.8138, 0.8091, 0.8576, 1.0319, 1.9857, 3.7562],
        large_mean: [4.023, 5.005, 6.699, 9.512, 16.103, 40.396, 89.624],
    },
    Published {
        name: "FIFO",
        small_mean: FIG7[0].small_mean,
        small_p99: FIG7[0].small_p99,
        large_mean: FIG7[0].large_mean,
    },
    Published {
        name: "PIFO",
        small_mean: FIG7[3].small_mean,
        small_p99: FIG7[3].small_p99,
        large_mean: FIG7[3].large_mean,
    },
];

/// Figure 9.
pub(super) const FIG9: &[Published] = &[
    Published {
        name: "20, all",
        small_mean: [0.0809, 0.0958, 0.1087, 0.1177, 0.1244, 0.1290, 0.1349],
        small_p99: [0.3632, 0.4249, 0.4327, 0.4228, 0.4304, 0.4299, 0.4445],
        large_mean: [5.438, 7.246, 11.182, 18.439, 27.551, 33.088, 39.746],
    },
    Published {
        name: "20, 1 in 50",
        small_mean: [0.1184, 0.1400, 0.1540, 0.1599, 0.1636, 0.1637, 0.1651],
        small_p99: [0.6993, 0.7118, 0.6796, 0.6196, 0.5632, 0.52355, 0.5015],
        large_mean: [4.291, 5.726, 8.729, 14.100, 22.768, 29.082, 35.676],
    },
    Published {
        name: "100, 1 in 10",
        small_mean: [0.1168, 0.1366, 0.1520, 0.1604, 0.1632, 0.1632, 0.1643],
        small_p99: [0.6824, 0.6774, 0.6647, 0.6157, 0.5550, 0.5164, 0.4899],
        large_mean: [4.268, 5.757, 8.733, 13.993, 22.277, 28.275, 34.850],
    },
    Published {
        name: "1000, all",
        small_mean: [0.1161, 0.1360, 0.1519, 0.1594, 0.1632, 0.1630, 0.1638],
        small_p99: [0.6496, 0.6731, 0.6608, 0.6018, 0.5573, 0.5152, 0.4895],
        large_mean: [4.328, 5.707, 8.584, 14.276, 22.179, 27.600, 34.584],
    },
];

/// Figure 10: 1 and 4 Gb/s.
pub(super) const FIG10: &[Published] = &[
    Published {
        name: "10 packets",
        small_mean: [0.853, 0.965, 0.989, 1.027, 1.042, 1.049, 1.054],
        small_p99: NONE,
        large_mean: [38.70, 48.64, 55.81, 65.22, 71.51, 77.33, 83.00],
    },
    Published {
        name: "20 packets",
        small_mean: [0.851, 0.987, 1.070, 1.114, 1.129, 1.147, 1.146],
        small_p99: NONE,
        large_mean: [41.10, 48.68, 57.88, 64.62, 69.82, 73.88, 82.76],
    },
    Published {
        name: "50 packets",
        small_mean: [1.194, 1.500, 1.629, 1.724, 1.786, 1.821, 1.826],
        small_p99: NONE,
        large_mean: [39.05, 48.78, 58.48, 69.31, 73.07, 77.08, 83.08],
    },
    Published {
        name: "100 packets",
        small_mean: [1.476, 1.824, 2.166, 2.415, 2.579, 2.664, 2.711],
        small_p99: NONE,
        large_mean: [41.15, 50.21, 58.44, 69.52, 74.51, 80.71, 86.80],
    },
    Published {
        name: "500 packets",
        small_mean: [1.827, 2.821, 3.623, 4.449, 5.275, 5.275, 6.592],
        small_p99: NONE,
        large_mean: [41.54, 53.21, 62.36, 73.98, 85.54, 85.54, 103.89],
    },
];

/// Figure 11: 10 and 40 Gb/s.
pub(super) const FIG11: &[Published] = &[
    Published {
        name: "10 packets",
        small_mean: [0.1151, 0.1261, 0.1329, 0.1342, 0.1347, 0.1360, 0.1386],
        small_p99: NONE,
        large_mean: [4.375, 5.975, 9.696, 16.812, 25.946, 32.349, 39.076],
    },
    Published { name: "20 packets", small_mean: AIFO_20.0, small_p99: NONE, large_mean: AIFO_20.1 },
    Published {
        name: "50 packets",
        small_mean: [0.1204, 0.1410, 0.1551, 0.1591, 0.1594, 0.1578, 0.1574],
        small_p99: NONE,
        large_mean: [4.452, 5.980, 9.015, 14.618, 22.639, 29.733, 36.222],
    },
    Published {
        name: "100 packets",
        small_mean: [0.1002, 0.1231, 0.1387, 0.1436, 0.1414, 0.1362, 0.1346],
        small_p99: NONE,
        large_mean: [4.413, 5.767, 8.420, 13.548, 21.490, 29.250, 36.337],
    },
    Published {
        name: "500 packets",
        small_mean: [0.1260, 0.1901, 0.2716, 0.3643, 0.4663, 0.5853, 0.7149],
        small_p99: NONE,
        large_mean: [4.254, 5.316, 7.085, 9.786, 15.800, 27.465, 35.979],
    },
];

/// Figure 14: 1 and 4 Gb/s, fair queueing. PIEO is in the paper's plots, but not in the published data.
pub(super) const FIG14: &[Published] = &[
    Published {
        name: "TCP",
        small_mean: [1.773, 2.643, 3.585, 4.486, 5.528, 6.958, 9.174],
        small_p99: [13.183, 14.877, 16.795, 17.602, 19.532, 22.842, 31.080],
        large_mean: [41.70, 53.99, 67.00, 83.28, 105.94, 136.57, 174.79],
    },
    Published {
        name: "DCTCP",
        small_mean: [1.048, 1.439, 1.901, 2.430, 3.090, 4.006, 5.349],
        small_p99: [7.042, 7.702, 8.363, 9.607, 10.294, 12.781, 17.612],
        large_mean: [40.00, 51.28, 62.44, 76.83, 98.64, 128.00, 164.84],
    },
    Published {
        name: "AFQ",
        small_mean: [0.557, 0.724, 0.897, 1.146, 1.518, 2.149, 3.409],
        small_p99: [2.561, 3.191, 3.928, 4.943, 6.557, 9.776, 16.999],
        large_mean: [43.52, 58.56, 77.03, 97.74, 122.49, 152.35, 191.28],
    },
    Published {
        name: "SP-PIFO",
        small_mean: [0.502, 0.652, 0.823, 1.053, 1.441, 2.168, 3.660],
        small_p99: [2.387, 3.089, 3.902, 5.180, 7.209, 11.324, 19.088],
        large_mean: [42.94, 54.42, 68.63, 85.84, 110.03, 141.18, 178.41],
    },
    Published {
        name: "PIFO",
        small_mean: [0.426, 0.545, 0.676, 0.862, 1.173, 1.768, 3.008],
        small_p99: [2.119, 2.726, 3.441, 4.384, 5.860, 9.136, 15.831],
        large_mean: [39.47, 49.86, 62.30, 77.31, 99.93, 128.78, 168.21],
    },
    Published {
        name: "AIFO",
        small_mean: [0.624, 0.816, 1.024, 1.293, 1.680, 2.401, 3.797],
        small_p99: [3.252, 3.976, 4.508, 5.470, 7.128, 10.870, 17.765],
        large_mean: [41.30, 53.45, 68.78, 86.08, 111.26, 142.64, 181.67],
    },
];

/// The sizes of figure 14c, in kilobytes: each class by its least size.
pub(super) const SIZES_14C: [f64; 7] = [10.0, 20.0, 30.0, 50.0, 80.0, 200.0, 2000.0];

/// Figure 14c, at the label 0.7: means by size.
pub(super) const FIG14C: [(&str, [f64; 7]); 6] = [
    ("TCP", [4.730, 6.560, 7.849, 10.115, 13.079, 43.958, 183.095]),
    ("DCTCP", [2.602, 3.749, 4.504, 5.866, 7.650, 35.392, 174.906]),
    ("AFQ", [0.703, 1.649, 2.199, 3.532, 5.643, 40.037, 212.956]),
    ("SP-PIFO", [0.863, 1.642, 2.244, 3.570, 5.561, 37.650, 195.643]),
    ("PIFO", [0.658, 1.247, 1.784, 2.918, 4.676, 32.916, 177.819]),
    ("AIFO", [1.152, 1.794, 2.446, 3.751, 5.831, 37.670, 198.107]),
];
