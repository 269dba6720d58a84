//! A run's view of the file system: what it may write, what is protected there, what is hidden.
//!
//! The view is put together in the stage's own mount namespace. What can be made before the policy
//! is known is made ahead of need ([`MountView::prepare`]); the rest follows at the launch
//! ([`MountView::apply`]). Nothing of it is seen outside.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use ringfence_confine::mount::{self, Attributes, Reach};
use rustix::fs::{Mode, OFlags};

use crate::mark::Ledger;

use super::guard::{Guard, Why};
use super::protection::{Depth, Hand, Protection, again_if_replaced};
use super::protocol::{Failure, Fence, RawPath, Step, Tmp};
use super::world::{DEV, SHUT_FILE, SHUT_FOLDER, TMP, VOID, WORKSHOP};

const READ_ONLY: Attributes = Attributes::MOUNT_ATTR_RDONLY;

/// Folders that cannot be made writable: they are the fence's own.
pub(crate) const NOT_FOR_WRITING: &[&str] = &["/", "/proc", "/sys", "/dev", "/run"];

/// A mount namespace in which everything is read-only, with its own `/dev` and `/proc`.
pub(super) struct MountView {
    tmp: OwnedFd,
    void: OwnedFd,
    covers: Covers,
    proc: Option<OwnedFd>,
}

/// A folder and a file that nobody can open, to be put in the place of others.
pub(super) struct Covers {
    folder: OwnedFd,
    file: OwnedFd,
}

impl MountView {
    /// Prepares the calling process's mount namespace. It must be the first process of a PID
    /// namespace of its own.
    pub(super) fn prepare() -> io::Result<Self> {
        let place = |path: &str| mount::open_path(Path::new(path));
        // Taken before everything turns read-only.
        let tmp = mount::clone_tree(place(TMP)?.as_fd(), Reach::Single)?;
        let dev = mount::clone_tree(place(DEV)?.as_fd(), Reach::Recursive)?;
        let root = place("/")?;
        mount::change(
            root.as_fd(),
            Reach::Recursive,
            READ_ONLY | Attributes::MOUNT_ATTR_NOSUID | Attributes::MOUNT_ATTR_NODEV,
            Attributes::empty(),
        )?;
        mount::attach(dev.as_fd(), place("/dev")?.as_fd())?;
        let proc = mount_proc()?;
        Ok(Self {
            tmp,
            void: place(VOID)?,
            covers: Covers {
                folder: place(SHUT_FOLDER)?,
                file: place(SHUT_FILE)?,
            },
            proc,
        })
    }

