//! The script in a block, and whether it can be one.

use super::SourceLimits;
use super::mark::{Seen, TagKind, tag};
use super::position::Position;
use super::segment::{Form, Rejection, RejectionKind, Script, SegmentKind};
use crate::item::Language;

/// Takes the script out of a block: `inner` is what is between the marks, and `at` where that is.
pub(super) fn script(
    inner: &[u8],
    at: Position,
    language: Language,
    form: Form,
    limits: SourceLimits,
) -> SegmentKind {
    let reject = |kind, at| SegmentKind::Rejected(Rejection { kind, at });
    let text = match std::str::from_utf8(inner) {
        Ok(text) => text,
        Err(error) => {
            let place = at.after(&inner[..error.valid_up_to()]);
            return reject(RejectionKind::NotUtf8, place);
        }
    };
    let source = unwrapped(bare(text));
    if source.is_empty() {
        return reject(RejectionKind::Empty, at);
    }
    let before = source.as_ptr() as usize - text.as_ptr() as usize;
    let source_at = at.after(&inner[..before]);
    let size = source.len() as u64;
    if size > limits.max_source_bytes {
        let most = limits.max_source_bytes;
        return reject(RejectionKind::TooLong { size, most }, source_at);
    }
    SegmentKind::Script(Script {
        source: source.to_owned(),
        source_at,
        language,
        form,
        could_end: None,
    })
}

/// Without blanks around it, and without a byte order mark.
fn bare(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('\u{feff}').map_or(text, str::trim_start)
}

/// Without a fence, tags or a section of character data around it, which models like to put inside the others.
fn unwrapped(text: &str) -> &str {
    let bare = fenced(text)
        .or_else(|| tagged(text))
        .or_else(|| text.strip_prefix("<![CDATA[")?.strip_suffix("]]>"));
    bare.map_or(text, str::trim)
}

fn fenced(text: &str) -> Option<&str> {
    let mark = text.chars().next().filter(|mark| "`~".contains(*mark))?;
    let width = text.chars().take_while(|c| *c == mark).count();
    let (info, rest) = text[width..].split_once('\n')?;
    let inner = rest.trim_end_matches(mark);
    let is_fence = width >= 3 && rest.len() - inner.len() >= width;
    let plain = info
        .trim()
        .chars()
        .all(|c| c.is_alphanumeric() || " -".contains(c));
    (is_fence && plain && (inner.is_empty() || inner.ends_with('\n'))).then_some(inner)
}

fn tagged(text: &str) -> Option<&str> {
    let Seen::Is(opening) = text.starts_with('<').then(|| tag(text.as_bytes(), true))? else {
        return None;
    };
    let inner = text.get(opening.len..)?;
    let close = inner.rfind("</")?;
    let Seen::Is(closing) = tag(&inner.as_bytes()[close..], true) else {
        return None;
    };
    let is_pair =
        matches!(opening.kind, TagKind::OpenScript(_)) && closing.kind == TagKind::CloseScript;
    (is_pair && close + closing.len == inner.len()).then(|| &inner[..close])
}
