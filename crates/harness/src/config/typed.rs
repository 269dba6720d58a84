//! The settings as the rest of the harness uses them: each with a type of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ringfence_policy::permissions::{
    ApprovalPolicy, DEFAULT_DENIED_IN_HOME, DEFAULT_DENIED_IN_SYSTEM, DEFAULT_PROTECTED,
    EnvironmentPolicy, Hold, Limits, Lookout, Network, START_UP_IN_HOME, START_UP_IN_ROOTS,
    SandboxMode, SandboxPolicy, TmpPolicy, start_up_paths,
};
use serde::Deserialize;

use super::resolve::Resolved;
use crate::output::Ansi;

/// All settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `[sandbox]`
    pub sandbox: SandboxConfig,
    /// `[network]`
    pub network: NetworkConfig,
    /// `[approval]`
    pub approval: ApprovalConfig,
    /// `[environment]`
    pub environment: EnvironmentPolicy,
    /// `[limits]`
    pub limits: Limits,
    /// `[shell]`
    pub shell: ShellConfig,
    /// `[process]`
    pub process: ProcessConfig,
    /// `[bash]`
    pub bash: BashConfig,
    /// `[output]`
    pub output: OutputConfig,
    /// `[audit]`
    pub audit: AuditConfig,
    /// `[files]`
    pub files: FilesConfig,
    /// `[script]`
    pub script: ScriptConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self::from(&Resolved::defaults())
    }
}

/// How far commands may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    /// Which of the four policies.
    pub mode: SandboxMode,
    /// What builds the fence.
    pub backend: Backend,
    /// The image of the container backend.
    pub container_image: String,
    /// Its engine.
    pub container_engine: ContainerEngine,
    /// Folders that may be written besides the workspace.
    pub writable_roots: Vec<PathBuf>,
    /// What cannot be read besides the defaults.
    pub denied_reads: Vec<PathBuf>,
    /// Defaults of the above that are readable after all.
    pub allowed_reads: Vec<PathBuf>,
    /// What cannot be changed besides the defaults.
    pub protected_paths: Vec<PathBuf>,
    /// Defaults of the above that may be changed after all.
    pub unprotected_paths: Vec<PathBuf>,
    /// What of the network is there.
    pub network: Network,
    /// Sockets of the machine's that can be connected to.
    pub unix_sockets: Vec<PathBuf>,
    /// Which `/tmp` is there.
    pub tmp: TmpPolicy,
    /// Which calls are looked at before they are made.
    pub lookout: Lookout,
    /// What to do where the fence cannot hold everything.
    pub degraded: Degraded,
    /// Whether a model may ask to leave the fence.
    pub allow_disable_sandbox: bool,
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

    /// The policy for commands in this workspace, with all defaults in place.
    pub fn policy(&self, workspace: &Path, home: Option<&Path>) -> SandboxPolicy {
        let in_home = |names: &[&str]| -> Vec<PathBuf> {
            home.map(|home| names.iter().map(|name| home.join(name)).collect())
                .unwrap_or_default()
        };
        let mut writable_roots = vec![workspace.to_owned()];
        add_new(&mut writable_roots, &self.writable_roots);
        let mut denied_reads = in_home(DEFAULT_DENIED_IN_HOME);
        denied_reads.extend(DEFAULT_DENIED_IN_SYSTEM.iter().map(PathBuf::from));
        denied_reads.retain(|path| !self.allowed_reads.contains(path));
        add_new(&mut denied_reads, &self.denied_reads);
        let mut protected_paths: Vec<PathBuf> =
            DEFAULT_PROTECTED.iter().map(PathBuf::from).collect();
        let start_up = |hold| start_up_paths(START_UP_IN_HOME, hold).collect::<Vec<_>>();
        protected_paths.extend(in_home(&start_up(Hold::WhenAbsent)));
        protected_paths.retain(|path| !self.unprotected_paths.contains(path));
        add_new(&mut protected_paths, &self.protected_paths);
        let in_roots = start_up_paths(START_UP_IN_ROOTS, Hold::WhenThere).map(PathBuf::from);
        let mut watched_paths: Vec<PathBuf> = in_roots.collect();
        watched_paths.extend(in_home(&start_up(Hold::WhenThere)));
        let is_lifted = |path: &PathBuf| {
            let in_roots = writable_roots.iter().map(|root| root.join(path));
            let lifted = |path: &PathBuf| self.unprotected_paths.contains(path);
            lifted(path) || in_roots.into_iter().any(|path| lifted(&path))
        };
        watched_paths.retain(|path| !is_lifted(path));
        SandboxPolicy {
            mode: self.mode,
            writable_roots,
            denied_reads,
            protected_paths,
            watched_paths,
            network: self.network,
            granted_hosts: Vec::new(),
            unix_sockets: self.unix_sockets.clone(),
            tmp: self.tmp,
            lookout: self.lookout,
        }
    }
}

