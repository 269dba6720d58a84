//! A stage: the first process of a run. It is forked ahead of need, gets everything ready for the
//! run that it was asked for, and stays as its init.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use ringfence_confine::cgroup::Controls;
use ringfence_confine::privilege::{self, Capabilities};
use ringfence_confine::{descriptor, inotify, landlock, process};
use rustix::fs::{Mode, OFlags};

use crate::mark::Ledger;

use super::bounds::{self, Means};
use super::bubblewrap;
use super::command::{self, Source, Waiting};
use super::confinement::{Confinement, Disk};
use super::connections::Connections;
use super::guard::{self, Guard, Why};
use super::init;
use super::lookout::Lookout;
use super::protocol::{self, Enclosure, Failure, Fence, Launch, Report, Sockets, Step, World};
use super::reach::Reach;
use super::syscalls::Connecting;
use super::view::MountView;
use super::watch::Watch;
use super::world::Workshop;

/// The lines of a stage.
pub(super) struct Lines<'a> {
    /// The harness sends the command here.
    pub(super) launch: OwnedFd,
    /// Orders from the harness, and reports to it.
    pub(super) harness: OwnedFd,
    /// Where is written down what is placed in the user's folders.
    pub(super) ledger: Ledger<'a>,
    /// What the guard watches by, kept by the warden.
    pub(super) events: Option<OwnedFd>,
    /// Closed by the warden once the stage is in its control group.
    pub(super) admitted: OwnedFd,
    /// Where the run's own outlet answers, if it has one.
    pub(super) outlet_port: Option<u16>,
}

/// Serves one run. Never returns.
pub(super) fn serve(
    workshop: &Workshop,
    lines: &Lines<'_>,
    controls: &Controls,
    enclosure: &Enclosure,
) -> ! {
    let code = match run(workshop, lines, controls, enclosure) {
        Ok(()) => 0,
        Err(_) => 1,
    };
    process::exit_now(code)
}

fn run(
    workshop: &Workshop,
    lines: &Lines<'_>,
    controls: &Controls,
    enclosure: &Enclosure,
) -> io::Result<()> {
    privilege::parent_death_signal_kill()?;
    privilege::undumpable()?;
    forget_the_warden()?;
    if !workshop.owns_its_pids() {
        privilege::become_subreaper()?;
    }
    let stage = Stage {
        workshop,
        harness: &lines.harness,
        enclosure,
        outlet_port: lines.outlet_port,
        means: Means {
            controls,
            kernel: None,
        },
    };
    if let World::Bubblewrap { bwrap, .. } = &workshop.world {
        let Some((launch, descriptors)) = protocol::receive::<Launch>(&lines.launch)? else {
            return Ok(());
        };
        let failure = bubblewrap::become_bwrap(bwrap, &stage, launch, &descriptors, &lines.ledger);
        return stage.give_up(failure);
    }
    match stage.get_ready(lines) {
        Ok(ready) => stage.attend(ready, Some(&lines.launch)),
        Err(failure) => stage.give_up(failure),
    }
}

/// Serves one run as the first process of what `bwrap` has made for it.
pub(super) fn run_inside(
    stage: &Stage<'_>,
    launch: Launch,
    standard: Vec<OwnedFd>,
) -> io::Result<()> {
    privilege::undumpable()?;
    forget_the_warden()?;
    let guard = stage.enclosure.fence.as_ref().map(Guard::over_covers);
    let ready = guard
        .transpose()
        .and_then(|guard| stage.confine(guard, Source::Known(launch, standard), None));
    match ready {
        Ok(ready) => stage.attend(ready, None),
        Err(failure) => stage.give_up(failure),
    }
}

/// The stage of one run.
pub(super) struct Stage<'a> {
    pub(super) workshop: &'a Workshop,
    pub(super) harness: &'a OwnedFd,
    pub(super) enclosure: &'a Enclosure,
    pub(super) outlet_port: Option<u16>,
    pub(super) means: Means<'a>,
}

/// A run that only needs its command.
struct Ready<'l> {
    waiting: Waiting,
    watch: Watch,
    guard: Option<Guard<'l>>,
    connections: Option<Connections>,
}

