//! The chips that programs are checked against.
//!
//! Vendors publish little. The numbers come from public descriptions of these chips and from the shares of their
//! resources that the literature prints for programs of known size (19 of 48 stateful ALUs is 39.6%, 44 of 192 gateways
//! is 22.9%).

/// What a chip has. Ingress and egress share the resources of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Pipelines, each with its own state.
    pub pipelines: u32,
    /// Ports of a pipeline.
    pub ports: u32,
    /// Stages each way.
    pub stages: u64,
    /// Stateful ALUs of a stage; a meter needs one, too.
    pub stateful_alus: u64,
    /// Logical tables of a stage.
    pub tables: u64,
    /// Comparisons of a stage.
    pub gateways: u64,
    /// Bytes that a stage can match, compare or give to its stateful ALUs.
    pub crossbar_bytes: u64,
    /// Bits that a stage can hash.
    pub hash_bits: u64,
    /// Blocks of SRAM of a stage.
    pub sram_blocks: u64,
    /// Blocks of TCAM of a stage.
    pub tcam_blocks: u64,
    /// Bits of a packet's fields that travel with it.
    pub phv_bits: u64,
    /// Whether queue lengths can be read before the traffic manager.
    pub depth_at_ingress: bool,
}

impl Target {
    /// Bits of a block of SRAM: 16 KB.
    pub const SRAM_BLOCK_BITS: u64 = 16 * 1024 * 8;
    /// The width of a block of TCAM.
    pub const TCAM_BITS: u64 = 44;
    /// The entries of a block of TCAM.
    pub const TCAM_ENTRIES: u64 = 512;

    /// Tofino: 12 stages; programs do not see queue lengths before the traffic manager.
    pub const fn tofino() -> Self {
        Self {
            name: "tofino",
            pipelines: 4,
            ports: 16,
            stages: 12,
            stateful_alus: 4,
            tables: 16,
            gateways: 16,
            crossbar_bytes: 128,
            hash_bits: 416,
            sram_blocks: 80,
            tcam_blocks: 24,
            phv_bits: 4096,
            depth_at_ingress: false,
        }
    }

    /// Tofino 2: 20 stages, and queue lengths at ingress.
    pub const fn tofino2() -> Self {
        Self { name: "tofino2", stages: 20, depth_at_ingress: true, ..Self::tofino() }
    }

    /// All targets.
    pub const ALL: [Self; 2] = [Self::tofino(), Self::tofino2()];

    /// The target of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name == name)
    }
}
