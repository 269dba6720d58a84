//! The worker program: a zygote that holds a finished engine and forks a child for every run.
//!
//! It is a process image of its own, single-threaded, and has the control socket as its standard input. The
//! zygote never runs a script; a child runs one, and is never used again.

pub(crate) mod control;
mod filter;
mod pages;

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use ringfence_confine::process::{self, Child, Fork, Reap};
use ringfence_confine::rlimit::{self, Resource};
use ringfence_confine::seccomp::{Filter, SeccompError};
use ringfence_confine::{descriptor, landlock, privilege, signal};
use rustix::event::{PollFd, PollFlags};

use crate::engine::{self, Channel, Template, TemplateError};
use crate::protocol::ToWorker;
use crate::runtime::RealmKind;
use crate::value::Limits;
use control::{Notice, Order, PACKET, Packet};
use pages::Pages;

/// The argument that makes a program a worker.
pub const WORKER_ARGUMENT: &str = "__worker";

/// The parser and deep values recurse; the engine itself has a limit of its own.
const STACK: u64 = 64 << 20;
/// A zygote's own descriptors, and two for each child that has not been handed over.
const OPEN_FILES: u64 = 1024;
/// Above the script's own limit: the TypeScript transformer, frames, the C library.
const MEMORY_BESIDE_THE_HEAP: u64 = 256 << 20;

/// Serves as a worker if the program was started as one, and then never returns.
///
/// A program that embeds this crate calls it first thing in `main`, before it starts any thread.
pub fn serve_worker() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments
        .next()
        .is_some_and(|argument| argument == WORKER_ARGUMENT)
    {
        let asked = arguments.next();
        let kind = RealmKind::ALL
            .into_iter()
            .find(|(name, _)| asked.as_deref().is_some_and(|asked| asked == *name))
            .map_or_else(RealmKind::default, |(_, kind)| kind);
        let code = match serve(kind) {
            Ok(()) => 0,
            Err(error) => {
                let notice = Notice::refused(&error.to_string());
                let _ = descriptor::send(io::stdin(), &notice.to_packet(), &[]);
                70
            }
        };
        process::exit_now(code);
    }
}

