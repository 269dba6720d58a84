//! Marks in a message: tags, and fences around code. Each is read from bytes of which more may
//! still come.

use crate::item::Language;

/// What bytes turn out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen<T> {
    /// This.
    Is(T),
    /// Something else.
    Not,
    /// More bytes will tell.
    Unclear,
}

/// A tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) kind: TagKind,
    /// How many bytes it has.
    pub(super) len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagKind {
    OpenScript(Language),
    CloseScript,
    MalformedScript,
    OpenThinking(Thinking),
}

/// The names of tags around thoughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    Thinking,
    Think,
}

impl Thinking {
    pub(super) fn opening(self) -> &'static [u8] {
        match self {
            Self::Thinking => b"<thinking>",
            Self::Think => b"<think>",
        }
    }

    pub(super) fn closing(self) -> &'static [u8] {
        match self {
            Self::Thinking => b"</thinking>",
            Self::Think => b"</think>",
        }
    }
}

const OPEN: &[u8] = b"<tool-calls";
const CLOSE: &[u8] = b"</tool-calls";
/// Longer tags are none.
const LONGEST_TAG: usize = 128;

/// Whether bytes begin with a text.
pub(super) fn begins_with(bytes: &[u8], text: &[u8], is_all: bool) -> Seen<()> {
    if bytes.starts_with(text) {
        Seen::Is(())
    } else if !is_all && text.starts_with(bytes) {
        Seen::Unclear
    } else {
        Seen::Not
    }
}

/// Reads a tag where bytes begin with `<`.
pub(super) fn tag(bytes: &[u8], is_all: bool) -> Seen<Tag> {
    let mut unclear = false;
    for thinking in [Thinking::Thinking, Thinking::Think] {
        match begins_with(bytes, thinking.opening(), is_all) {
            Seen::Is(()) => {
                return Seen::Is(Tag {
                    kind: TagKind::OpenThinking(thinking),
                    len: thinking.opening().len(),
                });
            }
            Seen::Unclear => unclear = true,
            Seen::Not => {}
        }
    }
    for name in [OPEN, CLOSE] {
        match begins_with(bytes, name, is_all) {
            Seen::Is(()) => return script_tag(bytes, name, is_all),
            Seen::Unclear => unclear = true,
            Seen::Not => {}
        }
    }
    if unclear { Seen::Unclear } else { Seen::Not }
}

/// Reads the rest of a tag whose name has been seen.
fn script_tag(bytes: &[u8], name: &[u8], is_all: bool) -> Seen<Tag> {
    let rest = &bytes[name.len()..];
    let inner_len = match rest.first() {
        None if is_all => return Seen::Not,
        None => return Seen::Unclear,
        Some(b'>') => 0,
        Some(b' ' | b'\t' | b'/') => {
            let window = &rest[..rest.len().min(LONGEST_TAG)];
            match window.iter().position(|byte| b">\n<".contains(byte)) {
                Some(end) if window[end] == b'>' => end,
                None if rest.len() < LONGEST_TAG && !is_all => return Seen::Unclear,
                _ => return Seen::Not,
            }
        }
        // `<tool-calls-log>` is another tag.
        Some(_) => return Seen::Not,
    };
    let inner = rest[..inner_len].trim_ascii();
    let kind = match (name == OPEN, attribute(inner)) {
        (true, Some(language)) => TagKind::OpenScript(language),
        (false, _) if inner.is_empty() => TagKind::CloseScript,
        _ => TagKind::MalformedScript,
    };
    Seen::Is(Tag {
        kind,
        len: name.len() + inner_len + 1,
    })
}

/// The language that a tag names; TypeScript if it has nothing in it.
fn attribute(inner: &[u8]) -> Option<Language> {
    if inner.is_empty() {
        return Some(Language::Ts);
    }
    let inner = std::str::from_utf8(inner).ok()?;
    let (name, value) = inner.split_once('=')?;
    let value = value.trim().trim_matches(['"', '\'']);
    ["lang", "language"]
        .contains(&name.trim())
        .then(|| language(value))
        .flatten()
}

fn language(name: &str) -> Option<Language> {
    match name {
        "ts" | "typescript" => Some(Language::Ts),
        "js" | "javascript" => Some(Language::Js),
        _ => None,
    }
}

/// A line that opens a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    pub(super) mark: u8,
    pub(super) width: usize,
    /// What the script in it is written in, if it is one.
    pub(super) script: Option<Language>,
    /// How many bytes the line has, without its end.
    pub(super) len: usize,
}

/// The fence that a line begins with: its mark, how wide it is, and where it ends.
fn run(line: &[u8], is_whole: bool) -> Seen<(u8, usize, usize)> {
    let indent = line.iter().take_while(|byte| **byte == b' ').count();
    if indent > 3 {
        return Seen::Not;
    }
    let Some(mark) = line.get(indent).copied() else {
        return if is_whole { Seen::Not } else { Seen::Unclear };
    };
    if mark != b'`' && mark != b'~' {
        return Seen::Not;
    }
    let width = line[indent..]
        .iter()
        .take_while(|byte| **byte == mark)
        .count();
    let end = indent + width;
    if end == line.len() && !is_whole {
        return Seen::Unclear;
    }
    if width < 3 {
        return Seen::Not;
    }
    Seen::Is((mark, width, end))
}

/// The bytes of a line without its end, and whether that has been seen.
pub(super) fn line_of(bytes: &[u8], is_all: bool) -> (&[u8], bool) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&bytes[..end], true),
        None => (bytes, is_all),
    }
}

/// Reads a line that may open a fence.
pub(super) fn opening_fence(bytes: &[u8], is_all: bool) -> Seen<Fence> {
    let (line, is_whole) = line_of(bytes, is_all);
    let (mark, width, end) = match run(line, is_whole) {
        Seen::Is(found) => found,
        Seen::Not => return Seen::Not,
        Seen::Unclear => return Seen::Unclear,
    };
    let info = &line[end..];
    if mark == b'`' && info.contains(&b'`') {
        return Seen::Not;
    }
    if !is_whole {
        return Seen::Unclear;
    }
    Seen::Is(Fence {
        mark,
        width,
        script: script_language(info),
        len: line.len(),
    })
}

/// The language of a fence with `ts tool-calls` behind it.
fn script_language(info: &[u8]) -> Option<Language> {
    let info = std::str::from_utf8(info).ok()?;
    let mut words = info.split_ascii_whitespace();
    let (first, second) = (words.next()?, words.next()?);
    (second == "tool-calls" && words.next().is_none())
        .then(|| language(first))
        .flatten()
}

/// Reads a line that may close a fence; says where the fence ends in it.
pub(super) fn closing_fence(bytes: &[u8], fence: Fence, is_all: bool) -> Seen<usize> {
    let (line, is_whole) = line_of(bytes, is_all);
    match run(line, is_whole) {
        Seen::Is((mark, width, end)) if mark == fence.mark && width >= fence.width => {
            if !line[end..].trim_ascii().is_empty() {
                Seen::Not
            } else if is_whole {
                Seen::Is(end)
            } else {
                Seen::Unclear
            }
        }
        Seen::Is(_) | Seen::Not => Seen::Not,
        Seen::Unclear => Seen::Unclear,
    }
}
