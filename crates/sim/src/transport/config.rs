//! Settings of the transports, with the papers' values as defaults.

use super::congestion::Limits;
use super::cubic::{Cubic, CubicConfig};
use super::custom::{CustomControl, CustomTransport};
use super::dcqcn::DcqcnConfig;
use super::dctcp::{Dctcp, DctcpConfig};
use super::linux::{Connections, LinuxConfig};
use super::ndp::NdpConfig;
use super::pfabric::PFabricConfig;
use super::powertcp::{PowerTcp, PowerTcpConfig};
use super::reno::{Reno, RenoConfig};
use super::theta_powertcp::{ThetaPowerTcp, ThetaPowerTcpConfig};
use super::timely::{Timely, TimelyConfig};
use super::udp::UdpConfig;
use forebay_settings::check::{at_least_one, if_set, lasts};
use forebay_settings::{Registered, Registry, by_name, choices};
use forebay_tm::described::{Choice, Described, Kind, Setting, Size, Value, Wrong};
use forebay_tm::{Bytes, Duration, kinds, settings, words};

/// Common settings of all packets.
pub(super) const PACKETS: [&str; 5] = ["mss", "header", "ecn", "unscheduled", "fixed_rank"];
/// Those of receivers that acknowledge.
pub(super) const ACKS: [&str; 2] = ["ack_bytes", "ack_class"];
/// Those of a retransmission timer that follows the round trip.
pub(super) const TIMER: [&str; 3] = ["rto_min", "rto_initial", "rto_max"];
/// Those of what begins and repairs a stream.
const REPAIR: [&str; 3] = ["handshake", "handshake_ack", "recovery"];
/// Those of receivers that may hold ACKs back.
const HELD: [&str; 2] = ["ack_every", "ack_delay"];
/// Those of senders with slow start.
pub(super) const WINDOW: [&str; 3] = ["initial_window", "max_window", "initial_ssthresh"];
/// Those of a stream without slow start: there is no threshold where it ends.
pub(super) const NO_SLOW_START: &[&[&str]] =
    &[&PACKETS, &ACKS, &["initial_window", "max_window"], &TIMER, &HELD, &REPAIR];

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
    /// The first missing packet is lost when three above it have arrived, then at each partial ACK the next (RFC 6582),
    /// as in Netbench. Where the network reorders the packets of a flow, less is sent twice.
    NewReno,
}

words! {
    Recovery { Sack = "sack", NewReno = "newreno" }
}

/// What ends a handshake at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeAck {
    /// The first data packet, which acknowledges the SYN-ACK.
    WithData,
    /// A packet of its own; data before it is discarded.
    Alone,
}

words! {
    HandshakeAck { WithData = "with-data", Alone = "alone" }
}

impl Setting for InitialWindow {
    const KIND: Kind = Kind::Or(&u32::KIND, &["bdp", "flow"]);

    fn value(&self) -> Value {
        match self {
            Self::Packets(packets) => packets.value(),
            Self::Bdp => Value::Word("bdp"),
            Self::Flow => Value::Word("flow"),
        }
    }

    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Word("bdp") => Some(Self::Bdp),
            Value::Word("flow") => Some(Self::Flow),
            value => u32::from_value(value).map(Self::Packets),
        }
    }
}