impl SandboxConfig {
    /// What may be read although it holds secrets as a rule: what the user says, but for what lies
    /// in a folder that stays denied.
    pub(crate) fn readable(&self, policy: &SandboxPolicy) -> Vec<PathBuf> {
        let denied = |path: &&PathBuf| {
            policy
                .denied_reads
                .iter()
                .any(|folder| path.starts_with(folder))
        };
        let allowed = self.allowed_reads.iter();
        allowed.filter(|path| !denied(path)).cloned().collect()
    }
}

fn add_new(to: &mut Vec<PathBuf>, from: &[PathBuf]) {
    for path in from {
        if !to.contains(path) {
            to.push(path.clone());
        }
    }
}

/// What builds the fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// The best that works here.
    Auto,
    /// The kernel's own means, without other programs.
    Native,
    /// The system's `bwrap`.
    Bubblewrap,
    /// Docker or Podman.
    Container,
    /// Nothing.
    None,
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

/// Which engine makes containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContainerEngine {
    /// Whichever answers.
    Auto,
    /// Podman.
    Podman,
    /// Docker.
    Docker,
}

/// What to do where the fence cannot hold all that the policy asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Degraded {
    /// Refuse to run.
    Refuse,
    /// Run with what is left of the fence.
    Allow,
}

/// Which hosts commands may reach, and what is done on the way there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkConfig {
    /// Hosts that may be reached.
    pub allow: Vec<String>,
    /// Hosts that may not.
    pub deny: Vec<String>,
    /// Headers to add, by host. `${NAME}` stands for a variable of the harness's environment.
    pub inject: BTreeMap<String, String>,
    /// Whether they are added inside TLS too.
    pub terminate_tls: bool,
    /// Connections of one run at once.
    pub max_connections: u64,
    /// How long to wait for a host to answer.
    pub connect_timeout: Duration,
}

/// When a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalConfig {
    /// When.
    pub policy: ApprovalPolicy,
    /// How long to wait for the answer.
    pub timeout: Duration,
}

/// The `shell` and `shell_command` tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellConfig {
    /// The shell, where it is not to be found out.
    pub path: Option<PathBuf>,
    /// Whether commands see the environment of a login shell.
    pub login: bool,
    /// The time-out when a call names none.
    pub timeout: Duration,
    /// The longest that a command may print nothing.
    pub silence: Option<Duration>,
}

/// Processes that live on between calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessConfig {
    /// How many at once.
    pub max: u64,
    /// How many before every reply warns.
    pub warn_at: u64,
    /// How many, last used, never give way.
    pub keep_recent: u64,
    /// How long `exec_command` waits.
    pub yield_time: Duration,
    /// How long `write_stdin` waits.
    pub input_yield_time: Duration,
    /// The longest wait.
    pub max_wait: Duration,
}

