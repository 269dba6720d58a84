//! The situations that trials run in: each backend, and a machine without namespaces.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use ringfence_confine::account::Account;
use ringfence_jail::{
    Backend, Choice, ContainerEngine, ContainerOptions, Degraded, JailOptions, WardenProgram,
};
use ringfence_testkit::podman::{self, Podman};
use ringfence_testkit::require;

/// What builds the fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    Native,
    Bubblewrap,
    Container,
    /// On a machine that refuses namespaces.
    Degraded,
}

impl Where {
    pub const ALL: [Self; 4] = [
        Self::Native,
        Self::Bubblewrap,
        Self::Container,
        Self::Degraded,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Bubblewrap => "bubblewrap",
            Self::Container => "container",
            Self::Degraded => "degraded",
        }
    }

    pub fn named(name: &str) -> Self {
        let mut all = Self::ALL.into_iter();
        all.find(|known| known.name() == name).expect("situation")
    }

    /// How a jail is opened here, where less is accepted or not.
    pub fn options(self, degraded: Degraded, workspace: &Path, marks: &Path) -> JailOptions {
        let backend = match self {
            Self::Native | Self::Degraded => Backend::Native,
            Self::Bubblewrap => Backend::Bubblewrap,
            Self::Container => Backend::Container,
        };
        JailOptions {
            backend: Choice::Only(backend),
            degraded,
            container: ContainerOptions {
                image: podman::IMAGE.to_owned(),
                engine: Some(ContainerEngine::Podman),
            },
            marks: Some(marks.to_owned()),
            ..JailOptions::new(WardenProgram::ThisProgram, workspace)
        }
    }

    /// A program, started in this situation.
    pub(super) fn command(self, program: &Path) -> Command {
        if self != Self::Degraded {
            return Command::new(program);
        }
        // A user namespace in which no other can be made.
        let mut command = Command::new("unshare");
        let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
        command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]);
        command.arg(program);
        command
    }
}

/// What the trials of one situation under one identity share, set up by the first of them.
#[derive(Default)]
pub struct Surroundings {
    variables: OnceLock<Option<Vec<(String, String)>>>,
    podman: OnceLock<Podman>,
}

impl Surroundings {
    /// The variables that trials get; nothing if this machine cannot do it, which is said.
    pub fn variables(&self, at: Where, user: Option<&Account>) -> Option<&[(String, String)]> {
        let set_up = || match at {
            Where::Bubblewrap if !require::has_program("bwrap") => {
                require::missing("bubblewrap", "bwrap is not installed");
                None
            }
            Where::Container => match Podman::set_up(user) {
                Ok(podman) => Some(self.podman.get_or_init(|| podman).environment()),
                Err(why) => {
                    let who = if user.is_some() { "a user" } else { "oneself" };
                    require::missing("podman", &format!("as {who}: {why}"));
                    None
                }
            },
            _ => Some(Vec::new()),
        };
        self.variables.get_or_init(set_up).as_deref()
    }
}
