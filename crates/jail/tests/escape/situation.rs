//! What is expected of an attempt in a situation: what cannot be held somewhere must be impossible
//! to configure there.

use ringfence_jail::Degraded;

use crate::Who;
use crate::attempts::{Attempt, Deed};
use crate::suite::Where;

/// What is expected of an attempt somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It fails, and its twin works.
    Held,
    /// The policy that would have to stop it is refused.
    Refused,
}

impl Expected {
    const VARIABLE: &str = "ESCAPE_EXPECTED";

    /// What the process of an attempt is told.
    pub fn variable(self) -> (&'static str, &'static str) {
        (
            Self::VARIABLE,
            if self == Self::Held {
                "held"
            } else {
                "refused"
            },
        )
    }

    /// What this process was told.
    pub fn here() -> Self {
        match std::env::var(Self::VARIABLE).as_deref() {
            Ok("refused") => Self::Refused,
            _ => Self::Held,
        }
    }
}

impl Where {
    /// Whether less is accepted: not where an attempt shows what would be lost.
    pub fn degraded(self) -> Degraded {
        match self {
            Self::Degraded if Expected::here() == Expected::Held => Degraded::Allow,
            _ => Degraded::Refuse,
        }
    }

    pub fn expected(self, attempt: &Attempt, who: Who) -> Expected {
        let refused = match self {
            Self::Native => false,
            // Sockets by path.
            Self::Bubblewrap | Self::Container => attempt.name == "socket_that_is_not_named",
            Self::Degraded => {
                NOT_WITHOUT_NAMESPACES.contains(&attempt.name)
                    // An rlimit does not hold root.
                    || (who == Who::Root && attempt.name == "fork_bomb")
            }
        };
        if refused {
            Expected::Refused
        } else {
            Expected::Held
        }
    }

    /// How this program is started inside.
    pub fn this_program(self) -> Vec<String> {
        if self == Self::Container {
            let words = "/.ringfence/loader --library-path /.ringfence /.ringfence/program";
            return words.split(' ').map(str::to_owned).collect();
        }
        let this = std::env::current_exe().expect("this program");
        vec![this.display().to_string()]
    }

    /// The twin: in a container nothing of the machine's is there but the writable roots.
    pub fn twin(self, attempt: &Attempt) -> Deed {
        match (self, attempt.name) {
            (Self::Container, "denied_spellings" | "denied_through_a_link") => {
                Deed::Shell("printf PUBLIC > made && cat made")
            }
            // There is no network at all, where it cannot be one of one's own.
            (
                Self::Degraded,
                "sockets_of_other_families" | "datagrams" | "multipath_tcp" | "netlink",
            ) => Deed::Probe("abstract_of_ones_own"),
            _ => attempt.twin,
        }
    }
}

/// Attempts that only namespaces can stop.
const NOT_WITHOUT_NAMESPACES: &[&str] = &[
    // Protected paths.
    "missing_hook",
    "missing_repository",
    "missing_settings",
    "missing_keys",
    "settings_by_rename",
    "rename_parent",
    "git_in_the_command_line",
    "nested_repositories",
    "dot_git_file",
    // Denied reads.
    "denied_spellings",
    "denied_through_a_link",
    "proc_root",
    // Modes and times of files outside.
    "truncate_read_only",
    // What the machine has in sight.
    "dev_shm",
    "devices",
    "machine_tmp",
    "machine_sockets",
    "workspace_below_tmp",
];
