//! What could not be understood about a command, and where.
//!
//! An [`Unclear`] never makes a command better. It is a finding of its own: a command with one is
//! at least suspicious.

use serde::Serialize;

/// A part of a command that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unclear {
    /// What kind of obstacle it was.
    pub why: Obstacle,
    /// The text at fault, shortened.
    pub part: String,
}

/// Why a part could not be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Obstacle {
    /// The text is not valid in its language, or uses a part of it that is not supported.
    Syntax,
    /// More levels of nesting than are followed.
    TooDeep,
    /// More text than is read.
    TooLong,
    /// More work than one command may cause.
    TooMuchWork,
    /// The name of the program is computed.
    ComputedProgram,
    /// A script that is handed to a shell is computed.
    ComputedScript,
    /// An expansion whose value is evaluated again: `${x@P}`, `${!x}`.
    Reevaluated,
    /// Text that a builtin evaluates although it is quoted.
    HiddenSubstitution,
    /// A control character, or a blank that only looks like one.
    StrangeCharacter,
    /// A program that runs what another one supplies.
    SuppliedScript,
    /// A wrapper whose options are not known, so that what it runs is not known either.
    WrapperOptions,
    /// An expression evaluates a value that is not known to be a number.
    EvaluatedValue,
    /// Which variable is set is computed.
    ComputedName,
    /// An attribute of a variable gives its values another meaning.
    ChangedMeaning,
    /// The language of this shell beyond literal pipelines.
    UnsupportedLanguage,
}

impl Obstacle {
    /// The obstacle in words, for a person.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Syntax => "this part is not understood",
            Self::TooDeep => "it is nested more than 8 levels deep",
            Self::TooLong => "it is longer than 64 KiB",
            Self::TooMuchWork => "it is too complex to be followed",
            Self::ComputedProgram => "the program to run is computed",
            Self::ComputedScript => "the script that a shell is given is computed",
            Self::Reevaluated => "the value of this expansion is evaluated again",
            Self::HiddenSubstitution => "a builtin evaluates this quoted text",
            Self::StrangeCharacter => "it contains a control character or an unusual blank",
            Self::SuppliedScript => "a shell runs what another program supplies",
            Self::WrapperOptions => "an option hides which program is run",
            Self::EvaluatedValue => {
                "it is evaluated as an expression, and its value may hold a command"
            }
            Self::ComputedName => "which variable it sets is computed",
            Self::ChangedMeaning => "it gives the values of a variable another meaning",
            Self::UnsupportedLanguage => "only literal pipelines of this shell are understood",
        }
    }
}

impl Unclear {
    /// A finding about a piece of text, which is shortened for display.
    pub fn new(why: Obstacle, part: &str) -> Self {
        let mut short: String = part.chars().take(60).collect();
        if short.len() < part.len() {
            short.push('…');
        }
        Self { why, part: short }
    }
}
