//! Why a patch was not applied. Nothing of it was, then.

use std::fmt;
use std::io;

use serde_json::{Value, json};
use thiserror::Error;

use super::fit::Nearest;
use super::parse::ParseError;

/// Why a patch was not applied.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PatchError {
    /// It is larger than patches may be.
    #[error("the patch has {size} bytes, and {most} are the most (`files.max_patch_bytes`)")]
    TooLong {
        /// How large it is.
        size: u64,
        /// How large it may be.
        most: u64,
    },
    /// It is not a patch.
    #[error("it cannot be read: {0}")]
    Text(String),
    /// A path that cannot be used.
    #[error("`{path}` cannot be used: {reason}")]
    Path {
        /// The path.
        path: String,
        /// Why not.
        reason: io::Error,
    },
    /// A file that should be there is not.
    #[error("`{path}` does not exist; to make it, use `*** Add File: {path}`")]
    Missing {
        /// The file.
        path: String,
    },
    /// A file that should not be there is.
    #[error("`{path}` exists already; to change it, use `*** Update File: {path}`")]
    Exists {
        /// The file.
        path: String,
    },
    /// Something that is no ordinary file.
    #[error("`{path}` is not an ordinary file")]
    NotAFile {
        /// What it is called.
        path: String,
    },
    /// A file that is too large to patch.
    #[error("`{path}` has more than {most} bytes (`files.max_file_bytes`)")]
    TooLarge {
        /// The file.
        path: String,
        /// How large it may be.
        most: u64,
    },
    /// A hunk that fits nowhere.
    #[error("{0}")]
    Hunk(Box<HunkFailure>),
    /// A deletion whose hunks leave something over.
    #[error(
        "`{path}` has more in it than the patch deletes; use `*** Delete File: {path}` to delete \
         it all"
    )]
    NotAll {
        /// The file.
        path: String,
    },
    /// A file that changed while the patch was being applied.
    #[error("`{path}` changed while the patch was being applied; read it and try again")]
    Changed {
        /// The file.
        path: String,
    },
    /// There is no place for the journal.
    #[error("there is no place for the journal of patches: the program must name one")]
    NoJournal,
    /// The journal cannot be kept.
    #[error("the journal of patches cannot be kept: {0}")]
    Journal(io::Error),
    /// Something could not be written.
    #[error("`{path}` cannot be {what}: {reason}")]
    Io {
        /// The file.
        path: String,
        /// What was to be done.
        what: &'static str,
        /// Why not.
        reason: io::Error,
    },
    /// What had been done could not be undone; the next patch tries again.
    #[error("{cause}; and what had been done could not be undone: {reason}")]
    NotUndone {
        /// What went wrong first.
        cause: Box<PatchError>,
        /// What went wrong then.
        reason: io::Error,
    },
}

impl From<ParseError> for PatchError {
    fn from(error: ParseError) -> Self {
        Self::Text(error.to_string())
    }
}

impl PatchError {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "patch_too_long",
            Self::Text(_) => "patch_malformed",
            Self::Path { .. } | Self::NotAFile { .. } => "patch_path",
            Self::Missing { .. } => "patch_file_missing",
            Self::Exists { .. } => "patch_file_exists",
            Self::TooLarge { .. } => "patch_file_too_large",
            Self::Hunk(_) | Self::NotAll { .. } => "patch_hunk_failed",
            Self::Changed { .. } => "patch_file_changed",
            Self::NoJournal | Self::Journal(_) => "patch_journal",
            Self::Io { .. } => "patch_io",
            Self::NotUndone { .. } => "patch_not_undone",
        }
    }

    /// What a program may want to know besides the message.
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::Hunk(failure) => Some(failure.to_json()),
            _ => None,
        }
    }
}

/// A hunk that fits nowhere: which, what it says is there, and what is there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkFailure {
    pub(super) path: String,
    pub(super) hunk: usize,
    pub(super) of: usize,
    pub(super) expected: Vec<String>,
    pub(super) heading: Option<String>,
    pub(super) nearest: Option<Nearest>,
}

/// Lines of each side that a message shows.
const SHOWN: usize = 12;

impl fmt::Display for HunkFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "hunk {} of {} of `{}` fits nowhere",
            self.hunk, self.of, self.path
        )?;
        if let Some(heading) = &self.heading {
            write!(f, ": there is no line `{heading}`")?;
        } else {
            write!(f, ". It expects")?;
            quote(f, self.expected.iter().map(|line| (None, line)))?;
        }
        let Some(nearest) = &self.nearest else {
            return write!(f, "\nNothing like it is in the file; read the file first.");
        };
        write!(f, "\nThe nearest place is line {}, which has", nearest.line)?;
        let numbered = nearest.found.iter().enumerate();
        quote(
            f,
            numbered.map(|(index, line)| (Some(nearest.line + index), line)),
        )?;
        match (
            self.expected.get(nearest.differs_at),
            nearest.found.get(nearest.differs_at),
        ) {
            (Some(expected), Some(found)) => write!(
                f,
                "\nLine {} differs: `{found}` instead of `{expected}`.",
                nearest.line + nearest.differs_at
            ),
            (Some(expected), None) => {
                write!(f, "\nThe file ends before `{expected}`.")
            }
            _ => write!(f, "\nAnother hunk has changed these lines already."),
        }
    }
}

fn quote<'l>(
    f: &mut fmt::Formatter<'_>,
    lines: impl ExactSizeIterator<Item = (Option<usize>, &'l String)>,
) -> fmt::Result {
    let more = lines.len().saturating_sub(SHOWN);
    write!(f, ":")?;
    for (number, line) in lines.take(SHOWN) {
        match number {
            Some(number) => write!(f, "\n  {number:>4} | {line}")?,
            None => write!(f, "\n       | {line}")?,
        }
    }
    if more > 0 {
        write!(f, "\n       … and {more} more")?;
    }
    Ok(())
}

impl HunkFailure {
    fn to_json(&self) -> Value {
        json!({
            "path": self.path,
            "hunk": self.hunk,
            "hunks": self.of,
            "expected": self.expected,
            "heading": self.heading,
            "nearest": self.nearest.as_ref().map(|nearest| json!({
                "line": nearest.line,
                "found": nearest.found,
                "firstDifference": nearest.line + nearest.differs_at,
            })),
        })
    }
}
