//! `question`: what the client is asked, and what it can answer.

use ringfence::policy::classify::{Class, Reason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Grant;

/// A question that the client answers. Other calls go on meanwhile, and the command's own clock stands still.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QuestionParams {
    /// The id of the call's request; null if it is none of this client's.
    pub id: Value,
    /// What is asked.
    pub kind: QuestionKind,
    /// The tool that wants it.
    pub tool: String,
    /// What it wants to do, for a person: the command, whole.
    pub command: String,
    /// Where it would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Why this is asked.
    pub reason: String,
    /// The class of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub class: Option<Class>,
    /// Why it is of that class, the weightiest first: `part`, `class`, `why`, `whole`.
    #[schemars(with = "Vec<Value>")]
    pub reasons: Vec<Reason>,
    /// What is known about the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<Value>,
    /// The rule that asks, as file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What the fence refused, if it is about running again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// What the model says about the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Why the model wants it, in its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub justification: Option<String>,
    /// The line of a script that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptLine>,
    /// How far it would reach after a yes.
    pub reach: Reach,
    /// Rules that a yes can be kept as, from narrow to broad.
    pub proposals: Vec<Proposed>,
    /// What a yes grants besides, inside the fence. `grant` answers with one of them and no other.
    pub grants: Vec<Grant>,
    /// The answers that count.
    pub answers: Vec<AnswerKind>,
    /// How long there is to answer, in milliseconds; then it is a no.
    pub timeout_ms: u64,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// May it run, inside the fence?
    Run,
    /// May it run outside the fence?
    LeaveFence,
    /// The fence refused something; may it run again inside the fence, with `grants`?
    RetryGranted,
    /// The fence refused something that nothing inside it allows; may it run again without the fence?
    RetryUnfenced,
}

/// The line of a script that asks for something.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScriptLine {
    /// The line, from 1.
    pub line: u32,
    /// Its text.
    pub text: String,
}

/// How far something reaches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reach {
    /// Whether it stays inside the fence.
    pub fenced: bool,
    /// What it may write; nothing here for what is not fenced, which may write anything.
    pub writable: Vec<String>,
    /// What of the network it has: `off`, `allow-list` or `full`.
    pub network: String,
}

/// A rule that a yes can be kept as.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Proposed {
    /// The rule in a line.
    pub summary: String,
    /// The rule as it would be written.
    pub rule: String,
}

/// The answers that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Yes, this once.
    Once,
    /// Yes, and not again in this session.
    Session,
    /// Yes, and one of the proposals is kept.
    Rule,
    /// Yes, with one of the grants only.
    Grant,
    /// Yes, this once, outside the fence instead.
    Outside,
    /// No.
    No,
    /// No, and stop altogether.
    Abort,
}

/// An answer. Anything else, and an error response, is a no.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
// Empty braces matter: a unit variant would let unknown fields through.
#[serde(tag = "answer", rename_all = "snake_case", deny_unknown_fields)]
pub enum ClientAnswer {
    /// Yes, this once.
    Once {},
    /// Yes, and not again in this session.
    Session {},
    /// Yes, and a rule is kept.
    Rule {
        /// Which of the proposals, from 0.
        #[serde(default)]
        proposal: usize,
    },
    /// Yes, outside the fence instead.
    Outside {},
    /// One of the grants only: it runs inside the fence, with this besides.
    Grant {
        /// Which of the grants, from 0.
        grant: usize,
        /// For how long it holds.
        #[serde(default)]
        holds: Holds,
    },
    /// No.
    No {
        /// A word for whoever wanted it.
        #[serde(default)]
        message: Option<String>,
    },
    /// No, and stop altogether.
    Abort {},
}

/// For how long a grant holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// This once.
    #[default]
    Once,
    /// For the session.
    Session,
    /// As a rule.
    Rule,
}

/// A question that need not be answered any more.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WithdrawnParams {
    /// The id of the `question` request. A response to it is of no use any more.
    pub request: String,
    /// Why.
    pub reason: Withdrawn,
}

/// Why a question was withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawn {
    /// Nobody answered in time.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
    /// What wanted to know has ended.
    Ended,
}
