//! A contest: contenders that take turns, so that the machine's noise hits all of them alike.

use std::time::Duration;

/// What went wrong in a contender.
pub type Trouble = Box<dyn std::error::Error>;

/// Somebody who is timed: does the job once and says how long it took.
pub type Turn<'a> = Box<dyn FnMut() -> Result<Duration, Trouble> + 'a>;

/// One who takes part.
pub struct Contender<'a> {
    /// What the table calls it.
    pub name: String,
    /// Does the job once.
    pub turn: Turn<'a>,
}

/// Times of one contender.
#[derive(Debug, Clone, Default)]
pub struct Times(Vec<Duration>);

/// A pause after every turn. What a command leaves for the kernel to tear down is done by then,
/// and is not charged to whoever comes next.
const REST: Duration = Duration::from_millis(2);

/// Lets everybody do the job `rounds` times, in turn, and adds to their times. Whoever goes first
/// changes from round to round.
pub fn hold(
    contenders: &mut [Contender<'_>],
    times: &mut [Times],
    rounds: u32,
) -> Result<(), Trouble> {
    let many = contenders.len();
    for round in 0..rounds {
        for step in 0..many {
            let index = (round as usize + step) % many;
            let took = (contenders[index].turn)()
                .map_err(|trouble| format!("{}: {trouble}", contenders[index].name))?;
            times[index].0.push(took);
            std::thread::sleep(REST);
        }
    }
    Ok(())
}

impl Times {
    /// The middle one of the times.
    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }

    /// The time that this share of all times stays below.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index into a list of some hundred times"
    )]
    pub fn quantile(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let index = ((sorted.len() as f64) * share) as usize;
        sorted
            .get(index.min(sorted.len().saturating_sub(1)))
            .copied()
            .unwrap_or_default()
    }
}

/// How many times as long as `other` this is.
pub fn ratio(this: Duration, other: Duration) -> f64 {
    this.as_secs_f64() / other.as_secs_f64()
}
