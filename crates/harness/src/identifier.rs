//! Identifiers that nobody can guess and no two things share.

use std::fmt::Write;

/// A new identifier with a prefix that says what it names.
pub fn random(prefix: &str) -> String {
    let mut bytes = [0u8; 8];
    // Without the kernel's randomness ids are merely unlikely to meet, which is all they need.
    if getrandom::fill(&mut bytes).is_err() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.unwrap_or_default();
        bytes[..4].copy_from_slice(&now.subsec_nanos().to_ne_bytes());
        bytes[4..].copy_from_slice(&std::process::id().to_ne_bytes());
    }
    bytes.iter().fold(format!("{prefix}_"), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
