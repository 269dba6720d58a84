//! Configuration: every setting, from wherever it was made, with its origin.
//!
//! Layers, each over the one before: built-in defaults, the system's file, the user's file, the
//! project's file, the environment (`RINGFENCE_*`), flags. [`KEYS`] describes each key once; the
//! reading, the names of the variables, the suggestions, `config show` and the reference page all
//! follow from it.
//!
//! What a project brings may tighten at once, and loosens only when the caller says that the
//! project is trusted; [`Resolved::refused`] lists what was not honoured.
//!
//! This module reads the files that it is told to and nothing else: no home folder, no
//! environment of the process.

mod built_in;
mod convert;
mod document;
mod error;
mod key;
mod keys;
mod layer;
mod loosen;
mod origin;
mod resolve;
mod show;
mod typed;
mod value;

pub use built_in::{BuiltIn, built_in};
pub use document::reference_page;
pub use error::{ConfigError, ConfigErrors};
pub use key::{Key, Kind, Loosens, Merge};
pub use keys::{KEYS, RESERVED_VARIABLES};
pub use layer::{FlagValue, ProjectLayer, Sources, Trust};
pub use origin::Origin;
pub use resolve::{Part, Refusal, Resolved, Setting, resolve};
pub use typed::{
    ApprovalConfig, AuditConfig, Backend, BashConfig, Config, ContainerEngine, Degraded,
    ExposeConfig, NetworkConfig, OnTimeout, OutputConfig, ProcessConfig, SandboxConfig,
    ScriptConfig, ScriptLimits, ScriptMode, ScriptRuntime, ShellConfig, WorkerPool,
};
pub use value::Value;
