//! Comments of a message, `<!-- … -->`: whoever writes one doesn't want what is in it to be run.

const OPENS: &[u8] = b"<!--";
const CLOSES: &[u8] = b"-->";
/// A comment is no longer than this: what is in it is held back until its end has come.
const LONGEST: usize = 16 << 10;

/// How many bytes the comment has that may begin here; 0 if there is none, or if nothing closes it. Nothing if that cannot
/// be told yet.
pub(super) fn comment(rest: &[u8], is_all: bool) -> Option<usize> {
    let begun = rest.len().min(OPENS.len());
    if rest[..begun] != OPENS[..begun] {
        return Some(0);
    }
    let window = &rest[..rest.len().min(LONGEST)];
    let inner = window.get(OPENS.len()..).unwrap_or_default();
    let end = inner
        .windows(CLOSES.len())
        .position(|bytes| bytes == CLOSES);
    match end {
        Some(at) => Some(OPENS.len() + at + CLOSES.len()),
        None if window.len() < LONGEST && !is_all => None,
        None => Some(0),
    }
}
