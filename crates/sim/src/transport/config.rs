//! Settings of the transports, with the papers' values as defaults.

use super::cubic::CubicConfig;
use super::custom::{CustomTransport, registered};
use super::dctcp::DctcpConfig;
use super::linux::LinuxConfig;
use super::ndp::NdpConfig;
use super::pfabric::PFabricConfig;
use super::powertcp::PowerTcpConfig;
use super::reno::RenoConfig;
use super::theta_powertcp::ThetaPowerTcpConfig;
use super::timely::TimelyConfig;
use super::udp::UdpConfig;
use forebay_tm::{Bytes, Duration};

/// How much a sender sends before it hears anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// So many packets.
    Packets(u32),
    /// The bandwidth-delay product of the sender's link and the base round trip.
    Bdp,
    /// The whole flow.
    Flow,
}

/// How TCP repairs losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// All packets that have three arrivals above them are lost (RFC 6675).
    #[default]
    Sack,
    /// The first missing packet is lost when three above it have arrived, then at each partial ACK the next (RFC 6582), as in Netbench. Where
    /// the network reorders the packets of a flow, less is sent twice.
    NewReno,
}

/// Whose TCP it is: a bundle of settings, each of which can be set on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// Linux's (6.18).
    Linux,
    /// What the RFCs say: SACK (RFC 6675) and the retransmission timer (RFC 6298).
    Rfc,
    /// As in ns-3 with the module of ABM's authors.
    Ns3,
    /// As in Netbench.
    Netbench,
}

impl Stack {
    /// The names in files.
    pub const NAMES: [(&'static str, Self); 4] =
        [("linux", Self::Linux), ("rfc", Self::Rfc), ("ns3", Self::Ns3), ("netbench", Self::Netbench)];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// Where its settings differ from the defaults of [`Common`] and of the kinds.
    fn adjust(self, kind: &mut TransportKind, common: &mut Common) {
        match self {
            Self::Linux => {
                common.rto_min = Duration::from_us(200_000);
                common.rto_initial = Duration::from_us(1_000_000);
                common.rto_max = Duration::from_us(120_000_000);
                common.ack_every = 2;
                common.ack_delay = Duration::from_us(40_000);
                common.receive_window = Some(Bytes::new(65_535));
            }
            Self::Rfc => {}
            // The window of a SYN-ACK is not scaled; until the first loss Cubic grows by 5% a round trip, then by the cubic alone.
            Self::Ns3 => {
                common.receive_window = Some(Bytes::new(65_535));
                if let TransportKind::Cubic(cubic) = kind {
                    cubic.probe = Some(20);
                    cubic.reno_friendly = false;
                }
            }
            // One loss is repaired per round trip, connections begin with a handshake, and every marked ACK cuts.
            Self::Netbench => {
                common.handshake = true;
                common.recovery = Recovery::NewReno;
                if let TransportKind::Dctcp(dctcp) = kind {
                    dctcp.initial_alpha = 0.0;
                    dctcp.cut_per_ack = true;
                }
            }
        }
    }
}

/// What all transports share.
#[derive(Clone, Debug, PartialEq)]
pub struct Common {
    /// Payload of a full packet.
    pub mss: u32,
    /// Bytes that the headers add to the payload on the wire.
    pub header: u32,
    /// Bytes of an answer on the wire.
    pub ack_bytes: u32,
    /// The first window.
    pub initial_window: InitialWindow,
    /// The largest window in packets, if there is one.
    pub max_window: Option<u32>,
    /// The first slow-start threshold in packets; none: slow start goes on until the first congestion.
    pub initial_ssthresh: Option<u32>,
    /// The shortest retransmission timeout.
    pub rto_min: Duration,
    /// The timeout before the first measurement of the round trip.
    pub rto_initial: Duration,
    /// The longest retransmission timeout, after back-off.
    pub rto_max: Duration,
    /// Packets that one ACK answers at most.
    pub ack_every: u32,
    /// How long an ACK may be held back for that.
    pub ack_delay: Duration,
    /// Packets are ECN-capable.
    pub ecn: bool,
    /// TCP and its relatives: data is sent when a header alone has been there and back. (Otherwise the connection is open already.)
    pub handshake: bool,
    /// How TCP and its relatives repair losses.
    pub recovery: Recovery,
    /// The class of answers (ACKs, NACKs, pulls); `None`: that of the flow.
    pub ack_class: Option<u8>,
    /// Packets of the first so many bytes of payload are flagged unscheduled; `None`: of the first bandwidth-delay product.
    pub unscheduled: Option<Bytes>,
    /// The rank of all packets, for schedulers that rank; `None`: what is left of the flow, or what else the transport ranks by.
    pub fixed_rank: Option<u32>,
    /// Whose TCP it is.
    pub stack: Stack,
    /// The receive window before the first ACK of data: that of a handshake has 16 bits. `None`: there is no limit.
    pub receive_window: Option<Bytes>,
    /// The parts of Linux's TCP.
    pub linux: LinuxConfig,
}

impl Default for Common {
    fn default() -> Self {
        Self {
            mss: 1_460,
            header: 40,
            ack_bytes: 64,
            initial_window: InitialWindow::Packets(10),
            max_window: None,
            initial_ssthresh: None,
            rto_min: Duration::from_us(10_000),
            rto_initial: Duration::from_us(10_000),
            rto_max: Duration::from_us(4_000_000),
            ack_every: 1,
            ack_delay: Duration::from_us(500),
            ecn: false,
            handshake: false,
            recovery: Recovery::Sack,
            ack_class: None,
            unscheduled: None,
            fixed_rank: None,
            stack: Stack::Rfc,
            receive_window: None,
            linux: LinuxConfig::default(),
        }
    }
}

/// Which transport, and its own settings.
#[derive(Clone, Debug, PartialEq)]
pub enum TransportKind {
    /// TCP NewReno with SACK.
    Reno(RenoConfig),
    /// TCP Cubic.
    Cubic(CubicConfig),
    /// DCTCP.
    Dctcp(DctcpConfig),
    /// TIMELY.
    Timely(TimelyConfig),
    /// PowerTCP with in-band telemetry.
    PowerTcp(PowerTcpConfig),
    /// PowerTCP from delays alone.
    ThetaPowerTcp(ThetaPowerTcpConfig),
    /// pFabric.
    PFabric(PFabricConfig),
    /// NDP.
    Ndp(NdpConfig),
    /// UDP at a constant rate or on and off.
    Udp(UdpConfig),
    /// A congestion control of another crate.
    Custom(CustomTransport),
}

impl TransportKind {
    /// The names in files of those that come with Forebay, in the order of the variants.
    pub const NAMES: &'static [&'static str] =
        &["reno", "cubic", "dctcp", "timely", "powertcp", "theta-powertcp", "pfabric", "ndp", "udp"];

    /// All names in files, those of other crates included.
    pub fn names() -> Vec<&'static str> {
        Self::NAMES.iter().copied().chain(registered().iter().map(CustomTransport::name)).collect()
    }

