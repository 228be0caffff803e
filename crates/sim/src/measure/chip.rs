//! What a programmable chip has seen in a run.

use forebay_tm::Instant;

/// One of the ports inside a chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideRecord {
    /// Packets that it sent.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that found its queue full.
    pub full: u64,
    /// The most packets that waited.
    pub peak: u64,
}

/// One pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineRecord {
    /// Packets that the ingress program cut.
    pub trimmed_at_ingress: u64,
    /// Deflected packets that were cut as they left the deflection port.
    pub trimmed_at_egress: u64,
    /// Packets that the ingress program dropped.
    pub dropped_at_ingress: u64,
    /// Packets that the egress program dropped.
    pub dropped_at_egress: u64,
    /// The port that packets without room are deflected to.
    pub deflection: SideRecord,
    /// The port that control packets come around by.
    pub recirculation: SideRecord,
}

/// A control packet at the first pipeline's ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlNote {
    /// When.
    pub at: Instant,
    /// Its kind, by the program's numbers.
    pub kind: u8,
    /// The first field that it carried.
    pub value: u64,
}

/// The chip beside the ideal that its program stands for, on the same arrivals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferenceRecord {
    /// Data packets that both would take, that only the ideal takes, that only the chip takes, and that neither takes.
    pub both: u64,
    /// See `both`.
    pub ideal_only: u64,
    /// See `both`.
    pub chip_only: u64,
    /// See `both`.
    pub neither: u64,
    /// For AIFO, summed up over packets: how many bytes the length that the program knew was off the queue's own.
    pub length_error: u64,
    /// For AIFO: the most that it was off.
    pub length_error_most: u64,
    /// The threshold that the program worked out over the exact one, for every data packet that had one, as a base-2
    /// logarithm in steps of an eighth from -8 to 8; the last entry is for programs' zeros.
    pub threshold_ratio: Vec<u64>,
    /// That ratio is the product of three, in the same steps: of rounding, the threshold over that of the same counts
    /// and the same remaining buffer without rounding;
    pub rounding_ratio: Vec<u64>,
    /// of counts of queues, the exact ones over those that the program knows;
    pub counts_ratio: Vec<u64>,
    /// and of the remaining buffer, the one that the program knows over the exact one.
    pub remaining_ratio: Vec<u64>,
}

/// A chip at the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChipRecord {
    /// The index of the switch.
    pub switch: u32,
    /// Its pipelines.
    pub pipelines: Vec<PipelineRecord>,
    /// Control packets that came to the first pipeline, if they are kept.
    pub controls: Vec<ControlNote>,
    /// Beside the ideal.
    pub witness: ReferenceRecord,
}

impl ChipRecord {
    /// The most packets that waited in front of any deflection port.
    pub fn deflection_peak(&self) -> u64 {
        self.pipelines.iter().map(|pipeline| pipeline.deflection.peak).max().unwrap_or(0)
    }
}
