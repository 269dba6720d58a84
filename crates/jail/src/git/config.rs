//! Git's configuration format: sections, subsections, keys and values, as git itself reads them.
//!
//! Pure: bytes in, entries out. What git would refuse to read is an error here too, so that nobody
//! takes a file for harmless that was not understood.

/// A key with its value, where it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// In lower case.
    pub(super) section: String,
    /// As it is written: its case matters.
    pub(super) subsection: Option<String>,
    /// In lower case.
    pub(super) name: String,
    /// Nothing where there is no `=`, which git takes for `true`.
    pub(super) value: Option<String>,
}

impl Entry {
    /// The key in the form in which git names it.
    pub(super) fn key(&self) -> String {
        match &self.subsection {
            Some(subsection) => format!("{}.{subsection}.{}", self.section, self.name),
            None => format!("{}.{}", self.section, self.name),
        }
    }

    /// The value, empty where there is none.
    pub(super) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }
}

/// A line that git would refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not one that git could read")]
pub(super) struct BadLine {
    line: usize,
}

/// The most entries that are taken from one file.
const MOST_ENTRIES: usize = 20_000;

/// Reads a file.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Entry>, BadLine> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = Reader {
        bytes,
        at: 0,
        line: 1,
    };
    let mut entries = Vec::new();
    let mut section: Option<(String, Option<String>)> = None;
    while let Some(byte) = reader.next() {
        match byte {
            b'#' | b';' => reader.skip_line(),
            b'[' => section = Some(reader.section()?),
            byte if byte.is_ascii_whitespace() => {}
            byte if byte.is_ascii_alphabetic() => {
                let Some((section, subsection)) = section.clone() else {
                    return Err(reader.bad());
                };
                let (name, value) = reader.variable(byte)?;
                entries.push(Entry {
                    section,
                    subsection,
                    name,
                    value,
                });
                if entries.len() > MOST_ENTRIES {
                    return Err(reader.bad());
                }
            }
            _ => return Err(reader.bad()),
        }
    }
    Ok(entries)
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    line: usize,
}

impl Reader<'_> {
    /// The next byte. A line's end is one byte, however it is written.
    fn next(&mut self) -> Option<u8> {
        let mut byte = *self.bytes.get(self.at)?;
        self.at += 1;
        if byte == b'\r' && self.bytes.get(self.at) == Some(&b'\n') {
            self.at += 1;
            byte = b'\n';
        }
        if byte == b'\n' {
            self.line += 1;
        }
        Some(byte)
    }

    fn bad(&self) -> BadLine {
        BadLine { line: self.line }
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    /// What stands between the brackets; the opening one has been read.
    fn section(&mut self) -> Result<(String, Option<String>), BadLine> {
        let mut name = Vec::new();
        loop {
            match self.next() {
                Some(b']') => return Ok(dotted(&text(name))),
                Some(byte) if byte == b' ' || byte == b'\t' => {
                    return Ok((text(name), Some(self.subsection()?)));
                }
                Some(byte) if byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.' => {
                    name.push(byte.to_ascii_lowercase());
                }
                _ => return Err(self.bad()),
            }
        }
    }

    /// A quoted subsection and the closing bracket.
    fn subsection(&mut self) -> Result<String, BadLine> {
        let mut found = Vec::new();
        loop {
            match self.next() {
                Some(b' ' | b'\t') => {}
                Some(b'"') => break,
                _ => return Err(self.bad()),
            }
        }
        loop {
            match self.next() {
                Some(b'"') => break,
                Some(b'\\') => match self.next() {
                    Some(b'\n') | None => return Err(self.bad()),
                    Some(byte) => found.push(byte),
                },
                Some(b'\n') | None => return Err(self.bad()),
                Some(byte) => found.push(byte),
            }
        }
        match self.next() {
            Some(b']') => Ok(text(found)),
            _ => Err(self.bad()),
        }
    }

    /// A name, of which the first letter has been read, and its value.
    fn variable(&mut self, first: u8) -> Result<(String, Option<String>), BadLine> {
        let mut name = vec![first.to_ascii_lowercase()];
        loop {
            match self.next() {
                Some(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => {
                    name.push(byte.to_ascii_lowercase());
                }
                Some(b'=') => return Ok((text(name), Some(self.value()?))),
                Some(b'\n') | None => return Ok((text(name), None)),
                // After a blank only `=` or the end of the line can follow.
                Some(b' ' | b'\t') => {
                    return match self.next_but_blanks() {
                        Some(b'=') => Ok((text(name), Some(self.value()?))),
                        Some(b'\n') | None => Ok((text(name), None)),
                        _ => Err(self.bad()),
                    };
                }
                _ => return Err(self.bad()),
            }
        }
    }

    fn next_but_blanks(&mut self) -> Option<u8> {
        loop {
            match self.next() {
                Some(b' ' | b'\t') => {}
                other => return other,
            }
        }
    }

    /// A value, to the end of its last line.
    fn value(&mut self) -> Result<String, BadLine> {
        let mut found: Vec<u8> = Vec::new();
        // How much of it is certain: blanks count only if something comes after them.
        let mut kept = 0;
        let mut quoted = false;
        loop {
            let Some(byte) = self.next() else {
                if quoted {
                    return Err(self.bad());
                }
                break;
            };
            match byte {
                b'\n' if quoted => return Err(self.bad()),
                b'\n' => break,
                b' ' | b'\t' if !quoted => {
                    if !found.is_empty() {
                        found.push(byte);
                    }
                    continue;
                }
                b'#' | b';' if !quoted => {
                    self.skip_line();
                    break;
                }
                b'"' => {
                    quoted = !quoted;
                    continue;
                }
                b'\\' => match self.next() {
                    Some(b'\n') => continue,
                    Some(b't') => found.push(b'\t'),
                    Some(b'b') => found.push(8),
                    Some(b'n') => found.push(b'\n'),
                    Some(byte @ (b'\\' | b'"')) => found.push(byte),
                    _ => return Err(self.bad()),
                },
                byte => found.push(byte),
            }
            kept = found.len();
        }
        found.truncate(kept);
        Ok(text(found))
    }
}

