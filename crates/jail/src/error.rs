//! Why a permitted command could not be started.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::warden::protocol::{Failure, Step};

/// What kept a command from starting. Nothing has run when one of these is returned.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The permit is for something that is not a command.
    #[error("only commands can be launched")]
    NotACommand,
    /// The command has no words.
    #[error("the command is empty")]
    EmptyCommand,
    /// A NUL cannot be passed to a program.
    #[error("an argument or variable contains a NUL character, which no program can be given")]
    NulInArgument,
    /// There is no such program.
    #[error("`{0}` was not found; check the name, or the PATH that commands are given")]
    ProgramNotFound(String),
    /// The program may not be run.
    #[error("`{program}` cannot be run: {reason}")]
    ProgramNotExecutable {
        /// The program.
        program: String,
        /// Why not.
        reason: io::Error,
    },
    /// The working folder cannot be entered.
    #[error("the working folder {path} cannot be entered: {reason}")]
    WorkingDirectory {
        /// The folder.
        path: String,
        /// Why not.
        reason: io::Error,
    },
    /// A writable root cannot be made writable.
    #[error("{path} cannot be made writable: {reason}")]
    WritableRoot {
        /// The root.
        path: String,
        /// Why not.
        reason: io::Error,
    },
    /// A protected path is a symbolic link.
    #[error(
        "{0} is a symbolic link, which cannot be protected against being replaced; list it in \
         `sandbox.unprotected_paths` to go without its protection"
    )]
    ProtectedSymlink(String),
    /// The machine does not offer what the policy needs.
    #[error("this machine cannot enforce the policy: {}", missing.join("; "))]
    CannotEnforce {
        /// What would be lost.
        missing: Vec<String>,
    },
    /// A path of the policy cannot be resolved.
    #[error("{path} cannot be resolved: {reason}")]
    Path {
        /// The path.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// The kernel refused a step of the confinement.
    #[error("the fence could not be built ({step}): {reason}")]
    Confinement {
        /// Which step.
        step: String,
        /// What the kernel said.
        reason: io::Error,
    },
    /// Commands are fenced, and nothing is to build the fence.
    #[error(
        "`sandbox.backend = \"none\"` builds no fence, and the policy asks for one; use `auto`, or set \
         `sandbox.mode` to `danger-full-access` or `external-sandbox`"
    )]
    NoFence,
    /// `bwrap` gave up on a run.
    #[error("bubblewrap could not build the fence: {0}")]
    Bubblewrap(String),
    /// No container engine answers.
    #[error("no container engine can be used: {}", tried.join("; "))]
    NoEngine {
        /// What was tried, and what it said.
        tried: Vec<String>,
    },
    /// The engine could not start the container.
    #[error("{engine} could not start the session's container: {said}")]
    Engine {
        /// Which engine.
        engine: &'static str,
        /// What it said.
        said: String,
    },
    /// The engine does not have the image.
    #[error(
        "the image `{image}` is not here; get it with `{engine} pull {image}`, or name another in \
         `sandbox.container_image`"
    )]
    ImageMissing {
        /// Which engine.
        engine: &'static str,
        /// The image.
        image: String,
    },
    /// The warden could not be started or spoken to.
    #[error("the warden process could not be used: {0}")]
    Warden(#[source] io::Error),
    /// The warden, or the process that it made, ended unexpectedly.
    #[error("the warden process ended unexpectedly; the command was not run")]
    WardenGone,
}

impl LaunchError {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotACommand => "not_a_command",
            Self::EmptyCommand => "empty_command",
            Self::NulInArgument => "nul_in_argument",
            Self::ProgramNotFound(_) => "program_not_found",
            Self::ProgramNotExecutable { .. } => "program_not_executable",
            Self::WorkingDirectory { .. } => "workdir_unusable",
            Self::WritableRoot { .. } => "writable_root_unusable",
            Self::ProtectedSymlink(_) => "protected_symlink",
            Self::CannotEnforce { .. } => "cannot_enforce",
            Self::Path { .. } => "path_unusable",
            Self::Confinement { .. } => "confinement_failed",
            Self::NoFence => "backend_none",
            Self::Bubblewrap(_) => "bubblewrap_failed",
            Self::NoEngine { .. } => "container_engine_missing",
            Self::Engine { .. } => "container_engine_failed",
            Self::ImageMissing { .. } => "container_image_missing",
            Self::Warden(_) | Self::WardenGone => "warden_failed",
        }
    }
}

impl From<Failure> for LaunchError {
    fn from(failure: Failure) -> Self {
        let Failure {
            step,
            errno,
            subject,
        } = failure;
        let reason = io::Error::from_raw_os_error(errno);
        match step {
            Step::Program if errno == libc::ENOENT => Self::ProgramNotFound(subject),
            Step::Program => Self::ProgramNotExecutable {
                program: subject,
                reason,
            },
            Step::WorkingDirectory => Self::WorkingDirectory {
                path: subject,
                reason,
            },
            Step::WritableRoot => Self::WritableRoot {
                path: subject,
                reason,
            },
            Step::ProtectedSymlink => Self::ProtectedSymlink(subject),
            Step::Message => Self::NulInArgument,
            Step::Marks => Self::CannotEnforce {
                missing: vec![format!(
                    "{subject} does not exist, and is to be kept from being made: that takes a folder in \
                     which sessions keep track of what they hold, and locks on files in it"
                )],
            },
            Step::Bubblewrap => Self::CannotEnforce {
                missing: vec![subject],
            },
            Step::UserNamespace | Step::OtherNamespaces | Step::Loopback | Step::BaseMounts => {
                Self::CannotEnforce {
                    missing: vec![format!("{subject}: {reason}")],
                }
            }
            step => Self::Confinement {
                step: format!("{step:?}, {subject}"),
                reason,
            },
        }
    }
}
