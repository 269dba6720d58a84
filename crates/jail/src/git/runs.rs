//! Runs that live at the same time. What one finds at its beginning may have been made by another
//! a moment ago: it proves nothing, and is not brought back.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::reach::Found;
use super::seen::is_older;

/// A run of this process.
#[derive(Debug)]
struct Run {
    number: u64,
    began: SystemTime,
    roots: Vec<PathBuf>,
}

/// Those of this process: several sessions may have the same roots.
static LIVE: Mutex<(u64, Vec<Run>)> = Mutex::new((0, Vec::new()));

fn live() -> MutexGuard<'static, (u64, Vec<Run>)> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run that lives, from before its beginning until everything that it did has been looked at.
#[derive(Debug)]
pub(super) struct Living(u64);

impl Living {
    /// From now on.
    pub(super) fn from_now(roots: &[PathBuf]) -> Self {
        let mut live = live();
        live.0 += 1;
        let run = Run {
            number: live.0,
            began: SystemTime::now(),
            roots: roots.to_vec(),
        };
        live.1.push(run);
        Self(live.0)
    }

    /// Since when another one has been alive that may write where this one does.
    pub(super) fn beside(&self) -> Option<SystemTime> {
        let live = live();
        let own = live.1.iter().find(|run| run.number == self.0)?;
        let others = live.1.iter().filter(|run| run.number != self.0);
        let beside = others.filter(|run| {
            let meets = |one: &Path| own.roots.iter().any(|own| meet(one, own));
            run.roots.iter().any(|root| meets(root))
        });
        beside.map(|run| run.began).min()
    }
}

/// The beginning of a run: from before anything is looked at until it has been.
#[derive(Debug)]
pub(crate) struct Beginning {
    living: Living,
    trust: Trust,
}

impl Beginning {
    /// The run with these roots begins now.
    pub(crate) fn now(roots: &[PathBuf]) -> Self {
        let living = Living::from_now(roots);
        let trust = Trust::default().before(living.beside());
        Self { living, trust }
    }

    /// Everything has been looked at. One that began meanwhile may have done something by the end of
    /// the look.
    pub(super) fn over(self) -> (Living, Trust) {
        let trust = self.trust.before(self.living.beside());
        (self.living, trust)
    }
}

fn meet(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

impl Drop for Living {
    fn drop(&mut self) {
        live().1.retain(|run| run.number != self.0);
    }
}

/// Which of the things that were there at a run's beginning are known to be the user's: those that
/// nobody has touched since the first of the others began. The kernel alone sets the times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Trust {
    /// Since when another run has been alive.
    since: Option<SystemTime>,
}

impl Trust {
    /// Trusts nothing that was changed since then.
    pub(super) fn before(self, since: Option<SystemTime>) -> Self {
        let both = [self.since, since].into_iter().flatten();
        Self { since: both.min() }
    }

    /// Whether something was the user's.
    pub(super) fn holds(self, then: &Found) -> bool {
        let (Some(since), Some(stamp)) = (self.since, then.stamp()) else {
            return true;
        };
        is_older(stamp, since)
    }

    /// Whether something is as it was before every run, where that is in doubt.
    pub(super) fn knows(self, now: &Found) -> bool {
        self.since.is_some() && self.holds(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_beside_each_other_know_of_each_other() {
        let at = |path: &str| vec![PathBuf::from(path)];
        let one = Living::from_now(&at("/runs-test/a"));
        let other = Living::from_now(&at("/runs-test/a/b"));
        let elsewhere = Living::from_now(&at("/runs-test/ab"));
        assert!(one.beside().is_some());
        assert!(other.beside() <= Some(SystemTime::now()));
        assert_eq!(elsewhere.beside(), None);
        drop(one);
        assert_eq!(other.beside(), None);
    }
}
