//! Facts about a command: what it would run, read and write, as far as the text tells.
//!
//! [`understand`] reads a command and lists what it found, including what it could not understand.
//! It never panics, does no I/O, and its work is bounded by a number of steps. Whether the command
//! may run is not decided here.

pub(crate) mod bash;
mod cmd;
mod command;
pub(crate) mod follow;
pub(crate) mod options;
mod powershell;
mod stdin;
mod suppose;
mod unclear;
mod walk;
mod windows;
mod word;
pub(crate) mod wrapper;

use serde::Serialize;

pub use command::{
    Assignment, Direction, Directory, Function, HereDocument, Place, Redirection, SimpleCommand,
};
pub use unclear::{Obstacle, Unclear};
pub(crate) use word::{FOLDER_MARK, HOME_MARK};
pub use word::{Piece, Word};

use crate::shell::ShellKind;

/// A command as it was asked for.
#[derive(Clone, Copy, Debug)]
pub enum CommandText<'a> {
    /// A program and its arguments.
    Argv(&'a [String]),
    /// A text for a shell.
    Shell {
        /// The shell.
        kind: ShellKind,
        /// The text.
        text: &'a str,
    },
}

/// What is known about a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// Every simple command, wherever it stands; wrappers come before what they run.
    pub commands: Vec<SimpleCommand>,
    /// Every redirection to or from a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirections: Vec<Redirection>,
    /// Variables that get a value for what follows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<Assignment>,
    /// Functions that are defined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Function>,
    /// Here-documents and here-strings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub here_documents: Vec<HereDocument>,
    /// What was not understood. Anything here makes the command suspicious.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<Unclear>,
    /// Whether an arithmetic expression evaluates a variable.
    #[serde(skip)]
    pub arithmetic: bool,
    /// The command as it was written, shortened if it is too long to be read.
    #[serde(skip)]
    pub written: String,
    /// How the commands are joined and nested, one sign each.
    #[serde(skip)]
    pub shape: String,
    /// The shell whose language was read.
    #[serde(skip)]
    pub shell: Option<ShellKind>,
    /// How many steps it took to understand; the bound is fixed.
    #[serde(skip)]
    pub steps: u32,
}

/// The largest number of steps that [`understand`] takes.
pub const MAX_STEPS: u32 = bash::MAX_STEPS;

/// Finds out what a command would do.
pub fn understand(command: CommandText<'_>) -> Facts {
    let mut facts = read(command);
    facts.written = match command {
        CommandText::Argv(argv) => argv.join(" "),
        CommandText::Shell { text, .. } => text.to_owned(),
    };
    facts
}

fn read(command: CommandText<'_>) -> Facts {
    match command {
        CommandText::Argv(argv) => of_argv(argv),
        CommandText::Shell {
            kind: ShellKind::PowerShell,
            text,
        } => powershell::understand(text),
        CommandText::Shell {
            kind: ShellKind::Cmd,
            text,
        } => cmd::understand(text),
        CommandText::Shell { kind, text } => {
            let mut walker = walk::Walker::new(kind);
            walker.text(text, kind, &walk::Spot::start());
            finish(walker)
        }
    }
}

fn of_argv(argv: &[String]) -> Facts {
    if let Some(facts) = windows::of_argv(argv) {
        return facts;
    }
    let mut walker = walk::Walker::new(ShellKind::Bash);
    let length: usize = argv.iter().map(String::len).sum();
    if length > bash::MAX_BYTES {
        walker.unclear(Obstacle::TooLong, argv.first().map_or("", String::as_str));
    }
    if argv.first().is_none_or(String::is_empty) {
        walker.unclear(Obstacle::Syntax, "");
    }
    if argv.iter().any(|word| word.contains('\0')) {
        walker.unclear(Obstacle::StrangeCharacter, "");
    }
    let words = argv.iter().map(Word::of).collect();
    walker.command(words, Vec::new(), &walk::Spot::start());
    let mut facts = finish(walker);
    facts.shell = None;
    facts
}

fn finish(walker: walk::Walker) -> Facts {
    let mut facts = walker.facts;
    facts.steps = walker.budget.spent();
    facts.shell = Some(walker.kind);
    facts
}

/// The name of a program without the folder it is named in.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

impl SimpleCommand {
    /// The program, if it is literal.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::literal)
    }

    /// Whether this is a shell that runs what it reads.
    pub fn reads_script(&self) -> bool {
        let Some(program) = self.program() else {
            return false;
        };
        match base_name(program) {
            "source" | "." => self.words.get(1).is_some_and(|w| {
                w.literal()
                    .is_some_and(|p| matches!(p, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
            }),
            name if ShellKind::of_program(name).is_some_and(ShellKind::is_bourne) => {
                follow::shell_input(&self.words) == follow::ShellInput::StandardInput
            }
            _ => false,
        }
    }
}