/// The old form of a subsection: `[branch.main]`, of which everything is in lower case.
fn dotted(name: &str) -> (String, Option<String>) {
    match name.split_once('.') {
        Some((section, subsection)) => (section.to_owned(), Some(subsection.to_owned())),
        None => (name.to_owned(), None),
    }
}

/// Bytes that are no text are kept apart from others by what stands for them.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let bytes = error.as_bytes();
        bytes.iter().map(|byte| char::from(*byte)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match parse(text.as_bytes()) {
            Ok(entries) => entries
                .iter()
                .map(|entry| match &entry.value {
                    Some(value) => format!("{}={value}\n", entry.key()),
                    None => format!("{}\n", entry.key()),
                })
                .collect(),
            Err(error) => format!("{error}\n"),
        }
    }

    #[test]
    fn what_git_reads_is_read_alike() {
        let table = [
            ("[core]\n\tbare = false\n", "core.bare=false\n"),
            ("[CORE]\nBare\n", "core.bare\n"),
            ("[core] editor = vim # why\n", "core.editor=vim\n"),
            ("[a \"B.c\"]\nx=1", "a.B.c.x=1\n"),
            ("[a \"q\\\"\\\\z\"]\nx=1", "a.q\"\\z.x=1\n"),
            ("[Branch.Main]\nx=1", "branch.main.x=1\n"),
            ("[a]\nx = \"a # b\" c ; d\n", "a.x=a # b c\n"),
            ("[a]\nx = one \\\n  two\n", "a.x=one   two\n"),
            ("[a]\nx = a\\tb\\n\\\"\n", "a.x=a\tb\n\"\n"),
            ("[a]\nx =   \ny=2\n", "a.x=\na.y=2\n"),
            ("\u{feff}[a]\r\nx=1\r\ny=2\r\n", "a.x=1\na.y=2\n"),
            ("[a]\nx\t =\tz  \n", "a.x=z\n"),
            ("# c\n; d\n[a]x=1\n[b]y=2", "a.x=1\nb.y=2\n"),
            ("[a]\nx y\n", "line 2 is not one that git could read\n"),
            ("x=1\n", "line 1 is not one that git could read\n"),
            ("[a\nx=1\n", "line 2 is not one that git could read\n"),
            (
                "[a]\nx = \"open\n",
                "line 3 is not one that git could read\n",
            ),
            ("[a]\nx = \\q\n", "line 2 is not one that git could read\n"),
            ("[a]\n1x = 1\n", "line 2 is not one that git could read\n"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn git_itself_agrees() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        for text in [
            "[core]\n\tbare = false\n[remote \"o\"]\n\turl = \"a b\"  ; c\n\tfetch = +x\n",
            "[a \"B.c\"]\n  Key-1 = one \\\n two\n[Old.Style]\nx\n",
            "[a]x=\"\"\n[a]x = y\\\\\n",
        ] {
            std::fs::write(&file, text).unwrap();
            let git = std::process::Command::new("git")
                .args(["config", "--list", "--file"])
                .arg(&file)
                .output()
                .unwrap();
            assert_eq!(
                shown(text),
                String::from_utf8_lossy(&git.stdout),
                "{text:?}"
            );
        }
    }
}
