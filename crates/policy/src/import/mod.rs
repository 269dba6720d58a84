//! Reading other tools' rules: Codex `.rules`, Claude Code's `permissions`, Gemini CLI's policies.
//!
//! Each rule is kept, narrowed or dropped, and the report says which and why. A rule that cannot be
//! kept exactly is never imported as something looser: an allowance is narrowed or dropped, a
//! refusal is widened. Only text is read; nothing is evaluated.

mod claude;
mod codex;
mod gemini;
mod overlap;
mod starlark;

use std::fmt;

use serde::Serialize;
use thiserror::Error;

use crate::rule::{Decision, Layer, Rule, Selector, Source};

/// Whose rules are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Codex: a `.rules` file in the literal subset of Starlark.
    Codex,
    /// Claude Code: a `settings.json` with `permissions`.
    Claude,
    /// Gemini CLI: a policy file in TOML.
    Gemini,
}

impl Dialect {
    /// The dialect that a file of this name is likely written in.
    pub fn of_file(name: &str) -> Option<Self> {
        match name.rsplit('.').next()? {
            "rules" | "codexpolicy" | "star" => Some(Self::Codex),
            "json" => Some(Self::Claude),
            "toml" => Some(Self::Gemini),
            _ => None,
        }
    }
}

/// What became of a file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The rules, ready to be written.
    pub rules: Vec<Rule>,
    /// What became of each original rule, in order.
    pub report: Vec<Item>,
}

/// What became of one original rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// The line it stands at, from 1; 0 if the format doesn't tell.
    pub line: usize,
    /// The original, shortened.
    pub original: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of an original rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome", content = "why")]
pub enum Outcome {
    /// It means the same here.
    Kept,
    /// It was imported as something stricter.
    Stricter(String),
    /// It was imported, and does not hold as far as it did there.
    Partly(String),
    /// It cannot be expressed and was left out. Without it less is allowed.
    Dropped(String),
    /// A refusal that cannot be expressed was left out: the user has to write it.
    Lost(String),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}: ", self.line)?;
        }
        match &self.outcome {
            Outcome::Kept => write!(f, "kept: {}", self.original),
            Outcome::Stricter(why) => write!(f, "stricter: {} ({why})", self.original),
            Outcome::Partly(why) => write!(f, "kept in part: {} ({why})", self.original),
            Outcome::Dropped(why) => write!(f, "left out: {} ({why})", self.original),
            Outcome::Lost(why) => {
                write!(f, "LEFT OUT, write it yourself: {} ({why})", self.original)
            }
        }
    }
}

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    /// It is not in the expected language, or beyond the part of it that is read.
    #[error("{file}:{line}: {problem}: {fix}")]
    Unreadable {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// What is wrong.
        problem: String,
        /// What to do.
        fix: &'static str,
    },
}

/// Reads another tool's rules.
pub fn import(dialect: Dialect, file: &str, text: &str) -> Result<Imported, ImportError> {
    let mut draft = match dialect {
        Dialect::Codex => codex::read(file, text)?,
        Dialect::Claude => claude::read(file, text)?,
        Dialect::Gemini => gemini::read(file, text)?,
    };
    overlap::drop_overtaking(&mut draft);
    Ok(draft.finish())
}

/// Rules on their way in, each with the number of the report's item.
#[derive(Debug, Default)]
struct Draft {
    file: String,
    rules: Vec<Drafted>,
    report: Vec<Item>,
}

#[derive(Debug)]
struct Drafted {
    rule: Rule,
    item: usize,
    /// How the original tool ranks it: a rule is overtaken only by one that ranks no lower.
    rank: i64,
}

impl Draft {
    fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            ..Self::default()
        }
    }

    /// Notes an original rule; the number of its item.
    fn item(&mut self, line: usize, original: &str, outcome: Outcome) -> usize {
        let original: String = original.chars().take(160).collect();
        self.report.push(Item {
            line,
            original,
            outcome,
        });
        self.report.len() - 1
    }

    fn push(
        &mut self,
        item: usize,
        rank: i64,
        decision: Decision,
        selector: Selector,
    ) -> &mut Rule {
        let source = Source {
            layer: Layer::User,
            file: self.file.clone(),
            line: self.report[item].line,
        };
        self.rules.push(Drafted {
            item,
            rank,
            rule: Rule::new(selector, decision, source),
        });
        let last = self.rules.len() - 1;
        &mut self.rules[last].rule
    }

    fn finish(self) -> Imported {
        Imported {
            rules: self.rules.into_iter().map(|drafted| drafted.rule).collect(),
            report: self.report,
        }
    }
}

/// The tools that run commands.
fn command_tools() -> Vec<String> {
    [
        "bash",
        "shell",
        "container.exec",
        "shell_command",
        "exec_command",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// What to say about a rule that would allow every command.
const ALLOWS_EVERYTHING: &str = "it would allow every command; allow programs by name";