impl Stage<'_> {
    /// Puts the view together and has the command's process wait in it.
    fn get_ready<'l>(&self, lines: &'l Lines<'l>) -> Result<Ready<'l>, Failure> {
        let failed = |error: io::Error| Failure::new(Step::Prepare, &error, "mounts");
        let guard = match (&self.enclosure.fence, self.workshop.has_namespaces()) {
            (Some(fence), true) => {
                let view = MountView::prepare().map_err(failed)?;
                let events = lines
                    .events
                    .as_ref()
                    .map_or_else(inotify::instance, OwnedFd::try_clone);
                let guard = Guard::new(events).map_err(|error| guard::unwatched(&error))?;
                Some(view.apply(fence, &lines.ledger, guard)?)
            }
            (Some(fence), false) if self.workshop.world == World::Container => {
                Some(Guard::over_covers(fence)?)
            }
            _ => None,
        };
        self.confine(guard, Source::Awaited(&lines.launch), Some(&lines.admitted))
    }

    /// Has the command's process wait, with nothing left to do but to become the command.
    fn confine<'l>(
        &self,
        mut guard: Option<Guard<'l>>,
        source: Source<'_>,
        admitted: Option<&OwnedFd>,
    ) -> Result<Ready<'l>, Failure> {
        let Enclosure { fence, limits } = self.enclosure;
        let watch = bounds::set(limits, &self.means, self.workshop)?;
        let bounds = bounds::of_each_process(limits, self.means.controls);
        let mut on_list = |folder: &Path| match &mut guard {
            Some(guard) => guard.watch(folder, Why::Listed),
            None => Ok(()),
        };
        let disk = match self.enclosure.limits.disk_bytes {
            Some(_) => Disk::Counted,
            None => Disk::Free,
        };
        let confinement = Confinement::new(self.workshop, fence.as_ref(), disk, &mut on_list)?;
        let connections = fence.as_ref().map(|fence| self.connections(fence));
        let connections = connections.transpose()?;
        // The control group has to be there before there is a second process. The kernel may take
        // its time to move the first one into it.
        if let Some(admitted) = admitted {
            rustix::io::read(admitted, &mut [0; 1])
                .map_err(|error| Failure::new(Step::Prepare, &error.into(), "a control group"))?;
        }
        let waiting = command::fork(self.workshop, confinement, &bounds, source)?;
        Ok(Ready {
            waiting,
            watch,
            guard,
            connections,
        })
    }

    /// The connections that the command will make through its init, which keeps to what the command
    /// itself must keep to.
    fn connections(&self, fence: &Fence) -> Result<Connections, Failure> {
        let failed = |error| Failure::new(Step::Seccomp, &error, "the sockets that can be reached");
        if fence.sockets != Sockets::InNamespace && landlock::version() >= 6 {
            privilege::no_new_privs().map_err(failed)?;
            landlock::scope_abstract_sockets().map_err(failed)?;
        }
        let workshop = self.workshop;
        let reach = Reach::of(fence, &workshop.world, &workshop.roll, workshop.began);
        let reach = reach.map_err(failed)?;
        Ok(Connections::new(reach, fence, self.outlet_port))
    }

    /// Attends to the run, with nothing left that it does not need for that.
    fn attend(&self, ready: Ready<'_>, launch: Option<&OwnedFd>) -> io::Result<()> {
        let Ready {
            waiting,
            watch,
            guard,
            connections,
        } = ready;
        let Enclosure { fence, limits } = self.enclosure;
        let lookout = waiting.listener.zip(fence.as_ref());
        let lookout = lookout.map(|((listener, connecting), fence)| {
            let connections = connections.filter(|_| connecting == Connecting::Held);
            Lookout::new(listener, fence, self.workshop.has_mounts(), connections)
        });
        self.shed_privileges(
            lookout.is_some(),
            guard.as_ref().is_some_and(Guard::can_mount),
        );
        let run = init::Run {
            harness: self.harness,
            launch,
            own_pids: self.workshop.owns_its_pids(),
            limits,
            tmp: fence.as_ref().map(|fence| fence.tmp),
            controls: self.means.controls,
            watch,
        };
        run.attend(waiting.pid, &waiting.word, lookout, guard)
    }

    /// Gives up what an init does not need.
    fn shed_privileges(&self, looks: bool, mounts: bool) {
        let identity = &self.workshop.identity;
        if (looks || mounts) && rustix::process::geteuid().as_raw() != identity.uid {
            // A path is followed as the command would follow it, and whoever the command is
            // connected to sees its user.
            let _ = privilege::act_as(identity.uid, identity.gid, identity.groups.as_deref());
        }
        let _ = privilege::no_new_privs();
        let mut kept = Capabilities::empty();
        // What a process has written, and what its arguments point to, is told to those only who
        // may look into it.
        if looks || self.enclosure.limits.disk_bytes.is_some() {
            kept |= privilege::LOOKING;
        }
        // What somebody outside uncovers is covered again.
        if mounts {
            kept |= privilege::MOUNTING;
        }
        let _ = privilege::drop_all_capabilities_but(kept);
    }

    /// Tells the harness why there is no run, and waits for it to take notice.
    fn give_up(&self, failure: Failure) -> io::Result<()> {
        protocol::send(self.harness, &Report::Failed(failure), &[])?;
        descriptor::receive(self.harness, &mut [0; 16]).map(|_| ())
    }
}

/// The standard descriptors of a stage are the warden's: its line to the harness among them.
fn forget_the_warden() -> io::Result<()> {
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    for number in 0..3 {
        descriptor::place(&null, number)?;
    }
    Ok(())
}
