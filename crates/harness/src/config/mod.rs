//! Configuration: every setting, from wherever it was made, with its origin.
//!
//! Layers, each over the one before: built-in defaults, the system's file, the user's file, the
//! project's file, the environment (`RINGFENCE_*`), flags. Each setting is declared once, in
//! the file of its section in `settings`; its key, its type, the reading, the names of the variables,
//! the suggestions, `config show` and the reference page all follow from that.
//!
//! What a project brings may tighten at once, and loosens only when the caller says that the
//! project is trusted; [`Resolved::refused`] lists what was not honoured.
//!
//! This module reads the files that it is told to and nothing else: no home folder, no
//! environment of the process.

mod accepts;
mod built_in;
mod declare;
mod document;
mod error;
mod key;
mod layer;
mod loosen;
mod origin;
mod resolve;
mod settings;
mod show;
mod value;

pub use built_in::{BuiltIn, built_in};
pub use document::reference_page;
pub use error::{ConfigError, ConfigErrors};
pub use key::{Key, Kind, Loosens, Merge};
pub use layer::{FlagValue, ProjectLayer, RESERVED_VARIABLES, Sources, Trust};
pub use origin::Origin;
pub use resolve::{Part, RefusedSetting, Resolved, Setting, resolve};
pub use settings::{
    AgentConfig, ApprovalConfig, AuditConfig, Backend, BashConfig, CachesConfig, CommandsTold,
    Config, ContainerEngine, Degraded, ExposeConfig, FilesConfig, GatewayConfig, HttpConfig,
    Keeping, ModelConfig, NetworkConfig, OnTimeout, OutputConfig, OutputTold, ProcessConfig,
    SandboxConfig, ScriptConfig, ScriptLimits, ScriptMode, ScriptRuntime, ShellConfig,
    TelemetryConfig, WorkerPool, keys, words_of,
};
pub use value::Value;
