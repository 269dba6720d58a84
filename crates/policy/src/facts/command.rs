//! The simple commands, redirections and assignments that facts are made of.
//!
//! These are plain data: what was found, where, and how it hangs together by index. What it means
//! is decided by `classify`.

use serde::Serialize;

use super::word::Word;

/// One program with its arguments, wherever in the text it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SimpleCommand {
    /// The program's name, then its arguments.
    pub words: Vec<Word>,
    /// The names of the variables that are set for this command alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<Assignment>,
    /// Where it stands.
    pub position: Position,
    /// The wrapper that runs it: an index into the commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<usize>,
    /// Whether it is a wrapper that was seen through.
    #[serde(skip_serializing_if = "is_false")]
    pub wrapper: bool,
    /// Whether more arguments than these arrive at run time (`xargs`).
    #[serde(skip_serializing_if = "is_false")]
    pub supplied: bool,
    /// Whether it is only supposed: what the command would be if variables have the values that
    /// the text is seen to give them. A supposed command can only make the whole worse.
    #[serde(skip_serializing_if = "is_false")]
    pub supposed: bool,
    /// Whether it is only a part of the words of another command, which may run it.
    #[serde(skip)]
    pub lurking: bool,
    /// The pipeline it belongs to.
    pub pipeline: usize,
    /// Its place in the pipeline, from 0.
    pub stage: usize,
    /// Whether it runs in the background.
    #[serde(skip_serializing_if = "is_false")]
    pub background: bool,
    /// Whether another command of the same list stands before it.
    #[serde(skip)]
    pub chained: bool,
    /// The function in whose body it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The directories it may run in.
    #[serde(skip)]
    pub directory: Directory,
    /// The pipelines it stands in, outermost first, each with the stage.
    #[serde(skip)]
    pub ancestry: Vec<(usize, usize)>,
    /// The commands whose output flows into its words or its here-documents.
    #[serde(skip)]
    pub holds: Vec<usize>,
}

impl SimpleCommand {
    /// Whether the output of this command flows through a pipe into the other one.
    pub fn feeds(&self, other: &Self) -> bool {
        self.ancestry.iter().any(|(pipeline, stage)| {
            other
                .ancestry
                .iter()
                .any(|(id, later)| id == pipeline && later > stage)
        })
    }
}

/// Where a command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    /// In the text itself.
    Text,
    /// In `$(…)` or backticks.
    Substitution,
    /// In `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// In the script that a wrapper's argument holds: `sh -c`, `eval`, `trap`.
    Script,
    /// In what a shell reads from its standard input.
    StandardInput,
}

/// The directories that a command may run in.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Directory {
    /// The chains of `cd` arguments that may have led here; an empty chain is the start.
    pub chains: Vec<Vec<Word>>,
    /// Whether it may also be one that is not known.
    pub unknown: bool,
}

/// A redirection of a file descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Redirection {
    /// Which way the data goes.
    pub direction: Direction,
    /// The file.
    pub target: Word,
    /// The command it belongs to; absent for the redirection of a group, a loop or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<usize>,
    /// The directories it may be resolved in.
    #[serde(skip)]
    pub directory: Directory,
    /// The pipeline that it stands in.
    #[serde(skip)]
    pub pipeline: usize,
}

/// Which way a redirection's data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// `<`.
    Read,
    /// `>`, `>|`, `&>`.
    Write,
    /// `>>`, `&>>`.
    Append,
    /// `<>`.
    ReadWrite,
}

impl Direction {
    /// Whether the file is written.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// A variable that gets a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The value.
    pub value: Word,
}

/// A function that the text defines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Which functions or programs its body names, in order.
    pub calls: Vec<String>,
    /// Whether its body pipes or backgrounds.
    pub multiplies: bool,
}

/// A here-document or here-string.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HereDocument {
    /// The command that reads it, if it is a simple one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<usize>,
    /// What it says.
    pub body: Word,
    /// The pipeline that it stands in.
    #[serde(skip)]
    pub pipeline: usize,
    /// The stage that reads it.
    #[serde(skip)]
    pub stage: usize,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's skip_serializing_if passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !*value
}
