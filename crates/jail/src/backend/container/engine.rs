//! A container engine's program: which one, and running it with a bound on its time.
//!
//! It runs with the harness's own environment, so that its configuration is the user's own. No
//! setting of the engine's is made here.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::backend::SearchPath;
use crate::error::LaunchError;
use crate::line::ends_within;
use crate::warden::protocol::{file_of, read_file};

use super::HOUSEKEEPING;
use super::trace::Trace;

/// A container engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContainerEngine {
    /// Podman.
    Podman,
    /// Docker.
    Docker,
}

impl ContainerEngine {
    /// Its name, which is also its program's.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Podman => "podman",
            Self::Docker => "docker",
        }
    }

    /// A question that only an engine that works answers, with its version.
    const fn question(self) -> &'static [&'static str] {
        match self {
            Self::Podman => &["version", "--format", "{{.Client.Version}}"],
            Self::Docker => &["version", "--format", "{{.Server.Version}}"],
        }
    }
}

/// An engine that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) engine: ContainerEngine,
    pub(crate) version: String,
    path: PathBuf,
}

/// What came of running the engine's program.
pub(super) struct Ran {
    pub(super) success: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// The first engine that there is, and its version, found out without leaving anything behind: a
/// question that Podman answers by setting itself up makes folders in the user's home, and for an
/// ordinary user a process that stays.
pub(super) fn look(programs: &SearchPath) -> Result<String, LaunchError> {
    let mut tried = Vec::new();
    for engine in [ContainerEngine::Podman, ContainerEngine::Docker] {
        let said = match engine {
            ContainerEngine::Podman => version_of_podman(programs),
            // It asks its server, and leaves nothing.
            ContainerEngine::Docker => {
                ask(engine, programs).map(|found| format!("docker {} answers", found.version))
            }
        };
        match said {
            Ok(said) => return Ok(said),
            Err(why) => tried.push(format!("{}: {why}", engine.name())),
        }
    }
    Err(LaunchError::NoEngine { tried })
}

/// What Podman says of itself when it is asked for nothing else, and sees no folder of the user's.
fn version_of_podman(programs: &SearchPath) -> Result<String, String> {
    let path = programs
        .find(ContainerEngine::Podman.name())
        .ok_or("not installed")?;
    let place = Trace::make().map_err(|error| error.to_string())?;
    let scratch = place.scratch().map_err(|error| error.to_string())?;
    let mut command = Command::new(path);
    command
        .arg("--version")
        .env_clear()
        .env("PATH", "/usr/bin:/bin");
    for name in [
        "HOME",
        "XDG_RUNTIME_DIR",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
    ] {
        command.env(name, &scratch);
    }
    let ran = run(&mut command, HOUSEKEEPING);
    place.remove_folder();
    match ran {
        Ok(ran) if ran.success => Ok(format!("{} is installed", ran.stdout.trim())),
        Ok(ran) => Err(format!("does not answer: {}", ran.stderr.trim())),
        Err(error) => Err(error.to_string()),
    }
}

/// The first engine that answers, or the one that is wanted.
pub(super) fn find(
    wanted: Option<ContainerEngine>,
    programs: &SearchPath,
) -> Result<Found, LaunchError> {
    let candidates = match wanted {
        Some(engine) => vec![engine],
        None => vec![ContainerEngine::Podman, ContainerEngine::Docker],
    };
    let mut tried = Vec::new();
    for engine in candidates {
        match ask(engine, programs) {
            Ok(found) => return Ok(found),
            Err(why) => tried.push(format!("{}: {why}", engine.name())),
        }
    }
    Err(LaunchError::NoEngine { tried })
}

fn ask(engine: ContainerEngine, programs: &SearchPath) -> Result<Found, String> {
    let path = programs.find(engine.name()).ok_or("not installed")?;
    let mut found = Found {
        engine,
        version: String::new(),
        path,
    };
    let ran = found
        .run(engine.question(), HOUSEKEEPING)
        .map_err(|error| error.to_string())?;
    if !ran.success {
        let line = ran.stderr.lines().last().unwrap_or_default().trim();
        return Err(format!("does not answer: {line}"));
    }
    ran.stdout.trim().clone_into(&mut found.version);
    Ok(found)
}

impl Found {
    /// An engine that nobody has asked.
    #[cfg(test)]
    pub(super) fn of(engine: ContainerEngine) -> Self {
        Self {
            engine,
            version: String::new(),
            path: PathBuf::from(engine.name()),
        }
    }

    /// Where its program is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether containers of this engine live in a user namespace of the caller's own.
    pub(super) fn is_rootless(&self) -> bool {
        self.engine == ContainerEngine::Podman && !rustix::process::geteuid().is_root()
    }

    /// Runs the engine's program and waits for it, at most for a while.
    pub(super) fn run(&self, arguments: &[impl AsRef<OsStr>], limit: Duration) -> io::Result<Ran> {
        run(Command::new(&self.path).args(arguments), limit)
    }

    /// Removes a container and everything that runs in it. One that is not there is fine.
    pub(super) fn remove(&self, name: &str) {
        let _ = self.run(&["rm", "--force", "--volumes", name], HOUSEKEEPING);
    }
}

/// Runs a program and waits for it, at most for a while.
fn run(command: &mut Command, limit: Duration) -> io::Result<Ran> {
    // Files, not pipes: whatever the engine leaves running may keep them open.
    let (stdout, stderr) = (File::from(file_of(&[])?), File::from(file_of(&[])?));
    let mut child = command
        .current_dir("/")
        // A key that is pressed at the user's terminal does not stop it halfway.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::from(stdout.try_clone()?))
        .stderr(Stdio::from(stderr.try_clone()?))
        .spawn()?;
    if !ends_within(&child, limit) {
        let _ = child.kill();
        let _ = child.wait();
        let seconds = limit.as_secs();
        return Err(io::Error::other(format!("no answer within {seconds} s")));
    }
    let status = child.wait()?;
    let text = |file: File| -> io::Result<String> {
        Ok(String::from_utf8_lossy(&read_file(&file.into())?).into_owned())
    };
    Ok(Ran {
        success: status.success(),
        stdout: text(stdout)?,
        stderr: text(stderr)?,
    })
}