    /// Completes the view. The guard watches over what was covered, and must live as long as the
    /// run.
    pub(super) fn apply<'l>(
        self,
        fence: &Fence,
        ledger: &'l Ledger<'l>,
        mut guard: Guard<'l>,
    ) -> Result<Guard<'l>, Failure> {
        let roots = cut_out_roots(fence)?;
        let cache = match &fence.cache {
            Some(path) => Some(cut_out(path.to_path())?),
            None => None,
        };
        let sockets = self
            .cut_out_sockets(fence)
            .map_err(|error| Failure::new(Step::WritableRoot, &error, "a socket in /tmp"))?;
        let seen = self
            .cut_out_seen(fence)
            .and_then(|mut seen| {
                seen.extend(self.make_ways(fence, &roots)?);
                Ok(seen)
            })
            .map_err(|error| Failure::new(Step::WritableRoot, &error, "a folder in /tmp"))?;
        if fence.tmp != Tmp::Machine {
            self.attach_tmp(fence.tmp)
                .map_err(|error| Failure::new(Step::WritableRoot, &error, "/tmp"))?;
        }
        for (path, tree) in seen.iter().chain(&sockets) {
            mount::open_path(path)
                .and_then(|place| mount::attach(tree.as_fd(), place.as_fd()))
                .map_err(|error| Failure::new(Step::WritableRoot, &error, shown(path)))?;
        }
        let denied: Vec<PathBuf> = fence.denied.iter().map(RawPath::to_path).collect();
        let (around, plain): (Vec<_>, Vec<_>) = denied.into_iter().partition(|path| {
            roots
                .iter()
                .chain(&cache)
                .any(|(root, _)| root != path && root.starts_with(path))
        });
        for path in &around {
            hollow_out(path)
                .map_err(|error| Failure::new(Step::DeniedRead, &error, shown(path)))?;
        }
        for (root, tree) in &roots {
            attach_root(root, tree)
                .map_err(|error| Failure::new(Step::WritableRoot, &error, shown(root)))?;
        }
        let roots = roots.into_iter().map(|(root, _)| root).collect();
        let mut protection = Protection::new(roots, fence, ledger);
        protection.apply(&mut Mounts::new(&self.covers, &mut guard))?;
        for path in &plain {
            again_if_replaced(|| self.deny(path, &protection))
                .map_err(|error| Failure::new(Step::DeniedRead, &error, shown(path)))?;
        }
        // Last: it may lie in a root, where its place is protected.
        if let Some((path, tree)) = &cache {
            attach_root(path, tree)
                .map_err(|error| Failure::new(Step::WritableRoot, &error, shown(path)))?;
        }
        self.close()
            .map_err(|error| Failure::new(Step::Prepare, &error, WORKSHOP))?;
        guard.keep(protection, self.covers);
        Ok(guard)
    }

    /// Copies of sockets in the machine's `/tmp`, with a place for each in the session's.
    fn cut_out_sockets(&self, fence: &Fence) -> io::Result<Vec<(PathBuf, OwnedFd)>> {
        let mut sockets = Vec::new();
        for path in fence.sockets_in_tmp.iter().map(RawPath::to_path) {
            let tree = mount::clone_tree(mount::open_path(&path)?.as_fd(), Reach::Single)?;
            let inside = path.strip_prefix("/tmp").unwrap_or(&path);
            let folder = make_folders(&self.tmp, inside.parent().unwrap_or(inside))?;
            let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let name = inside.file_name().unwrap_or_default();
            rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o600))?;
            sockets.push((path, tree));
        }
        Ok(sockets)
    }

    /// Copies of roots in the machine's `/tmp`, with a place for each in the session's.
    fn cut_out_seen(&self, fence: &Fence) -> io::Result<Vec<(PathBuf, OwnedFd)>> {
        let mut seen = Vec::new();
        for path in fence.seen_in_tmp.iter().map(RawPath::to_path) {
            let tree = mount::clone_tree(mount::open_path(&path)?.as_fd(), Reach::Recursive)?;
            make_folders(&self.tmp, path.strip_prefix("/tmp").unwrap_or(&path))?;
            seen.push((path, tree));
        }
        Ok(seen)
    }

    /// Folders with nothing in them but the way to roots, which cannot be written, with a place for each in the session's `/tmp`.
    fn make_ways(
        &self,
        fence: &Fence,
        roots: &[(PathBuf, OwnedFd)],
    ) -> io::Result<Vec<(PathBuf, OwnedFd)>> {
        let mut ways = Vec::new();
        for path in fence.ways_in_tmp.iter().map(RawPath::to_path) {
            make_folders(&self.tmp, path.strip_prefix("/tmp").unwrap_or(&path))?;
            let attributes = Attributes::MOUNT_ATTR_NOSUID | Attributes::MOUNT_ATTR_NODEV;
            let way = mount::new_tmpfs("0755", None, attributes)?;
            for (root, _) in roots {
                if let Ok(inside) = root.strip_prefix(&path) {
                    make_folders(&way, inside)?;
                }
            }
            mount::change(way.as_fd(), Reach::Single, READ_ONLY, Attributes::empty())?;
            ways.push((path, way));
        }
        Ok(ways)
    }

    fn attach_tmp(&self, tmp: Tmp) -> io::Result<()> {
        if tmp == Tmp::SessionReadOnly {
            mount::change(
                self.tmp.as_fd(),
                Reach::Single,
                READ_ONLY,
                Attributes::empty(),
            )?;
        }
        mount::attach(
            self.tmp.as_fd(),
            mount::open_path(Path::new("/tmp"))?.as_fd(),
        )
    }

    /// Covers a path with something that cannot be opened. One that does not exist needs nothing,
    /// and one in a writable root is covered there.
    fn deny(&self, path: &Path, protection: &Protection<'_>) -> io::Result<()> {
        if protection.covers().iter().any(|cover| cover.path == path) {
            return Ok(());
        }
        // A denied link is followed: it is the file behind it that must not be read.
        let place = match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(place) => place,
            Err(
                rustix::io::Errno::NOENT
                | rustix::io::Errno::NOTDIR
                | rustix::io::Errno::ACCESS
                | rustix::io::Errno::LOOP,
            ) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        self.covers.put_over(&place)
    }

    /// Hides the workshop, and everything else that lived in `/run`, and closes `/proc` to writes.
    fn close(&self) -> io::Result<()> {
        if let Some(proc) = &self.proc {
            mount::change(proc.as_fd(), Reach::Single, READ_ONLY, Attributes::empty())?;
        }
        // With the sockets in it that are to be seen there.
        let cover = mount::clone_tree(self.void.as_fd(), Reach::Recursive)?;
        mount::attach(
            cover.as_fd(),
            mount::open_path(Path::new(WORKSHOP))?.as_fd(),
        )
    }
}

