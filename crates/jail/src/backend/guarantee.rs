//! What each backend holds of a policy, and by what: a table for `doctor` and for the guide. It
//! decides nothing; a policy that asks for what is lacking is refused where it is launched.

/// A promise of the fence's, and who keeps it.
#[derive(Debug, Clone, Copy)]
pub struct Guarantee {
    /// The promise.
    pub name: &'static str,
    /// By the kernel's own means.
    pub native: Holding,
    /// By `bwrap`.
    pub bubblewrap: Holding,
    /// By a container.
    pub container: Holding,
    /// On a machine that refuses namespaces, once that is accepted.
    pub degraded: Holding,
}

/// Whether a promise is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holding {
    /// It is, by this.
    By(&'static str),
    /// It is not, for this reason.
    Not(&'static str),
}

use Holding::{By, Not};

const NEEDS_MOUNTS: Holding = Not("needs a mount namespace");

/// The promises.
#[rustfmt::skip]
pub const GUARANTEES: &[Guarantee] = &[
    Guarantee { name: "writes only in the writable roots",
        native: By("mounts, Landlock"), bubblewrap: By("mounts, Landlock"),
        container: By("mounts, read-only image, Landlock"), degraded: By("Landlock") },
    Guarantee { name: "modes and times outside unchanged",
        native: By("mounts"), bubblewrap: By("mounts"),
        container: By("nothing else is mounted"), degraded: NEEDS_MOUNTS },
    Guarantee { name: "denied reads",
        native: By("covering mounts"), bubblewrap: By("covering mounts"),
        container: By("not mounted, or covered"), degraded: NEEDS_MOUNTS },
    Guarantee { name: "protected paths that exist",
        native: By("read-only mounts"), bubblewrap: By("read-only mounts"),
        container: By("read-only mounts"), degraded: NEEDS_MOUNTS },
    Guarantee { name: "protected paths that do not exist yet",
        native: By("marks"), bubblewrap: By("marks"),
        container: By("marks, for the session"), degraded: NEEDS_MOUNTS },
    Guarantee { name: "a private `/tmp`",
        native: By("tmpfs"), bubblewrap: By("tmpfs"),
        container: By("tmpfs"), degraded: NEEDS_MOUNTS },
    Guarantee { name: "no network",
        native: By("network namespace"), bubblewrap: By("network namespace"),
        container: By("`--network=none`"), degraded: By("seccomp") },
    Guarantee { name: "a network allow-list",
        native: By("the same, and a proxy outside"), bubblewrap: By("the same, and a proxy outside"),
        container: By("the same, and a proxy outside"), degraded: Not("needs a network namespace") },
    Guarantee { name: "the machine's sockets out of reach",
        native: By("connections made by the run's init"), bubblewrap: By("connections made by the run's init"),
        container: By("not mounted; the same in the writable roots, where the engine lets us"),
        degraded: By("connections made by the run's init") },
    Guarantee { name: "signals stay inside",
        native: By("PID namespace per run"), bubblewrap: By("PID namespace per run"),
        container: By("Landlock between runs, PID namespace"), degraded: By("Landlock (Linux 6.12)") },
    Guarantee { name: "no capabilities, no new privileges, system call filter",
        native: By("our own"), bubblewrap: By("our own"),
        container: By("our own, and the engine's"), degraded: By("our own") },
    Guarantee { name: "killing a run kills everything it started",
        native: By("PID namespace per run"), bubblewrap: By("PID namespace per run"),
        container: By("subreaper; PID namespace for the session"), degraded: Not("a subreaper finds what it can") },
    Guarantee { name: "limits of a process",
        native: By("rlimits"), bubblewrap: By("rlimits"),
        container: By("rlimits"), degraded: By("rlimits") },
    Guarantee { name: "number of processes",
        native: By("PID namespace, rlimit"), bubblewrap: By("PID namespace for root, rlimit"),
        container: By("the engine's cgroup, rlimit"), degraded: Not("an rlimit, which does not hold root") },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The table as the guide has it.
    fn table() -> String {
        let cell = |holding| match holding {
            By(what) => what.to_owned(),
            Not(why) => format!("**no**: {why}"),
        };
        let mut text = String::from(
            "| promise | native | bubblewrap | container | without namespaces |\n|---|---|---|---|---|\n",
        );
        for row in GUARANTEES {
            let cells = [row.native, row.bubblewrap, row.container, row.degraded].map(cell);
            text.extend(["| ", row.name, " | ", &cells.join(" | "), " |\n"]);
        }
        text
    }

    #[test]
    fn the_guide_has_this_table() {
        let guide = include_str!("../../../../docs/backends.md");
        assert!(
            guide.contains(&table()),
            "docs/backends.md lacks:\n{}",
            table()
        );
    }
}
