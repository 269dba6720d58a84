//! One line of the log: the record, its number and time, the hash of the line before, and the
//! keyed code over all that.
//!
//! Hash and code are taken over the bytes as they stand in the file, so nothing depends on how
//! JSON is written.

use serde::{Deserialize, Serialize};

use super::clock::Timestamp;
use super::digest::Digest;
use super::key::{FileKey, Purpose};

/// No line is longer than this: a reader need not hold more of a file that a stranger made.
pub(super) const MAX_LINE: usize = 1 << 20;

const CODE_BEFORE: &str = r#","mac":""#;
const CODE_AFTER: &str = r#""}"#;
const SUFFIX: usize = CODE_BEFORE.len() + Digest::DIGITS + CODE_AFTER.len();

/// The fields of a line, but for the code.
#[derive(Serialize, Deserialize)]
pub(super) struct Body<R> {
    /// The number of the record, from 1.
    pub(super) seq: u64,
    /// When it was made.
    pub(super) at: Timestamp,
    /// The hash of the line before.
    pub(super) prev: String,
    #[serde(flatten)]
    pub(super) record: R,
}

/// The fields that the chain depends on.
#[derive(Deserialize)]
struct Links {
    seq: u64,
    prev: String,
}

/// Where in the chain a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) prev: Digest,
}

/// Writes a line, without its line feed.
pub(super) fn seal(
    key: &FileKey,
    link: Link,
    at: Timestamp,
    record: &impl Serialize,
) -> serde_json::Result<Vec<u8>> {
    let body = Body {
        seq: link.seq,
        at,
        prev: link.prev.to_string(),
        record,
    };
    let mut line = serde_json::to_vec(&body)?;
    // The code takes the place of the closing brace, which it does not cover.
    line.pop();
    let code = key.sign(Purpose::Line, &line);
    line.extend_from_slice(format!("{CODE_BEFORE}{code}{CODE_AFTER}").as_bytes());
    Ok(line)
}

/// Reads the place of a line in the chain, if the key vouches for every byte of it.
pub(super) fn open(key: &FileKey, line: &[u8]) -> Option<Link> {
    let (covered, suffix) = line.split_at_checked(line.len().checked_sub(SUFFIX)?)?;
    let code = str::from_utf8(suffix)
        .ok()?
        .strip_prefix(CODE_BEFORE)?
        .strip_suffix(CODE_AFTER)?;
    if !key.vouches(Purpose::Line, covered, Digest::from_hex(code)?) {
        return None;
    }
    let links: Links = serde_json::from_slice(line).ok()?;
    Some(Link {
        seq: links.seq,
        prev: Digest::from_hex(&links.prev)?,
    })
}
