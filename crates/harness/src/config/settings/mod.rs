//! The settings as the rest of the harness uses them: one file per section, each setting declared
//! once.

mod agent;
mod approval;
mod audit;
mod bash;
mod caches;
mod environment;
mod files;
mod gateway;
mod http;
mod limits;
mod model;
mod network;
mod output;
mod policy;
mod process;
mod sandbox;
mod script;
mod shell;
mod telemetry;

use std::sync::LazyLock;

use ringfence_policy::permissions::{EnvironmentPolicy, Limits};

use super::declare::{Section, settings};
use super::key::{Key, Kind};
use super::resolve::Resolved;

pub use agent::AgentConfig;
pub use approval::ApprovalConfig;
pub use audit::AuditConfig;
pub use bash::{BashConfig, OnTimeout};
pub use caches::{CachesConfig, Keeping};
pub use files::FilesConfig;
pub use gateway::GatewayConfig;
pub use http::HttpConfig;
pub use model::ModelConfig;
pub use network::NetworkConfig;
pub use output::OutputConfig;
pub use process::ProcessConfig;
pub use sandbox::{Backend, ContainerEngine, Degraded, SandboxConfig};
pub use script::{ExposeConfig, ScriptConfig, ScriptLimits, ScriptMode, ScriptRuntime, WorkerPool};
pub use shell::ShellConfig;
pub use telemetry::{CommandsTold, OutputTold, TelemetryConfig};

settings! {
    /// All settings.
    pub struct Config in "" {}
    where {
        /// `[sandbox]`
        sandbox: SandboxConfig,
        /// `[network]`
        network: NetworkConfig,
        /// `[http]`
        http: HttpConfig,
        /// `[caches]`
        caches: CachesConfig,
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
        /// `[model]`
        model: ModelConfig,
        /// `[agent]`
        agent: AgentConfig,
        /// `[gateway]`
        gateway: GatewayConfig,
        /// `[telemetry]`
        telemetry: TelemetryConfig,
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
