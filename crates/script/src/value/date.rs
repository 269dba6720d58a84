//! The time of a `Date` as text, and back.

use time::{Date, Month, OffsetDateTime, Time};

const NANOS_PER_MILLI: i128 = 1_000_000;

/// The text of `Date.prototype.toISOString`; `null` for an invalid date.
pub(super) fn iso_from_millis(time: f64) -> Option<String> {
    if !time.is_finite() || time.abs() > 8.64e15 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded above")]
    let nanos = i128::from(time as i64) * NANOS_PER_MILLI;
    let at = OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()?;
    let year = match at.year() {
        year @ 0..=9999 => format!("{year:04}"),
        year => format!("{}{:06}", if year < 0 { '-' } else { '+' }, year.abs()),
    };
    let (month, day) = (u8::from(at.month()), at.day());
    let (hours, minutes, seconds, ms) = at.time().as_hms_milli();
    Some(format!(
        "{year}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{ms:03}Z"
    ))
}

/// Reads what [`iso_from_millis`] writes.
pub(super) fn millis_from_iso(text: &str) -> Option<f64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (year, rest) = date.split_at_checked(date.len().checked_sub(6)?)?;
    let (month, day) = rest.strip_prefix('-')?.split_once('-')?;
    let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
    let date = Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()?;
    let (clock, ms) = time.split_once('.')?;
    let mut clock = clock.split(':').map(|part| part.parse::<u8>().ok());
    let (hours, minutes, seconds) = (clock.next()??, clock.next()??, clock.next()??);
    let time = Time::from_hms_milli(hours, minutes, seconds, ms.parse().ok()?).ok()?;
    let nanos = date.with_time(time).assume_utc().unix_timestamp_nanos();
    #[expect(
        clippy::cast_precision_loss,
        reason = "a Date is below 2^53 milliseconds"
    )]
    let millis = (nanos / NANOS_PER_MILLI) as f64;
    (clock.next().is_none() && millis.abs() <= 8.64e15).then_some(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_the_language_does_and_read_back() {
        for (millis, text) in [
            (0.0, "1970-01-01T00:00:00.000Z"),
            (-1.0, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000.0, "2000-02-29T00:00:00.000Z"),
            (-62_167_219_200_001.0, "-000001-12-31T23:59:59.999Z"),
            (8.64e15, "+275760-09-13T00:00:00.000Z"),
            (-8.64e15, "-271821-04-20T00:00:00.000Z"),
        ] {
            assert_eq!(iso_from_millis(millis).as_deref(), Some(text));
            assert_eq!(millis_from_iso(text), Some(millis), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        assert_eq!(iso_from_millis(f64::NAN), None);
        assert_eq!(iso_from_millis(8.65e15), None);
        for text in [
            "",
            "2026-02-30T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:00:00:00.000Z",
            "+275760-09-13T00:00:00.001Z",
            "2026-01-01",
        ] {
            assert_eq!(millis_from_iso(text), None, "{text}");
        }
    }
}
