//! The guard over a run's covers. The kernel drops a mount when somebody outside replaces what is
//! beneath it: an editor that saves a file, `git config`. The guard notices, covers again, and
//! tells what may have been used in between.
//!
//! It watches the folders that covered paths are in. Events come in the order in which things
//! happened, whoever did them: a path that was replaced once, and that nobody has opened for
//! writing, changed or replaced again by the time it is covered, was not used.

use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ringfence_confine::{clock, lease, signal};
use rustix::fs::inotify::{self, ReadFlags, WatchFlags};

use crate::mark;
use crate::standing::Standing;

use super::protection::Protection;
use super::protocol::{Failure, Fence, RawPath, Step};
use super::view::{Covers, Mounts};

/// What changes which names a folder has.
const NAMES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF);

/// What changes a file that has a name in the folder.
const CONTENT: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE);

/// A guard.
pub(super) struct Guard<'l> {
    events: Events,
    /// The folders that are watched, by their numbers.
    folders: Vec<(i32, Folder)>,
    /// What covers again; without it a lost cover is the end of the run.
    protection: Option<(Protection<'l>, Covers)>,
    covers: Vec<Cover>,
    /// Marks that were lost and are there again. Whoever was on the way into one when it was covered
    /// arrives there all the same, and is told by the mark's not being one any more.
    held_again: Vec<PathBuf>,
}

/// What wakes a guard.
enum Events {
    /// What happens in folders, as it happens.
    Told(OwnedFd),
    /// The time. The kernel has only so many watches for each user, and when they are used up the
    /// covers are looked at every now and then: whatever was uncovered meanwhile counts as used.
    Clock(OwnedFd),
}

/// How often a guard without a watch looks.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A folder under watch.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    why: Why,
}

/// Why a folder is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Names in it are covered. It is a folder of the user's, where much else may happen.
    Names,
    /// Files in it are covered, and it is a folder of git's: what is done to them is looked at too.
    Files,
    /// What can be read in it was listed: something new would not be on the list.
    Listed,
}

/// A path that must be a mount point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cover {
    pub(super) path: PathBuf,
    pub(super) kind: CoverKind,
}

/// What a cover is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CoverKind {
    /// A folder on the way to a protected path, which cannot be moved.
    Pin,
    /// A protected path, which cannot be changed.
    Seal,
    /// A protected path that may not be read either.
    Hidden,
    /// A mark that holds the place of a protected path: there is nothing in it to use.
    Mark,
}

/// What a guard has noticed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Noticed {
    /// Nothing that matters, or what was uncovered is covered again and was not used.
    Nothing,
    /// These lay open and may have been used.
    Used(Vec<RawPath>),
    /// Something came into being beside what may not be read.
    Unlisted,
}

/// One event, with the folder's number.
#[derive(Debug)]
struct Happened {
    folder: i32,
    flags: ReadFlags,
    name: Option<OsString>,
}

impl<'l> Guard<'l> {
    /// A guard that watches nothing yet, by an instance of inotify, or by the clock if there is none
    /// to be had.
    pub(super) fn new(instance: io::Result<OwnedFd>) -> io::Result<Self> {
        let events = match instance {
            Ok(instance) => Events::Told(instance),
            Err(_) => Events::Clock(clock::ticking(LOOK_EVERY)?),
        };
        // Told to whoever has a lease that somebody else wants broken.
        signal::ignore(libc::SIGIO);
        Ok(Self {
            events,
            folders: Vec::new(),
            protection: None,
            covers: Vec::new(),
            held_again: Vec::new(),
        })
    }

    /// A guard over covers that somebody else has made: those protected paths that are mount points.
    pub(super) fn over_covers(fence: &Fence) -> Result<Self, Failure> {
        let failed = |error: io::Error| unwatched(&error);
        let mut guard = Self::new(ringfence_confine::inotify::instance()).map_err(failed)?;
        for root in fence.writable.iter().map(RawPath::to_path) {
            for path in &fence.protected {
                let path = root.join(path.to_path());
                if path.starts_with(&root) && is_mount_point(&path) {
                    if let Some(folder) = path.parent() {
                        guard.watch(folder, Why::Names).map_err(failed)?;
                    }
                    let kind = CoverKind::Seal;
                    guard.covers.push(Cover { path, kind });
                }
            }
        }
        Ok(guard)
    }

