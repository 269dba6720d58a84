//! What the fence refused a command, told from facts where there are any.
//!
//! First comes what the fence has seen (`seen`). A message in the output names a path: the policy says whether that path is one it denies. Only
//! where no path can be found do the words alone count, and words that merely mention a sandbox
//! never do.

mod mended;
mod seen;

use std::path::{Component, Path, PathBuf};

use ringfence_jail::Refusal;
use ringfence_policy::permissions::{GIT_SETUP, Network, SandboxMode, SandboxPolicy};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that the fence refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Denial {
    /// What kind of thing.
    pub kind: DenialKind,
    /// What it was about: a path, mostly.
    pub subject: String,
    /// Why it was refused.
    pub reason: String,
    /// How one would allow it.
    pub allow: String,
    /// How it is known.
    pub evidence: Evidence,
}

/// How it is known that something was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DenialEvidence")]
pub enum Evidence {
    /// The fence has seen it happen. A fact.
    Seen,
    /// The output tells of something that the policy does deny.
    Output,
}

/// What kind of thing was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DenialKind {
    /// Writing a path.
    Write,
    /// Reading a path.
    Read,
    /// The network.
    Network,
    /// A host, by the proxy: it was judged, and asked about if it could be.
    Host,
    /// A unix socket, by its path.
    Socket,
    /// A system call.
    SystemCall,
    /// A change of what git runs for the user, which was put back.
    GitSetup,
    /// Something that only words tell of.
    Unclear,
}

impl Denial {
    /// The denial in one line.
    pub fn line(&self) -> String {
        match self.kind {
            DenialKind::Write => format!("writing {}: {}", self.subject, self.reason),
            DenialKind::Read => format!("reading {}: {}", self.subject, self.reason),
            DenialKind::Socket => format!("connecting to {}: {}", self.subject, self.reason),
            DenialKind::Network
            | DenialKind::Host
            | DenialKind::SystemCall
            | DenialKind::GitSetup
            | DenialKind::Unclear => {
                format!("{}: {}", self.subject, self.reason)
            }
        }
    }
}

/// Where a command ran, for telling what its messages are about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a> {
    /// The policy it ran under.
    pub sandbox: &'a SandboxPolicy,
    /// Its working folder.
    pub cwd: &'a Path,
    /// Its exit code.
    pub exit_code: i32,
}

/// What the system says when it refuses something that has a path.
const REFUSALS: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "resource busy",
];
/// What programs say when there is no network.
const NO_NETWORK: &[&str] = &[
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "network is unreachable",
    "no address associated with hostname",
    "getaddrinfo enotfound",
    "getaddrinfo eai_again",
    "failed to lookup address",
];
/// Words that count where nothing better is known.
const KEYWORDS: &[&str] = &[
    "operation not permitted",
    "permission denied",
    "read-only file system",
    "seccomp",
    "landlock",
    "failed to write file",
];

/// The most denials that one command reports.
const MOST: usize = 8;

/// What the fence refused: what it has seen, and what the output of a command that failed tells
/// besides.
pub(crate) fn find(scene: &Scene<'_>, refused: &[Refusal], output: &str) -> Vec<Denial> {
    let mut found = seen::denials(scene, refused);
    let told = told(scene, output);
    // Words without a path, or about the network, add nothing to what was seen.
    let adds = |denial: &Denial, found: &[Denial]| match denial.kind {
        DenialKind::Unclear => found.is_empty(),
        DenialKind::Network => !found.iter().any(|known| known.kind == denial.kind),
        kind => !found
            .iter()
            .any(|known| known.kind == kind && known.subject == denial.subject),
    };
    for denial in told {
        if adds(&denial, &found) {
            found.push(denial);
        }
    }
    found.truncate(MOST);
    found
}

/// What the output of a command that failed tells.
fn told(scene: &Scene<'_>, output: &str) -> Vec<Denial> {
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
        });
    }
    let mut words_only = false;
    for line in output.lines() {
        let lower = line.to_lowercase();
        if let Some(at) = REFUSALS.iter().find_map(|refusal| lower.find(refusal)) {
            let mut paths = paths_in(line, at, scene.cwd);
            // What is copied from elsewhere may be read: the refusal is about where it goes.
            let roots = scene.sandbox.effective_writable_roots();
            paths.sort_by_key(|path| !roots.iter().any(|root| path.starts_with(root)));
            found.extend(
                paths
                    .iter()
                    .find_map(|path| judge_path(scene.sandbox, path)),
            );
            words_only |= paths.is_empty();
        } else if scene.sandbox.network == Network::Off
            && NO_NETWORK.iter().any(|message| lower.contains(message))
        {
            found.push(no_network());
        } else {
            words_only |= KEYWORDS.iter().any(|keyword| lower.contains(keyword));
        }
    }
    found.dedup();
    if found.is_empty() && words_only {
        found.push(Denial {
            kind: DenialKind::Unclear,
            subject: "something the command tried".to_owned(),
            reason: "its output reads like a refusal of the fence".to_owned(),
            allow: "see `ringfence config show` for what the fence allows".to_owned(),
            evidence: Evidence::Output,
        });
    }
    found.truncate(MOST);
    found
}

