//! The ids of traces and spans: made from the ids of the audit log, so that one leads to the other.

use sha2::{Digest, Sha256};

/// The trace of a turn, or of a call that is part of none and that no script made: the first 16 bytes of the SHA-256 of
/// its id.
pub fn trace_of(root: &str) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&Sha256::digest(root.as_bytes())[..16]);
    id
}

/// The span of a call or a turn: the 8 bytes after those.
pub fn span_of(id: &str) -> [u8; 8] {
    let mut span = [0; 8];
    span.copy_from_slice(&Sha256::digest(id.as_bytes())[16..24]);
    span
}

/// A command's hash, in hexadecimal.
pub(crate) fn hash(command: &str) -> String {
    hex(&Sha256::digest(command.as_bytes()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