/// The `bash` tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BashConfig {
    /// The time-out when a call names none.
    pub default_timeout: Duration,
    /// The longest that a call may name.
    pub max_timeout: Duration,
    /// Characters of output in a reply.
    pub max_output_chars: u64,
    /// Background tasks at once.
    pub max_background_tasks: u64,
    /// How long the output of an ended task is kept.
    pub task_retention: Duration,
    /// Ended tasks that are kept at most.
    pub max_ended_tasks: u64,
    /// What happens to a command that takes too long.
    pub on_timeout: OnTimeout,
}

/// What happens to a command that takes too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnTimeout {
    /// It is killed.
    Kill,
    /// It becomes a background task.
    Background,
}

/// How much output is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputConfig {
    /// In memory, head and tail.
    pub buffer_bytes: u64,
    /// In a file.
    pub spill_cap_bytes: u64,
    /// How long to read on after the command ended.
    pub drain: Duration,
    /// Escape sequences in replies.
    pub ansi: Ansi,
    /// All images of a reply.
    pub max_image_bytes: u64,
    /// Size of a piece that is told while a command runs.
    pub delta_bytes: u64,
    /// How many of them are told.
    pub max_deltas: u64,
}

/// The audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditConfig {
    /// Whether it is kept.
    pub enabled: bool,
    /// Where, if not in the default place.
    pub dir: Option<PathBuf>,
}

/// Files that the harness itself changes and looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesConfig {
    /// Size of a patch.
    pub max_patch_bytes: u64,
    /// Size of a file that a patch changes.
    pub max_file_bytes: u64,
    /// Results of a search that names no limit.
    pub search_limit: u64,
    /// Files that a search looks at.
    pub search_max_files: u64,
}

/// Scripts in a model's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptConfig {
    /// Whether they run.
    pub mode: ScriptMode,
    /// Providers whose scripts run.
    pub enabled_providers: Vec<String>,
    /// Providers whose scripts are only checked.
    pub dry_run_providers: Vec<String>,
    /// Providers whose scripts do not run.
    pub disabled_providers: Vec<String>,
    /// What runs them.
    pub runtime: ScriptRuntime,
    /// `[script.limits]`
    pub limits: ScriptLimits,
    /// `[script.expose]`
    pub expose: ExposeConfig,
    /// `[script.worker_pool]`
    pub worker_pool: WorkerPool,
}

/// Whether scripts run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptMode {
    /// They are replaced by a warning.
    Disabled,
    /// They are checked and not run.
    DryRun,
    /// They run.
    Enabled,
}

/// What runs scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptRuntime {
    /// A fresh process for each.
    #[serde(rename = "quickjs")]
    QuickJs,
    /// A thread of the harness.
    InProcess,
}

/// Bounds of one script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptLimits {
    /// How long it may run.
    pub timeout: Duration,
    /// Memory, in MiB.
    pub memory_mb: u64,
    /// Stack.
    pub max_stack_bytes: u64,
    /// Tool calls in all.
    pub max_tool_calls: u64,
    /// Tool calls at once.
    pub max_concurrent_tool_calls: u64,
    /// Size of what it returns.
    pub max_return_size_bytes: u64,
    /// Size of its source.
    pub max_source_bytes: u64,
    /// Whether it may end with calls that it did not await.
    pub allow_detached_promises: bool,
    /// Log lines in all.
    pub max_log_events: u64,
    /// Log lines in a second.
    pub log_rate_per_sec: u64,
}

/// What a script sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposeConfig {
    /// Tools by name.
    pub tools: Vec<String>,
    /// The tools of MCP servers.
    pub enable_mcp: bool,
    /// Tasks that outlive it.
    pub enable_spawn: bool,
    /// HTTP requests.
    pub enable_http: bool,
}

/// The processes that run scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerPool {
    /// Scripts at once.
    pub size: u64,
    /// Whether the process from which workers are forked serves more than one script.
    pub reuse_workers: bool,
    /// Scripts after which that process is started anew.
    pub max_scripts_per_worker: u64,
}