    /// Watches a folder from now on.
    pub(super) fn watch(&mut self, path: &Path, why: Why) -> io::Result<()> {
        let Events::Told(events) = &self.events else {
            return Ok(());
        };
        if self.folders.iter().any(|(_, known)| known.path == path) {
            return Ok(());
        }
        let mut flags = NAMES | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
        if why == Why::Files {
            flags |= CONTENT;
        }
        let number = inotify::add_watch(events, path, flags)?;
        let path = path.to_path_buf();
        self.folders.push((number, Folder { path, why }));
        Ok(())
    }

    /// The command has started: what it can read is settled.
    pub(super) fn forget_lists(&mut self) {
        let Events::Told(events) = &self.events else {
            return;
        };
        self.folders.retain(|(number, folder)| {
            let is_list = folder.why == Why::Listed;
            if is_list {
                let _ = inotify::remove_watch(events, *number);
            }
            !is_list
        });
    }

    /// Takes over what has been covered, and the means to do it again.
    pub(super) fn keep(&mut self, protection: Protection<'l>, covers: Covers) {
        self.protection = Some((protection, covers));
    }

    /// What is covered at this moment, but for the folders on the way.
    pub(super) fn covered(&self) -> Vec<Standing> {
        let covers = self.all().iter();
        let ends = covers.filter(|cover| cover.kind != CoverKind::Pin);
        ends.filter_map(|cover| Standing::covered(&cover.path))
            .collect()
    }

    /// Whether it covers again what is uncovered.
    pub(super) fn can_mount(&self) -> bool {
        self.protection.is_some()
    }

