//! NDP (Handley et al., SIGCOMM 2017): the receiver decides who sends.
//!
//! A sender sends its first window at line rate without asking. A switch that is full cuts packets to their headers
//! instead of dropping them, so the receiver soon knows of every packet, and replies to each with an ACK or a NACK.
//! From then on the sender sends one packet for every pull it gets, packets that were cut or lost first. A receiving
//! host paces the pulls of all flows to it with one [`PullQueue`], so that what it asks for fits its link.
//!
//! # Counting
//!
//! A pull's `seq` counts the pulls that the receiver has sent for this flow so far. The sender's credit is that number
//! less the packets it has sent for pulls: a lost pull is made up by the next. Replies carry the same number (twice, as
//! the empty [`block`](crate::packet::Packet::block)), which makes up for lost pulls at the end of a flow, where no
//! further pull follows. An ACK's or NACK's `seq` is the first packet number that is still missing, `echo` the packet
//! that it is about.
//!
//! The receiver counts the packets that it still expects: the first window and one for every pull, less all that
//! arrived whole or cut. It owes the sender another pull when fewer are expected than missing. In a flow without loss
//! that makes exactly as many pulls as there are packets beyond the first window, plus one for each header. What the
//! network loses without a trace stays expected: the sender may therefore send the replacement without a pull (see
//! [`NdpSender`]), and the sum is right again.

mod pull;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use pull::PullQueue;
pub use receiver::NdpReceiver;
pub use sender::NdpSender;

use super::config::{ACKS, PACKETS, TIMER};
use super::{Common, InitialWindow, TransportSettings};
use forebay_tm::Duration;
use forebay_tm::settings;

settings! {
    /// Settings of NDP: it has none of its own. The first window and the timeouts are common settings.
    #[derive(Clone, Debug, PartialEq)]
    pub struct NdpConfig {}
}

impl TransportSettings for NdpConfig {
    fn adjust(&self, common: &mut Common) {
        common.initial_window = InitialWindow::Packets(30);
        common.rto_min = Duration::from_us(1_000);
        common.rto_initial = Duration::from_us(1_000);
    }

    /// The receiver's pulls take the place of a growing window.
    fn common_keys(&self) -> &'static [&'static [&'static str]] {
        &[&PACKETS, &ACKS, &["initial_window"], &TIMER]
    }

    fn rides_on_udp(&self) -> bool {
        true
    }
}
