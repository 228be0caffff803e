//! What root may do, one by one.

pub(super) use rustix::thread::CapabilitySet as Set;
use rustix::thread::{CapabilitySets, capabilities, capability_is_in_bounding_set as may_get, set_capabilities};
use rustix::thread::{remove_capability_from_bounding_set, set_no_new_privs};
use std::io;

/// No program that this thread starts ever gets other capabilities than these.
pub(super) fn bound(kept: Set) -> io::Result<()> {
    set_no_new_privs(true)?;
    // Without this privilege, that no program gets more has to do.
    if !capabilities(None)?.effective.contains(Set::SETPCAP) {
        return Ok(());
    }
    // The kernel does not know numbers beyond its highest.
    let all = (0..u64::BITS).map(|number| Set::from_bits_retain(1 << number));
    for capability in all.filter(|one| !kept.contains(*one) && may_get(*one).unwrap_or(false)) {
        remove_capability_from_bounding_set(capability)?;
    }
    Ok(())
}

/// Keeps these capabilities, as far as this thread has them, and no others, for good.
pub(super) fn keep(kept: Set) -> io::Result<()> {
    let permitted = capabilities(None)?.permitted & kept;
    Ok(set_capabilities(None, CapabilitySets { effective: permitted, permitted, inheritable: Set::empty() })?)
}
