//! The warden: a small process of one thread that forks and confines commands, so that the
//! harness, which may be large and has threads, never forks.
//!
//! It makes the session's world once (`world`), forks stages ahead of need (`stage`), and hands
//! their sockets to the harness. It does not judge, read configuration or touch output. When the
//! harness goes away, however it goes, the warden sees the end of its socket, kills everything it
//! started, releases what its stages held ([`mark`](crate::mark)) and exits. It is in a session of its
//! own: what is pressed at the user's terminal is not meant for it.

mod address;
mod bounds;
mod bubblewrap;
mod command;
mod confinement;
mod connections;
mod container;
mod guard;
mod init;
mod lookout;
mod protection;
pub(crate) mod protocol;
mod reach;
mod readable;
mod shared_list;
mod stage;
mod start;
mod syscalls;
mod view;
mod watch;
mod world;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::Path;

use ringfence_confine::cgroup::{Controller, Controls, Group, GroupRoot};
use ringfence_confine::process::{self, Child, Fork, Reap};
use ringfence_confine::{descriptor, inotify, privilege, signal};
use rustix::event::{PollFd, PollFlags};

use crate::mark::{Attendance, Estate, Ledger, Registry};
use crate::net;
use crate::testament::{self, Testament, Testaments};
use protocol::{
    Boot, Booted, Enclosure, Failure, GOODBYE, Groups, Identity, Prepared, Step, World,
};
use stage::Lines;
use world::Workshop;

pub(crate) use world::CERTIFICATES_INSIDE;

/// The argument that makes the program a warden.
pub const WARDEN_ARGUMENT: &str = "__warden";

/// The argument that makes the program go on as a stage inside what `bwrap` has made.
pub(crate) const STAGE_ARGUMENT: &str = "__stage";

pub(crate) use bubblewrap::serve_inside;
pub(crate) use view::NOT_FOR_WRITING;

/// Serves as a warden on standard input, or on a socket of this name. Never returns.
pub(crate) fn serve(socket: Option<&OsStr>) -> ! {
    match line(socket) {
        Ok(harness) => serve_on(&harness),
        Err(_) => process::exit_now(1),
    }
}

/// Serves as a warden on a line to the harness. Never returns.
pub(crate) fn serve_on(harness: &OwnedFd) -> ! {
    // First: a signal for the user's process group, or the end of the terminal, would keep it from
    // tidying up. One that leads a session already was put there by whoever started it.
    let _ = rustix::process::setsid();
    let code = match run(harness) {
        Ok(()) => 0,
        Err(_) => 1,
    };
    // The harness need not wait for what the kernel does now.
    let _ = descriptor::send(harness, GOODBYE, &[]);
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
    /// The stage tells here whose marks it is about to hold.
    told: OwnedFd,
    /// Its control group.
    group: Option<Group>,
    /// What its guard watches by.
    events: Option<OwnedFd>,
    /// What is to be compared should the harness be killed.
    testament: Testament,
}

impl Running {
    /// Tidies up after a stage that has ended.
    fn tidy_up(self, site: &Site<'_>, estate: &mut Estate<'_>) {
        estate.take_over(&self.told);
        site.testaments.borrow_mut().keep(self.testament);
        if let Some(events) = self.events {
            site.watches.borrow_mut().give_back(events);
        }
        if let Some(group) = &self.group {
            // A PID namespace leaves nobody; on the bare machine somebody may have got away.
            group.kill();
            // What cannot be removed goes with the root.
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
    // Opened before the world is made, in which it may be out of sight. Who needs it and has none
    // says so.
    let registry = boot
        .marks
        .as_ref()
        .and_then(|marks| Registry::open(&marks.to_path()).ok());
    let mut root = root(boot.world.groups());
    let workshop = match world::make(&boot) {
        Ok(workshop) => {
            protocol::send(harness, &Booted::Ready, &[])?;
            workshop
        }
        Err(failure) => return protocol::send(harness, &Booted::Failed(failure), &[]),
    };
    // While the harness goes on.
    let attendance = registry.as_ref().map(|registry| {
        registry.sweep();
        Attendance::note(registry, boot.harness, &boot.workspace.to_path())
    });
    let mut stages = Stages {
        running: Vec::new(),
        estate: Estate::new(registry.as_ref()),
    };
    let site = Site {
        workshop: &workshop,
        registry: registry.as_ref(),
        watches: RefCell::default(),
        testaments: RefCell::default(),
    };
    let result = serve_requests(harness, &children, &site, root.as_mut(), &mut stages);
    stages.end_everything(&site);
    drop((root, attendance));
    // Closing what has watched takes its time.
    std::mem::forget(site);
    result
}

/// Where stages are forked, and where they write down what they hold.
struct Site<'a> {
    workshop: &'a Workshop,
    registry: Option<&'a Registry>,
    /// What the guards of stages watch by.
    watches: RefCell<inotify::Pool>,
    /// Those of runs that are over.
    testaments: RefCell<Testaments>,
}

/// The stages that are alive, and what those that are not have left.
struct Stages<'a> {
    running: Vec<Running>,
    estate: Estate<'a>,
}

