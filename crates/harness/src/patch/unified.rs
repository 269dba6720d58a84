//! Unified diffs, as `diff -u` and git write them, and as models do: with counts that are off.

use super::change::{Change, Hunk, HunkLine, NewEnd, Patch};
use super::parse::ParseError;

/// Whether a line can only be the head of a file in a unified diff.
pub(super) fn is_header(line: &str) -> bool {
    line.starts_with("diff --git ") || line.starts_with("--- ")
}

/// Reads all files of a diff. Text before the first is skipped, as `patch` does.
pub(super) fn parse(lines: &[&str]) -> Result<Patch, ParseError> {
    let mut reader = Reader { lines, at: 0 };
    let mut changes = Vec::new();
    while reader.at < lines.len() {
        if reader.begins_file() {
            changes.push(reader.file()?);
        } else if lines[reader.at].starts_with("@@ ") {
            return Err(ParseError::at(
                reader.at,
                "this hunk belongs to no file: `--- a/file` and `+++ b/file` come first",
            ));
        } else {
            reader.at += 1;
        }
    }
    Ok(Patch { changes })
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

/// What the lines before the hunks say.
#[derive(Default)]
struct Head {
    git: Option<(String, String)>,
    old: Option<String>,
    new: Option<String>,
    renamed: Option<(String, String)>,
    executable: Option<bool>,
    created: bool,
    deleted: bool,
}

impl<'a> Reader<'a> {
    fn line(&self, ahead: usize) -> &'a str {
        self.lines.get(self.at + ahead).copied().unwrap_or_default()
    }

    fn begins_file(&self) -> bool {
        self.line(0).starts_with("diff --git ") || self.begins_names()
    }

    fn begins_names(&self) -> bool {
        self.line(0).starts_with("--- ") && self.line(1).starts_with("+++ ")
    }

    fn file(&mut self) -> Result<Change, ParseError> {
        let begin = self.at;
        let head = self.head()?;
        let mut hunks = Vec::new();
        while self.line(0).starts_with("@@ ") || self.line(0) == "@@" {
            hunks.push(self.hunk()?);
        }
        change(head, hunks).map_err(|problem| ParseError::at(begin, problem))
    }

    fn head(&mut self) -> Result<Head, ParseError> {
        let mut head = Head::default();
        if let Some(names) = self.line(0).strip_prefix("diff --git ") {
            head.git = git_names(names);
            self.at += 1;
            let mut from = None;
            while self.at < self.lines.len() && !self.begins_file() {
                let line = self.line(0);
                if line.starts_with("@@ ") {
                    break;
                } else if let Some(mode) = line.strip_prefix("new file mode ") {
                    head.created = true;
                    head.executable = Some(self.mode(mode)?);
                } else if let Some(mode) = line.strip_prefix("new mode ") {
                    head.executable = Some(self.mode(mode)?);
                } else if line.starts_with("deleted file mode ") {
                    head.deleted = true;
                } else if let Some(name) = line.strip_prefix("rename from ") {
                    from = Some(name_of(name));
                } else if let Some(name) = line.strip_prefix("rename to ") {
                    head.renamed = from.take().map(|from| (from, name_of(name)));
                } else if line.starts_with("copy from ") {
                    return Err(self.cannot("copies are not understood: add the new file instead"));
                } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files") {
                    return Err(self.cannot("binary patches are not understood"));
                }
                self.at += 1;
            }
        }
        if self.begins_names() {
            head.old = Some(name_of(&self.line(0)[4..]));
            head.new = Some(name_of(&self.line(1)[4..]));
            self.at += 2;
        }
        Ok(head)
    }

    fn cannot(&self, problem: &str) -> ParseError {
        ParseError::at(self.at, problem)
    }

    fn mode(&self, mode: &str) -> Result<bool, ParseError> {
        match mode.trim() {
            "100644" => Ok(false),
            "100755" => Ok(true),
            _ => Err(self.cannot("only ordinary files (100644) and programs (100755) can be made")),
        }
    }

    fn hunk(&mut self) -> Result<Hunk, ParseError> {
        let header = self.line(0);
        let numbers = numbers(header);
        let mut hunk = Hunk {
            line: numbers.map(|numbers| numbers.line),
            ..Hunk::default()
        };
        if numbers.is_none() && header.len() > 2 {
            hunk.headings.push(header[2..].trim().to_owned());
        }
        let (mut old, mut new) = numbers.map_or((0, 0), |numbers| (numbers.old, numbers.new));
        self.at += 1;
        while self.at < self.lines.len() {
            let line = self.line(0);
            let counted = old > 0 || new > 0;
            if line.starts_with("@@ ") || line.starts_with("diff --git ") {
                break;
            }
            // Counts say whether `--- x` is a removed line; a removed line `-- x` is followed by
            // an added line `++ y` hardly ever.
            if self.begins_names() && (!counted || self.line(2).starts_with("@@ ")) {
                break;
            }
            match line.chars().next() {
                Some('+') => {
                    hunk.lines.push(HunkLine::Add(line[1..].to_owned()));
                    new = new.saturating_sub(1);
                }
                Some('-') => {
                    hunk.lines.push(HunkLine::Remove(line[1..].to_owned()));
                    old = old.saturating_sub(1);
                }
                Some(' ') => {
                    hunk.lines.push(HunkLine::Keep(line[1..].to_owned()));
                    (old, new) = (old.saturating_sub(1), new.saturating_sub(1));
                }
                // Editors strip the blank of an empty line.
                None if counted => {
                    hunk.lines.push(HunkLine::Keep(String::new()));
                    (old, new) = (old.saturating_sub(1), new.saturating_sub(1));
                }
                Some('\\') => note_missing_newline(&mut hunk),
                _ if !counted => break,
                _ => {
                    return Err(self.cannot(
                        "a line of a hunk begins with a blank (it stays), `-` (it goes) or `+` \
                         (it comes)",
                    ));
                }
            }
            self.at += 1;
        }
        if hunk.lines.is_empty() {
            return Err(ParseError::at(self.at - 1, "this hunk has no lines"));
        }
        Ok(hunk)
    }
}

