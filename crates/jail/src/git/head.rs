//! Whether a `HEAD` makes git take a folder for a repository.

use super::reach::Found;

/// Whether git would take it for one.
pub(super) fn is_valid(head: &Found) -> bool {
    match head {
        Found::Link(_, target) => target.starts_with("refs"),
        Found::File(stamp, bytes) => stamp.mode & 0o400 != 0 && says_something(bytes),
        _ => false,
    }
}

fn says_something(bytes: &[u8]) -> bool {
    if let Some(rest) = bytes.strip_prefix(b"ref:") {
        return rest.trim_ascii_start().starts_with(b"refs/");
    }
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    digits >= 40
}

#[cfg(test)]
mod tests {
    use super::says_something;

    #[test]
    fn what_git_takes_for_a_head() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        for (text, expected) in [
            ("ref: refs/heads/main\n", true),
            ("ref:refs/heads/main", true),
            (id, true),
            ("ref: elsewhere", false),
            ("", false),
            ("garbage", false),
            (&id[..39], false),
        ] {
            assert_eq!(says_something(text.as_bytes()), expected, "{text}");
        }
    }
}
