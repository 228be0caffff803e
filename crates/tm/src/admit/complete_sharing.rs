//! Complete sharing: a packet is admitted if it fits, whoever holds the buffer. No settings.

use super::{Admission, Request};
use crate::buffer::Buffer;
use crate::verdict::Reason;

#[inline]
pub(super) fn admit(request: Request<'_>, buffer: &Buffer) -> Admission {
    if request.charge <= buffer.remaining() { Admission::Admit } else { Admission::Reject(Reason::Full) }
}
