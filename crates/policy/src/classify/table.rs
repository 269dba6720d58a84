//! The form in which the tables describe programs.
//!
//! A [`Tool`] says what a program does with only the options that are known for it, which options
//! change that, and what happens to its operands. A program without an entry is unknown.

use super::Class;
use crate::facts::options::{Grammar, Style};

/// A program, or one of its subcommands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    /// Its names, separated by blanks.
    pub(crate) names: &'static str,
    /// The class when nothing else is found.
    pub(crate) class: Class,
    /// What it does.
    pub(crate) why: &'static str,
    /// Which options it may have.
    pub(crate) options: Options,
    /// Whether the options that are listed are all that the program has.
    pub(crate) complete: bool,
    /// Uses of it that are better than it is.
    pub(crate) modes: &'static [Mode],
    /// Options that change the class.
    pub(crate) marks: &'static [Mark],
    /// What happens to its operands.
    pub(crate) operands: Operands,
    /// Its subcommands. The class of the tool itself is that of an unknown subcommand.
    pub(crate) subcommands: &'static [Tool],
    /// The class without any subcommand or operand.
    pub(crate) alone: Option<Class>,
}

/// Which options a program may have without a change of its class.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Options {
    /// Any: none of them does anything else, except those that are marked.
    Any,
    /// Those of the grammar; another one makes the command unknown.
    Known(Grammar),
}

/// A use of a program that is better than the program: one of these options is there, and no other
/// than those of the grammar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    /// The options that ask for it, separated by blanks.
    pub(crate) asks: &'static str,
    /// All options that it may have.
    pub(crate) options: Grammar,
    /// The class that it has.
    pub(crate) class: Class,
    /// What it does.
    pub(crate) why: &'static str,
}

/// An option that changes the class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The option's names, separated by blanks.
    pub(crate) names: &'static str,
    /// The class that it gives.
    pub(crate) class: Class,
    /// Why.
    pub(crate) why: &'static str,
    /// What its value is.
    pub(crate) value: MarkValue,
}

/// What a marked option's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkValue {
    /// Of no interest.
    Any,
    /// A file that is written; the class is that of the write.
    Written,
    /// A folder that is worked in instead of the current one.
    Folder,
}

/// What happens to the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// They are no files, or it doesn't matter.
    Ignored,
    /// Files that are read.
    Read,
    /// Files of which only the names, sizes and times are looked at.
    Named,
    /// Files that are read; a word that begins with `@` is a file of more options.
    ReadPlain,
    /// A format, or a time that the clock is set to.
    Clock,
    /// Options of the shell, and new positional parameters.
    ShellOptions,
    /// A file that is made if it is not there, or the number of a descriptor.
    LockFile,
    /// A branch, or files that are thrown away.
    CheckedOut,
    /// Files that are written.
    Written,
    /// Files that are read, except the last, which is written.
    LastWritten,
    /// A file that is read and, if there is a second one, a file that is written.
    SecondWritten,
    /// Files that are read; one that begins with `+` is a command of the pager.
    Paged,
    /// Files that are moved to the last.
    Moved,
    /// Files that are deleted.
    Deleted,
    /// Files whose attributes change, after the first operand.
    Changed,
    /// `name=value` operands of `dd`.
    Assigned,
    /// There may be none.
    None,
    /// The first operand is a script or a program file of the project, which is run.
    Script,
    /// A name, and a value that it gets.
    Setting,
    /// Targets of a build, and variables for it.
    Targets,
    /// Start paths and an expression, as of `find`.
    Searched,
}

/// A tool that may have any options.
pub(crate) const fn tool(class: Class, names: &'static str, why: &'static str) -> Tool {
    Tool {
        names,
        class,
        why,
        options: Options::Any,
        complete: false,
        modes: &[],
        marks: &[],
        operands: Operands::Read,
        subcommands: &[],
        alone: None,
    }
}

impl Tool {
    /// With only these options, in GNU style.
    pub(crate) const fn only(self, options: &'static str) -> Self {
        let grammar = Grammar {
            options,
            style: Style::Gnu,
        };
        Self {
            options: Options::Known(grammar),
            ..self
        }
    }

    /// With only these options, in GNU style, which are all that the program has.
    pub(crate) const fn all(self, options: &'static str) -> Self {
        Self {
            complete: true,
            ..self.only(options)
        }
    }

    pub(crate) const fn modes(self, modes: &'static [Mode]) -> Self {
        Self { modes, ..self }
    }

    /// With only these options before the first operand.
    pub(crate) const fn first(self, options: &'static str) -> Self {
        let grammar = Grammar {
            options,
            style: Style::Posix,
        };
        Self {
            options: Options::Known(grammar),
            ..self
        }
    }

    /// With only these single-dash words as options.
    pub(crate) const fn dashed(self, options: &'static str) -> Self {
        let grammar = Grammar {
            options,
            style: Style::Words,
        };
        Self {
            options: Options::Known(grammar),
            ..self
        }
    }

    pub(crate) const fn marks(self, marks: &'static [Mark]) -> Self {
        Self { marks, ..self }
    }

    pub(crate) const fn operands(self, operands: Operands) -> Self {
        Self { operands, ..self }
    }

    pub(crate) const fn subcommands(self, subcommands: &'static [Self]) -> Self {
        Self {
            subcommands,
            ..self
        }
    }

    pub(crate) const fn alone(self, class: Class) -> Self {
        Self {
            alone: Some(class),
            ..self
        }
    }

    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.names.split(' ').any(|known| known == name)
    }
}

/// A use of a program that is better than the program.
pub(crate) const fn mode(
    class: Class,
    asks: &'static str,
    options: &'static str,
    why: &'static str,
) -> Mode {
    Mode {
        asks,
        options: Grammar {
            options,
            style: Style::Gnu,
        },
        class,
        why,
    }
}

/// An option that changes the class.
pub(crate) const fn mark(class: Class, names: &'static str, why: &'static str) -> Mark {
    Mark {
        names,
        class,
        why,
        value: MarkValue::Any,
    }
}

/// An option whose value is a file that is written.
pub(crate) const fn output(names: &'static str) -> Mark {
    Mark {
        names,
        class: Class::Safe,
        why: "it writes a file",
        value: MarkValue::Written,
    }
}

/// An option whose value is the folder to work in.
pub(crate) const fn folder(names: &'static str) -> Mark {
    Mark {
        names,
        class: Class::ReadOnly,
        why: "it works in another folder",
        value: MarkValue::Folder,
    }
}
