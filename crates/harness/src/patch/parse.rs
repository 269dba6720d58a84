//! From the text of a patch to what it asks for, in either of two forms.

use thiserror::Error;

use super::change::Patch;
use super::{envelope, unified};

/// A text that is not a patch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line} of the patch: {problem}")]
pub(crate) struct ParseError {
    /// Where, counted from one.
    pub(crate) line: usize,
    /// What is wrong, and what would be right.
    pub(crate) problem: String,
}

impl ParseError {
    pub(super) fn at(index: usize, problem: impl Into<String>) -> Self {
        Self {
            line: index + 1,
            problem: problem.into(),
        }
    }
}

/// Reads a patch.
pub(crate) fn parse(text: &str) -> Result<Patch, ParseError> {
    let lines = Lines::of(text);
    let first = lines.all.iter().position(|line| !line.trim().is_empty());
    let patch = match first {
        None => return Err(ParseError::at(0, "it is empty")),
        Some(first) if lines.all[first].trim() == envelope::BEGIN => {
            envelope::parse(&lines.all, first)?
        }
        Some(_) if lines.all.iter().any(|line| unified::is_header(line)) => {
            unified::parse(&lines.all)?
        }
        Some(first) => {
            return Err(ParseError::at(
                first,
                "it begins neither with `*** Begin Patch` nor like a unified diff (`--- a/file`, \
                 `+++ b/file`, `@@ -1,3 +1,4 @@`)",
            ));
        }
    };
    if patch.changes.is_empty() {
        return Err(ParseError::at(0, "it changes no file"));
    }
    if let Some(path) = patch
        .changes
        .iter()
        .flat_map(super::change::Change::paths)
        .find(|path| path.is_empty() || path.contains('\0'))
    {
        let problem = format!("`{}` is not the name of a file", path.escape_debug());
        return Err(ParseError::at(0, problem));
    }
    Ok(patch)
}

/// The lines of a patch, without what models like to put around it.
struct Lines<'a> {
    all: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut all: Vec<&str> = text
            .strip_suffix('\n')
            .unwrap_or(text)
            .split('\n')
            .map(|line| line.strip_suffix('\r').unwrap_or(line))
            .collect();
        // Blanked rather than removed, so that line numbers stay those of the text.
        let first = all.iter().position(|line| !line.trim().is_empty());
        let last = all.iter().rposition(|line| !line.trim().is_empty());
        if let (Some(first), Some(last)) = (first, last)
            && first < last
            && let Some(closing) = wrapping(all[first])
            && all[last].trim() == closing
        {
            all[first] = "";
            all.truncate(last);
        }
        Self { all }
    }
}

/// The line that closes a wrapping which this line opens: a here-document or a fence.
fn wrapping(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("```") {
        return rest.chars().all(char::is_alphanumeric).then_some("```");
    }
    let (command, word) = line.split_once("<<")?;
    let word = word.trim().trim_matches(['\'', '"']);
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (plain && ["", "apply_patch", "cat"].contains(&command.trim())).then_some(word)
}
