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
    /// Send an HTTP request.
    SendHttp(SendHttp),
    /// Type into a running command.
    TypeInput(TypeInput),
    /// End a running command.
    StopProcess(StopProcess),
}

/// Which of them an action is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionKind {
    /// Run a command.
    RunCommand,
    /// Run a script.
    RunScript,
    /// Change files by a patch.
    ApplyPatch,
    /// Look for files by name.
    SearchFiles,
    /// Connect to a host.
    Connect,
    /// Send an HTTP request.
    SendHttp,
    /// Type into a running command.
    TypeInput,
    /// End a running command.
    StopProcess,
}

impl ActionKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::RunCommand,
        Self::RunScript,
        Self::ApplyPatch,
        Self::SearchFiles,
        Self::Connect,
        Self::SendHttp,
        Self::TypeInput,
        Self::StopProcess,
    ];

    /// Its name, which is also that of the harness's entry for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::RunCommand => "run_command",
            Self::RunScript => "run_script",
            Self::ApplyPatch => "apply_patch",
            Self::SearchFiles => "search_files",
            Self::Connect => "connect",
            Self::SendHttp => "send_http",
            Self::TypeInput => "type_input",
            Self::StopProcess => "stop_process",
        }
    }
}

impl Action {
    /// Which kind it is.
    pub fn kind(&self) -> ActionKind {
        match self {
            Self::RunCommand(_) => ActionKind::RunCommand,
            Self::RunScript(_) => ActionKind::RunScript,
            Self::ApplyPatch(_) => ActionKind::ApplyPatch,
            Self::SearchFiles(_) => ActionKind::SearchFiles,
            Self::Connect(_) => ActionKind::Connect,
            Self::SendHttp(_) => ActionKind::SendHttp,
            Self::TypeInput(_) => ActionKind::TypeInput,
            Self::StopProcess(_) => ActionKind::StopProcess,
        }
    }

    /// The tool that asks.
    pub fn tool(&self) -> &str {
        match self {
            Self::RunCommand(command) => &command.tool,
            Self::RunScript(script) => &script.tool,
            Self::ApplyPatch(_) => "apply_patch",
            Self::SearchFiles(_) => "file_search",
            Self::Connect(_) => "connect",
            Self::SendHttp(request) => &request.tool,
            Self::TypeInput(input) => &input.tool,
            Self::StopProcess(stop) => &stop.tool,
        }
    }
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

/// An HTTP request that the harness sends itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendHttp {
    /// The tool that asks.
    pub tool: String,
    /// The method.
    pub method: String,
    /// The whole address, as it is asked for.
    pub url: String,
    /// The host in it.
    pub host: Host,
    /// The port.
    pub port: u16,
    /// Whether it goes in the clear or inside TLS.
    pub protocol: Protocol,
}

impl SendHttp {
    /// The connection that it takes.
    pub fn connection(&self) -> Connect {
        Connect {
            tool: self.tool.clone(),
            host: self.host.clone(),
            port: self.port,
            protocol: self.protocol,
        }
    }
}

/// What is typed into a running command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeInput {
    /// The tool that asks.
    pub tool: String,
    /// The id of what runs.
    pub process: String,
    /// Its command.
    pub command: String,
    /// What is typed.
    pub text: String,
    /// Whether its terminal does not show it, as where a password is asked for.
    pub is_hidden: bool,
    /// Whether its input is ended afterwards.
    pub closes: bool,
}

/// The end of a running command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopProcess {
    /// The tool that asks.
    pub tool: String,
    /// The id of what runs.
    pub process: String,
    /// Its command.
    pub command: String,
}