/// Mounts a `/proc` that shows this PID namespace alone. A kernel that hides parts of the outer
/// `/proc` (as in many containers) refuses that; the outer one then stays, read-only, with
/// Landlock keeping its processes out of reach.
fn mount_proc() -> io::Result<Option<OwnedFd>> {
    let attributes = Attributes::MOUNT_ATTR_NOSUID
        | Attributes::MOUNT_ATTR_NODEV
        | Attributes::MOUNT_ATTR_NOEXEC;
    match mount::new_filesystem(c"proc", &[], attributes) {
        Ok(tree) => {
            mount::attach(tree.as_fd(), mount::open_path(Path::new("/proc"))?.as_fd())?;
            Ok(Some(tree))
        }
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Copies of the writable roots, taken while the machine's own `/tmp` is still in sight.
fn cut_out_roots(fence: &Fence) -> Result<Vec<(PathBuf, OwnedFd)>, Failure> {
    let mut paths: Vec<PathBuf> = fence.writable.iter().map(RawPath::to_path).collect();
    paths.sort();
    paths.dedup();
    let mut roots = Vec::new();
    for path in paths {
        roots.push(cut_out(path)?);
    }
    Ok(roots)
}

/// A copy of a folder, writable.
fn cut_out(path: PathBuf) -> Result<(PathBuf, OwnedFd), Failure> {
    let failed = |error: io::Error| Failure::new(Step::WritableRoot, &error, shown(&path));
    if NOT_FOR_WRITING.iter().any(|own| path == Path::new(own)) {
        return Err(failed(io::Error::from_raw_os_error(libc::EINVAL)));
    }
    let place = mount::open_path(&path).map_err(failed)?;
    let tree = mount::clone_tree(place.as_fd(), Reach::Recursive).map_err(failed)?;
    // A mount below that the machine itself has read-only stays so.
    mount::change(
        tree.as_fd(),
        Reach::Recursive,
        Attributes::empty(),
        READ_ONLY,
    )
    .or_else(|_| mount::change(tree.as_fd(), Reach::Single, Attributes::empty(), READ_ONLY))
    .map_err(failed)?;
    Ok((path, tree))
}

/// Puts a writable root where it belongs. Its path may have to be made first, in a tmpfs of ours
/// that covers what was there.
fn attach_root(root: &Path, tree: &OwnedFd) -> io::Result<()> {
    let place = match mount::open_path(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if is_folder(tree)? {
                fs::create_dir_all(root)?;
            } else {
                fs::create_dir_all(root.parent().unwrap_or(root))?;
                fs::write(root, "")?;
            }
            mount::open_path(root)?
        }
        other => other?,
    };
    mount::attach(tree.as_fd(), place.as_fd())
}

/// Makes the folders of a path below another, as far as they are not there from an earlier run, and opens the last.
fn make_folders(below: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let mut folder = below.try_clone()?;
    for part in path.components() {
        let name = part.as_os_str();
        match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        folder = rustix::fs::openat(&folder, name, flags, Mode::empty())?;
    }
    Ok(folder)
}

/// Empties a denied folder that has a writable root somewhere below: only the way there remains.
fn hollow_out(path: &Path) -> io::Result<()> {
    let place = mount::open_path(path)?;
    let hollow = mount::new_tmpfs(
        "0755",
        None,
        Attributes::MOUNT_ATTR_NOSUID | Attributes::MOUNT_ATTR_NODEV,
    )?;
    mount::attach(hollow.as_fd(), place.as_fd())
}

impl Covers {
    /// Puts one of them in the place of something.
    fn put_over(&self, place: &OwnedFd) -> io::Result<()> {
        let cover = if is_folder(place)? {
            &self.folder
        } else {
            &self.file
        };
        mount::attach(
            mount::clone_tree(cover.as_fd(), Reach::Single)?.as_fd(),
            place.as_fd(),
        )
    }
}

/// Protection by mounts in the stage's own namespace, under a guard.
pub(super) struct Mounts<'a, 'l> {
    covers: &'a Covers,
    guard: &'a mut Guard<'l>,
}

impl<'a, 'l> Mounts<'a, 'l> {
    pub(super) fn new(covers: &'a Covers, guard: &'a mut Guard<'l>) -> Self {
        Self { covers, guard }
    }
}

impl Hand for Mounts<'_, '_> {
    fn enter(&mut self, folder: &Path, depth: Depth) -> io::Result<()> {
        // In a root of the user's anything may happen to files all the time.
        let why = match depth {
            Depth::Root => Why::Names,
            Depth::Below => Why::Files,
        };
        self.guard.watch(folder, why)
    }

    fn pin(&mut self, _: &Path, place: &OwnedFd) -> io::Result<()> {
        let tree = mount::clone_tree(place.as_fd(), Reach::Recursive)?;
        mount::attach(tree.as_fd(), place.as_fd())
    }

    fn freeze(&mut self, _: &Path, place: &OwnedFd) -> io::Result<()> {
        let tree = mount::clone_tree(place.as_fd(), Reach::Recursive)?;
        mount::change(
            tree.as_fd(),
            Reach::Recursive,
            READ_ONLY,
            Attributes::empty(),
        )?;
        mount::attach(tree.as_fd(), place.as_fd())
    }

    fn hide(&mut self, _: &Path, place: &OwnedFd) -> io::Result<()> {
        self.covers.put_over(place)
    }
}

pub(super) fn is_folder(place: &OwnedFd) -> io::Result<bool> {
    let stat = rustix::fs::fstat(place)?;
    Ok(rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
