//! Classifiers of one's own: whoever knows commands that the tables do not.

use ringfence_policy::advice::Finding;
use ringfence_policy::facts::Facts;
use ringfence_policy::ground::Ground;

/// Somebody who sorts commands into classes, besides the tables.
///
/// A command is as bad as the worst that is found about it, by the tables or by a classifier. So a
/// classifier can only make a class worse: what it finds better than the tables is not heard, and no
/// allow rule lifts what it finds. The way to make something better is a rule that allows it, written by
/// whoever answers for the machine and seen in every verdict.
///
/// It is asked on every judgement, and again for the same command: it must answer at once, and the
/// same for the same facts.
pub trait Classifier: Send + Sync {
    /// Who this is, for the reasons of a verdict.
    fn name(&self) -> &str;

    /// What it finds about a command.
    fn classify(&self, facts: &Facts, ground: &Ground) -> Vec<Finding>;
}
