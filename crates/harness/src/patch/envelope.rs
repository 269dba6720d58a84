//! The `*** Begin Patch` form: files by marker lines, hunks by what is around them.

use super::change::{Change, Hunk, HunkLine, NewEnd, Patch};
use super::parse::ParseError;

pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// Reads the lines from `*** Begin Patch` on.
pub(super) fn parse(lines: &[&str], begin: usize) -> Result<Patch, ParseError> {
    let mut reader = Reader {
        lines,
        at: begin + 1,
    };
    let mut changes = Vec::new();
    loop {
        let Some(line) = reader.next() else {
            return Err(ParseError::at(
                lines.len().saturating_sub(1),
                "it ends without `*** End Patch`, so it may have been cut off",
            ));
        };
        let marker = line.trim();
        if marker == END {
            break;
        } else if let Some(path) = marker.strip_prefix(ADD) {
            changes.push(reader.added(path.trim())?);
        } else if let Some(path) = marker.strip_prefix(DELETE) {
            changes.push(Change::Delete {
                path: path.trim().to_owned(),
                hunks: Vec::new(),
            });
        } else if let Some(path) = marker.strip_prefix(UPDATE) {
            changes.push(reader.updated(path.trim())?);
        } else if !marker.is_empty() {
            return Err(ParseError::at(
                reader.at - 1,
                format!(
                    "`{marker}` is not one of `{ADD} …`, `{DELETE} …`, `{UPDATE} …` and `{END}`"
                ),
            ));
        }
    }
    match lines[reader.at..]
        .iter()
        .position(|line| !line.trim().is_empty())
    {
        Some(more) => Err(ParseError::at(
            reader.at + more,
            "there is text after `*** End Patch`",
        )),
        None => Ok(Patch { changes }),
    }
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    fn added(&mut self, path: &str) -> Result<Change, ParseError> {
        let mut content = Vec::new();
        while let Some(line) = self.peek() {
            if let Some(text) = line.strip_prefix('+') {
                content.extend_from_slice(text.as_bytes());
                content.push(b'\n');
            } else if is_marker(line) {
                break;
            } else if !line.trim().is_empty() {
                return Err(ParseError::at(
                    self.at,
                    format!("every line of the new file `{path}` begins with `+`"),
                ));
            } else if !self.only_blank_lines_follow() {
                // An empty line of the file, whose `+` was forgotten.
                content.push(b'\n');
            }
            self.at += 1;
        }
        Ok(Change::Add {
            path: path.to_owned(),
            content,
            executable: None,
        })
    }

    /// Whether nothing but blank lines comes before the next marker.
    fn only_blank_lines_follow(&self) -> bool {
        self.lines[self.at..]
            .iter()
            .find(|line| !line.trim().is_empty())
            .is_none_or(|line| is_marker(line))
    }

    fn updated(&mut self, path: &str) -> Result<Change, ParseError> {
        let begin = self.at;
        let moved_to = self
            .peek()
            .and_then(|line| line.trim().strip_prefix(MOVE))
            .map(|to| to.trim().to_owned());
        if moved_to.is_some() {
            self.at += 1;
        }
        let mut hunks = Vec::new();
        while self.peek().is_some_and(|line| !is_marker(line)) {
            if self.only_blank_lines_follow() {
                self.at += 1;
                continue;
            }
            hunks.push(self.hunk(path)?);
        }
        if hunks.is_empty() && moved_to.is_none() {
            return Err(ParseError::at(
                begin - 1,
                format!("`{path}` is to be updated, but nothing says how"),
            ));
        }
        Ok(Change::Update {
            path: path.to_owned(),
            moved_to,
            hunks,
            executable: None,
        })
    }

    fn hunk(&mut self, path: &str) -> Result<Hunk, ParseError> {
        let mut hunk = Hunk::default();
        while let Some(heading) = self.peek().and_then(|line| line.strip_prefix("@@")) {
            let heading = without_line_numbers(heading);
            if !heading.trim().is_empty() {
                hunk.headings.push(heading.to_owned());
            }
            self.at += 1;
        }
        while let Some(line) = self.peek() {
            if line.trim_end() == END_OF_FILE {
                self.at += 1;
                hunk.at_end = true;
                break;
            }
            if line.starts_with("@@") || is_marker(line) {
                break;
            }
            let line = if let Some(text) = line.strip_prefix('+') {
                HunkLine::Add(text.to_owned())
            } else if let Some(text) = line.strip_prefix('-') {
                HunkLine::Remove(text.to_owned())
            } else if let Some(text) = line.strip_prefix(' ') {
                HunkLine::Keep(text.to_owned())
            } else if line.is_empty() {
                if self.only_blank_lines_follow() {
                    break;
                }
                HunkLine::Keep(String::new())
            } else {
                return Err(ParseError::at(
                    self.at,
                    format!(
                        "a line of a hunk of `{path}` begins with a blank (it stays), `-` (it \
                         goes) or `+` (it comes), but this is `{line}`"
                    ),
                ));
            };
            hunk.lines.push(line);
            self.at += 1;
        }
        if hunk.lines.is_empty() {
            return Err(ParseError::at(
                self.at.saturating_sub(1),
                format!("a hunk of `{path}` has no lines"),
            ));
        }
        hunk.new_end = NewEnd::Unsaid;
        Ok(hunk)
    }
}

/// Models write `@@ -1,3 +1,4 @@ heading` here too; the numbers are not to be relied on.
fn without_line_numbers(heading: &str) -> &str {
    let rest = heading.trim_start();
    let numbers = rest.strip_prefix('-').and_then(|rest| {
        let (numbers, after) = rest.split_once("@@")?;
        numbers
            .chars()
            .all(|c| c.is_ascii_digit() || ",+ ".contains(c))
            .then_some(after)
    });
    let heading = numbers.unwrap_or(heading);
    heading.strip_prefix(' ').unwrap_or(heading)
}

fn is_marker(line: &str) -> bool {
    let line = line.trim_end();
    line == END
        || [ADD, DELETE, UPDATE, MOVE]
            .iter()
            .any(|marker| line.starts_with(marker))
}
