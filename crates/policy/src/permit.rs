//! The right to do one thing, once, within stated bounds.
//!
//! A permit cannot be made outside this crate: its fields are private and nothing but
//! [`judge`](crate::judge()) and [`settle`](crate::settle()) calls its constructor. Whoever holds one
//! may use it up; the jail takes it by value.

use std::fmt;

use crate::action::Action;
use crate::permissions::{Limits, SandboxPolicy};

/// Proof that an action was judged and may happen.
///
/// ```compile_fail,E0451
/// // There is no way to make one from outside.
/// use ringfence_policy::{Action, Permit, permit::{Basis, Confinement}};
/// fn forge(action: Action, confinement: Confinement, basis: Basis) -> Permit {
///     Permit { action, confinement, basis }
/// }
/// ```
///
/// ```compile_fail,E0624
/// use ringfence_policy::{Action, Permit, permit::{Basis, Confinement}};
/// fn forge(action: Action, confinement: Confinement, basis: Basis) -> Permit {
///     Permit::new(action, confinement, basis)
/// }
/// ```
///
/// ```compile_fail
/// // Nor can one be used twice.
/// fn twice(permit: ringfence_policy::Permit) { drop(permit.clone()); drop(permit); }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    action: Action,
    confinement: Confinement,
    basis: Basis,
}

/// The bounds within which a permit holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every one is the large one, and there are few at a time"
)]
pub enum Confinement {
    /// Inside the fence.
    Fenced {
        /// How far it reaches.
        sandbox: SandboxPolicy,
        /// How much it uses.
        limits: Limits,
    },
    /// Outside the fence, within limits alone.
    Unfenced {
        /// How much it uses.
        limits: Limits,
    },
}

impl Confinement {
    /// How much of the machine may be used, inside the fence or outside.
    pub fn limits(&self) -> &Limits {
        match self {
            Self::Fenced { limits, .. } | Self::Unfenced { limits } => limits,
        }
    }
}

/// What a permit rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// The policy lets it run without a question.
    Policy,
    /// A rule allows it.
    Rule(String),
    /// Somebody was asked and said yes.
    Approval,
    /// Somebody said yes earlier in this session.
    SessionApproval,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy => f.write_str("policy"),
            Self::Rule(rule) => write!(f, "rule {rule}"),
            Self::Approval => f.write_str("approval"),
            Self::SessionApproval => f.write_str("approval for the session"),
        }
    }
}

impl Permit {
    /// Only `judge` and `settle` call this.
    pub(crate) fn new(action: Action, confinement: Confinement, basis: Basis) -> Self {
        Self {
            action,
            confinement,
            basis,
        }
    }

    /// What may happen.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// Within which bounds.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// On what grounds.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// Uses the permit up.
    pub fn redeem(self) -> (Action, Confinement) {
        (self.action, self.confinement)
    }
}
