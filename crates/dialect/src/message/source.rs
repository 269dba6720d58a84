//! The script in a block, and whether it can be one.

use super::SourceLimits;
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
    })
}

/// Without blanks around it, and without a byte order mark.
fn bare(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('\u{feff}').map_or(text, str::trim_start)
}

/// Without a fence around it, which models like to put inside the tags.
fn unwrapped(text: &str) -> &str {
    let inside = || {
        let rest = text.strip_prefix("```")?;
        let (info, rest) = rest.split_once('\n')?;
        let code = rest.strip_suffix("```")?;
        let plain = info.trim().chars().all(char::is_alphanumeric);
        (plain && (code.is_empty() || code.ends_with('\n'))).then(|| code.trim())
    };
    inside().unwrap_or(text)
}
