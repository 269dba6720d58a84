//! A SHA-256 value as the log writes it: 64 lower-case hexadecimal digits.

use std::fmt::{self, Write as _};

use sha2::Digest as _;
use sha2::Sha256;

/// 32 bytes: the hash of a line, or a keyed code over one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Digest(pub(super) [u8; 32]);

impl Digest {
    /// Digits in the written form.
    pub(super) const DIGITS: usize = 64;

    /// The hash of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads the written form.
    pub(super) fn from_hex(text: &str) -> Option<Self> {
        if text.len() != Self::DIGITS || text.bytes().any(|b| b.is_ascii_uppercase()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let high = char::from(pair[0]).to_digit(16)?;
            let low = char::from(pair[1]).to_digit(16)?;
            *byte = u8::try_from(high * 16 + low).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| {
            f.write_char(char::from(b"0123456789abcdef"[usize::from(byte >> 4)]))?;
            f.write_char(char::from(b"0123456789abcdef"[usize::from(byte & 15)]))
        })
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