    /// What becomes readable when there is something to notice.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.events {
            Events::Told(events) | Events::Clock(events) => events.as_fd(),
        }
    }

    /// Those paths that lay open and may have been used since the last look. What cannot be covered
    /// again counts as used.
    pub(super) fn used(&mut self) -> Option<Vec<RawPath>> {
        let mut used = match self.attend() {
            Ok(Noticed::Used(paths)) => paths,
            Ok(Noticed::Nothing | Noticed::Unlisted) => Vec::new(),
            Err(_) => self.in_doubt(),
        };
        let is_filled = |path: &&PathBuf| path.symlink_metadata().is_ok() && !mark::is_at(path);
        let filled = self.held_again.iter().filter(is_filled);
        used.extend(filled.map(|path| RawPath::from(path.as_path())));
        (!used.is_empty()).then_some(used)
    }

    /// What may lie open where covering again has failed.
    pub(super) fn in_doubt(&self) -> Vec<RawPath> {
        let lost: Vec<RawPath> = self
            .lost()
            .map(|cover| cover.path.as_path().into())
            .collect();
        let all = self.all().iter().map(|cover| cover.path.as_path().into());
        if lost.is_empty() { all.collect() } else { lost }
    }

    /// Looks at what has happened, and covers again what was uncovered.
    pub(super) fn attend(&mut self) -> io::Result<Noticed> {
        let mut happened = self.read()?;
        let is_told = matches!(self.events, Events::Told(_));
        if is_told && !happened.iter().any(|event| self.concerns_a_cover(event)) {
            let unlisted = happened.iter().any(|event| self.is_unlisted(event));
            return Ok(if unlisted {
                Noticed::Unlisted
            } else {
                Noticed::Nothing
            });
        }
        let lost: Vec<Cover> = self.lost().cloned().collect();
        if lost.is_empty() {
            return Ok(Noticed::Nothing);
        }
        if let Some((mut protection, covers)) = self.protection.take() {
            let again = protection.apply_again(&lost, &mut Mounts::new(&covers, self));
            self.protection = Some((protection, covers));
            again.map_err(|failure| io::Error::from_raw_os_error(failure.errno))?;
        }
        let marks = lost.iter().filter(|cover| cover.kind == CoverKind::Mark);
        self.held_again
            .extend(marks.map(|cover| cover.path.clone()));
        // Whatever was done before the covers were back has been told by now.
        happened.extend(self.read()?);
        let used: Vec<RawPath> = lost
            .iter()
            .filter(|cover| self.may_have_been_used(cover, &happened))
            .map(|cover| cover.path.as_path().into())
            .collect();
        Ok(if used.is_empty() {
            Noticed::Nothing
        } else {
            Noticed::Used(used)
        })
    }

    /// The covers there are.
    fn all(&self) -> &[Cover] {
        match &self.protection {
            Some((protection, _)) => protection.covers(),
            None => &self.covers,
        }
    }

    /// The covers that are not there any more.
    fn lost(&self) -> impl Iterator<Item = &Cover> {
        self.all()
            .iter()
            .filter(|cover| !is_mount_point(&cover.path))
    }

    fn folder(&self, number: i32) -> Option<&Folder> {
        let mut folders = self.folders.iter();
        folders
            .find(|(known, _)| *known == number)
            .map(|(_, folder)| folder)
    }

    fn concerns_a_cover(&self, event: &Happened) -> bool {
        if event.flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            return true;
        }
        let Some(folder) = self.folder(event.folder) else {
            return false;
        };
        match &event.name {
            Some(name) => {
                let path = folder.path.join(name);
                self.all().iter().any(|cover| cover.path == path)
            }
            // The folder itself was moved or removed.
            None => true,
        }
    }

    fn is_unlisted(&self, event: &Happened) -> bool {
        let came = ReadFlags::CREATE | ReadFlags::MOVED_TO;
        event.flags.intersects(came)
            && self
                .folder(event.folder)
                .is_some_and(|folder| folder.why == Why::Listed)
    }

    /// Whether somebody may have used a path between the moment in which it was replaced and the
    /// one in which it was covered again. It is covered by now.
    fn may_have_been_used(&self, cover: &Cover, happened: &[Happened]) -> bool {
        let holds_nothing = || {
            let covers = self.all();
            let now = covers.iter().find(|known| known.path == cover.path);
            now.is_some_and(|now| now.kind == CoverKind::Mark)
        };
        if holds_nothing() {
            return false;
        }
        let is_told_of = |event: &&Happened| {
            event.name.as_deref() == cover.path.file_name()
                && self.folder(event.folder).is_some_and(|folder| {
                    folder.why == Why::Files && Some(folder.path.as_path()) == cover.path.parent()
                })
        };
        // What was read cannot be told; what was done in a folder of somebody else's neither.
        if cover.kind != CoverKind::Seal || !self.can_mount() {
            return true;
        }
        let mut told = happened
            .iter()
            .filter(is_told_of)
            .skip_while(|event| !is_replacement(event.flags));
        let overflowed = happened
            .iter()
            .any(|event| event.flags.contains(ReadFlags::QUEUE_OVERFLOW));
        let replaced_once = told.next().is_some();
        let changed = told.any(|event| !event.flags.is_empty());
        overflowed || !replaced_once || changed || !lease::is_free_of_writers(&cover.path)
    }

    /// All events that wait to be read.
    fn read(&self) -> io::Result<Vec<Happened>> {
        let events = match &self.events {
            Events::Told(events) => events,
            Events::Clock(clock) => {
                let _ = rustix::io::read(clock, &mut [0; 8]);
                return Ok(Vec::new());
            }
        };
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = inotify::Reader::new(events, &mut buffer);
        let mut happened = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => happened.push(Happened {
                    folder: event.wd(),
                    flags: event.events(),
                    name: event
                        .file_name()
                        .map(|name| OsString::from_vec(name.to_bytes().to_vec())),
                }),
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(happened),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn is_replacement(flags: ReadFlags) -> bool {
    flags.intersects(
        ReadFlags::CREATE | ReadFlags::MOVED_TO | ReadFlags::MOVED_FROM | ReadFlags::DELETE,
    )
}

/// Whether a mount stands at a path. One that a closed folder keeps from being looked at does: nobody
/// in the run, nor whoever closed the folder, can come by it either.
pub(super) fn is_mount_point(path: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags};
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    match rustix::fs::statx(CWD, path, flags, StatxFlags::TYPE) {
        Ok(found) => found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
        Err(error) => error == rustix::io::Errno::ACCESS,
    }
}

/// Without a watch covers cannot be relied on.
pub(super) fn unwatched(error: &io::Error) -> Failure {
    Failure::new(
        Step::Watch,
        error,
        "the covers of protected paths (see fs.inotify.max_user_instances and max_user_watches)",
    )
}