    /// A kind with its paper's settings.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "reno" => Self::Reno(RenoConfig::default()),
            "cubic" => Self::Cubic(CubicConfig::default()),
            "dctcp" => Self::Dctcp(DctcpConfig::default()),
            "timely" => Self::Timely(TimelyConfig::default()),
            "powertcp" => Self::PowerTcp(PowerTcpConfig::default()),
            "theta-powertcp" => Self::ThetaPowerTcp(ThetaPowerTcpConfig::default()),
            "pfabric" => Self::PFabric(PFabricConfig::default()),
            "ndp" => Self::Ndp(NdpConfig::default()),
            "udp" => Self::Udp(UdpConfig::default()),
            _ => return registered().into_iter().find(|custom| custom.name() == name).map(Self::Custom),
        })
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reno(_) => "reno",
            Self::Cubic(_) => "cubic",
            Self::Dctcp(_) => "dctcp",
            Self::Timely(_) => "timely",
            Self::PowerTcp(_) => "powertcp",
            Self::ThetaPowerTcp(_) => "theta-powertcp",
            Self::PFabric(_) => "pfabric",
            Self::Ndp(_) => "ndp",
            Self::Udp(_) => "udp",
            Self::Custom(custom) => custom.name(),
        }
    }

    /// Whether its receivers answer.
    pub fn answers(&self) -> bool {
        !matches!(self, Self::Udp(_))
    }

    /// Whether it is a TCP that operating systems have.
    pub fn has_stack(&self) -> bool {
        matches!(self, Self::Reno(_) | Self::Cubic(_) | Self::Dctcp(_))
    }

    /// Whether its packets must carry in-band telemetry.
    pub fn wants_telemetry(&self) -> bool {
        match self {
            Self::Custom(custom) => custom.wants_telemetry(),
            _ => matches!(self, Self::PowerTcp(_)),
        }
    }
}

/// A transport with all its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportConfig {
    /// Which, and its own settings.
    pub kind: TransportKind,
    /// What all transports share.
    pub common: Common,
}

impl TransportConfig {
    /// A transport with its paper's settings; TCP is Linux's.
    pub fn named(name: &str) -> Option<Self> {
        TransportKind::named(name).map(|kind| Self::of(kind, Stack::Linux))
    }

    /// A transport with its own settings, and those of its stack.
    pub fn of(mut kind: TransportKind, stack: Stack) -> Self {
        let stack = if kind.has_stack() { stack } else { Stack::Linux };
        let mut common = Common { stack, ..Common::default() };
        common.ecn = match &kind {
            TransportKind::Custom(custom) => custom.ecn(),
            kind => matches!(kind, TransportKind::Dctcp(_)),
        };
        if kind.has_stack() {
            stack.adjust(&mut kind, &mut common);
        }
        Self::adjust(&kind, &mut common);
        Self { kind, common }
    }

    /// Whether its ends are those of Linux.
    pub fn is_linux(&self) -> bool {
        self.common.stack == Stack::Linux && self.kind.has_stack()
    }

    /// Whether a flow goes over the connection of an earlier one, if one is idle.
    pub fn keeps_connections(&self) -> bool {
        self.is_linux() && self.common.linux.keep_connections
    }

    /// Where a transport's paper differs from the common defaults.
    fn adjust(kind: &TransportKind, common: &mut Common) {
        match kind {
            TransportKind::Timely(_) | TransportKind::PowerTcp(_) | TransportKind::ThetaPowerTcp(_) => {
                common.initial_window = InitialWindow::Bdp;
            }
            TransportKind::PFabric(_) => {
                common.initial_window = InitialWindow::Bdp;
            }
            TransportKind::Ndp(_) => {
                common.initial_window = InitialWindow::Packets(30);
                common.rto_min = Duration::from_us(1_000);
                common.rto_initial = Duration::from_us(1_000);
            }
            _ => {}
        }
    }
}
