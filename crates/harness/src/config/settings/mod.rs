//! The settings as the rest of the harness uses them: one file per section, each setting declared
//! once.

mod approval;
mod audit;
mod bash;
mod environment;
mod files;
mod limits;
mod network;
mod output;
mod policy;
mod process;
mod sandbox;
mod script;
mod shell;

use std::sync::LazyLock;

use ringfence_policy::permissions::{EnvironmentPolicy, Limits};

use super::declare::{Section, settings};
use super::key::{Key, Kind};
use super::resolve::Resolved;

pub use approval::ApprovalConfig;
pub use audit::AuditConfig;
pub use bash::{BashConfig, OnTimeout};
pub use files::FilesConfig;
pub use network::NetworkConfig;
pub use output::OutputConfig;
pub use process::ProcessConfig;
pub use sandbox::{Backend, ContainerEngine, Degraded, SandboxConfig};
pub use script::{ExposeConfig, ScriptConfig, ScriptLimits, ScriptMode, ScriptRuntime, WorkerPool};
pub use shell::ShellConfig;

settings! {
    /// All settings.
    pub struct Config in "" {}
    where {
        /// `[sandbox]`
        sandbox: SandboxConfig,
        /// `[network]`
        network: NetworkConfig,
        /// `[approval]`
        approval: ApprovalConfig,
        /// `[environment]`
        environment: EnvironmentPolicy,
        /// `[limits]`
        limits: Limits,
        /// `[shell]`
        shell: ShellConfig,
        /// `[process]`
        process: ProcessConfig,
        /// `[bash]`
        bash: BashConfig,
        /// `[output]`
        output: OutputConfig,
        /// `[audit]`
        audit: AuditConfig,
        /// `[files]`
        files: FilesConfig,
        /// `[script]`
        script: ScriptConfig,
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::from(&Resolved::defaults())
    }
}

impl From<&Resolved> for Config {
    fn from(resolved: &Resolved) -> Self {
        Self::of(resolved)
    }
}

/// Every key, in the order in which they are shown.
pub fn keys() -> &'static [&'static Key] {
    static KEYS: LazyLock<Vec<&'static Key>> = LazyLock::new(Config::keys);
    &KEYS
}

/// The words of a key that accepts one of a few; none of any other.
pub fn words_of(path: &str) -> &'static [&'static str] {
    match keys().iter().find(|key| key.is(path)).map(|key| key.kind) {
        Some(Kind::Choice(words)) => words,
        _ => &[],
    }
}
