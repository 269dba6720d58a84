//! The text editor tool of Anthropic's: files are read by a command and changed by a patch, each through the door like
//! any other.

use std::fmt::Write;

use serde_json::{Value, json};

use super::diff;

/// What the model wants of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edit {
    pub(super) path: String,
    pub(super) kind: EditKind,
}

/// In which way.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum EditKind {
    View {
        range: Option<(usize, Option<usize>)>,
    },
    Create {
        text: String,
    },
    Replace {
        old: String,
        new: String,
    },
    Insert {
        line: usize,
        text: String,
    },
}

impl Edit {
    /// Reads the input of a call; or says what is wrong with it.
    pub(super) fn read(input: &Value) -> Result<Self, String> {
        let text = |name: &str| {
            let text = input[name].as_str().map(str::to_owned);
            text.ok_or_else(|| format!("`{name}` is missing"))
        };
        let kind = match text("command")?.as_str() {
            "view" => EditKind::View {
                range: range(&input["view_range"])?,
            },
            "create" => EditKind::Create {
                text: text("file_text")?,
            },
            "str_replace" => EditKind::Replace {
                old: text("old_str")?,
                new: text("new_str").unwrap_or_default(),
            },
            "insert" => EditKind::Insert {
                line: usize::try_from(
                    input["insert_line"]
                        .as_u64()
                        .ok_or("`insert_line` is missing")?,
                )
                .unwrap_or(usize::MAX),
                text: text("insert_text").or_else(|_| text("new_str"))?,
            },
            other => {
                return Err(format!(
                    "there is no command `{other}`: view, create, str_replace, insert"
                ));
            }
        };
        let path = text("path")?;
        if path.contains('\n') || path.is_empty() {
            return Err("`path` is not the name of a file".to_owned());
        }
        Ok(Self { path, kind })
    }

    /// The command that reads the file, or lists the folder.
    pub(super) fn reading(&self) -> Value {
        let script = "if [ -d \"$1\" ]; then cd -- \"$1\" && find . -maxdepth 2 -not -path '*/.*' | sort; else cat -- \"$1\"; fi";
        json!({ "command": ["sh", "-c", script, "view", self.path] })
    }

    /// What is shown of the file.
    pub(super) fn shown(&self, text: &str) -> String {
        let EditKind::View { range } = self.kind else {
            return String::new();
        };
        let (first, last) = range.unwrap_or((1, None));
        let lines = text.lines().zip(1..).skip(first.saturating_sub(1));
        let lines = lines.take_while(|(_, number)| last.is_none_or(|last| *number <= last));
        lines.fold(String::new(), |mut shown, (line, number)| {
            let _ = writeln!(shown, "{number:6}\t{line}");
            shown
        })
    }

    /// The patch that makes the change, given what the file holds (nothing, if it does not exist); or why there is none.
    pub(super) fn patch(&self, before: Option<&str>) -> Result<String, String> {
        let path = &self.path;
        let after = match (&self.kind, before) {
            (EditKind::View { .. }, _) => return Err("nothing is changed by a look".to_owned()),
            (EditKind::Create { text }, _) => text.clone(),
            (_, None) => return Err(format!("there is no file {path}")),
            (EditKind::Replace { old, new }, Some(before)) => {
                match before.matches(old.as_str()).count() {
                    _ if old.is_empty() => return Err("`old_str` is empty".to_owned()),
                    0 => {
                        return Err(format!(
                            "`old_str` is not in {path}: it has to be there letter by letter"
                        ));
                    }
                    1 => before.replacen(old.as_str(), new, 1),
                    many => {
                        return Err(format!(
                            "`old_str` is in {path} {many} times: add lines around it"
                        ));
                    }
                }
            }
            (EditKind::Insert { line, text }, Some(before)) => {
                let lines: Vec<&str> = before.split_inclusive('\n').collect();
                if *line > lines.len() {
                    return Err(format!("{path} has {} lines", lines.len()));
                }
                let (head, tail) = lines.split_at(*line);
                let mut head = head.concat();
                if !head.is_empty() && !head.ends_with('\n') {
                    head.push('\n');
                }
                let gap = if text.ends_with('\n') || tail.is_empty() {
                    ""
                } else {
                    "\n"
                };
                format!("{head}{text}{gap}{}", tail.concat())
            }
        };
        if before == Some(after.as_str()) {
            return Err(format!("{path} is like this already"));
        }
        let diff = diff::unified(path, before, Some(&after));
        // Paths of the diff are as the model wrote them, without the letters that `diff` puts before them.
        let names = format!(
            "--- {}\n+++ {path}\n",
            if before.is_some() { path } else { "/dev/null" }
        );
        let hunks = diff.splitn(3, '\n').nth(2).unwrap_or_default();
        Ok(format!("{names}{hunks}"))
    }
}

fn range(value: &Value) -> Result<Option<(usize, Option<usize>)>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let bounds: Option<Vec<i64>> = value
        .as_array()
        .and_then(|all| all.iter().map(Value::as_i64).collect());
    match bounds.as_deref() {
        Some([first, last]) if *first >= 1 && (*last == -1 || last >= first) => {
            let first = usize::try_from(*first).unwrap_or(1);
            Ok(Some((first, usize::try_from(*last).ok())))
        }
        _ => Err("`view_range` is two numbers: the first line and the last, or -1".to_owned()),
    }
}
