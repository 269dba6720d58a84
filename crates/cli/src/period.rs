//! A period up to now, as a person writes it: `7d`, `24h`, `90m`, `2w`.

use std::str::FromStr;

use ringfence::audit::{Clock, SystemClock, Timestamp};

/// A period up to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Period {
    millis: u64,
}

impl Period {
    /// When it began.
    pub(crate) fn start(self) -> Timestamp {
        let now = SystemClock.now().as_millis();
        Timestamp::from_millis(now.saturating_sub(self.millis))
    }
}

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not a period; write 90m, 24h, 7d or 2w");
        let (number, minutes) = [("m", 1), ("h", 60), ("d", 24 * 60), ("w", 7 * 24 * 60)]
            .into_iter()
            .find_map(|(unit, minutes)| Some((text.strip_suffix(unit)?, minutes)))
            .ok_or_else(wrong)?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let millis = number.checked_mul(minutes * 60_000).ok_or_else(wrong)?;
        Ok(Self { millis })
    }
}

#[cfg(test)]
mod tests {
    use super::Period;

    #[test]
    fn periods_are_read() {
        for (text, millis) in [
            ("90m", 5_400_000),
            ("24h", 86_400_000),
            ("7d", 604_800_000),
            ("2w", 1_209_600_000),
        ] {
            assert_eq!(text.parse(), Ok(Period { millis }), "{text}");
        }
        for text in ["", "7", "d", "-1d", "7 d", "7y", "99999999999999999999d"] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
    }
}