impl InitialWindow {
    fn check(&self) -> Result<(), Wrong> {
        if let Self::Packets(packets) = self { at_least_one(packets) } else { Ok(()) }
    }
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

words! {
    Stack { Linux = "linux", Rfc = "rfc", Ns3 = "ns3", Netbench = "netbench" }
}

impl Stack {
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
            // The window of a SYN-ACK is not scaled; until the first loss Cubic grows by 5% a round trip, then by the
            // cubic alone.
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

settings! {
    /// What all transports share.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Common {
        /// The TCP implementation to follow.
        pub stack: Stack = Stack::Rfc,
        /// Payload of a full packet.
        pub mss: u32 as Size<1, 65_000> = 1_460,
        /// Bytes that the headers add to the payload on the wire.
        pub header: u32 as Size<0, 1_000> = 40,
        /// Bytes of an ACK on the wire.
        pub ack_bytes: u32 as Size<1, 65_000> = 64,
        /// The initial window: packets, `"bdp"` (the sender's link rate times the base round trip, rounded up) or
        /// `"flow"` (the whole flow).
        pub initial_window: InitialWindow = InitialWindow::Packets(10); InitialWindow::check,
        /// The largest window in packets, if there is one.
        pub max_window: Option<u32> = None; if_set(at_least_one),
        /// The initial slow-start threshold in packets; none: slow start lasts until the first congestion.
        pub initial_ssthresh: Option<u32> = None; if_set(at_least_one),
        /// The shortest retransmission timeout.
        pub rto_min: Duration = Duration::from_us(10_000); lasts,
        /// The timeout before the first measurement of the round trip; at least `rto_min` if not given.
        pub rto_initial: Duration = Duration::from_us(10_000); lasts,
        /// The longest retransmission timeout, after back-off.
        pub rto_max: Duration = Duration::from_us(4_000_000); lasts,
        /// The most packets that one ACK acknowledges.
        pub ack_every: u32 = 1; at_least_one,
        /// The longest delay of an ACK for that.
        pub ack_delay: Duration = Duration::from_us(500),
        /// Packets are ECN-capable.
        pub ecn: bool = false,
        /// The class of ACKs, NACKs and pulls; none: that of the flow.
        pub ack_class: Option<u8> = None,
        /// The first bytes of a flow whose packets are flagged unscheduled (`alpha_unscheduled` of ABM); ACKs always
        /// are; none: the bandwidth-delay product.
        pub unscheduled: Option<Bytes> = None,
        /// The rank of all packets, for schedulers by rank; none: the rank that the transport gives, mostly the bytes
        /// left of the flow.
        pub fixed_rank: Option<u32> = None,
        /// Data is sent after a handshake of one round trip; otherwise the connection is open from the start.
        pub handshake: bool = false,
        /// What ends a handshake at the receiver. `"with-data"`: the first data packet, which acknowledges the SYN-ACK,
        /// as all of TCP's do; `"alone"`: a packet of its own in front of the data, ranked like the SYN. Until it is
        /// there, data is discarded. Netbench's TCP does that.
        pub handshake_ack: HandshakeAck = HandshakeAck::WithData,
        /// Loss recovery. `"sack"`: all packets that three later ones have overtaken count as lost (RFC 6675);
        /// `"newreno"`: only the first one, and the next one at each partial ACK (RFC 6582).
        pub recovery: Recovery = Recovery::Sack,
        /// The receive window until the first ACK of data; in a handshake it has 16 bits. With `"linux"` it then
        /// grows. None: no limit.
        pub receive_window: Option<Bytes> = None,
    }
}

impl Common {
    /// Why a key does nothing beside the others, if it does nothing.
    pub(crate) fn idle(&self, key: &str) -> Option<Wrong> {
        match key {
            "ack_delay" if self.ack_every == 1 => {
                Some(Wrong::new("no ACK is held back with ack_every = 1", "remove it, or add ack_every = 2"))
            }
            "handshake_ack" if !self.handshake => {
                Some(Wrong::new("connections are open from the start", "remove it, or add handshake = true"))
            }
            _ => None,
        }
    }
}

/// The settings of a transport, and what the simulator has to know of it.
pub trait TransportSettings: Described {
    /// Where its paper differs from the common defaults.
    fn adjust(&self, _common: &mut Common) {}

    /// The common settings that its code looks at, in groups: keys that would do nothing are refused. A transport with
    /// a stack has those of its stack.
    fn common_keys(&self) -> &'static [&'static [&'static str]] {
        &[&PACKETS, &ACKS, &WINDOW, &TIMER, &HELD, &REPAIR]
    }

    /// Its settings that do nothing with `stack = "linux"`.
    fn idle_with_linux(&self) -> &'static [&'static str] {
        &[]
    }

    /// Why a key does nothing beside the others, if it does nothing: it is refused, and not written.
    fn idle(&self, _key: &str) -> Option<Wrong> {
        None
    }

    /// What is wrong with settings that are right one by one, and at which key.
    fn check(&self, _is_linux: bool) -> Result<(), (&'static str, Wrong)> {
        Ok(())
    }

    /// Whether its receivers acknowledge.
    fn acknowledges(&self) -> bool {
        true
    }

    /// Whether its packets must carry in-band telemetry.
    fn wants_telemetry(&self) -> bool {
        false
    }