fn no_network() -> Denial {
    Denial {
        kind: DenialKind::Network,
        subject: "the network".to_owned(),
        reason: "it is off inside the fence".to_owned(),
        allow: "--network full, or `sandbox.network` in the configuration".to_owned(),
        evidence: Evidence::Output,
    }
}

/// Whether the policy denies something about a path.
fn judge_path(sandbox: &SandboxPolicy, path: &Path) -> Option<Denial> {
    let subject = path.display().to_string();
    if let Some(denied) = sandbox
        .denied_reads
        .iter()
        .find(|denied| path.starts_with(denied))
    {
        return Some(Denial {
            kind: DenialKind::Read,
            subject,
            reason: format!("{} is kept from commands", denied.display()),
            allow: format!(
                "`sandbox.allowed_reads = [\"{}\"]`, or the rule or setting that denies it",
                denied.display()
            ),
            evidence: Evidence::Output,
        });
    }
    let roots = sandbox.effective_writable_roots();
    let Some(root) = roots.iter().find(|root| path.starts_with(root)) else {
        if ["/dev", "/proc", "/sys"]
            .iter()
            .any(|own| path.starts_with(own))
        {
            return None;
        }
        let folder = path.parent().unwrap_or(path).display();
        let reason = match sandbox.mode {
            SandboxMode::ReadOnly => "the policy is read-only".to_owned(),
            _ => "it is outside the workspace and the writable roots".to_owned(),
        };
        let allow = match sandbox.mode {
            SandboxMode::ReadOnly => "--sandbox workspace-write".to_owned(),
            _ => format!("--writable {folder}, or `sandbox.writable_roots = [\"{folder}\"]`"),
        };
        return Some(Denial {
            kind: DenialKind::Write,
            subject,
            reason,
            allow,
            evidence: Evidence::Output,
        });
    };
    if let Some(denial) = no_repository(sandbox, root, path) {
        return Some(denial);
    }
    let mut all = sandbox.protected_paths.iter().chain(&sandbox.watched_paths);
    let protected = all.find(|protected| {
        let whole = root.join(protected);
        path.starts_with(&whole)
            || whole.starts_with(path) && path != root
            || is_in_a_repository_below(path, root, protected)
    });
    let of_git = || git_setup(path, root);
    let protected = protected.cloned().or_else(of_git)?;
    Some(Denial {
        kind: DenialKind::Write,
        subject,
        reason: format!(
            "{} is protected: it can run code outside the fence",
            protected.display()
        ),
        allow: format!(
            "`sandbox.unprotected_paths = [\"{}\"]`",
            protected.display()
        ),
        evidence: Evidence::Output,
    })
}

/// What of a repository's set-up, at the top or further down, a path is in.
fn git_setup(path: &Path, root: &Path) -> Option<PathBuf> {
    let mut names = GIT_SETUP.iter().map(|name| Path::new(".git").join(name));
    names.find(|name| is_in_a_repository_below(path, root, name))
}

/// What `git init` meets: where there is no repository, none can be made inside.
fn no_repository(sandbox: &SandboxPolicy, root: &Path, path: &Path) -> Option<Denial> {
    let git = root.join(".git");
    if !path.starts_with(&git) || git.join("HEAD").exists() {
        return None;
    }
    let names: Vec<String> = sandbox
        .protected_paths
        .iter()
        .filter(|protected| protected.starts_with(".git"))
        .map(|protected| format!("\"{}\"", protected.display()))
        .collect();
    (!names.is_empty()).then(|| Denial {
        kind: DenialKind::Write,
        subject: path.display().to_string(),
        reason:
            ".git is protected where there is no repository yet: one that a command makes can run \
                 code outside the fence"
                .to_owned(),
        allow: format!(
            "run `git init` in {} yourself, outside the fence; or \
             `sandbox.unprotected_paths = [{}]`",
            root.display(),
            names.join(", ")
        ),
        evidence: Evidence::Output,
    })
}

