//! Facts about a command: what it would run, read and write, as far as the text tells.
//!
//! [`understand`] reads a command and lists what it found, including what it could not understand.
//! It never panics, does no I/O, and its work is bounded by a number of steps. Whether the command
//! may run is not decided here.

pub(crate) mod bash;
mod builtin;
mod cmd;
mod command;
mod deciding;
pub(crate) mod follow;
mod number;
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
    Assignment, Direction, Directory, Function, HereDocument, Position, Redirection, SimpleCommand,
};
pub use deciding::{Deciders, deciding};
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
    /// What was understood, but may do more than it shows. Anything here makes the command unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubtful: Vec<Unclear>,
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

fn finish(mut walker: walk::Walker) -> Facts {
    let is_zsh = |command: &SimpleCommand| {
        let program = command.program();
        program.is_some_and(|program| base_name(program).ends_with("zsh"))
    };
    let zsh = walker.kind == ShellKind::Zsh || walker.facts.commands.iter().any(is_zsh);
    for part in walker.numbers.doubts(&walker.facts.functions, zsh) {
        walker.doubtful(Obstacle::EvaluatedValue, &part);
    }
    let mut facts = walker.facts;
    facts.steps = walker.budget.spent();
    facts.shell = Some(walker.kind);
    facts
}

impl Facts {
    /// The one command that this is, if it is nothing else: one program with known words, without
    /// assignments, expansions, redirections, functions or anything beside it. A shell that is given
    /// such a command as its script is seen through.
    pub fn one_literal_command(&self) -> Option<&SimpleCommand> {
        let nothing_else = self.redirections.is_empty()
            && self.assignments.is_empty()
            && self.functions.is_empty()
            && self.here_documents.is_empty()
            && self.not_understood.is_empty()
            && self.doubtful.is_empty()
            && self.shape.bytes().all(|sign| sign == b'^');
        let mut commands = self.commands.iter().filter(|command| !command.lurking);
        let first = commands.next().filter(|_| nothing_else)?;
        let only = match (commands.next(), commands.next()) {
            (None, _) => first,
            (Some(inner), None) if is_shell_with_script(first) && inner.via == Some(0) => inner,
            _ => return None,
        };
        let plain = |command: &SimpleCommand| {
            command.assignments.is_empty()
                && !command.supposed
                && !command.supplied
                && !command.background
                && command.words.iter().all(|word| word.literal().is_some())
        };
        (plain(first) && plain(only) && !only.wrapper).then_some(only)
    }
}

/// `bash -c script`, by the name of the shell or from a folder of the system.
fn is_shell_with_script(command: &SimpleCommand) -> bool {
    let words: Option<Vec<&str>> = command.words.iter().map(Word::literal).collect();
    let Some([shell, "-c" | "-lc", _]) = words.as_deref() else {
        return false;
    };
    let known = ShellKind::of_program(shell).is_some_and(ShellKind::is_bourne);
    known && (!shell.contains('/') || crate::classify::is_system_program(shell))
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
