//! The warden: a small process of one thread that forks and confines commands, so that the
//! harness, which may be large and has threads, never forks.
//!
//! It makes the session's world once (`world`), forks stages ahead of need (`stage`), and hands
//! their sockets to the harness. It does not judge, read configuration or touch output. When the
//! harness goes away, however it goes, the warden sees the end of its socket, kills everything it
//! started, removes what it placed (`placeholder`) and exits.

mod address;
mod bounds;
mod bubblewrap;
mod connections;
mod container;
mod init;
mod lookout;
mod placeholder;
mod protection;
pub(crate) mod protocol;
mod reach;
mod stage;
mod syscalls;
mod view;
mod watch;
mod world;

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::Path;

use ringfence_confine::cgroup::{Controller, Controls, Group, Nest};
use ringfence_confine::process::{self, Child, Fork, Reap};
use ringfence_confine::{descriptor, privilege, signal};
use rustix::event::{PollFd, PollFlags};

use protocol::{Boot, Booted, Failure, Groups, Prepared, Step, World};
use world::Workshop;

pub(crate) use world::CERTIFICATES_INSIDE;

/// The argument that makes the program a warden.
pub const WARDEN_ARGUMENT: &str = "__warden";

/// The argument that makes the program go on as a stage inside what `bwrap` has made.
pub(crate) const STAGE_ARGUMENT: &str = "__stage";

pub(crate) use bubblewrap::serve_inside;
pub(crate) use placeholder::is_marked_placeholder;
pub(crate) use view::NOT_FOR_WRITING;

/// Serves as a warden on standard input, or on a socket of this name. Never returns.
pub(crate) fn serve(socket: Option<&OsStr>) -> ! {
    let code = match line(socket).and_then(|harness| run(&harness)) {
        Ok(()) => 0,
        Err(_) => 1,
    };
    process::exit_now(code)
}

fn line(socket: Option<&OsStr>) -> io::Result<OwnedFd> {
    if let Some(path) = socket {
        return descriptor::connect(Path::new(path));
    }
    #[allow(unsafe_code)]
    // SAFETY: the harness starts a warden with one end of a socket pair as its standard input,
    // which nothing else in this process has taken.
    Ok(unsafe { OwnedFd::from_raw_fd(0) })
}

/// A stage that is alive, with what it has placed in the user's folders.
struct Running {
    child: Child,
    /// The stage tells here what it is about to place.
    ledger: OwnedFd,
    /// Its control group.
    group: Option<Group>,
}

impl Running {
    /// Tidies up after a stage that has ended.
    fn tidy_up(&self) {
        placeholder::remove_all(&self.ledger);
        if let Some(group) = &self.group {
            // A PID namespace leaves nobody; on the bare machine somebody may have got away.
            group.kill();
            // What cannot be removed goes with the nest.
            let _ = group.remove();
        }
    }
}

fn run(harness: &OwnedFd) -> io::Result<()> {
    let Some((boot, _)) = protocol::receive::<Boot>(harness)? else {
        return Ok(());
    };
    privilege::become_subreaper()?;
    if boot.world == World::Container {
        // There it shares a user and a PID namespace with the commands.
        privilege::undumpable()?;
    }
    let children = signal::as_descriptor(libc::SIGCHLD)?;
    let mut nest = nest(boot.world.groups());
    let workshop = match world::make(&boot) {
        Ok(workshop) => {
            protocol::send(harness, &Booted::Ready, &[])?;
            workshop
        }
        Err(failure) => return protocol::send(harness, &Booted::Failed(failure), &[]),
    };
    let mut running: Vec<Running> = Vec::new();
    let result = serve_requests(harness, &children, &workshop, nest.as_mut(), &mut running);
    end_everything(&mut running);
    drop(nest);
    result
}

/// Where the control groups of runs are made. Where none can be, other means hold the limits.
fn nest(groups: Groups) -> Option<Nest> {
    let controllers: &[Controller] = match groups {
        Groups::No => return None,
        Groups::Processes => &[Controller::Pids],
        Groups::ProcessesAndMemory => &[Controller::Pids, Controller::Memory],
    };
    // One of the two is better than none.
    Nest::make(controllers)
        .or_else(|refused| match controllers {
            [first, _] => Nest::make(&[*first]),
            _ => Err(refused),
        })
        .ok()
}

/// Answers requests for stages and buries the dead, until the harness is gone.
fn serve_requests(
    harness: &OwnedFd,
    children: &OwnedFd,
    workshop: &Workshop,
    mut nest: Option<&mut Nest>,
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
            prepare(harness, workshop, nest.as_deref_mut(), running)?;
        }
    }
}

/// Forks a stage and gives its socket to the harness.
fn prepare(
    harness: &OwnedFd,
    workshop: &Workshop,
    nest: Option<&mut Nest>,
    running: &mut Vec<Running>,
) -> io::Result<()> {
    match fork_stage(workshop, nest) {
        Ok((stage, socket)) => {
            // Made ahead of need like the stage, and after the fork: no stage holds a copy. A run
            // without an allow-list has it closed by the harness.
            let outlet = workshop.outlet();
            let mut descriptors = vec![socket.as_fd(), stage.child.pidfd.as_fd()];
            descriptors.extend(outlet.as_ref().map(AsFd::as_fd));
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

fn fork_stage(workshop: &Workshop, nest: Option<&mut Nest>) -> io::Result<(Running, OwnedFd)> {
    let (theirs, ours) = descriptor::socket_pair()?;
    let (ledger, entries) = descriptor::socket_pair()?;
    let group = nest.map(Nest::group).transpose()?;
    let controls = match &group {
        Some(group) => group.controls()?,
        None => Controls::default(),
    };
    #[allow(unsafe_code)]
    // SAFETY: a warden has a single thread.
    match unsafe { process::fork_into(workshop.stage_namespaces()) }? {
        Fork::Child => {
            drop((theirs, ledger));
            stage::serve(workshop, &ours, &entries, &controls)
        }
        Fork::Parent(child) => {
            let stage = Running {
                child,
                ledger,
                group,
            };
            // The stage waits for its launch, which comes after this.
            if let Some(group) = &stage.group
                && let Err(error) = group.admit(stage.child.pid)
            {
                let _ = process::kill(&stage.child.pidfd);
                let _ = process::wait(&stage.child);
                stage.tidy_up();
                return Err(error);
            }
            Ok((stage, theirs))
        }
    }
}

/// Reaps what has ended and tidies up after stages.
fn bury(running: &mut Vec<Running>) -> io::Result<()> {
    while let Reap::Ended(ended) = process::reap()? {
        if let Some(index) = running
            .iter()
            .position(|stage| stage.child.pid == ended.pid)
        {
            running.swap_remove(index).tidy_up();
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
        stage.tidy_up();
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
