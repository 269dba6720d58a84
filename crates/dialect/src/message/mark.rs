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
    /// One that opens a script and has something in it that is not understood.
    MalformedScript,
    /// One that opens and closes at once.
    EmptyScript,
    OpenThought(ThoughtName),
    CloseThought(ThoughtName),
}

/// The name of a tag around thoughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ThoughtName(&'static str);

const SCRIPT: &str = "tool-calls";
/// Tags that models put around what they only think.
const THOUGHTS: [&str; 9] = [
    "thinking",
    "think",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "scratchpad",
    "antthinking",
    "analysis",
];
/// Longer tags are none.
const LONGEST_TAG: usize = 256;

/// Reads a tag where bytes begin with `<`. Letters may be small or capital.
pub(super) fn tag(bytes: &[u8], is_all: bool) -> Seen<Tag> {
    let slash = usize::from(bytes.get(1) == Some(&b'/'));
    let rest = &bytes[1 + slash..];
    let len = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
        .count();
    let word = rest[..len].to_ascii_lowercase();
    let mut names = THOUGHTS.iter().copied().chain([SCRIPT]);
    if len == rest.len() {
        // The name may go on.
        let may_be = names.any(|name| name.as_bytes().starts_with(&word));
        return if may_be && !is_all {
            Seen::Unclear
        } else {
            Seen::Not
        };
    }
    let Some(name) = names.find(|name| name.as_bytes() == word) else {
        return Seen::Not;
    };
    let (inner, end) = match inside(&rest[len..], name == SCRIPT, is_all) {
        Seen::Is(found) => found,
        Seen::Not => return Seen::Not,
        Seen::Unclear => return Seen::Unclear,
    };
    let kind = match (name == SCRIPT, slash == 1) {
        (true, false) if inner == b"/" => TagKind::EmptyScript,
        (true, false) => attribute(inner).map_or(TagKind::MalformedScript, TagKind::OpenScript),
        (true, true) => TagKind::CloseScript,
        // Nothing is thought in it.
        (false, false) if inner.ends_with(b"/") => return Seen::Not,
        (false, false) => TagKind::OpenThought(ThoughtName(name)),
        (false, true) => TagKind::CloseThought(ThoughtName(name)),
    };
    let len = 1 + slash + len + end;
    Seen::Is(Tag { kind, len })
}

/// What is in a tag behind its name, and where the tag ends.
fn inside(rest: &[u8], in_one_line: bool, is_all: bool) -> Seen<(&[u8], usize)> {
    if !matches!(
        rest.first(),
        Some(b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n')
    ) {
        return Seen::Not;
    }
    let window = &rest[..rest.len().min(LONGEST_TAG)];
    let ends = |byte: u8| byte == b'>' || byte == b'<' || (in_one_line && byte == b'\n');
    // A value in quotes may hold anything, even what looks like the end; where nothing closes it, the quote is no more than a letter.
    let end = match outside_quotes(window, ends) {
        None if rest.len() < LONGEST_TAG && !is_all => return Seen::Unclear,
        None => window.iter().position(|byte| ends(*byte)),
        end => end,
    };
    match end {
        Some(end) if window[end] == b'>' => Seen::Is((window[..end].trim_ascii(), end + 1)),
        _ => Seen::Not,
    }
}

/// The first byte of this kind that is in no value in quotes.
fn outside_quotes(window: &[u8], wanted: impl Fn(u8) -> bool) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in window.iter().copied().enumerate() {
        match quote {
            Some(open) => quote = Some(open).filter(|open| byte != *open),
            None if wanted(byte) => return Some(at),
            None => {
                let begins = matches!(byte, b'"' | b'\'') && at > 0 && window[at - 1] == b'=';
                quote = begins.then_some(byte);
            }
        }
    }
    None
}

/// The language that a tag names; TypeScript if it has nothing in it.
fn attribute(inner: &[u8]) -> Option<Language> {
    if inner.is_empty() {
        return Some(Language::Ts);
    }
    let inner = std::str::from_utf8(inner).ok()?;
    let (name, value) = inner.split_once('=')?;
    let value = value.trim().trim_matches(['"', '\'']);
    let name = name.trim();
    ["lang", "language"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
        .then(|| language(value))
        .flatten()
}

fn language(name: &str) -> Option<Language> {
    match name.to_ascii_lowercase().as_str() {
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
    pub(super) holds: Held,
    /// How many bytes the line has, without its end.
    pub(super) len: usize,
}

/// What a fence is around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// Code that is only shown.
    Shown,
    /// A script.
    Script(Language),
    /// A script in a language that scripts are not written in.
    Malformed,
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
        holds: held(info),
        len: line.len(),
    })
}

/// What a fence with this behind it is around: a script if that is `ts tool-calls`, in whatever order, or `tool-calls` alone.
fn held(info: &[u8]) -> Held {
    let info = String::from_utf8_lossy(info);
    let words: Vec<&str> = info.split_ascii_whitespace().collect();
    let is_mark = |word: &str| word.eq_ignore_ascii_case(SCRIPT);
    match words.as_slice() {
        [mark] if is_mark(mark) => Held::Script(Language::Ts),
        [name, mark] | [mark, name] if is_mark(mark) => {
            language(name).map_or(Held::Malformed, Held::Script)
        }
        _ => Held::Shown,
    }
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
