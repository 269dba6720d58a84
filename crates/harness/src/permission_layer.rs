//! Layers of permissions of one's own, beside the layers of rules.

use ringfence_policy::Action;
use ringfence_policy::advice::Opinion;
use ringfence_policy::facts::Facts;

/// A layer that says of each action: allow, ask, deny, or nothing.
///
/// - a **denial** of any layer is final;
/// - **ask** makes a question of what would run;
/// - **allow** spares the question that the class of an action raises. It lifts no denial, no
///   question that a rule asks for, no danger of a command as a whole and nothing that a
///   [`Classifier`](crate::classifier::Classifier) finds, and lets nothing leave the fence;
/// - **passthrough** leaves it to the others.
///
/// The strictest of several layers counts. A layer is asked on every judgement and has to answer at
/// once; whoever needs time to find out, such as a service elsewhere, is an
/// [`Approver`](crate::approval::Approver).
pub trait PermissionLayer: Send + Sync {
    /// Who this is, for the reasons of a verdict.
    fn name(&self) -> &str;

    /// What it says of an action. There are facts if that is a command.
    fn decide(&self, action: &Action, facts: Option<&Facts>) -> Opinion;
}
