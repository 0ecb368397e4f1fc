//! The time of an event.

use crate::facts::Clock;
use jiff::{Timestamp, Unit, Zoned};

/// The time now: the instant in UTC, the day as the user's clock says it.
#[must_use]
pub fn now() -> Clock {
    let at = Timestamp::now();
    let at = at.round(Unit::Millisecond).unwrap_or(at);
    let date = Zoned::now().strftime("%m%d%y").to_string();
    Clock { at: at.to_string(), date }
}
