//! The time of a record, and where it comes from.
//!
//! A clock is handed in, so that tests can stop it. Times are written as RFC 3339 in UTC with
//! milliseconds; there is no time zone here.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time};

const NANOS_PER_MILLI: i128 = 1_000_000;

/// Tells the time to the audit log.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::from(SystemTime::now())
    }
}

/// A moment in UTC, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Timestamp(u64);

impl Timestamp {
    /// The moment this many milliseconds after the beginning of 1970.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the beginning of 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// How long it is after another; nothing if it is before.
    pub(super) fn since(self, other: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(other.0))
    }

    /// The same moment without separators, as file names have it: `20260102T030405678Z`.
    pub(super) fn compact(self) -> String {
        self.to_string()
            .chars()
            .filter(|c| !matches!(c, '-' | ':' | '.'))
            .collect()
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        // A clock before 1970 is broken; the chain, not the time, proves the order of records.
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = i128::from(self.0) * NANOS_PER_MILLI;
        // A clock that is beyond all calendars is broken, and stands still at their end.
        let at = OffsetDateTime::from_unix_timestamp_nanos(nanos)
            .unwrap_or_else(|_| PrimitiveDateTime::MAX.assume_utc());
        let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
        let (hour, minute, second, millis) = at.time().as_hms_milli();
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
        )
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

impl TryFrom<String> for Timestamp {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl FromStr for Timestamp {
    type Err = String;

    /// Reads back the one form that is written here.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |from: usize, to: usize| text.get(from..to)?.parse::<u16>().ok();
        let small = |from: usize| u8::try_from(number(from, from + 2)?).ok();
        let parsed = || {
            let month = Month::try_from(small(5)?).ok()?;
            let year = i32::from(number(0, 4)?);
            let date = Date::from_calendar_date(year, month, small(8)?).ok()?;
            let (hour, minute, second) = (small(11)?, small(14)?, small(17)?);
            let time = Time::from_hms_milli(hour, minute, second, number(20, 23)?).ok()?;
            let nanos = date.with_time(time).assume_utc().unix_timestamp_nanos();
            u64::try_from(nanos / NANOS_PER_MILLI).ok().map(Self)
        };
        // Printing it again is the check of every separator and range.
        parsed()
            .filter(|time| time.to_string() == text)
            .ok_or_else(|| format!("`{text}` is not a time like 2026-01-02T03:04:05.678Z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read_as_rfc_3339() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_767_323_045_678, "2026-01-02T03:04:05.678Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
            assert_eq!(text.parse(), Ok(Timestamp::from_millis(millis)));
        }
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        for text in [
            "",
            "2026-02-30T00:00:00.000Z",
            "2026-01-02 03:04:05.678Z",
            "1969-12-31",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
}
