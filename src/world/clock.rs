//! The clock.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use crate::facts::Clock;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Unit};
use std::path::Path;

/// The present time in UTC, and the local day.
pub fn now() -> Clock {
    ahead(SignedDuration::ZERO)
}

pub fn ahead(by: SignedDuration) -> Clock {
    let at = Timestamp::now();
    let at = at.checked_add(by).unwrap_or(at);
    let at = at.round(Unit::Millisecond).unwrap_or(at);
    let zone = std::env::var("TZ").map_or_else(|_| zone_of(Path::new("/etc/localtime")), |name| named(&name));
    let local = at.to_zoned(zone.unwrap_or_else(TimeZone::system));
    Clock { at: at.to_string(), date: local.strftime("%m%d%y").to_string() }
}

/// The time zone that `TZ` names: a file, a name in the system's folder, or a rule.
///
/// Reads the one file, where the library would list every zone first.
fn named(name: &str) -> Option<TimeZone> {
    let name = name.strip_prefix(':').unwrap_or(name);
    if name.is_empty() {
        return Some(TimeZone::UTC);
    }
    zone_of(&Path::new("/usr/share/zoneinfo").join(name)).or_else(|| TimeZone::posix(name).ok())
}

fn zone_of(path: &Path) -> Option<TimeZone> {
    TimeZone::tzif("local", &base::disk::read(path, base::disk::SMALL).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_a_file_or_a_rule() {
        let at: Timestamp = "2026-11-16T03:00:00Z".parse().unwrap();
        let day = |name: &str| named(name).map(|zone| at.to_zoned(zone).strftime("%m%d%y").to_string());
        assert_eq!(day(""), Some("111626".into()));
        assert_eq!(day("EST5"), Some("111526".into()));
        assert_eq!(day("no/such/zone"), None);
    }
}
