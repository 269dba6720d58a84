//! The time of a `Date` as text, and back.

use std::fmt::Write as _;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// The text of `Date.prototype.toISOString`; `null` for an invalid date.
pub(super) fn iso_from_millis(time: f64) -> Option<String> {
    if !time.is_finite() || time.abs() > 8.64e15 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded above")]
    let time = time as i64;
    let (days, millis) = (
        time.div_euclid(MILLIS_PER_DAY),
        time.rem_euclid(MILLIS_PER_DAY),
    );
    // Civil date from days, after Howard Hinnant's algorithm with years that begin in March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let mut text = match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{}{:06}", if year < 0 { '-' } else { '+' }, year.abs()),
    };
    let (seconds, ms) = (millis / 1000, millis % 1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let _ = write!(
        text,
        "-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{ms:03}Z"
    );
    Some(text)
}

/// Reads what [`iso_from_millis`] writes.
pub(super) fn millis_from_iso(text: &str) -> Option<f64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (year_text, rest) = date.split_at_checked(date.len().checked_sub(6)?)?;
    let year: i64 = year_text.parse().ok()?;
    let rest = rest.strip_prefix('-')?;
    let (month, day) = rest.split_once('-')?;
    let (month, day): (i64, i64) = (month.parse().ok()?, day.parse().ok()?);
    let mut parts = time.split(':');
    let hours: i64 = parts.next()?.parse().ok()?;
    let minutes: i64 = parts.next()?.parse().ok()?;
    let (seconds, ms) = parts.next()?.split_once('.')?;
    let (seconds, ms): (i64, i64) = (seconds.parse().ok()?, ms.parse().ok()?);
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hours)
        && (0..60).contains(&minutes)
        && (0..60).contains(&seconds)
        && (0..1000).contains(&ms)
        && year.abs() < 300_000
        && parts.next().is_none();
    if !in_range {
        return None;
    }
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (shifted_year.div_euclid(400), shifted_year.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let millis = ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a Date is below 2^53 milliseconds"
    )]
    Some((days * MILLIS_PER_DAY + millis) as f64)
}
