//! The time that counts against a limit: it stands still while a person thinks or a call waits
//! for its turn.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// A clock that can be held. All clones are the same clock.
#[derive(Debug, Clone)]
pub struct Stopwatch(watch::Sender<Reading>);

#[derive(Debug, Clone, Copy)]
struct Reading {
    /// Time that had been counted when it was last stopped.
    counted: Duration,
    /// Since when it runs, unless it is held.
    since: Option<Instant>,
    /// How many hold it.
    holds: usize,
}

impl Reading {
    fn elapsed(&self) -> Duration {
        self.counted + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl Stopwatch {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self(watch::Sender::new(Reading {
            counted: Duration::ZERO,
            since: Some(Instant::now()),
            holds: 0,
        }))
    }

    /// Begins again at nothing. Who holds it still does.
    pub fn restart(&self) {
        self.0.send_modify(|reading| {
            reading.counted = Duration::ZERO;
            reading.since = (reading.holds == 0).then(Instant::now);
        });
    }

    /// The time that counts, so far.
    pub fn elapsed(&self) -> Duration {
        self.0.borrow().elapsed()
    }

    /// Holds the clock until the guard is dropped. It runs again when nobody holds it.
    #[must_use]
    pub fn pause(&self) -> Paused {
        self.0.send_modify(|reading| {
            reading.counted = reading.elapsed();
            reading.since = None;
            reading.holds += 1;
        });
        Paused(self.0.clone())
    }

    /// Waits until this much time has counted.
    pub async fn reaches(&self, limit: Duration) {
        let mut changes = self.0.subscribe();
        loop {
            let reading = *changes.borrow_and_update();
            let due = async {
                match reading.since {
                    Some(since) => sleep_until(since + limit.saturating_sub(reading.counted)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => return,
                // The sender lives as long as `self`.
                _ = changes.changed() => {}
            }
        }
    }
}

/// Holds a [`Stopwatch`] for as long as it lives.
#[derive(Debug)]
pub struct Paused(watch::Sender<Reading>);

impl Drop for Paused {
    fn drop(&mut self) {
        self.0.send_modify(|reading| {
            reading.holds -= 1;
            if reading.holds == 0 {
                reading.since = Some(Instant::now());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_that_is_held_does_not_count() {
        let clock = Stopwatch::start();
        let began = Instant::now();
        let second = Duration::from_secs(1);
        let outside = clock.clone();
        let holder = tokio::spawn(async move {
            tokio::time::sleep(second).await;
            let one = outside.pause();
            let two = outside.pause();
            tokio::time::sleep(60 * second).await;
            drop(one);
            tokio::time::sleep(60 * second).await;
            assert_eq!(outside.elapsed(), second);
            drop(two);
        });
        clock.reaches(3 * second).await;
        assert_eq!(began.elapsed(), 123 * second);
        assert_eq!(clock.elapsed(), 3 * second);
        holder.await.unwrap();
    }
}
