//! How often a script may tell how it gets on: one event in half a second, and fifty in all.

use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_millis(500);
const MOST: u32 = 50;
/// Characters of one message.
const LONGEST: usize = 500;

/// Counts the progress events of one script.
#[derive(Debug, Default)]
pub(super) struct Progress {
    last: Option<Instant>,
    told: u32,
}

impl Progress {
    /// The message as it may be told now; `None` if it comes too soon or is one too many.
    pub(super) fn admit(&mut self, message: &str, now: Instant) -> Option<String> {
        let soon = self.last.is_some_and(|last| now - last < EVERY);
        if soon || self.told >= MOST {
            return None;
        }
        self.last = Some(now);
        self.told += 1;
        let message = message.chars().filter(|c| !c.is_control() || *c == '\n');
        Some(message.take(LONGEST).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_half_a_second_and_fifty_in_all() {
        let start = Instant::now();
        let told = |step: u64, count: u32| {
            let mut progress = Progress::default();
            (0..count)
                .filter(|at| {
                    let now = start + Duration::from_millis(step * u64::from(*at));
                    progress.admit("x", now).is_some()
                })
                .count()
        };
        assert_eq!(told(100, 10), 2);
        assert_eq!(told(500, 10), 10);
        assert_eq!(told(500, 80), 50);
    }

    #[test]
    fn a_message_is_bounded_and_cannot_move_the_cursor() {
        let mut progress = Progress::default();
        let told = progress.admit(&format!("\x1b[2J{}", "y".repeat(1000)), Instant::now());
        let told = told.unwrap();
        assert_eq!(told.chars().count(), LONGEST);
        assert!(!told.contains('\x1b'));
    }
}
