//! The warden: a small process of one thread that forks and confines commands, so that the
//! harness, which may be large and has threads, never forks.
//!
//! It makes the session's world once (`world`), forks stages ahead of need (`stage`), and hands
//! their sockets to the harness. It does not judge, read configuration or touch output. When the
//! harness goes away, however it goes, the warden sees the end of its socket, kills everything it
//! started, removes what it placed (`placeholder`) and exits.

mod init;
mod placeholder;
pub(crate) mod protocol;
mod stage;
mod syscalls;
mod view;
mod world;

use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

use ringfence_confine::process::{self, Child, Fork, Reap};
use ringfence_confine::{descriptor, privilege, signal};
use rustix::event::{PollFd, PollFlags};

use protocol::{Boot, Booted, Failure, Prepared, Step};
use world::Workshop;

/// The argument that makes the program a warden.
pub const WARDEN_ARGUMENT: &str = "__warden";

/// Serves as a warden on standard input. Never returns.
pub(crate) fn serve() -> ! {
    #[allow(unsafe_code)]
    // SAFETY: the harness starts a warden with one end of a socket pair as its standard input,
    // which nothing else in this process has taken.
    let socket = unsafe { OwnedFd::from_raw_fd(0) };
    let code = match run(&socket) {
        Ok(()) => 0,
        Err(_) => 1,
    };
    process::exit_now(code)
}

/// A stage that is alive, with what it has placed in the user's folders.
struct Running {
    child: Child,
    /// The stage tells here what it is about to place.
    ledger: OwnedFd,
}

fn run(harness: &OwnedFd) -> io::Result<()> {
    let Some((boot, _)) = protocol::receive::<Boot>(harness)? else {
        return Ok(());
    };
    privilege::become_subreaper()?;
    let children = signal::as_descriptor(libc::SIGCHLD)?;
    let workshop = match world::make(&boot) {
        Ok(workshop) => {
            protocol::send(harness, &Booted::Ready, &[])?;
            workshop
        }
        Err(failure) => return protocol::send(harness, &Booted::Failed(failure), &[]),
    };
    let mut running: Vec<Running> = Vec::new();
    let result = serve_requests(harness, &children, &workshop, &mut running);
    end_everything(&mut running);
    result
}

/// Answers requests for stages and buries the dead, until the harness is gone.
fn serve_requests(
    harness: &OwnedFd,
    children: &OwnedFd,
    workshop: &Workshop,
    running: &mut Vec<Running>,
) -> io::Result<()> {
    loop {
        let mut polled = [
            PollFd::new(harness, PollFlags::IN),
            PollFd::new(children, PollFlags::IN),
        ];
        match rustix::event::poll(&mut polled, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if !polled[1].revents().is_empty() {
            let _ = rustix::io::read(children, &mut [0u8; 512]);
            bury(running)?;
        }
        if !polled[0].revents().is_empty() {
            if descriptor::receive(harness, &mut [0; 1])?.length == 0 {
                return Ok(());
            }
            prepare(harness, workshop, running)?;
        }
    }
}

/// Forks a stage and gives its socket to the harness.
fn prepare(harness: &OwnedFd, workshop: &Workshop, running: &mut Vec<Running>) -> io::Result<()> {
    match fork_stage(workshop) {
        Ok((stage, socket)) => {
            let descriptors = [socket.as_fd(), stage.child.pidfd.as_fd()];
            protocol::send(harness, &Prepared::Stage, &descriptors)?;
            running.push(stage);
            Ok(())
        }
        Err(error) => {
            let failure = Failure::new(Step::Fork, &error, "a process for the next command");
            protocol::send(harness, &Prepared::Failed(failure), &[])
        }
    }
}

fn fork_stage(workshop: &Workshop) -> io::Result<(Running, OwnedFd)> {
    let (theirs, ours) = descriptor::socket_pair()?;
    let (ledger, entries) = descriptor::socket_pair()?;
    #[allow(unsafe_code)]
    // SAFETY: a warden has a single thread.
    match unsafe { process::fork_into(workshop.stage_namespaces()) }? {
        Fork::Child => {
            drop((theirs, ledger));
            stage::serve(workshop, &ours, &entries)
        }
        Fork::Parent(child) => Ok((Running { child, ledger }, theirs)),
    }
}

/// Reaps what has ended and tidies up after stages.
fn bury(running: &mut Vec<Running>) -> io::Result<()> {
    while let Reap::Ended(ended) = process::reap()? {
        if let Some(index) = running
            .iter()
            .position(|stage| stage.child.pid == ended.pid)
        {
            let stage = running.swap_remove(index);
            placeholder::remove_all(&stage.ledger);
        }
    }
    kill_strays(running);
    Ok(())
}

/// Processes that outlived their stage come to the warden, their subreaper. A PID namespace
/// leaves none; on the bare machine a killed stage may.
fn kill_strays(running: &[Running]) {
    let ours = rustix::process::getpid().as_raw_nonzero().get();
    for pid in init::children_of(ours) {
        if !running
            .iter()
            .any(|stage| stage.child.pid.as_raw_nonzero().get() == pid)
        {
            init::kill_tree(pid);
        }
    }
}

fn end_everything(running: &mut Vec<Running>) {
    for stage in running.iter() {
        let _ = process::kill(&stage.child.pidfd);
    }
    for stage in running.drain(..) {
        let _ = process::wait(&stage.child);
        placeholder::remove_all(&stage.ledger);
    }
    // Strays of stages on the bare machine; each round kills what the last one left orphaned.
    for _ in 0..64 {
        kill_strays(&[]);
        match process::reap() {
            Ok(Reap::NoChildren) | Err(_) => return,
            Ok(Reap::Ended(_)) => {}
            Ok(Reap::Running) => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    }
}
