//! Flags whose value is a secret: by the flag's own name, or because the program says so.

use super::words::Word;
use super::{Span, is_reference, names};

/// How a short flag takes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `-p secret`.
    Next,
    /// `-psecret`, and only so.
    Attached,
    /// Either of the two.
    Either,
    /// `-u user:secret`: what follows this sign.
    After(char),
}

/// Programs with secrets behind flags whose names do not tell.
const PROGRAMS: &[(&[&str], &str, Takes)] = &[
    (&["curl"], "-u", Takes::After(':')),
    (&["curl"], "--user", Takes::After(':')),
    (&["curl"], "-U", Takes::After(':')),
    (&["curl"], "--proxy-user", Takes::After(':')),
    (&["http", "https", "xh"], "-a", Takes::After(':')),
    (&["http", "https", "xh"], "--auth", Takes::After(':')),
    (&["smbclient"], "-U", Takes::After('%')),
    (
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mariadb",
            "mariadb-dump",
        ],
        "-p",
        Takes::Attached,
    ),
    (&["sshpass"], "-p", Takes::Either),
    (&["redis-cli"], "-a", Takes::Next),
    (
        &["docker", "podman", "helm", "buildah", "skopeo", "oc", "az"],
        "-p",
        Takes::Next,
    ),
    (
        &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete"],
        "-w",
        Takes::Either,
    ),
    (&["zip", "unzip"], "-P", Takes::Either),
    (&["7z", "7za", "7zz"], "-p", Takes::Attached),
    (&["openssl"], "-k", Takes::Next),
    (&["openssl"], "-pass", Takes::After(':')),
    (&["openssl"], "-passin", Takes::After(':')),
    (&["openssl"], "-passout", Takes::After(':')),
];

/// Programs of whose `-p` only the `login` kind is a password; elsewhere it is a port.
const ONLY_AT_LOGIN: &[&str] = &["docker", "podman", "helm", "buildah", "skopeo", "oc", "az"];

/// Finds secrets behind flags; reports the word and the part of it.
pub(super) fn find(words: &[Word<'_>], mut report: impl FnMut(usize, Span)) {
    let mut program = "";
    let mut login = false;
    let mut first = true;
    for (at, word) in words.iter().enumerate() {
        let (text, span) = word.bare();
        if matches!(text, ";" | "|" | "&" | "(" | ")") {
            first = true;
            continue;
        }
        if first && (!text.contains('=') || text.starts_with('-')) {
            // `sudo curl …`: a wrapper in front doesn't hide the program.
            program = text.rsplit('/').next().unwrap_or(text);
            first = matches!(
                program,
                "sudo" | "env" | "nohup" | "time" | "nice" | "command"
            );
            login = false;
            continue;
        }
        login |= text == "login";
        let next = words.get(at + 1).map(Word::bare);
        // `aws configure set aws_secret_access_key …`
        let set = at > 0 && words[at - 1].text == "set" && names::is_secret(text);
        if let Some((value, span)) = next.clone().filter(|_| set)
            && is_hidden(value, words[at + 1].text)
        {
            report(at + 1, span);
        }
        if let Some(flag) = text.strip_prefix("--") {
            // With `=` it is an assignment, which is found as such.
            let waits = !flag.contains('=') && names::is_secret(flag);
            if let Some((value, span)) = next.clone().filter(|_| waits)
                && !value.starts_with('-')
                && is_hidden(value, words[at + 1].text)
            {
                report(at + 1, span);
            }
        }
        for (_, flag, takes) in rules(program, login) {
            let attached = text.strip_prefix(flag).filter(|rest| !rest.is_empty());
            match (takes, attached, &next) {
                (Takes::Attached | Takes::Either, Some(rest), _) if is_hidden(rest, word.text) => {
                    report(at, span.end - rest.len()..span.end);
                }
                (Takes::Next | Takes::Either, None, Some((value, span)))
                    if text == *flag && is_hidden(value, words[at + 1].text) =>
                {
                    report(at + 1, span.clone());
                }
                (Takes::After(sign), None, Some((value, span))) if text == *flag => {
                    if let Some((_, secret)) = value.split_once(*sign)
                        && is_hidden(secret, words[at + 1].text)
                    {
                        report(at + 1, span.end - secret.len()..span.end);
                    }
                }
                (Takes::After(sign), Some(rest), _) if !flag.starts_with("--") => {
                    if let Some((_, secret)) = rest.split_once(*sign)
                        && is_hidden(secret, word.text)
                    {
                        report(at, span.end - secret.len()..span.end);
                    }
                }
                _ => {}
            }
        }
    }
}

fn rules(
    program: &str,
    login: bool,
) -> impl Iterator<Item = &'static (&'static [&'static str], &'static str, Takes)> {
    let wanted = login || !ONLY_AT_LOGIN.contains(&program);
    PROGRAMS
        .iter()
        .filter(move |(programs, ..)| wanted && programs.contains(&program))
}

/// Whether a value is a secret itself, and not a reference to one.
fn is_hidden(value: &str, word: &str) -> bool {
    !value.is_empty()
        && value != super::REDACTED
        && (word.starts_with('\'') || !is_reference(value))
}