/// Compares the names that a harness which was killed has not.
fn carry_out(site: &Site<'_>) {
    let left = site.testaments.borrow_mut().left();
    if left.is_empty() {
        return;
    }
    let Identity { uid, gid, groups } = &site.workshop.identity;
    #[allow(unsafe_code)]
    // SAFETY: a warden has a single thread.
    match unsafe { process::fork() } {
        // As whoever commands ran as: nothing that they made leads to more than they have.
        Ok(Fork::Child) => {
            let is_somebody_else = rustix::process::geteuid().as_raw() != *uid;
            if !is_somebody_else || privilege::become_user(*uid, *gid, groups.as_deref()).is_ok() {
                for left in &left {
                    left.compare();
                }
            }
            process::exit_now(0)
        }
        Ok(Fork::Parent(child)) => _ = process::wait(&child),
        Err(_) => {}
    }
}

/// Where the control groups of runs are made. Where none can be, other means hold the limits.
fn root(groups: Groups) -> Option<GroupRoot> {
    let wanted = [
        (groups.processes, Controller::Pids),
        (groups.cpu_time, Controller::CpuTime),
        (groups.memory, Controller::Memory),
    ];
    let mut controllers: Vec<Controller> = wanted
        .into_iter()
        .filter_map(|(is_wanted, controller)| is_wanted.then_some(controller))
        .collect();
    // Some are better than none.
    while !controllers.is_empty() {
        if let Ok(root) = GroupRoot::make(&controllers) {
            return Some(root);
        }
        controllers.pop();
    }
    None
}

/// Answers requests for stages and buries the dead, until the harness is gone.
fn serve_requests(
    harness: &OwnedFd,
    children: &OwnedFd,
    site: &Site<'_>,
    mut root: Option<&mut GroupRoot>,
    stages: &mut Stages<'_>,
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
            stages.bury(site)?;
        }
        if !polled[0].revents().is_empty() {
            let Some((enclosure, _)) = protocol::receive::<Enclosure>(harness)? else {
                return Ok(());
            };
            prepare(harness, site, root.as_deref_mut(), stages, &enclosure)?;
        }
    }
}

/// Forks a stage and gives its socket to the harness.
fn prepare(
    harness: &OwnedFd,
    site: &Site<'_>,
    root: Option<&mut GroupRoot>,
    stages: &mut Stages<'_>,
    enclosure: &Enclosure,
) -> io::Result<()> {
    // Made ahead of need like the stage, which knows it and keeps no copy. A run without an
    // allow-list has it closed by the harness.
    let outlet = site.workshop.outlet();
    if let (Some(fence), true) = (&enclosure.fence, site.workshop.has_namespaces()) {
        let empty = || confinement::empty_rules(fence, site.workshop).ok();
        let list = &site.workshop.list;
        list.refresh(fence, &site.workshop.identity, empty);
    }
    match fork_stage(site, root, enclosure, outlet.as_ref()) {
        Ok((stage, [launch, orders, testament])) => {
            // The harness may be gone by now. The stage is ours all the same.
            stages.running.push(stage);
            let pidfd = stages.running.last().map(|stage| stage.child.pidfd.as_fd());
            let descriptors: Vec<_> = [launch.as_fd(), orders.as_fd()]
                .into_iter()
                .chain(pidfd)
                .chain([testament.as_fd()])
                .chain(outlet.as_ref().map(AsFd::as_fd))
                .collect();
            protocol::send(harness, &Prepared::Stage, &descriptors)
        }
        Err(error) => {
            let failure = Failure::new(Step::Fork, &error, "a process for the next command");
            protocol::send(harness, &Prepared::Failed(failure), &[])
        }
    }
}

