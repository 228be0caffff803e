//! Trimming (section 9 of the specification).

use crate::packet::{Reason, Verdict};
use crate::switch::Model;

/// A packet that waits in a header queue.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// Its number among the arrivals.
    pub(crate) packet: usize,
    /// What is left of it.
    pub(crate) bytes: u64,
    /// Why it was rejected.
    pub(crate) reason: Reason,
}

impl Model<'_> {
    /// Section 3, step 4: packet `n` was rejected, and is trimmed or dropped.
    pub(crate) fn reject(&mut self, n: usize, reason: Reason) {
        let Some(trim) = &self.switch.trim else {
            self.settle(n, Verdict::Dropped, reason, None);
            return;
        };
        let arrival = &self.arrivals[n];
        let port = &mut self.ports[arrival.port];
        if port.headers.len() < trim.header_capacity {
            port.headers.push_back(Header { packet: n, bytes: arrival.bytes.min(trim.size), reason });
            self.pick_if_idle(arrival.port);
        } else if trim.return_to_sender {
            self.settle(n, Verdict::Returned, reason, None);
        } else {
            self.settle(n, Verdict::Dropped, Reason::HeaderFull, None);
        }
    }

    /// Whether port `p`, at which `data`, `headers` or both wait, serves a header now.
    pub(crate) fn header_goes_first(&mut self, p: usize, data: bool, headers: bool) -> bool {
        let Some(trim) = &self.switch.trim else {
            return false;
        };
        if trim.strict {
            return headers;
        }
        let h = &mut self.ports[p].h;
        if data && headers && *h < trim.header_ratio {
            *h += 1;
            true
        } else if data {
            *h = 0;
            false
        } else {
            true
        }
    }
}
