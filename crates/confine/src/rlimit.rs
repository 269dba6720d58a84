//! Resource limits of the calling process, for it and whatever it starts.

use std::io;

pub use rustix::process::Resource;

/// Sets the soft and the hard limit. A limit above what the process may have is set to that.
pub fn set(resource: Resource, limit: u64) -> io::Result<()> {
    let hard = rustix::process::getrlimit(resource)
        .maximum
        .unwrap_or(u64::MAX);
    let limit = Some(limit.min(hard)).filter(|limit| *limit != u64::MAX);
    Ok(rustix::process::setrlimit(
        resource,
        rustix::process::Rlimit {
            current: limit,
            maximum: limit,
        },
    )?)
}
