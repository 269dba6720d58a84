//! What is tried again, and after how long.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::HeaderMap;

/// How often a request is tried, and how long is waited in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// So often again, at most.
    pub most: u32,
    /// The wait before the first of them; each one after it is twice as long.
    pub first_wait: Duration,
    /// The longest wait of our own choice.
    pub longest_wait: Duration,
    /// The longest wait that a server may ask for. One that asks for more has its error told.
    pub longest_asked: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            most: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(16),
            longest_asked: Duration::from_mins(2),
        }
    }
}

impl Retries {
    /// None at all.
    pub const NONE: Self = Self {
        most: 0,
        first_wait: Duration::ZERO,
        longest_wait: Duration::ZERO,
        longest_asked: Duration::ZERO,
    };

    /// How long to wait before the next try; none if there is to be none.
    pub(crate) fn wait(&self, tried: u32, asked: Option<Duration>) -> Option<Duration> {
        if tried > self.most {
            return None;
        }
        if let Some(asked) = asked {
            return (asked <= self.longest_asked).then_some(asked);
        }
        let doubled = self.first_wait.saturating_mul(1 << (tried - 1).min(16));
        let wait = doubled.min(self.longest_wait);
        // Up to a quarter less, so that clients that failed together do not come back together.
        Some(wait.mul_f64(1.0 - chance() / 4.0))
    }
}

/// A wait that somebody may want to be told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Why, in a sentence without its end.
    pub why: String,
    /// For how long.
    pub wait: Duration,
    /// Which try comes next.
    pub next_try: u32,
    /// How many there are at most.
    pub most_tries: u32,
}

/// A number from 0 to 1 that two clients hardly share.
fn chance() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    f64::from(now.unwrap_or_default().subsec_nanos() % 1_000) / 1_000.0
}

/// Whether an answer of this status may be another one the next time.
pub(crate) fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504 | 520..=529)
}

/// How long a server asks to be left alone.
pub(crate) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok()?;
        (0.0..1e9).contains(&number).then_some(number)
    };
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Some(Duration::from_secs_f64(millis / 1_000.0));
    }
    let written = text("retry-after")?;
    if let Some(seconds) = number(written) {
        return Some(Duration::from_secs_f64(seconds));
    }
    let until = httpdate::parse_http_date(written).ok()?;
    Some(until.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_how_long_to_wait() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_770);
        for (name, value, expected) in [
            ("retry-after", "3", Some(3_000)),
            ("retry-after", " 0.25", Some(250)),
            ("retry-after-ms", "1500", Some(1_500)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(7_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT", Some(0)),
            ("retry-after", "-5", None),
            ("retry-after", "soon", None),
            ("retry-after", "Sun, 32 Nov 1994 08:49:37 GMT", None),
            ("retry-after", "NaN", None),
            ("x-other", "3", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let expected = expected.map(Duration::from_millis);
            assert_eq!(asked(&headers, now), expected, "{name}: {value}");
        }
    }

    #[test]
    fn waits_grow_and_end() {
        let retries = Retries {
            most: 3,
            ..Retries::default()
        };
        let wait = |tried, asked: Option<u64>| retries.wait(tried, asked.map(Duration::from_secs));
        for (tried, most) in [(1, 500), (2, 1_000), (3, 2_000)] {
            let wait = wait(tried, None).unwrap().as_millis();
            assert!(wait <= most && wait >= most * 3 / 4, "{tried}: {wait}");
        }
        assert_eq!(wait(4, None), None);
        assert_eq!(wait(4, Some(1)), None);
        assert_eq!(wait(1, Some(7)), Some(Duration::from_secs(7)));
        assert_eq!(wait(1, Some(121)), None, "more than it may ask for");
    }
}
