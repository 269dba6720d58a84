//! What a ratio has to be, and whether it is.

use std::fmt;

/// A bound on a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Not above this.
    AtMost(f64),
    /// Not below this.
    AtLeast(f64),
}

/// A ratio that was measured, beside what it has to be.
#[derive(Debug, Clone)]
pub struct Target {
    /// What is compared with what.
    pub what: &'static str,
    /// What was measured.
    pub measured: f64,
    /// What it has to be.
    pub bound: Bound,
}

/// Noise moves a ratio of medians by a few percent; a check fails only beyond this.
const CLEAR: f64 = 0.15;

impl Target {
    /// Whether the bound holds.
    pub fn is_met(&self) -> bool {
        match self.bound {
            Bound::AtMost(most) => self.measured <= most,
            Bound::AtLeast(least) => self.measured >= least,
        }
    }

    /// Whether the bound is broken by more than noise explains.
    pub fn is_clearly_missed(&self) -> bool {
        match self.bound {
            Bound::AtMost(most) => self.measured > most * (1.0 + CLEAR),
            Bound::AtLeast(least) => self.measured < least * (1.0 - CLEAR),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, limit) = match self.bound {
            Bound::AtMost(most) => ("at most", most),
            Bound::AtLeast(least) => ("at least", least),
        };
        let verdict = if self.is_met() {
            "met"
        } else if self.is_clearly_missed() {
            "MISSED"
        } else {
            "missed, within noise"
        };
        write!(
            f,
            "{:<44} {:>5.2}  {word} {limit:<4}  {verdict}",
            self.what, self.measured
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_met_nearly_missed_or_clearly_missed() {
        for (bound, measured, met, clearly_missed) in [
            (Bound::AtMost(3.0), 2.9, true, false),
            (Bound::AtMost(3.0), 3.2, false, false),
            (Bound::AtMost(3.0), 3.6, false, true),
            (Bound::AtLeast(0.7), 0.8, true, false),
            (Bound::AtLeast(0.7), 0.65, false, false),
            (Bound::AtLeast(0.7), 0.5, false, true),
        ] {
            let target = Target {
                what: "",
                measured,
                bound,
            };
            assert_eq!(
                (target.is_met(), target.is_clearly_missed()),
                (met, clearly_missed),
                "{target}"
            );
        }
    }
}