/// A stage, and the harness's ends of its lines: for the command, for orders and reports, and for
/// what is to be compared.
fn fork_stage(
    site: &Site<'_>,
    root: Option<&mut GroupRoot>,
    enclosure: &Enclosure,
    outlet: Option<&OwnedFd>,
) -> io::Result<(Running, [OwnedFd; 3])> {
    let workshop = site.workshop;
    let outlet_port = outlet.map(net::port_of).transpose()?;
    let (launch_theirs, launch) = descriptor::socket_pair()?;
    let (orders_theirs, orders) = descriptor::socket_pair()?;
    let (told, survivor) = descriptor::socket_pair()?;
    let (testament, testament_theirs) = testament::ends()?;
    let (admitted, admit) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // A stage without one says what it lacks, if it needs one.
    let events = workshop
        .has_namespaces()
        .then(|| site.watches.borrow_mut().take())
        .and_then(Result::ok);
    let group = root.map(GroupRoot::group).transpose()?;
    let controls = match &group {
        Some(group) => group.controls()?,
        None => Controls::default(),
    };
    #[allow(unsafe_code)]
    // SAFETY: a warden has a single thread.
    match unsafe { process::fork_into(workshop.stage_namespaces()) }? {
        Fork::Child => {
            drop((launch_theirs, orders_theirs, told, admit));
            drop((testament, testament_theirs));
            if let Some(outlet) = outlet {
                #[allow(unsafe_code)]
                // SAFETY: the child never returns to whoever owns it.
                unsafe {
                    descriptor::close(outlet);
                }
            }
            let lines = Lines {
                outlet_port,
                launch,
                harness: orders,
                ledger: Ledger {
                    registry: site.registry,
                    survivor,
                },
                events,
                admitted,
            };
            stage::serve(workshop, &lines, &controls, enclosure)
        }
        Fork::Parent(child) => {
            let stage = Running {
                child,
                told,
                group,
                events,
                testament: Testament::new(testament),
            };
            if let Some(group) = &stage.group
                && let Err(error) = group.admit(stage.child.pid)
            {
                let _ = process::kill(&stage.child.pidfd);
                let _ = process::wait(&stage.child);
                // It has not been told to hold anything.
                drop(survivor);
                stage.tidy_up(site, &mut Estate::new(site.registry));
                return Err(error);
            }
            // The stage waits for this before it forks.
            drop(admit);
            Ok((stage, [launch_theirs, orders_theirs, testament_theirs]))
        }
    }
}

impl Stages<'_> {
    /// Reaps what has ended and tidies up after stages.
    fn bury(&mut self, site: &Site<'_>) -> io::Result<()> {
        while let Reap::Ended(ended) = process::reap()? {
            let of_a_stage = |stage: &Running| stage.child.pid == ended.pid;
            if let Some(index) = self.running.iter().position(of_a_stage) {
                self.running
                    .swap_remove(index)
                    .tidy_up(site, &mut self.estate);
            }
        }
        kill_strays(&self.running);
        self.estate.release();
        Ok(())
    }

    fn end_everything(&mut self, site: &Site<'_>) {
        for stage in &self.running {
            let _ = process::kill(&stage.child.pidfd);
        }
        // All of them first: what one held another may hold, too.
        for stage in &self.running {
            let _ = process::wait(&stage.child);
        }
        for stage in self.running.drain(..) {
            stage.tidy_up(site, &mut self.estate);
        }
        end_strays();
        carry_out(site);
        self.estate.release_at_last();
    }
}

/// Ends what stages left: on the bare machine, and where `bwrap` is the stage, its child, which
/// holds what the stage held. Each round kills what the last one left orphaned.
fn end_strays() {
    for _ in 0..64 {
        kill_strays(&[]);
        match process::reap() {
            Ok(Reap::NoChildren) | Err(_) => return,
            Ok(Reap::Ended(_)) => {}
            Ok(Reap::Running) => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    }
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
