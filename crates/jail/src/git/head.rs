//! Whether a `HEAD` makes git take a folder for a repository.

use super::reach::Found;

/// How much of it git reads to see that.
const READ: usize = 255;

/// Whether git would take it for one.
pub(super) fn is_valid(head: &Found) -> bool {
    match head {
        Found::Link(_, target) => target.as_os_str().as_encoded_bytes().starts_with(b"refs/"),
        Found::File(stamp, bytes) => stamp.mode & 0o400 != 0 && says_something(bytes),
        _ => false,
    }
}

fn says_something(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(READ)];
    if let Some(rest) = bytes.strip_prefix(b"ref:") {
        let blanks = rest.iter().take_while(|byte| b" \t\n\r".contains(byte));
        return rest[blanks.count()..].starts_with(b"refs/");
    }
    digits(bytes) >= 40
}

fn digits(bytes: &[u8]) -> usize {
    let hex = |byte: &&u8| byte.is_ascii_hexdigit();
    bytes.iter().take_while(hex).count()
}

/// Whether its owner cannot read it.
pub(super) fn is_closed(head: &Found) -> bool {
    matches!(head, Found::File(stamp, _) if stamp.mode & 0o400 == 0)
}

/// Whether it is as git itself writes it: everybody takes that for the same.
pub(super) fn is_plain(head: &Found) -> bool {
    match head {
        Found::File(stamp, bytes) => stamp.mode & 0o400 != 0 && is_plain_text(bytes),
        _ => false,
    }
}

fn is_plain_text(bytes: &[u8]) -> bool {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let is_name = |name: &[u8]| {
        let is_odd = |byte: &u8| byte.is_ascii_control() || *byte == b' ';
        !name.is_empty() && !name.iter().any(is_odd)
    };
    match line.strip_prefix(b"ref: refs/") {
        Some(name) => is_name(name),
        None => [40, 64].contains(&line.len()) && digits(line) == line.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_takes_for_a_head() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let far_out = format!("ref:{}refs/heads/main\n", " ".repeat(300));
        for (text, valid, plain) in [
            ("ref: refs/heads/main\n", true, true),
            ("ref:refs/heads/main", true, false),
            ("ref: refs/heads/a b", true, false),
            (id, true, true),
            (&format!("{id} x"), true, false),
            (&far_out, false, false),
            ("ref:\x0c refs/heads/main\n", false, false),
            ("ref: elsewhere", false, false),
            ("", false, false),
            ("garbage", false, false),
            (&id[..39], false, false),
        ] {
            assert_eq!(says_something(text.as_bytes()), valid, "{text}");
            assert_eq!(is_plain_text(text.as_bytes()), plain, "{text}");
        }
    }
}
