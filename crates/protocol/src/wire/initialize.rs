//! `initialize`: who is there, and what the session is to be like.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The first request of a client.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitializeParams {
    /// The version of this protocol that the client speaks: 1.
    pub protocol_version: u64,
    /// Who the client is.
    pub client: Named,
    /// What the client can do.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// What the session is to be like, on top of the configuration. What a flag of the program sets cannot be
    /// set here (`option_fixed`).
    #[serde(default)]
    pub options: SessionOptions,
}

/// A program.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// What a client can do.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Capabilities {
    /// Whether it answers questions; without, they are answered with no at once. True unless told.
    pub questions: bool,
    /// Whether it is told events. True unless told.
    pub events: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            questions: true,
            events: true,
        }
    }
}

/// What a session is like. What is absent is as the configuration has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionOptions {
    /// The folder to work in; the program's own current folder unless told.
    pub workspace: Option<String>,
    /// How far commands reach: `read-only`, `workspace-write`, `external-sandbox` or `danger-full-access`.
    pub sandbox: Option<String>,
    /// When somebody is asked: `never`, `on-failure`, `on-request` or `unless-trusted`.
    pub approval: Option<String>,
    /// What of the network there is: `off`, `allow-list` or `full`.
    pub network: Option<String>,
    /// Hosts that may be reached; the network is an allow-list then, unless told otherwise.
    pub allow_hosts: Option<Vec<String>>,
    /// Folders that may be written besides the workspace.
    pub writable_roots: Option<Vec<String>>,
    /// Sockets of the machine's, by their paths, that may be connected to.
    pub unix_sockets: Option<Vec<String>>,
    /// Variables that commands find set.
    pub environment: Option<BTreeMap<String, String>>,
    /// What a command may use up.
    pub limits: Option<LimitOptions>,
    /// The tools that can be called, by their names; all of them unless told. What a script sees is
    /// `script.expose.tools`.
    pub tools: Option<Vec<String>>,
    /// How long a question waits for its answer, in milliseconds.
    pub question_timeout_ms: Option<u64>,
}

/// What a command may use up; see `limits.*` of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitOptions {
    /// Memory of all its processes.
    pub memory_bytes: Option<u64>,
    /// Address space of any one process.
    pub process_memory_bytes: Option<u64>,
    /// CPU time of all its processes.
    pub cpu_seconds: Option<u64>,
    /// How long it may last, with what it left running.
    pub wall_seconds: Option<u64>,
    /// Processes and threads at once.
    pub processes: Option<u64>,
    /// Size of any file that is written.
    pub file_size_bytes: Option<u64>,
    /// Open descriptors of any one process.
    pub open_files: Option<u64>,
    /// What is written to disks.
    pub disk_bytes: Option<u64>,
    /// Size of the session's own `/tmp`.
    pub tmp_bytes: Option<u64>,
}

/// What the session is like.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InitializeResult {
    /// The version of the protocol that is spoken.
    pub protocol_version: u64,
    /// Who serves.
    pub server: Named,
    /// The session as the audit log names it.
    pub session: String,
    /// The folder to work in.
    pub workspace: String,
    /// How far commands reach.
    pub sandbox: String,
    /// When somebody is asked.
    pub approval: String,
    /// What of the network there is.
    pub network: String,
    /// What may be written.
    pub writable_roots: Vec<String>,
    /// The names of the tools that can be called.
    pub tools: Vec<String>,
    /// How long a question waits for its answer, in milliseconds.
    pub question_timeout_ms: u64,
    /// Calls of commands, patches and searches that run at once; more wait for their turn.
    pub calls_at_once: usize,
    /// Requests that may be under way; more are refused with `too_many_calls`.
    pub requests_at_once: usize,
    /// The longest line that is taken, in bytes.
    pub line_bytes: usize,
}
