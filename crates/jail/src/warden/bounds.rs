//! The bounds of a run: which of the kernel's means holds which limit.
//!
//! A control group holds a limit for the run as a whole, and counts how often it was hit. Where
//! there is none, the PID namespace and the resource limits of each process do what they can. What
//! neither can hold is watched (`watch`).

use std::io;
use std::os::fd::OwnedFd;

use ringfence_confine::cgroup::{Controller, Controls};
use ringfence_confine::namespace;
use ringfence_confine::rlimit::{self, Resource};

use super::protocol::{Failure, RunLimits, Step};
use super::watch::Watch;
use super::world::Workshop;

/// What there is to bound a run with.
pub(super) struct Means<'a> {
    pub(super) controls: &'a Controls,
    /// `/proc/sys/kernel` as it can be written outside what `bwrap` has made, for a run in that.
    pub(super) kernel: Option<&'a OwnedFd>,
}

/// Bounds the run that the calling process is the init of. Returns the watch over what is left.
pub(super) fn set(
    limits: &RunLimits,
    means: &Means<'_>,
    workshop: &Workshop,
) -> Result<Watch, Failure> {
    let controls = means.controls;
    let failed = |what: &'static str| move |error| Failure::new(Step::Limits, &error, what);
    if let Some(bytes) = limits.memory_bytes
        && controls.has(Controller::Memory)
    {
        controls.bound_memory(bytes).map_err(failed("memory"))?;
    }
    if let Some(most) = limits.processes {
        if controls.has(Controller::Pids) {
            // We are in the group too, and so is the `bwrap` above us if there is one.
            let own = if means.kernel.is_some() { 2 } else { 1 };
            controls
                .bound_processes(most.saturating_add(own))
                .map_err(failed("processes"))?;
        } else if let Some(kernel) = means.kernel {
            bound_process_ids_through(kernel, most, workshop).map_err(failed("processes"))?;
        } else if workshop.has_namespaces() && namespace::pid_max_is_per_namespace() {
            bound_process_ids(most).map_err(failed("processes"))?;
        }
    }
    Watch::new(limits, workshop.owns_its_pids()).map_err(failed(
        "limits.disk_bytes: this kernel does not count what processes write",
    ))
}

fn bound_process_ids(most: u64) -> io::Result<()> {
    namespace::set_pid_max(most).or_else(|error| match error.raw_os_error() {
        // The outer `/proc` stands in for our own and is read-only; the resource limit remains.
        Some(libc::EROFS | libc::EACCES) => Ok(()),
        _ => Err(error),
    })
}

/// The same where `/proc` is closed to writes. Root must be held by it; others are held by the
/// resource limit too.
fn bound_process_ids_through(kernel: &OwnedFd, most: u64, workshop: &Workshop) -> io::Result<()> {
    let bounded = if namespace::pid_max_is_per_namespace() {
        namespace::set_pid_max_at(kernel, most)
    } else {
        Err(io::ErrorKind::Unsupported.into())
    };
    match bounded {
        Err(_) if workshop.identity.uid != 0 => Ok(()),
        other => other,
    }
}

/// A resource limit of the command, and of whatever it starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    resource: Resource,
    soft: u64,
    hard: u64,
}

impl Bound {
    const fn new(resource: Resource, limit: u64) -> Self {
        Self {
            resource,
            soft: limit,
            hard: limit,
        }
    }

    /// Sets it for the calling process.
    pub(super) fn set(&self) -> io::Result<()> {
        rlimit::set_apart(self.resource, self.soft, self.hard)
    }
}

/// The bounds that every process of the run has by itself.
pub(super) fn of_each_process(limits: &RunLimits, controls: &Controls) -> Vec<Bound> {
    let mut bounds = vec![Bound::new(Resource::Core, 0)];
    let mut add = |resource, limit: Option<u64>| {
        bounds.extend(limit.map(|limit| Bound::new(resource, limit)));
    };
    add(Resource::Fsize, limits.file_size_bytes);
    add(Resource::Nofile, limits.open_files);
    // The group counts what it refuses; a resource limit in front of it would only hide that.
    if !controls.has(Controller::Pids) {
        add(Resource::Nproc, limits.processes);
    }
    let whole_run = limits
        .memory_bytes
        .filter(|_| !controls.has(Controller::Memory));
    let memory = [limits.process_memory_bytes, whole_run];
    add(Resource::As, memory.into_iter().flatten().min());
    // A process gets a signal that tells why before it is killed.
    bounds.extend(limits.cpu_seconds.map(|soft| Bound {
        resource: Resource::Cpu,
        soft,
        hard: soft.saturating_add(1),
    }));
    bounds
}