/// Why a worker cannot serve.
#[derive(Debug, thiserror::Error)]
enum WorkerError {
    #[error("confining the worker: {0}")]
    Confine(#[from] io::Error),
    #[error(transparent)]
    Filter(#[from] SeccompError),
    #[error(transparent)]
    Template(#[from] TemplateError),
}

struct Zygote {
    template: Option<Template>,
    child_filter: Filter,
    pages: Pages,
    signals: OwnedFd,
    children: HashMap<u32, OwnedFd>,
    retiring: bool,
}

fn serve(kind: RealmKind) -> Result<(), WorkerError> {
    privilege::parent_death_signal_kill()?;
    raise_stack()?;
    let template = Template::new(kind, Arc::default())?;
    // What every child would do for the first time, it finds done.
    rehearse(&template)?;
    let pages = prepare_pages(&template)?;
    let signals = signal::as_descriptor(libc::SIGCHLD)?;
    let mut zygote = Zygote {
        template: Some(template),
        child_filter: filter::child()?,
        pages,
        signals,
        children: HashMap::new(),
        retiring: false,
    };
    confine()?;
    zygote.attend();
    Ok(())
}

fn rehearse(template: &Template) -> io::Result<()> {
    let (ours, _theirs) = UnixStream::pair()?;
    engine::rehearse(template, Channel::new(ours, Limits::default()));
    Ok(())
}

/// Sees to it that a child finds at hand what a run touches.
#[allow(unsafe_code)]
fn prepare_pages(template: &Template) -> io::Result<Pages> {
    pages::hand_code_down()?;
    // SAFETY: the zygote never starts a thread.
    let pages = unsafe { Pages::written_by(|| drop(rehearse(template))) };
    // Without them a run is only slower.
    Ok(pages.unwrap_or_default())
}

/// The soft limit decides how far the main stack may grow; the hard one is not ours to raise.
fn raise_stack() -> io::Result<()> {
    let limit = rustix::process::getrlimit(Resource::Stack);
    let current = limit.maximum.map_or(STACK, |hard| hard.min(STACK));
    let limit = rustix::process::Rlimit {
        current: Some(current),
        maximum: limit.maximum,
    };
    Ok(rustix::process::setrlimit(Resource::Stack, limit)?)
}

fn confine() -> Result<(), WorkerError> {
    rlimit::set(Resource::Core, 0)?;
    rlimit::set(Resource::Fsize, 0)?;
    rlimit::set(Resource::Nofile, OPEN_FILES)?;
    privilege::no_new_privs()?;
    privilege::undumpable()?;
    privilege::drop_all_capabilities()?;
    // The filter alone leaves no way to a file; where the kernel has Landlock it is a second lock.
    let _ = landlock::deny_everything();
    filter::zygote()?.install()?;
    Ok(())
}

impl Zygote {
    fn attend(&mut self) {
        loop {
            if self.retiring && self.children.is_empty() {
                return;
            }
            let stdin = io::stdin();
            let mut waiting = [
                PollFd::new(&stdin, PollFlags::IN),
                PollFd::new(&self.signals, PollFlags::IN),
            ];
            if rustix::event::poll(&mut waiting, None).is_err() {
                continue;
            }
            let [control, signals] = waiting.map(|entry| !entry.revents().is_empty());
            if signals {
                self.reap();
            }
            if control && !self.obey(stdin.as_fd()) {
                break;
            }
        }
        // The host is gone: nothing that it started may stay.
        for pidfd in self.children.values() {
            let _ = process::kill(pidfd);
        }
    }

    /// Carries out one order; false when the host is gone.
    fn obey(&mut self, control: BorrowedFd<'_>) -> bool {
        let mut packet = [0_u8; PACKET];
        let length = match descriptor::receive(control, &mut packet) {
            Ok(received) => received.length,
            Err(_) => 0,
        };
        match Order::from_packet(&packet[..length]) {
            Some(Order::Fork { cpu_seconds }) => {
                if let Err(error) = self.fork(control, cpu_seconds) {
                    let notice = Notice::refused(&format!("fork: {error}"));
                    return tell(control, &notice, &[]);
                }
                true
            }
            Some(Order::Retire) => {
                self.retiring = true;
                true
            }
            None => false,
        }
    }

    #[allow(unsafe_code)]
    fn fork(&mut self, control: BorrowedFd<'_>, cpu_seconds: u64) -> io::Result<()> {
        let (host_end, worker_end) = UnixStream::pair()?;
        // SAFETY: the zygote never starts a thread.
        match unsafe { process::fork() }? {
            Fork::Child => {
                drop(host_end);
                self.be_a_child(worker_end, cpu_seconds);
            }
            Fork::Parent(Child { pid, pidfd }) => {
                let pid = pid.as_raw_nonzero().get().cast_unsigned();
                let told = tell(
                    control,
                    &Notice::Child { pid },
                    &[host_end.as_fd(), pidfd.as_fd()],
                );
                self.children.insert(pid, pidfd);
                if told {
                    Ok(())
                } else {
                    Err(io::Error::other("the host is gone"))
                }
            }
        }
    }

    fn be_a_child(&mut self, socket: UnixStream, cpu_seconds: u64) -> ! {
        let code = match (
            self.template.take(),
            enclose(socket, cpu_seconds, &self.child_filter),
        ) {
            (Some(template), Ok(socket)) => {
                self.pages.make_own();
                run_one(&template, socket);
                // The kernel takes everything back at once; taking the engine apart first would be for nothing.
                process::exit_now(0)
            }
            _ => 71,
        };
        process::exit_now(code)
    }

    fn reap(&mut self) {
        let mut drained = [0_u8; 128];
        while rustix::io::read(&self.signals, &mut drained).is_ok_and(|count| count > 0) {}
        while let Ok(Reap::Ended(reaped)) = process::reap() {
            let pid = reaped.pid.as_raw_nonzero().get().cast_unsigned();
            self.children.remove(&pid);
            let notice = Notice::Ended {
                pid,
                status: reaped.ending.status(),
            };
            tell(io::stdin().as_fd(), &notice, &[]);
        }
    }
}

fn tell(control: BorrowedFd<'_>, notice: &Notice, descriptors: &[BorrowedFd<'_>]) -> bool {
    descriptor::send(control, &notice.to_packet(), descriptors).is_ok()
}

/// Leaves the child nothing but its socket, and puts the filter on.
#[allow(unsafe_code)]
fn enclose(socket: UnixStream, cpu_seconds: u64, filter: &Filter) -> io::Result<UnixStream> {
    privilege::parent_death_signal_kill()?;
    // The place of the control socket: a child must not be able to speak to the host as the zygote.
    descriptor::place(&socket, io::stdin().as_raw_fd())?;
    let socket = {
        drop(socket);
        // SAFETY: everything from 3 on belongs to objects that this process never touches or drops again:
        // it ends in `exit_now`.
        unsafe { descriptor::close_from(3) }?;
        // SAFETY: descriptor 0 is the socket that was just placed there; nothing else owns it.
        unsafe { <UnixStream as std::os::fd::FromRawFd>::from_raw_fd(0) }
    };
    // The soft limit sends SIGXCPU, by which the host knows the safety cap; at the hard one the kernel kills.
    let (current, maximum) = (Some(cpu_seconds), Some(cpu_seconds.saturating_add(5)));
    rustix::process::setrlimit(Resource::Cpu, rustix::process::Rlimit { current, maximum })?;
    filter.install().map_err(io::Error::other)?;
    Ok(socket)
}

fn run_one(template: &Template, socket: UnixStream) {
    let limits = Limits {
        bytes: u32::MAX as usize,
        ..Limits::default()
    };
    let mut channel = Channel::new(socket, limits);
    let Ok(Some(ToWorker::Run(job))) = channel.receive() else {
        return;
    };
    // Soft and hard alike; if it is refused, the engine's own meter still holds.
    let _ = rlimit::set(
        Resource::Data,
        job.memory.saturating_add(MEMORY_BESIDE_THE_HEAP),
    );
    if job.realm() == template.kind() {
        engine::run(template, &job, channel);
    } else if let Ok(template) = Template::new(job.realm(), Arc::default()) {
        // Not what this worker was made for: the run pays for a realm of its own.
        engine::run(&template, &job, channel);
    }
}
