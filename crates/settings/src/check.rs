//! Checks of values of settings, for `settings!`.

use forebay_tm::described::Wrong;
use forebay_tm::{Bytes, Duration, Rate};

/// A number from 0 to 1.
pub fn share(number: &f64) -> Result<(), Wrong> {
    if (0.0..=1.0).contains(number) {
        return Ok(());
    }
    Err(Wrong::new(format!("{number} is out of range"), "give a number from 0 to 1"))
}

/// A number above zero.
pub fn above_zero(number: &f64) -> Result<(), Wrong> {
    if *number > 0.0 && number.is_finite() {
        return Ok(());
    }
    Err(Wrong::new(format!("{number} is out of range"), "give a number above 0"))
}

/// One or more.
pub fn at_least_one<T: Default + PartialEq>(number: &T) -> Result<(), Wrong> {
    if *number != T::default() { Ok(()) } else { Err(Wrong::new("there must be at least one", "give 1 or more")) }
}

/// A rate at which something is sent.
pub fn sends(rate: &Rate) -> Result<(), Wrong> {
    if rate.bps() > 0 { Ok(()) } else { Err(Wrong::new("nothing would ever be sent at this rate", Rate::FORMS)) }
}

/// A rate at which something arrives.
pub fn carries(rate: &Rate) -> Result<(), Wrong> {
    if rate.bps() > 0 { Ok(()) } else { Err(Wrong::new("nothing would ever arrive at this rate", Rate::FORMS)) }
}

/// A delay that light could need on earth, not a slip of the unit.
pub fn delay(delay: &Duration) -> Result<(), Wrong> {
    if *delay <= Duration::from_us(1_000_000) {
        return Ok(());
    }
    Err(Wrong::new(format!("a delay of {delay} is too long"), "give 1s at most, such as \"1us\""))
}

/// A time above zero.
pub fn lasts(span: &Duration) -> Result<(), Wrong> {
    if span.ps() > 0 {
        return Ok(());
    }
    Err(Wrong::new("it must be longer than nothing", "give a time such as \"10us\""))
}

/// A size of a flow: not nothing.
pub fn flow_size(bytes: &Bytes) -> Result<(), Wrong> {
    // Payload is counted in bits and in doubles; nobody needs more.
    if (1..=1 << 53).contains(&bytes.get()) {
        return Ok(());
    }
    Err(Wrong::new(format!("{bytes} is not the size of a flow"), "give 1 byte to 2^53 bytes"))
}

/// The same of a value that may be left out.
pub fn if_set<T>(check: impl Fn(&T) -> Result<(), Wrong>) -> impl Fn(&Option<T>) -> Result<(), Wrong> {
    move |value| value.as_ref().map_or(Ok(()), &check)
}