    /// Whether captures show its packets with UDP headers, not TCP headers.
    fn rides_on_udp(&self) -> bool {
        false
    }

    /// The payload of its largest packet.
    fn largest_payload(&self, common: &Common) -> u32 {
        common.mss
    }
}

/// Makes the kinds of transports and the congestion controls of the streams among them. A row has a sentence, the name
/// in files, the variant and its config type; a stream's has its congestion control, too, of the variant's name.
macro_rules! transports {
    (
        linux { $(#[doc = $about:literal] $word:literal => $linux:ident($config:ty, $control:ty),)* }
        streams { $(#[doc = $s_about:literal] $s_word:literal => $stream:ident($s_config:ty, $s_control:ty),)* }
        others { $(#[doc = $o_about:literal] $o_word:literal => $other:ident($o_config:ty),)* }
    ) => {
        transports! { @kinds
            $(#[doc = $about] $word => $linux($config),)*
            $(#[doc = $s_about] $s_word => $stream($s_config),)*
            $(#[doc = $o_about] $o_word => $other($o_config),)*
        }
        transports! { @congestion
            $(#[doc = $about] $linux($control),)* $(#[doc = $s_about] $stream($s_control),)* ; $($other)*
        }

        impl TransportKind {
            /// Whether it is a TCP that operating systems have.
            pub fn has_stack(&self) -> bool {
                matches!(self, $(Self::$linux(_))|*)
            }
        }

        /// The pattern of transports whose ends are those of a stream, or of Linux.
        macro_rules! streams {
            () => { $(TransportKind::$linux(_) |)* $(TransportKind::$stream(_) |)* TransportKind::Custom(_) };
        }
        pub(super) use streams;

        /// The pattern of transports that Linux does not have.
        macro_rules! without_stack {
            () => { $(TransportKind::$stream(_) |)* $(TransportKind::$other(_) |)* TransportKind::Custom(_) };
        }
        pub(super) use without_stack;
    };
    (@each ($d:tt) $($stream:ident)*) => {
        macro_rules! each_congestion {
            ($d congestion:expr, $d inner:ident => $d body:expr) => {
                match $d congestion {
                    $(Congestion::$stream($d inner) => $d body,)*
                    Congestion::Custom($d inner) => $d body,
                }
            };
        }
    };
    (@kinds $(#[doc = $about:literal] $word:literal => $variant:ident($config:ty),)*) => {
        kinds! {
            /// Which transport, and its own settings.
            #[derive(Clone, Debug, PartialEq)]
            pub enum TransportKind {
                $(#[doc = $about] $word => $variant($config),)*
            }
            custom CustomTransport
        }

        impl TransportKind {
            /// Its own settings.
            pub fn settings(&self) -> &dyn TransportSettings {
                match self {
                    $(Self::$variant(settings) => settings,)*
                    Self::Custom(custom) => custom,
                }
            }

            /// Its own settings, to be changed.
            pub fn settings_mut(&mut self) -> &mut dyn TransportSettings {
                match self {
                    $(Self::$variant(settings) => settings,)*
                    Self::Custom(custom) => custom,
                }
            }
        }
    };
    (@congestion $(#[doc = $about:literal] $stream:ident($control:ty),)* ; $($other:ident)*) => {
        /// All congestion controls. Those with much to remember are boxed, so that the senders of the others stay
        /// small.
        #[derive(Clone, Debug)]
        pub enum Congestion {
            $(#[doc = $about] $stream($control),)*
            /// One of another crate.
            Custom(CustomControl),
        }

        impl Congestion {
            /// The congestion control of a stream. Other transports have none, and never ask.
            pub fn new(config: &TransportConfig, limits: &Limits) -> Self {
                match &config.kind {
                    $(TransportKind::$stream(own) => Self::$stream($stream::new(own, limits).into()),)*
                    TransportKind::Custom(custom) => Self::Custom(custom.role().start(limits)),
                    $(TransportKind::$other(_))|* => Self::Reno(Reno::new(&RenoConfig::default(), limits)),
                }
            }
        }

        transports! { @each ($) $($stream)* }
        pub(super) use each_congestion;
    };
}

transports! {
    // Those that Linux has, too.
    linux {
        /// TCP NewReno: halves its window at a loss
        "reno" => Reno(RenoConfig, Reno),
        /// TCP Cubic: the default of Linux
        "cubic" => Cubic(CubicConfig, Box<Cubic>),
        /// DCTCP: cuts its window by the share of packets that were marked
        "dctcp" => Dctcp(DctcpConfig, Dctcp),
    }
    // Other congestion controls of a stream.
    streams {
        /// Timely: a rate that follows the gradient of the round trip
        "timely" => Timely(TimelyConfig, Box<Timely>),
        /// PowerTCP: a window that follows in-band telemetry
        "powertcp" => PowerTcp(PowerTcpConfig, Box<PowerTcp>),
        /// PowerTCP by round trips alone, without telemetry
        "theta-powertcp" => ThetaPowerTcp(ThetaPowerTcpConfig, Box<ThetaPowerTcp>),
    }
    // Those with a sender of their own.
    others {
        /// pFabric: sends at line rate, with priorities by remaining size
        "pfabric" => PFabric(PFabricConfig),
        /// NDP: the receiver pulls, and trimmed packets are asked for at once
        "ndp" => Ndp(NdpConfig),
        /// UDP: a constant rate, or on and off; nothing is repaired
        "udp" => Udp(UdpConfig),
        /// DCQCN over RoCE: a rate limiter that follows notifications of congestion, and Go-Back-N
        "dcqcn" => Dcqcn(DcqcnConfig),
    }
}

impl Registered for TransportKind {
    fn registry() -> Option<&'static Registry<Self>> {
        static ADDED: Registry<TransportKind> = Registry::new();
        Some(&ADDED)
    }
}

impl TransportKind {
    /// All names in files, those of other crates included.
    pub fn names() -> Vec<&'static str> {
        choices::<Self>().iter().map(Choice::name).collect()
    }

    /// A kind with its paper's settings.
    pub fn named(name: &str) -> Option<Self> {
        by_name(name)
    }

    /// The common settings that mean something to it with a stack, `stack` itself and the parts of Linux's TCP
    /// included.
    pub(crate) fn common_keys(&self, stack: Stack) -> Vec<&'static str> {
        let settings = self.settings();
        if !self.has_stack() {
            return settings.common_keys().concat();
        }
        let streams =
            [&["stack"], &PACKETS[..], &ACKS, &WINDOW, &TIMER, &HELD, &["handshake", "receive_window"]].concat();
        if stack == Stack::Linux {
            return streams.into_iter().chain(LinuxConfig::FIELDS.iter().map(|field| field.key)).collect();
        }
        streams.into_iter().chain(["handshake_ack", "recovery"]).collect()
    }

    /// Its own settings that mean something with a stack.
    pub(crate) fn own_keys(&self, stack: Stack) -> Vec<&'static str> {
        let settings = self.settings();
        let is_linux = self.has_stack() && stack == Stack::Linux;
        let idle = if is_linux { settings.idle_with_linux() } else { &[] };
        settings.fields().iter().map(|field| field.key).filter(|key| !idle.contains(key)).collect()
    }
}

/// A transport with all its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportConfig {
    /// Which, and its own settings.
    pub kind: TransportKind,
    /// What all transports share.
    pub common: Common,
    /// The parts of Linux's TCP.
    pub linux: LinuxConfig,
}

impl TransportConfig {
    /// A transport with its paper's settings; TCP is Linux's.
    pub fn named(name: &str) -> Option<Self> {
        TransportKind::named(name).map(|kind| Self::of(kind, Stack::Linux))
    }

    /// A transport with its own settings, and those of its stack.
    pub fn of(mut kind: TransportKind, stack: Stack) -> Self {
        let has_stack = kind.has_stack();
        let stack = if has_stack { stack } else { Stack::Linux };
        let mut common = Common { stack, ..Common::default() };
        if has_stack {
            stack.adjust(&mut kind, &mut common);
        }
        kind.settings().adjust(&mut common);
        Self { kind, common, linux: LinuxConfig::default() }
    }

    /// Whether its ends are those of Linux.
    pub fn is_linux(&self) -> bool {
        self.common.stack == Stack::Linux && self.kind.has_stack()
    }

    /// Whether a flow goes over the connection of an earlier one, if one is idle.
    pub fn keeps_connections(&self) -> bool {
        self.is_linux() && self.linux.connections == Connections::Kept
    }
}
