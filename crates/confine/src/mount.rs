//! Mounts, through the descriptors of the new mount interface (Linux 5.12 and later).
//!
//! A tree of mounts is cloned off, changed while nobody sees it, and then attached: there is no
//! moment in which a half-made mount is reachable.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
};

pub use rustix::mount::MountAttrFlags as Attributes;

/// Whether an operation goes for one mount or for everything mounted below it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The one mount.
    Single,
    /// The mount and all below.
    Recursive,
}

/// Opens a place in the file system, without following any symbolic link in its path.
pub fn open_path(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat2(
        CWD,
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
    )?)
}

/// Opens a place below another, without following any symbolic link and without leaving it.
pub fn place_beneath(root: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat2(
        root,
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::BENEATH,
    )?)
}

/// A copy of the mount at a place, attached nowhere.
pub fn clone_tree(place: BorrowedFd<'_>, reach: Reach) -> io::Result<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    if reach == Reach::Recursive {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    Ok(rustix::mount::open_tree(place, "", flags)?)
}

/// Attaches a detached mount over a place.
pub fn attach(tree: BorrowedFd<'_>, over: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::mount::move_mount(
        tree,
        "",
        over,
        "",
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH,
    )?)
}

/// Sets and clears attributes of a mount.
pub fn change(
    mount: BorrowedFd<'_>,
    reach: Reach,
    set: MountAttrFlags,
    clear: MountAttrFlags,
) -> io::Result<()> {
    #[repr(C)]
    struct MountAttr {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let attr = MountAttr {
        set: u64::from(set.bits()),
        clear: u64::from(clear.bits()),
        propagation: 0,
        user_namespace: 0,
    };
    let recursive = if reach == Reach::Recursive {
        libc::AT_RECURSIVE
    } else {
        0
    };
    // SAFETY: `attr` has the layout and the size of the kernel's `struct mount_attr` (version 0)
    // and outlives the call; the path is an empty C string.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            &raw const attr,
            size_of::<MountAttr>(),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Cuts every mount of this namespace off from what happens in others, and the reverse.
pub fn make_everything_private() -> io::Result<()> {
    Ok(rustix::mount::mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?)
}

/// A new file system of a kind, attached nowhere yet.
pub fn new_filesystem(
    kind: &CStr,
    options: &[(&CStr, &str)],
    attributes: MountAttrFlags,
) -> io::Result<OwnedFd> {
    let context = rustix::mount::fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        if value.is_empty() {
            rustix::mount::fsconfig_set_flag(&context, *key)?;
        } else {
            rustix::mount::fsconfig_set_string(&context, *key, *value)?;
        }
    }
    rustix::mount::fsconfig_create(&context)?;
    Ok(rustix::mount::fsmount(
        &context,
        FsMountFlags::FSMOUNT_CLOEXEC,
        attributes,
    )?)
}

/// A new, empty tmpfs with this mode for its root, attached nowhere yet.
pub fn new_tmpfs(mode: &str, size: Option<u64>, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let size = size.map(|bytes| bytes.to_string());
    let mut options = vec![(c"mode", mode)];
    if let Some(size) = &size {
        options.push((c"size", size));
    }
    new_filesystem(c"tmpfs", &options, attributes)
}