/// Whether a path is the same in a repository further down, or in a submodule's git folder, as a
/// protected path is in the root's own.
fn is_in_a_repository_below(path: &Path, root: &Path, protected: &Path) -> bool {
    let (Ok(below), Ok(inner)) = (path.strip_prefix(root), protected.strip_prefix(".git")) else {
        return false;
    };
    let mut rest = below.components();
    let in_git = rest.any(|component| component.as_os_str() == ".git");
    in_git
        && !inner.as_os_str().is_empty()
        && std::iter::successors(Some(rest.as_path()), |path| {
            let mut components = path.components();
            components.next().map(|_| components.as_path())
        })
        .any(|tail| tail.starts_with(inner))
}

/// The paths that a message may be about: what it quotes, and the words before the refusal.
fn paths_in(line: &str, refusal_at: usize, cwd: &Path) -> Vec<PathBuf> {
    let before = line.get(..refusal_at).unwrap_or(line);
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
    let mut paths: Vec<PathBuf> = candidates
        .into_iter()
        .filter(|text| text.contains('/') || text.starts_with('.'))
        .filter(|text| !text.contains(char::is_whitespace) || text.starts_with('/'))
        .map(|text| normal(&cwd.join(text)))
        .collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox() -> SandboxPolicy {
        SandboxPolicy {
            denied_reads: vec!["/home/u/.ssh".into()],
            ..SandboxPolicy::workspace_write("/work/p")
        }
    }

    fn kinds(exit_code: i32, output: &str) -> Vec<(DenialKind, String)> {
        let sandbox = sandbox();
        let scene = Scene {
            sandbox: &sandbox,
            cwd: Path::new("/work/p"),
            exit_code,
        };
        find(&scene, &[], output)
            .into_iter()
            .map(|denial| (denial.kind, denial.subject))
            .collect()
    }

    #[test]
    fn messages_are_weighed_against_the_policy() {
        use DenialKind::{Network, Read, SystemCall, Unclear, Write};
        for (code, output, expected) in [
            (
                1,
                "touch: cannot touch '/root/escaped': Read-only file system",
                vec![(Write, "/root/escaped")],
            ),
            (
                1,
                "bash: line 1: /etc/x: Read-only file system",
                vec![(Write, "/etc/x")],
            ),
            (
                1,
                "bash: line 1: .git/hooks/pre-commit: Read-only file system",
                vec![(Write, "/work/p/.git/hooks/pre-commit")],
            ),
            (
                1,
                "bash: line 1: lib/.git/config: Read-only file system",
                vec![(Write, "/work/p/lib/.git/config")],
            ),
            (
                1,
                "bash: line 1: .git/modules/a/b/hooks/x: Read-only file system",
                vec![(Write, "/work/p/.git/modules/a/b/hooks/x")],
            ),
            (
                1,
                "mkdir: cannot create directory ‘.git/x’: Permission denied",
                vec![(Write, "/work/p/.git/x")],
            ),
            (
                128,
                "fatal: cannot copy '/usr/share/git-core/templates/x' to '/work/p/.git/x': Read-only file system",
                vec![(Write, "/work/p/.git/x")],
            ),
            (
                1,
                "mv: cannot move '.git' to 'aside': Device or resource busy",
                vec![(Write, "/work/p/.git")],
            ),
            (
                1,
                "cat: /home/u/.ssh/id: Permission denied",
                vec![(Read, "/home/u/.ssh/id")],
            ),
            (
                1,
                "cp: cannot create regular file '../y': Read-only file system",
                vec![(Write, "/work/y")],
            ),
            (
                6,
                "curl: (6) Could not resolve host: example.com",
                vec![(Network, "the network")],
            ),
            (159, "", vec![(SystemCall, "a system call")]),
            (
                1,
                "error: Operation not permitted",
                vec![(Unclear, "something the command tried")],
            ),
            // A file in the workspace that its own mode closes is no matter of the fence.
            (1, "cat: /work/p/closed: Permission denied", vec![]),
            (1, "cat: 'closed': Permission denied", vec![]),
            (
                1,
                "error in /work/p/sandbox/test.rs: assertion failed",
                vec![],
            ),
            (
                0,
                "touch: cannot touch '/root/escaped': Read-only file system",
                vec![],
            ),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(kind, subject)| (kind, subject.to_owned()))
                .collect();
            assert_eq!(kinds(code, output), expected, "{output}");
        }
    }

    #[test]
    fn every_denial_says_how_to_allow_it() {
        let sandbox = sandbox();
        let scene = Scene {
            sandbox: &sandbox,
            cwd: Path::new("/work/p"),
            exit_code: 1,
        };
        let denial = &find(
            &scene,
            &[],
            "touch: cannot touch '/srv/x': Read-only file system",
        )[0];
        assert_eq!(
            denial.allow,
            "--writable /srv, or `sandbox.writable_roots = [\"/srv\"]`"
        );
    }
}
