//! Giving up privileges: capabilities, set-user-id gains, identity.

use std::io;

use rustix::process::{DumpableBehavior, Signal};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

pub use rustix::process::{Gid, Uid};

/// No `execve` from here on gives the thread more than it has.
pub fn no_new_privs() -> io::Result<()> {
    Ok(rustix::thread::set_no_new_privs(true)?)
}

/// Empties every capability set of the calling thread but the bounding set, and keeps user id 0
/// from getting any back by running a program.
pub fn drop_all_capabilities() -> io::Result<()> {
    keep_only(CapabilitySet::empty())
}

pub use rustix::thread::CapabilitySet as Capabilities;

/// The right to look into processes of the same user namespace.
pub const LOOKING: Capabilities = Capabilities::SYS_PTRACE;

/// The right to mount in the mount namespaces of the same user namespace.
pub const MOUNTING: Capabilities = Capabilities::SYS_ADMIN;

/// The same, but for these.
pub fn drop_all_capabilities_but(kept: Capabilities) -> io::Result<()> {
    keep_only(kept)
}

fn keep_only(kept: CapabilitySet) -> io::Result<()> {
    let _ = rustix::thread::set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
    );
    rustix::thread::clear_ambient_capability_set()?;
    rustix::thread::set_capabilities(
        None,
        CapabilitySets {
            effective: kept,
            permitted: kept,
            inheritable: CapabilitySet::empty(),
        },
    )?;
    Ok(())
}

/// Empties the bounding set, for this thread and whatever it starts, where the thread may. A thread without `CAP_SETPCAP` has nothing to
/// gain from it either, once it has no-new-privileges.
pub fn drop_bounding_set() -> io::Result<()> {
    for bit in 0..64 {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // The first number that the kernel does not know, or no right to drop.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::PERM) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Makes the process closed to `ptrace` and `/proc` access by its equals.
pub fn undumpable() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(
        DumpableBehavior::NotDumpable,
    )?)
}

/// Kills the calling process when the thread that made it ends.
pub fn parent_death_signal_kill() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(
        Signal::KILL,
    ))?)
}

/// Makes the calling process the parent of its descendants' orphans.
pub fn become_subreaper() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(
        rustix::process::Pid::INIT,
    ))?)
}

/// Takes on an identity for good. Groups are replaced too, where the kernel lets them be
/// (`setgroups` is denied in the user namespace of an ordinary user, whose groups then stay).
pub fn become_user(uid: u32, gid: u32, groups: Option<&[u32]>) -> io::Result<()> {
    if let Some(groups) = groups {
        let groups: Vec<Gid> = groups.iter().copied().map(Gid::from_raw).collect();
        rustix::thread::set_thread_groups(&groups)?;
    }
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    Ok(())
}

/// Acts as this user and group from here on, where files and peers are concerned, and keeps every
/// capability that it has. The real and the saved identity stay: processes of that user can
/// neither signal nor bound the calling one.
pub fn act_as(uid: u32, gid: u32, groups: Option<&[u32]>) -> io::Result<()> {
    const UNCHANGED: u32 = u32::MAX;
    rustix::thread::set_capabilities_secure_bits(CapabilitiesSecureBits::NO_SETUID_FIXUP)?;
    if let Some(groups) = groups {
        let groups: Vec<Gid> = groups.iter().copied().map(Gid::from_raw).collect();
        rustix::thread::set_thread_groups(&groups)?;
    }
    // SAFETY: both take numbers.
    let refused = unsafe {
        libc::setresgid(UNCHANGED, gid, UNCHANGED) != 0
            || libc::setresuid(UNCHANGED, uid, UNCHANGED) != 0
    };
    if refused {
        return Err(io::Error::last_os_error());
    }
    // A change of identity undoes these.
    undumpable()?;
    parent_death_signal_kill()
}
