//! `[sandbox]`: how far commands may reach.

use std::path::PathBuf;

use ringfence_policy::permissions::{Lookout, Network, SandboxMode, TmpPolicy};

use crate::config::declare::{settings, words};

settings! {
    /// How far commands may reach.
    pub struct SandboxConfig in "sandbox" {
        /// How far a command may reach.
        mode: SandboxMode = word("workspace-write"), Later;
        /// What builds the fence; `auto` takes the first of `native` and `bubblewrap` that holds the whole policy here.
        backend: Backend = word("auto"), To(&["container", "none"]);
        /// The image of the `container` backend. It must be there already: none is fetched.
        container_image: String = text("ubuntu:22.04"), Always;
        /// What makes containers; `auto` takes whichever answers.
        container_engine: ContainerEngine = word("auto"), Always;
        /// Folders that may be written besides the workspace.
        writable_roots: Vec<PathBuf> = paths(), Outside;
        /// Files and folders that cannot be read, besides the default ones.
        denied_reads: Vec<PathBuf> = paths(), Never;
        /// Default denied reads that are readable after all.
        allowed_reads: Vec<PathBuf> = paths(), Each;
        /// Paths that cannot be changed, besides the default ones; relative ones in every writable root.
        protected_paths: Vec<PathBuf> = rooted_paths(), Never;
        /// Default protected paths that may be changed after all.
        unprotected_paths: Vec<PathBuf> = rooted_paths(), Each;
        /// What of the network a command sees.
        network: Network = word("off"), Later;
        /// Sockets of the machine's, by their paths, that commands can connect to.
        unix_sockets: Vec<PathBuf> = paths(), Each;
        /// Whether `/tmp` is the session's own or the machine's.
        tmp: TmpPolicy = word("private"), Later;
        /// Which calls are looked at, so that refusals are facts; `writes` makes every change of a file slower.
        lookout: Lookout = word("connections"), Never;
        /// What to do where the fence cannot hold all that the policy asks for.
        degraded: Degraded = word("refuse"), Later;
        /// Whether a model may ask to run a command outside the fence; a person is always asked.
        allow_disable_sandbox: bool = switch(false), When(true);
    }
}

words! {
    SandboxMode {
        ReadOnly = "read-only",
        WorkspaceWrite = "workspace-write",
        ExternalSandbox = "external-sandbox",
        DangerFullAccess = "danger-full-access",
    }
}

words! { Network { Off = "off", AllowList = "allow-list", Full = "full", } }

words! { TmpPolicy { Private = "private", Host = "host", } }

words! { Lookout { Off = "off", Connections = "connections", Writes = "writes", } }

words! {
    /// What builds the fence.
    pub enum Backend {
        /// The best that works here.
        Auto = "auto",
        /// The kernel's own means, without other programs.
        Native = "native",
        /// The system's `bwrap`.
        Bubblewrap = "bubblewrap",
        /// Docker or Podman.
        Container = "container",
        /// Nothing.
        None = "none",
    }
}

words! {
    /// Which engine makes containers.
    pub enum ContainerEngine {
        /// Whichever answers.
        Auto = "auto",
        /// Podman.
        Podman = "podman",
        /// Docker.
        Docker = "docker",
    }
}

words! {
    /// What to do where the fence cannot hold all that the policy asks for.
    pub enum Degraded {
        /// Refuse to run.
        Refuse = "refuse",
        /// Run with what is left of the fence.
        Allow = "allow",
    }
}

impl Backend {
    /// The jail's word for it.
    pub const fn choice(self) -> ringfence_jail::Choice {
        use ringfence_jail::{Backend as Jail, Choice};
        match self {
            Self::Auto => Choice::Auto,
            Self::Native => Choice::Only(Jail::Native),
            Self::Bubblewrap => Choice::Only(Jail::Bubblewrap),
            Self::Container => Choice::Only(Jail::Container),
            Self::None => Choice::Only(Jail::None),
        }
    }
}

impl SandboxConfig {
    /// How the container backend works.
    pub fn container(&self) -> ringfence_jail::ContainerOptions {
        ringfence_jail::ContainerOptions {
            image: self.container_image.clone(),
            engine: match self.container_engine {
                ContainerEngine::Auto => None,
                ContainerEngine::Podman => Some(ringfence_jail::ContainerEngine::Podman),
                ContainerEngine::Docker => Some(ringfence_jail::ContainerEngine::Docker),
            },
        }
    }
}
