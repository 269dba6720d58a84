//! What somebody wants to do to the machine. Every tool, script and front end says it in this
//! form; nothing else can be judged, and nothing that was not judged can run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::command_line::CommandLine;
use crate::host::{Host, Protocol};

/// The closed list of things that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Run a command.
    RunCommand(RunCommand),
    /// Run a script whose tools come through this door again.
    RunScript(RunScript),
    /// Change files by a patch.
    ApplyPatch(ApplyPatch),
    /// Look for files by name.
    SearchFiles(SearchFiles),
    /// Connect to a host.
    Connect(Connect),
    /// Call a tool of another server.
    CallMcpTool(CallMcpTool),
    /// Send an HTTP request from the harness.
    SendHttp(SendHttp),
}

/// Which side of the fence a command asks to run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FenceRequest {
    /// Where the policy puts it.
    Stay,
    /// Outside.
    Leave,
}

/// A command, ready to run if it may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCommand {
    /// The tool that asks.
    pub tool: String,
    /// The command.
    pub line: CommandLine,
    /// The folder it runs in. Absolute.
    pub cwd: PathBuf,
    /// Its whole environment.
    #[serde(skip)]
    pub environment: BTreeMap<String, String>,
    /// Where it asks to run.
    pub fence: FenceRequest,
    /// Why, in the words of whoever asks.
    pub justification: Option<String>,
    /// What it does, in the words of whoever asks.
    pub description: Option<String>,
}

/// A script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunScript {
    /// The tool that asks.
    pub tool: String,
    /// The source.
    pub source: String,
    /// The names of the tools that it is given.
    pub bridges: Vec<String>,
}

/// A patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplyPatch {
    /// The files that it would add, change or remove. Absolute.
    pub writes: Vec<PathBuf>,
    /// Those of them that were found to decide what git runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded: Vec<PathBuf>,
}

/// A search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchFiles {
    /// Where. Absolute.
    pub root: PathBuf,
}

/// A connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connect {
    /// The tool whose command asks for it.
    pub tool: String,
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
    /// How it is spoken to.
    pub protocol: Protocol,
}

/// A tool of another server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallMcpTool {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
}

/// An HTTP request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendHttp {
    /// The method.
    pub method: String,
    /// The host, in canonical form.
    pub host: String,
    /// The port.
    pub port: u16,
}
