//! Sorting commands into classes by what they would do.
//!
//! [`classify`] looks at every part of a command and at the whole, and answers with the worst of
//! what it finds, and why. The knowledge is in `tables`, one table per family of programs; the
//! files beside it read those tables. Being read-only skips a question, never the fence.

mod environment;
mod exception;
mod git;
mod loss;
mod lurking;
mod operands;
mod part;
mod path;
mod scripts;
mod table;
mod tables;
mod terminal;
mod touch;
mod whole;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    advice::Advice,
    facts::{Directory, Facts, Redirection, SimpleCommand},
    ground::Ground,
};
use environment::{Seen, Setting};

pub(crate) use lurking::may_hold_a_command;
pub(crate) use part::{has_subcommands, is_system_program, own_words, without_global_options};
pub(crate) use path::spread;
pub(crate) use terminal::on_a_terminal;

/// How a command is sorted, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// It only looks.
    ReadOnly,
    /// It may change the workspace, as development does, and is fine inside the fence.
    Safe,
    /// Nobody knows.
    Unknown,
    /// It wants something that is seldom wanted, or it hides what it does.
    Suspicious,
    /// It destroys, or it runs what somebody else sends.
    Dangerous,
}

impl Class {
    /// The name, as it is written in rules and replies.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Safe => "safe",
            Self::Unknown => "unknown",
            Self::Suspicious => "suspicious",
            Self::Dangerous => "dangerous",
        }
    }

    /// All classes, from the best to the worst.
    pub const ALL: [Self; 5] = [
        Self::ReadOnly,
        Self::Safe,
        Self::Unknown,
        Self::Suspicious,
        Self::Dangerous,
    ];
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a part of a command is in its class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The part of the command.
    pub part: String,
    /// The class that it alone would give.
    pub class: Class,
    /// Why, for a person.
    pub why: String,
    /// Whether it belongs to the whole command, so that a rule about a part does not lift it.
    pub whole: bool,
}

/// The class of a command, and the reasons for it, the weightiest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Classification {
    /// The worst of the parts and the whole.
    pub class: Class,
    /// Every finding, the weightiest first.
    pub reasons: Vec<Reason>,
}

impl Classification {
    /// The findings that decided the class.
    pub fn deciding(&self) -> impl Iterator<Item = &Reason> {
        self.reasons
            .iter()
            .filter(|reason| reason.class == self.class)
    }

    /// The same with what others found; it is never better for that.
    pub(crate) fn advised(mut self, advice: &Advice) -> Self {
        if advice.findings.is_empty() {
            return self;
        }
        self.class = self.class.max(advice.worst());
        self.reasons.extend(advice.reasons());
        self.reasons
            .sort_by_key(|reason| std::cmp::Reverse(reason.class));
        self
    }

    /// The worst class of what belongs to the whole; no rule about a part lifts it.
    pub fn of_the_whole(&self) -> Class {
        let whole = self.reasons.iter().filter(|reason| reason.whole);
        whole
            .map(|reason| reason.class)
            .max()
            .unwrap_or(Class::ReadOnly)
    }
}

/// Sorts a command.
pub fn classify(facts: &Facts, ground: &Ground) -> Classification {
    let mut findings = Findings::default();
    for unclear in &facts.not_understood {
        findings.whole(Class::Suspicious, &unclear.part, unclear.why.in_words());
    }
    for doubt in &facts.doubtful {
        findings.whole(Class::Unknown, &doubt.part, doubt.why.in_words());
    }
    for command in &facts.commands {
        part::judge(command, facts, ground, &mut findings);
    }
    for redirection in &facts.redirections {
        part::judge_redirection(redirection, ground, &mut findings);
    }
    shell_variables(facts, ground, &mut findings);
    whole::judge(facts, ground, &mut findings);
    if facts.commands.is_empty() && findings.reasons.is_empty() {
        findings.add(Class::ReadOnly, "", "it runs no program");
    }
    findings.finish()
}

/// The class of one simple command by itself, its redirections left aside.
pub(crate) fn class_of_part(command: &SimpleCommand, facts: &Facts, ground: &Ground) -> Class {
    let mut findings = Findings::default();
    part::judge(command, facts, ground, &mut findings);
    findings.finish().class
}

/// Judges the variables that are set for the shell itself.
fn shell_variables(facts: &Facts, ground: &Ground, findings: &mut Findings) {
    let directory = Directory {
        chains: vec![Vec::new()],
        unknown: false,
    };
    let setting = Setting {
        seen: Seen::Shell,
        zsh: part::involves_zsh(facts),
        directory: &directory,
        ground,
    };
    for assignment in &facts.assignments {
        environment::judge(assignment, &setting, findings);
    }
}

/// The class of the variables that are set for one command.
pub(crate) fn class_of_assignments(
    command: &SimpleCommand,
    facts: &Facts,
    ground: &Ground,
) -> Class {
    let mut findings = Findings::default();
    part::variables(command, facts, ground, &mut findings);
    let worst = findings.reasons.iter().map(|reason| reason.class).max();
    worst.unwrap_or(Class::ReadOnly)
}

/// The class of what a redirection does.
pub(crate) fn class_of_redirection(redirection: &Redirection, ground: &Ground) -> Class {
    let mut findings = Findings::default();
    part::judge_redirection(redirection, ground, &mut findings);
    findings
        .reasons
        .iter()
        .map(|reason| reason.class)
        .max()
        .unwrap_or(Class::ReadOnly)
}

/// The class of what belongs to no single command: what is not understood, dangers of the whole,
/// and variables that are set for everything that follows.
pub(crate) fn class_of_the_rest(facts: &Facts, ground: &Ground) -> Class {
    let mut findings = Findings::default();
    whole::judge(facts, ground, &mut findings);
    shell_variables(facts, ground, &mut findings);
    let worst = findings.reasons.iter().map(|reason| reason.class).max();
    let unclear = match (facts.not_understood.is_empty(), facts.doubtful.is_empty()) {
        (false, _) => Class::Suspicious,
        (true, false) => Class::Unknown,
        (true, true) => Class::ReadOnly,
    };
    worst.unwrap_or(Class::ReadOnly).max(unclear)
}

/// How many reasons are kept.
const MAX_REASONS: usize = 200;

/// Findings as they come in.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    reasons: Vec<Reason>,
}

impl Findings {
    pub(crate) fn add(&mut self, class: Class, part: &str, why: impl Into<String>) {
        self.push(Reason {
            part: shorten(part),
            class,
            why: why.into(),
            whole: false,
        });
    }

    pub(crate) fn whole(&mut self, class: Class, part: &str, why: impl Into<String>) {
        self.push(Reason {
            part: shorten(part),
            class,
            why: why.into(),
            whole: true,
        });
    }

    fn push(&mut self, reason: Reason) {
        if self.reasons.len() >= MAX_REASONS {
            // Enough is said; only something worse is still of interest.
            if self.reasons.iter().all(|known| known.class < reason.class) {
                self.reasons.push(reason);
            }
        } else if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    fn finish(mut self) -> Classification {
        self.reasons
            .sort_by_key(|reason| std::cmp::Reverse(reason.class));
        let class = self
            .reasons
            .first()
            .map_or(Class::Unknown, |reason| reason.class);
        Classification {
            class,
            reasons: self.reasons,
        }
    }
}

fn shorten(part: &str) -> String {
    if part.len() <= 120 {
        return part.to_owned();
    }
    let mut short: String = part.chars().take(119).collect();
    short.push('…');
    short
}
