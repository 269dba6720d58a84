//! What the output of a command that failed tells of denials. A message names a path: the policy says
//! whether that path is one it denies, and the machine whether the user could have done it otherwise. Words alone never count.

use std::path::{Component, Path, PathBuf};

use ringfence_policy::NarrowGrant;
use ringfence_policy::permissions::Network;

use super::path::{Told, judge_path};
use super::{Denial, DenialKind, Evidence, MOST, Scene};

/// What the system says when it refuses something that has a path.
const DENIALS: &[(&str, Told)] = &[
    ("read-only file system", Told::ReadOnly),
    ("permission denied", Told::NoPermission),
    ("operation not permitted", Told::NotPermitted),
    ("resource busy", Told::Busy),
    // How some runtimes name the same.
    ("erofs", Told::ReadOnly),
    ("eacces", Told::NoPermission),
];
/// What programs say when there is no network.
pub(super) const NO_NETWORK: &[&str] = &[
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "network is unreachable",
    "no address associated with hostname",
    "getaddrinfo enotfound",
    "getaddrinfo eai_again",
    "failed to lookup address",
    "dial tcp: lookup ",
];
/// What the output of a command that failed tells.
pub(super) fn denials(scene: &Scene<'_>, output: &str) -> Vec<Denial> {
    const SIGSYS: i32 = 128 + 31;
    let mut found = Vec::new();
    if scene.exit_code == 0 || !scene.sandbox.mode.is_fenced() {
        return found;
    }
    if scene.exit_code == SIGSYS {
        found.push(Denial {
            kind: DenialKind::SystemCall,
            subject: "a system call".to_owned(),
            reason: "the fence does not let programs make it, and this one was killed".to_owned(),
            allow: "it can only run outside the fence".to_owned(),
            evidence: Evidence::Seen,
            grant: None,
        });
    }
    for line in output.lines() {
        let lower = line.to_lowercase();
        let said = DENIALS.iter();
        let mut said = said.filter_map(|(words, told)| Some((lower.find(words)?, *told)));
        if let Some((at, told)) = said.next() {
            let mut paths = paths_in(line, at, scene.cwd);
            // What is copied from elsewhere may be read: the denial is about where it goes.
            let roots = scene.sandbox.effective_writable_roots();
            paths.sort_by_key(|path| !roots.iter().any(|root| path.starts_with(root)));
            let mut paths = paths.iter();
            found.extend(paths.find_map(|path| judge_path(scene, path, told)));
        } else if scene.sandbox.network == Network::Off
            && NO_NETWORK.iter().any(|message| lower.contains(message))
        {
            found.push(no_network());
        }
    }
    found.dedup();
    found.truncate(MOST);
    found
}

pub(super) fn no_network() -> Denial {
    Denial {
        kind: DenialKind::Network,
        subject: "the network".to_owned(),
        reason: "it is off inside the fence".to_owned(),
        allow: "--network full, or `sandbox.network` in the configuration".to_owned(),
        evidence: Evidence::Output,
        grant: Some(NarrowGrant::Network),
    }
}

/// The paths that a message may be about: what it quotes, and the words of the denial.
fn paths_in(line: &str, denial_at: usize, cwd: &Path) -> Vec<PathBuf> {
    let before = line.get(..denial_at).unwrap_or(line);
    let mut candidates: Vec<&str> = Vec::new();
    for quote in ['\'', '"', '`', '\u{2018}'] {
        let close = if quote == '\u{2018}' {
            '\u{2019}'
        } else {
            quote
        };
        let mut rest = line;
        while let Some(start) = rest.find(quote) {
            let inner = &rest[start + quote.len_utf8()..];
            let Some(end) = inner.find([close, '\'']) else {
                break;
            };
            candidates.push(&inner[..end]);
            rest = &inner[end + inner[end..].chars().next().map_or(1, char::len_utf8)..];
        }
    }
    candidates.extend(
        before
            .split(": ")
            .map(|part| part.trim().trim_end_matches(':')),
    );
    candidates.extend(
        before
            .split_whitespace()
            .map(|word| word.trim_end_matches([':', ','])),
    );
    candidates.retain(|text| {
        let has_path = text.contains('/') || text.starts_with('.');
        has_path && (!text.contains(char::is_whitespace) || text.starts_with('/'))
    });
    // A message begins with whoever speaks, which is not what it is about if there is anything else.
    let speaker = before.split_once(": ").map(|(speaker, _)| speaker);
    if candidates.iter().any(|text| Some(*text) != speaker) {
        candidates.retain(|text| Some(*text) != speaker);
    }
    let paths = candidates.into_iter().map(|text| normal(&cwd.join(text)));
    let mut paths: Vec<PathBuf> = paths.collect();
    // A bare name in quotes is a file in the working folder.
    if paths.is_empty() {
        let quoted = line.split(['\'', '\u{2018}', '\u{2019}']).nth(1);
        paths.extend(quoted.map(|name| normal(&cwd.join(name))));
    }
    paths
}

/// The path without `.` and `..`, as far as the text tells.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}
