//! What the fence refused a command, told from facts where there are any.
//!
//! First comes what the fence has seen (`access`), then what the output tells (`message`), weighed
//! against what the policy says of a path (`path`). `repair` is about changes that were put back.

mod access;
mod could;
mod message;
mod path;
mod repair;
mod ripe;
mod wanted;

use std::path::Path;

use ringfence_jail::DeniedAccess;
use ringfence_policy::NarrowGrant;
use ringfence_policy::permissions::SandboxPolicy;
use schemars::JsonSchema;
use serde::Serialize;

use crate::grant::Grant;
pub(crate) use could::{Wish, could};
pub(crate) use ripe::to_ask_about;

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
    /// What would allow just that, inside the fence, if anything would.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Grant>")]
    pub grant: Option<NarrowGrant>,
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
            | DenialKind::GitSetup => {
                format!("{}: {}", self.subject, self.reason)
            }
        }
    }
}

/// Where a command ran, for telling what its messages are about.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    /// The policy it ran under.
    pub sandbox: &'a SandboxPolicy,
    /// Its working folder.
    pub cwd: &'a Path,
    /// Its exit code.
    pub exit_code: i32,
    /// The command, as a person reads it.
    pub command: &'a str,
    /// What the user could do without the fence.
    pub could: &'a dyn Fn(&Path, Wish) -> bool,
    /// Whether mounts refuse writes, and not rules of the kernel's.
    pub by_mounts: bool,
    /// Whether the fence sees every try to reach the network.
    pub sees_connections: bool,
}

#[cfg(test)]
impl<'a> Scene<'a> {
    /// A command in `/work/p` of a user who could do anything, that was not seen to try anything.
    fn of_test(sandbox: &'a SandboxPolicy, exit_code: i32) -> Self {
        Self {
            sandbox,
            cwd: Path::new("/work/p"),
            exit_code,
            command: "",
            could: &|_, _| true,
            by_mounts: true,
            sees_connections: false,
        }
    }
}

/// The most denials that one command reports.
const MOST: usize = 8;

/// What the fence refused: what it has seen, and what the output of a command that failed tells
/// besides.
pub(crate) fn find(scene: &Scene<'_>, denied: &[DeniedAccess], output: &str) -> Vec<Denial> {
    let mut found = access::denials(scene, denied);
    let told = message::denials(scene, output);
    // Words about the network add nothing to what was seen.
    let adds = |denial: &Denial, found: &[Denial]| match denial.kind {
        DenialKind::Network if scene.sees_connections => false,
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
    wanted::name_hosts(scene, &mut found, output);
    found.truncate(MOST);
    found
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
        let scene = Scene::of_test(&sandbox, exit_code);
        find(&scene, &[], output)
            .into_iter()
            .map(|denial| (denial.kind, denial.subject))
            .collect()
    }

    #[test]
    fn messages_are_weighed_against_the_policy() {
        use DenialKind::{Network, Read, SystemCall, Write};
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
                vec![(Network, "example.com:443")],
            ),
            (159, "", vec![(SystemCall, "a system call")]),
            // Words alone say nothing.
            (1, "error: Operation not permitted", vec![]),
            (1, "permission denied", vec![]),
            // What is refused with these words the machine refuses.
            (1, "cat: /srv/closed: Permission denied", vec![]),
            (1, "bash: /srv/run.sh: Permission denied", vec![]),
            (
                1,
                "chown: changing ownership of '/srv/x': Operation not permitted",
                vec![],
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
        let scene = Scene::of_test(&sandbox, 1);
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
