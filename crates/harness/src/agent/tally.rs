//! What a run of the loop has come to so far, against its limits.

use std::time::Duration;

use ringfence_dialect::provider::{Turn, Usage};
use tokio::time::Instant;

use super::changes::FileDiff;
use super::limits::{AgentLimits, AgentReport, Ended};

/// What a run has come to so far.
pub(super) struct Tally {
    limits: AgentLimits,
    began: Instant,
    pub(super) deadline: Instant,
    pub(super) turns: u32,
    /// Failures in a row.
    pub(super) failures: u32,
    last_failure: String,
    usage: Usage,
    /// What the last turn cost.
    pub(super) last: Usage,
    text: String,
    steps: u32,
    failed_steps: u32,
    changed_files: Vec<String>,
}

impl Tally {
    pub(super) fn new(limits: &AgentLimits) -> Self {
        let began = Instant::now();
        let far = Duration::from_hours(24 * 365);
        Self {
            limits: limits.clone(),
            began,
            deadline: began + limits.timeout.min(far),
            turns: 0,
            failures: 0,
            last_failure: String::new(),
            usage: Usage::default(),
            last: Usage::default(),
            text: String::new(),
            steps: 0,
            failed_steps: 0,
            changed_files: Vec::new(),
        }
    }

    /// The limit that is reached, if one is.
    pub(super) fn limit_reached(&self) -> Option<Ended> {
        let limits = &self.limits;
        if self.failures >= limits.max_failures {
            return Some(Ended::FailureLimit {
                last: self.last_failure.clone(),
            });
        }
        if Instant::now() >= self.deadline {
            return Some(Ended::TimeLimit);
        }
        if self.turns >= limits.max_turns {
            return Some(Ended::TurnLimit);
        }
        let used_up = limits
            .max_tokens
            .is_some_and(|most| self.usage.total() >= most);
        used_up.then_some(Ended::TokenLimit)
    }

    pub(super) fn take(&mut self, turn: &Turn) {
        self.turns += 1;
        self.usage = self.usage.plus(turn.usage);
        self.last = turn.usage;
        self.text = turn.text();
        // Only a request that was answered ends a row of failed ones; a turn may fail all the same.
        if turn.calls().next().is_none() {
            self.failures = 0;
        }
    }

    pub(super) fn take_steps(&mut self, all: usize, failed: usize) {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.steps = self.steps.saturating_add(count(all));
        self.failed_steps = self.failed_steps.saturating_add(count(failed));
        if failed < all {
            self.failures = 0;
        }
    }

    pub(super) fn take_changes(&mut self, changes: &[FileDiff]) {
        for change in changes {
            if !self.changed_files.contains(&change.path) {
                self.changed_files.push(change.path.clone());
            }
        }
    }

    /// Counts a failure; tells whether it is one too many.
    pub(super) fn fail(&mut self, why: String) -> bool {
        self.failures += 1;
        self.last_failure = why;
        self.failures >= self.limits.max_failures
    }

    pub(super) fn report(self, ended: Ended) -> AgentReport {
        AgentReport {
            ended,
            text: self.text,
            turns: self.turns,
            steps: self.steps,
            failed_steps: self.failed_steps,
            usage: self.usage,
            duration: self.began.elapsed(),
            changed_files: self.changed_files,
        }
    }
}
