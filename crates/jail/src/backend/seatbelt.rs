//! The seatbelt backend: a policy as a profile for macOS's `sandbox-exec`. A pure function from
//! policy to text; nothing here runs anything.
//!
//! The language is that of `sandbox_init`: later rules win over earlier ones, so the profile goes
//! from the general to the particular.

use std::path::{Path, PathBuf};

use ringfence_policy::permissions::{Network, SandboxMode, SandboxPolicy, TmpPolicy};
use thiserror::Error;

/// Why no profile can hold a policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// The policy has no fence.
    #[error("`{0}` has no fence, so there is no profile for it")]
    Unfenced(SandboxMode),
    /// A profile is text.
    #[error("{0} is not a path that a profile can name: it must be absolute, and plain text")]
    Path(PathBuf),
    /// Host names cannot be filtered in a profile.
    #[error("a network allow-list needs the port of its proxy on the loopback")]
    NoProxy,
}

/// What a profile needs besides the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The session's temporary folder, which stands for a private `/tmp`.
    pub tmp: PathBuf,
    /// The port of the filtering proxy on the loopback, with a network allow-list.
    pub proxy_port: Option<u16>,
}

/// What every program needs to start.
const PREAMBLE: &str = "\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow mach-lookup
  (global-name \"com.apple.system.opendirectoryd.libinfo\")
  (global-name \"com.apple.system.logger\")
  (global-name \"com.apple.bsd.dirhelper\"))
(allow file-read*)
(allow file-write* file-ioctl
  (literal \"/dev/null\")
  (literal \"/dev/zero\")
  (literal \"/dev/tty\")
  (literal \"/dev/ptmx\")
  (regex #\"^/dev/ttys[0-9]+$\"))
";

/// The profile that holds a policy. Paths must be resolved: seatbelt compares what a name means.
pub fn profile(sandbox: &SandboxPolicy, around: &Surroundings) -> Result<String, ProfileError> {
    if !sandbox.mode.is_fenced() {
        return Err(ProfileError::Unfenced(sandbox.mode));
    }
    let mut text = PREAMBLE.to_owned();
    let mut roots: Vec<PathBuf> = sandbox.effective_writable_roots().to_vec();
    if sandbox.mode == SandboxMode::WorkspaceWrite {
        roots.push(match sandbox.tmp {
            TmpPolicy::Private => around.tmp.clone(),
            TmpPolicy::Host => PathBuf::from("/private/tmp"),
        });
    }
    let cache = sandbox.writable_cache().map(Path::to_path_buf);
    let writable: Vec<PathBuf> = roots.iter().cloned().chain(cache).collect();
    rule(
        &mut text,
        "allow file-write*",
        "writable roots",
        &subpaths(&writable)?,
    );
    let protected = protected(sandbox);
    rule(
        &mut text,
        "deny file-write*",
        "protected paths",
        &subpaths(&protected)?,
    );
    // Whoever could rename a folder on the way to them could put another in its place.
    let pinned = ancestors(&protected, &roots);
    rule(
        &mut text,
        "deny file-write-unlink",
        "the way to them",
        &literals(&pinned)?,
    );
    let denied = subpaths(&sandbox.denied_reads)?;
    rule(
        &mut text,
        "deny file-read* file-write*",
        "denied reads",
        &denied,
    );
    network(&mut text, sandbox.network, around)?;
    Ok(text)
}

fn rule(text: &mut String, what: &str, why: &str, filters: &[String]) {
    if !filters.is_empty() {
        text.extend(["; ", why, "\n(", what, "\n  ", &filters.join("\n  "), ")\n"]);
    }
}

fn network(text: &mut String, network: Network, around: &Surroundings) -> Result<(), ProfileError> {
    *text += "; network\n";
    match network {
        Network::Off => {}
        Network::AllowList => {
            let port = around.proxy_port.ok_or(ProfileError::NoProxy)?;
            let line = format!("(allow network-outbound (remote ip \"localhost:{port}\"))\n");
            text.push_str(&line);
        }
        Network::Full => {
            text.push_str("(allow network* (remote ip) (local ip))\n(allow system-socket)\n");
        }
    }
    if network == Network::Off {
        *text += "(deny network*)\n";
    }
    Ok(())
}

/// Protected paths in every root that they are about.
fn protected(sandbox: &SandboxPolicy) -> Vec<PathBuf> {
    let roots = sandbox.effective_writable_roots();
    let mut paths = Vec::new();
    for path in &sandbox.protected_paths {
        if path.is_absolute() {
            paths.push(path.clone());
        } else {
            paths.extend(roots.iter().map(|root| root.join(path)));
        }
    }
    paths
}

/// The roots themselves, and the folders between them and the protected paths.
fn ancestors(protected: &[PathBuf], roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = roots.to_vec();
    for path in protected {
        for ancestor in path.ancestors().skip(1) {
            let inside = |root: &PathBuf| ancestor != root && ancestor.starts_with(root);
            if roots.iter().any(inside) && !found.iter().any(|known| known == ancestor) {
                found.push(ancestor.to_path_buf());
            }
        }
    }
    found
}

fn subpaths(paths: &[PathBuf]) -> Result<Vec<String>, ProfileError> {
    filters("subpath", paths)
}

fn literals(paths: &[PathBuf]) -> Result<Vec<String>, ProfileError> {
    filters("literal", paths)
}

fn filters(kind: &str, paths: &[PathBuf]) -> Result<Vec<String>, ProfileError> {
    paths
        .iter()
        .map(|path| Ok(format!("({kind} {})", quoted(path)?)))
        .collect()
}

/// A path as a string of the profile language, without trailing slashes and dots.
fn quoted(path: &Path) -> Result<String, ProfileError> {
    let tidy: PathBuf = path.components().collect();
    match tidy.to_str() {
        Some(text) if path.is_absolute() && !text.contains(char::is_control) => {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            Ok(format!("\"{escaped}\""))
        }
        _ => Err(ProfileError::Path(path.to_path_buf())),
    }
}

#[cfg(test)]
#[allow(
    clippy::needless_raw_string_hashes,
    reason = "expect-test writes them so"
)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn around(proxy_port: Option<u16>) -> Surroundings {
        Surroundings {
            tmp: "/private/var/session".into(),
            proxy_port,
        }
    }

    fn small(mode: SandboxMode) -> SandboxPolicy {
        SandboxPolicy {
            mode,
            protected_paths: vec![".git/hooks".into(), "/Users/me/.zshrc".into()],
            denied_reads: vec!["/Users/me/.ssh/".into()],
            ..SandboxPolicy::workspace_write("/Users/me/work")
        }
    }

    /// Compares what comes after the preamble.
    fn check(sandbox: &SandboxPolicy, around: &Surroundings, expected: &Expect) {
        let text = profile(sandbox, around).unwrap();
        expected.assert_eq(text.strip_prefix(PREAMBLE).unwrap());
    }

    #[test]
    fn what_every_program_needs() {
        assert!(PREAMBLE.starts_with("(version 1)\n(deny default)\n"));
        let (opened, closed) = (PREAMBLE.matches('(').count(), PREAMBLE.matches(')').count());
        assert_eq!(opened, closed);
    }

    #[test]
    fn the_default_policy() {
        check(
            &small(SandboxMode::WorkspaceWrite),
            &around(None),
            &expect![[r#"
                ; writable roots
                (allow file-write*
                  (subpath "/Users/me/work")
                  (subpath "/private/var/session"))
                ; protected paths
                (deny file-write*
                  (subpath "/Users/me/work/.git/hooks")
                  (subpath "/Users/me/.zshrc"))
                ; the way to them
                (deny file-write-unlink
                  (literal "/Users/me/work")
                  (literal "/private/var/session")
                  (literal "/Users/me/work/.git"))
                ; denied reads
                (deny file-read* file-write*
                  (subpath "/Users/me/.ssh"))
                ; network
                (deny network*)
            "#]],
        );
    }

    #[test]
    fn a_read_only_policy_writes_nowhere() {
        check(
            &small(SandboxMode::ReadOnly),
            &around(None),
            &expect![[r#"
            ; protected paths
            (deny file-write*
              (subpath "/Users/me/.zshrc"))
            ; denied reads
            (deny file-read* file-write*
              (subpath "/Users/me/.ssh"))
            ; network
            (deny network*)
        "#]],
        );
    }

    #[test]
    fn networks() {
        let with = |network| SandboxPolicy {
            network,
            protected_paths: Vec::new(),
            denied_reads: Vec::new(),
            ..small(SandboxMode::ReadOnly)
        };
        check(
            &with(Network::AllowList),
            &around(Some(3128)),
            &expect![[r#"
                ; network
                (allow network-outbound (remote ip "localhost:3128"))
            "#]],
        );
        check(
            &with(Network::Full),
            &around(None),
            &expect![[r#"
            ; network
            (allow network* (remote ip) (local ip))
            (allow system-socket)
        "#]],
        );
        assert_eq!(
            profile(&with(Network::AllowList), &around(None)),
            Err(ProfileError::NoProxy)
        );
    }

    #[test]
    fn names_cannot_break_out_of_their_quotes() {
        let named = |name: &str| SandboxPolicy::workspace_write(name);
        let text = profile(&named("/a \"b\" \\ (c)"), &around(None)).unwrap();
        assert!(text.contains(r#"(subpath "/a \"b\" \\ (c)")"#), "{text}");
        for bad in ["relative", "/new\nline", "/nul\0"] {
            let refused = profile(&named(bad), &around(None));
            assert_eq!(refused, Err(ProfileError::Path(bad.into())), "{bad:?}");
        }
    }

    #[test]
    fn policies_without_a_fence_have_no_profile() {
        for mode in [SandboxMode::DangerFullAccess, SandboxMode::ExternalSandbox] {
            let refused = profile(&SandboxPolicy::new(mode), &around(None));
            assert_eq!(refused, Err(ProfileError::Unfenced(mode)));
        }
    }
}
