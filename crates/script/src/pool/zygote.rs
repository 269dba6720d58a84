//! A zygote: the process that children are forked from, how it is started, and what it says.
//!
//! A thread of its own starts each zygote, listens to it and reaps it, so that no tokio runtime owns the pool.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Weak};

use ringfence_confine::descriptor;

use super::{Inner, State};
use crate::runtime::RuntimeError;
use crate::worker::WORKER_ARGUMENT;
use crate::worker::control::{Notice, PACKET, Packet};

/// The program that serves as worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WorkerProgram {
    /// This very program, with the argument `__worker`. It must call `serve_worker` first in `main`.
    #[default]
    CurrentExecutable,
    /// Another program, with these arguments; the first one should be `__worker`.
    Program {
        /// Where it is.
        path: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

pub(super) struct Zygote {
    pub(super) control: Arc<OwnedFd>,
    pub(super) pid: u32,
    /// Forks that were ordered and have not been delivered.
    pub(super) ordered: usize,
    pub(super) runs: u64,
}

impl Inner {
    /// Starts a zygote in a thread that stays with it.
    pub(super) fn start(self: &Arc<Self>, state: &mut State) -> Result<(), RuntimeError> {
        let system = |error: io::Error| RuntimeError::System(error.to_string());
        let (ours, theirs) = descriptor::socket_pair().map_err(system)?;
        let control = Arc::new(ours);
        let (program, mut command) = self.command(theirs)?;
        state.generation += 1;
        let generation = state.generation;
        let (started, start) = std::sync::mpsc::sync_channel(1);
        let (listener, pool) = (Arc::clone(&control), Arc::downgrade(self));
        // The kernel kills the zygote when the thread that started it ends, so this thread stays with it.
        std::thread::Builder::new()
            .name("ringfence-zygote".to_owned())
            .spawn(move || {
                let mut child = match command.spawn() {
                    Ok(child) => child,
                    Err(error) => return drop(started.send(Err(error))),
                };
                // Only the child may hold its end, or its end would never be seen.
                drop(command);
                if started.send(Ok(child.id())).is_err() {
                    return;
                }
                listen(&listener, &pool, generation);
                let _ = rustix::net::shutdown(&*listener, rustix::net::Shutdown::Both);
                let status = child
                    .wait()
                    .map_or_else(|error| error.to_string(), |status| status.to_string());
                if let Some(pool) = pool.upgrade() {
                    pool.lost(generation, &status);
                }
            })
            .map_err(system)?;
        let failed = |reason: String| RuntimeError::WorkerStart {
            program: program.clone(),
            reason,
        };
        match start.recv() {
            Ok(Ok(pid)) => {
                state.zygote = Some(Zygote {
                    control,
                    pid,
                    ordered: 0,
                    runs: 0,
                });
                Ok(())
            }
            Ok(Err(error)) => {
                state.problem = Some(error.to_string());
                state.waiting.clear();
                Err(failed(error.to_string()))
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn command(&self, control: OwnedFd) -> Result<(String, Command), RuntimeError> {
        let (path, arguments) = match &self.config.worker {
            WorkerProgram::CurrentExecutable => {
                let path = std::env::current_exe().map_err(|error| RuntimeError::WorkerStart {
                    program: "current executable".to_owned(),
                    reason: error.to_string(),
                })?;
                let kind = self.config.realm.argument().to_owned();
                (path, vec![WORKER_ARGUMENT.to_owned(), kind])
            }
            WorkerProgram::Program { path, arguments } => {
                let mut arguments = arguments.clone();
                arguments.push(self.config.realm.argument().to_owned());
                (path.clone(), arguments)
            }
        };
        let mut command = Command::new(&path);
        // Nothing of the host's environment is of use to a script, and much of it is secret.
        command
            .args(arguments)
            .env_clear()
            .stdin(Stdio::from(control));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        // What a child would look up in libraries at its first call of it, the zygote has looked up.
        command.env("LD_BIND_NOW", "1");
        command.envs(self.config.time_zone.iter().map(|zone| ("TZ", zone)));
        Ok((path.display().to_string(), command))
    }
}

/// Takes in what a zygote says until it ends or the pool is gone.
fn listen(control: &OwnedFd, pool: &Weak<Inner>, generation: u64) {
    let mut packet = [0_u8; PACKET];
    loop {
        let Ok(received) = descriptor::receive(control.as_fd(), &mut packet) else {
            return;
        };
        let Some(notice) = Notice::from_packet(&packet[..received.length]) else {
            return;
        };
        let Some(pool) = pool.upgrade() else { return };
        match notice {
            Notice::Child { pid } => {
                let Ok([stream, pidfd]) = <[OwnedFd; 2]>::try_from(received.descriptors) else {
                    return;
                };
                pool.delivered(generation, pid, UnixStream::from(stream), pidfd);
            }
            Notice::Ended { pid, status } => pool.ended(generation, pid, status),
            Notice::Refused { reason } => pool.refused(generation, &reason),
        }
    }
}
