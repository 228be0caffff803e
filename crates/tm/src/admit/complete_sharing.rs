//! Complete sharing: a packet is admitted if it fits, whoever holds the buffer. No settings.

use super::{Admission, Request, Scheme};
use crate::buffer::Buffer;
use crate::schedule::Place;
use crate::verdict::{Reason, Threshold, Why};

#[derive(Clone, Debug)]
pub(crate) struct CompleteSharing;

impl Scheme for CompleteSharing {
    #[inline(always)]
    fn admit(&mut self, request: Request<'_>, buffer: &Buffer, _: &mut impl Why) -> Admission {
        if request.charge <= buffer.remaining() { Admission::Admit } else { Admission::Reject(Reason::Full) }
    }

    fn threshold_of(&self, _: Place, _: &Buffer) -> Option<Threshold> {
        None
    }
}
