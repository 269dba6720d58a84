//! Resource limits of the calling process, for it and whatever it starts.

use std::io;

pub use rustix::process::Resource;

/// Sets the soft and the hard limit. A limit above what the process may have is set to that.
pub fn set(resource: Resource, limit: u64) -> io::Result<()> {
    set_apart(resource, limit, limit)
}

/// Sets the soft limit, at which a program is told where the kernel has a signal for it, and the
/// hard one, at which it is stopped.
pub fn set_apart(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let most = rustix::process::getrlimit(resource)
        .maximum
        .unwrap_or(u64::MAX);
    let bounded = |limit: u64| Some(limit.min(most)).filter(|limit| *limit != u64::MAX);
    Ok(rustix::process::setrlimit(
        resource,
        rustix::process::Rlimit {
            current: bounded(soft),
            maximum: bounded(hard),
        },
    )?)
}
