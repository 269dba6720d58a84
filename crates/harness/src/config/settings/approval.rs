//! `[approval]`: when a person is asked.

use std::time::Duration;

use ringfence_policy::permissions::ApprovalPolicy;

use crate::config::declare::{settings, words};

settings! {
    /// When a person is asked.
    pub struct ApprovalConfig in "approval" {
        /// When a person is asked.
        policy: ApprovalPolicy = word("on-failure"), Unless(TIGHTER);
        /// How long to wait for an answer; then it counts as no.
        timeout["timeout_ms"]: Duration = millis(1, 60_000), Never;
    }
}

words! {
    ApprovalPolicy {
        Never = "never",
        OnFailure = "on-failure",
        OnRequest = "on-request",
        UnlessTrusted = "unless-trusted",
    }
}

/// Read off the verdict table: in each of these steps no cell gets looser.
const TIGHTER: &[(&str, &str)] = &[
    ("on-failure", "never"),
    ("on-failure", "on-request"),
    ("on-failure", "unless-trusted"),
    ("on-request", "unless-trusted"),
];