/// `\ No newline at end of file`, about the line before it.
fn note_missing_newline(hunk: &mut Hunk) {
    hunk.at_end = true;
    hunk.new_end = match hunk.lines.last() {
        // The old file has no newline. Whether the new one has is said by what follows, if anything.
        Some(HunkLine::Remove(_)) => NewEnd::Newline,
        _ => NewEnd::NoNewline,
    };
}

fn change(head: Head, hunks: Vec<Hunk>) -> Result<Change, String> {
    let (old, new) = match (&head.git, head.old, head.new) {
        (_, Some(old), Some(new)) => strip(old, new),
        (Some((old, new)), ..) => strip(old.clone(), new.clone()),
        _ => return Err("it does not say which file it is about".to_owned()),
    };
    let nothing = "/dev/null";
    if old == nothing || head.created {
        let content = added(&hunks)
            .ok_or_else(|| format!("`{new}` is a new file, but some of its lines are old"))?;
        return Ok(Change::Add {
            path: new,
            content,
            executable: head.executable,
        });
    }
    if new == nothing || head.deleted {
        return Ok(Change::Delete { path: old, hunks });
    }
    let (path, moved_to) = match head.renamed {
        Some((from, to)) => (from, Some(to)),
        None if old != new => (old, Some(new)),
        None => (old, None),
    };
    if hunks.is_empty() && moved_to.is_none() && head.executable.is_none() {
        return Err(format!("nothing says what changes in `{path}`"));
    }
    Ok(Change::Update {
        path,
        moved_to,
        hunks,
        executable: head.executable,
    })
}

fn added(hunks: &[Hunk]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        let HunkLine::Add(text) = line else {
            return None;
        };
        content.extend_from_slice(text.as_bytes());
        content.push(b'\n');
    }
    if hunks
        .last()
        .is_some_and(|hunk| hunk.new_end == NewEnd::NoNewline)
    {
        content.pop();
    }
    Some(content)
}

/// Takes `a/` and `b/` off, where both are there.
fn strip(old: String, new: String) -> (String, String) {
    let nothing = "/dev/null";
    let bare = |name: &str, prefix: &str| match name {
        name if name == nothing => Some(nothing.to_owned()),
        name => name.strip_prefix(prefix).map(str::to_owned),
    };
    match (bare(&old, "a/"), bare(&new, "b/")) {
        (Some(old), Some(new)) => (old, new),
        _ => (old, new),
    }
}

/// The two names of `diff --git a/x b/x`.
fn git_names(names: &str) -> Option<(String, String)> {
    if names.starts_with('"') {
        let (old, rest) = quoted(names)?;
        return Some((old, name_of(rest.trim_start())));
    }
    // Names with blanks are told apart by being the same on both sides.
    let middle = names
        .match_indices(" b/")
        .map(|(at, _)| at)
        .find(|at| {
            let (old, new) = (&names[..*at], &names[at + 1..]);
            old.strip_prefix("a/") == new.strip_prefix("b/")
        })
        .or_else(|| names.find(' '))?;
    Some((name_of(&names[..middle]), name_of(&names[middle + 1..])))
}

/// A name as a header has it: perhaps quoted, perhaps with a time behind a tab.
fn name_of(text: &str) -> String {
    match quoted(text) {
        Some((name, _)) => name,
        None => text.split('\t').next().unwrap_or(text).trim().to_owned(),
    }
}

/// A name in quotes, as git writes one with unusual bytes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut bytes = Vec::new();
    let mut rest = inner.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'"' => {
                let used = inner.len() - rest.len();
                return Some((String::from_utf8(bytes).ok()?, &inner[used..]));
            }
            b'\\' => {
                let (&escape, after) = rest.split_first()?;
                rest = after;
                bytes.push(match escape {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'0'..=b'3' => {
                        let digits = rest.get(..2)?;
                        rest = &rest[2..];
                        let digit = |c: u8| (b'0'..=b'7').contains(&c).then(|| c - b'0');
                        (escape - b'0') * 64 + digit(digits[0])? * 8 + digit(digits[1])?
                    }
                    other => other,
                });
            }
            other => bytes.push(other),
        }
    }
    None
}

/// The numbers of a hunk header.
#[derive(Clone, Copy)]
struct Numbers {
    line: usize,
    old: usize,
    new: usize,
}

fn numbers(header: &str) -> Option<Numbers> {
    let rest = header.strip_prefix("@@ -")?;
    let (ranges, _) = rest.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((line, count)) => Some((line.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((line, old), (_, new)) = (range(old)?, range(new)?);
    Some(Numbers { line, old, new })
}
