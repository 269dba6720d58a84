//! Secrets behind words that say so, whichever program it is: `--password x`, `-token x`, `set
//! aws_secret_access_key x`, `--arg password x`, `read PASSWORD <<< x`.

use super::flags::{Command, base};
use super::{Span, names};

/// Programs whose words are what somebody looks for, or reads.
const ABOUT_TEXT: &[&str] = &[
    "ack", "ag", "awk", "cat", "cd", "echo", "egrep", "fgrep", "find", "git", "grep", "head",
    "less", "ls", "man", "mkdir", "printf", "rg", "rm", "sed", "tail", "test", "touch", "wc",
];

/// What stands behind `--auth` without being a secret.
const KINDS_OF_AUTH: &[&str] = &[
    "basic", "bearer", "digest", "jwt", "kerberos", "md5", "none", "ntlm", "oauth", "oauth2",
    "plain", "scram", "token",
];

/// Finds them.
pub(super) fn find(command: &Command<'_, '_>, report: &mut impl FnMut(usize, Span)) {
    // The last word that is no flag.
    let mut before = "";
    let about_text = command
        .words
        .first()
        .is_some_and(|word| ABOUT_TEXT.contains(&base(word).as_str()));
    for (at, word) in command.words.iter().enumerate() {
        let (text, _) = word.bare();
        let next = command.words.get(at + 1).map(|word| word.bare().0);
        if is_flag(text) && next.is_some_and(|next| !next.starts_with('-')) {
            command.whole(at + 1, report);
        }
        if text == "--auth" && next.is_some_and(|next| !KINDS_OF_AUTH.contains(&next)) {
            command.whole(at + 1, report);
        }
        if prints_one(text) && next.is_some_and(|next| next.starts_with("echo ")) {
            command.from(at + 1, "echo ".len(), report);
        }
        if matches!(text, "--arg" | "--argjson") && next.is_some_and(names::is_secret) {
            command.whole(at + 2, report);
        }
        let set =
            matches!(before, "set" | "config") && !text.contains('=') && names::is_secret(text);
        // `machine h login me password x`, the way of `.netrc`.
        let netrc = matches!(text, "password" | "passwd")
            && at > 1
            && command.words[at - 2].bare().0 == "login";
        let plain = !about_text && is_plain_name(text) && next.is_some_and(looks_made_up);
        if set || netrc || plain {
            command.whole(at + 1, report);
        }
        if !word.text.starts_with('-') {
            before = word.text;
        }
    }
    into_variable(command, report);
}

/// `--password`, `-token`, `-ApiKey`.
fn is_flag(text: &str) -> bool {
    let long = text.strip_prefix("--");
    let short = text.strip_prefix('-').filter(|flag| flag.len() >= 5);
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = long.or(short).filter(|flag| flag.chars().all(letter));
    name.is_some_and(|name| name == "pw" || names::is_secret(name))
}

/// `--password-command`: what it runs may print the secret by itself.
fn prints_one(text: &str) -> bool {
    let name = text.strip_suffix("-command").or(text.strip_suffix("-cmd"));
    name.and_then(|name| name.strip_prefix("--"))
        .is_some_and(names::is_secret)
}

/// A word that names a secret by itself.
fn is_plain_name(text: &str) -> bool {
    matches!(text, "password" | "passwd" | "passphrase")
        || (text.contains('_') && !text.contains(['=', '-', '$', '/']) && names::is_secret(text))
}

/// Whether a word is rather a secret than a name or a path.
fn looks_made_up(text: &str) -> bool {
    let mixed = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
    text.len() >= 6
        && text.contains(mixed)
        && !text.contains(['/', '.', '$'])
        && !text.starts_with('-')
}

/// `printf -v PASSWORD %s x`.
fn into_variable(command: &Command<'_, '_>, report: &mut impl FnMut(usize, Span)) {
    let Some(at) = command.words.iter().position(|word| word.text == "-v") else {
        return;
    };
    let printf = at > 0 && base(&command.words[at - 1]) == "printf";
    let secret = command
        .words
        .get(at + 1)
        .is_some_and(|word| names::is_secret(word.bare().0));
    if printf && secret {
        let format = at + 2;
        let alone = command.words.len() == format + 1;
        let first = if alone { format } else { format + 1 };
        (first..command.words.len()).for_each(|at| command.whole(at, report));
    }
}

/// `read -r PASSWORD`: what stands behind `<<<` is one.
pub(super) fn reads_into_a_secret(command: &Command<'_, '_>) -> bool {
    let read = command.words.iter().position(|word| base(word) == "read");
    read.is_some_and(|at| {
        let mut names = command.words[at + 1..].iter().map(|word| word.bare().0);
        names.any(|name| !name.starts_with(['-', '<']) && names::is_secret(name))
    })
}
