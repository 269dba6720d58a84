//! Who is there: a note of each live session in the registry, for people who wonder who holds a
//! name in their folder.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, FlockOperation, OFlags};
use serde::{Deserialize, Serialize};

use super::registry::{RECORD, Registry, marks_in};

/// How notes are named.
const NOTE: &str = "session-";

/// A session that lives on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSession {
    /// The process that opened it.
    pub pid: u32,
    /// Since when.
    pub since: SystemTime,
    /// The folder that it works in.
    pub workspace: PathBuf,
    /// The names that it holds: marks that go with it.
    pub holds: Vec<PathBuf>,
}

/// What a note says.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    pid: u32,
    since_millis: u64,
    workspace: Vec<u8>,
}

/// A session's note, as long as it lives.
#[derive(Debug)]
pub(crate) struct Attendance<'a> {
    registry: &'a Registry,
    name: String,
    /// Locked: whoever finds it unlocked knows that the session is gone.
    _file: File,
}

impl<'a> Attendance<'a> {
    /// Leaves a note.
    pub(crate) fn note(registry: &'a Registry, pid: u32, workspace: &Path) -> io::Result<Self> {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let own = std::process::id();
        let name = format!("{NOTE}{pid}-{own}-{}", since.as_nanos());
        let mut file = registry.open_record(&name, OFlags::CREATE | OFlags::EXCL)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let note = Note {
            pid,
            since_millis: u64::try_from(since.as_millis()).unwrap_or(0),
            workspace: workspace.as_os_str().as_bytes().to_vec(),
        };
        let bytes = postcard::to_stdvec(&note).map_err(io::Error::other)?;
        file.write_all(&bytes)?;
        Ok(Self {
            registry,
            name,
            _file: file,
        })
    }
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(&self.registry.folder, &self.name, AtFlags::empty());
    }
}

/// Removes a note whose session is gone.
pub(super) fn forget_if_gone(registry: &Registry, name: &str) {
    if name.starts_with(NOTE)
        && let Ok(file) = registry.open_record(name, OFlags::empty())
        // One that is being written is empty.
        && file.metadata().is_ok_and(|metadata| metadata.len() > 0)
        && rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_ok()
    {
        let _ = rustix::fs::unlinkat(&registry.folder, name, AtFlags::empty());
    }
}

/// The sessions that live now, by their notes in a registry, oldest first. What others left is
/// removed on the way.
pub fn sessions(registry: &Path) -> io::Result<Vec<LiveSession>> {
    let registry = match Registry::open_existing(registry) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    registry.sweep();
    let held = held(&registry);
    let mut found: Vec<LiveSession> = Vec::new();
    for name in registry.names() {
        let Some(note) = note(&registry, &name) else {
            continue;
        };
        let since = UNIX_EPOCH + Duration::from_millis(note.since_millis);
        let mine = held.iter().filter(|held| held.is_of(note.pid));
        let holds = mine.flat_map(|held| held.marks.clone()).collect();
        // A session has a note for each of its wardens.
        if let Some(known) = found.iter_mut().find(|known| known.pid == note.pid) {
            known.since = known.since.min(since);
        } else {
            found.push(LiveSession {
                pid: note.pid,
                since,
                workspace: PathBuf::from(OsString::from_vec(note.workspace)),
                holds,
            });
        }
    }
    found.sort_by_key(|session| (session.since, session.pid));
    Ok(found)
}

/// Since when a session of another process has been alive, by the names of the notes: this is asked
/// before every run. One that was killed counts until it is swept.
pub(crate) fn others_since(registry: &Path) -> Option<SystemTime> {
    let registry = Registry::open_existing(registry).ok()?;
    let own = std::process::id().to_string();
    let since = registry.names().into_iter().filter_map(|name| {
        let mut parts = name.strip_prefix(NOTE)?.split('-');
        let (pid, _, nanos) = (parts.next()?, parts.next()?, parts.next()?);
        (pid != own).then(|| nanos.parse().ok()).flatten()
    });
    since
        .min()
        .map(|nanos| UNIX_EPOCH + Duration::from_nanos(nanos))
}

fn note(registry: &Registry, name: &str) -> Option<Note> {
    if !name.starts_with(NOTE) {
        return None;
    }
    let mut bytes = Vec::new();
    let mut file = registry.open_record(name, OFlags::empty()).ok()?;
    file.read_to_end(&mut bytes).ok()?;
    postcard::from_bytes(&bytes).ok()
}

/// The marks of a record, and the processes that hold on to them.
struct HeldMarks {
    marks: Vec<PathBuf>,
    holders: Vec<u32>,
}

impl HeldMarks {
    /// Whether one of the holders descends from a process.
    fn is_of(&self, pid: u32) -> bool {
        self.holders
            .iter()
            .any(|holder| ancestry(*holder).any(|ancestor| ancestor == pid))
    }
}

fn held(registry: &Registry) -> Vec<HeldMarks> {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let names = registry.names().into_iter();
    names
        .filter(|name| name.starts_with(RECORD))
        .filter_map(|name| {
            let mut file = registry.open_record(&name, OFlags::empty()).ok()?;
            let node = file.metadata().ok()?.ino();
            let known = marks_in(&mut file).ok()?.into_iter();
            Some(HeldMarks {
                marks: known.filter(|path| super::is_at(path)).collect(),
                holders: holders(&locks, node),
            })
        })
        .collect()
}

/// The processes that have locked a file, by the kernel's table of locks.
fn holders(locks: &str, node: u64) -> Vec<u32> {
    let of_the_file = |place: &str| {
        let node_there = place.rsplit(':').next().and_then(|text| text.parse().ok());
        node_there == Some(node)
    };
    locks
        .lines()
        .filter_map(|line| {
            // `4: FLOCK  ADVISORY  READ 123 08:01:456 0 EOF`
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [_, "FLOCK", _, _, pid, place, ..] if of_the_file(place) => pid.parse().ok(),
                _ => None,
            }
        })
        .collect()
}

/// A process, its parent, and so on.
fn ancestry(pid: u32) -> impl Iterator<Item = u32> {
    const DEEPEST: usize = 16;
    std::iter::successors(Some(pid), |pid| parent(*pid)).take(DEEPEST)
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    fields.nth(1)?.parse().ok().filter(|parent| *parent > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_are_found_in_the_kernels_table() {
        let table = "1: FLOCK  ADVISORY  READ 41 fe:00:99 0 EOF\n\
                     1: -> FLOCK  ADVISORY  WRITE 44 fe:00:99 0 EOF\n\
                     2: POSIX  ADVISORY  WRITE 42 fe:00:99 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 43 fe:00:98 0 EOF\n";
        assert_eq!(holders(table, 99), [41]);
        assert_eq!(holders(table, 97), Vec::<u32>::new());
    }

    #[test]
    fn a_note_lives_as_long_as_its_session() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::open(folder.path()).unwrap();
        let own = std::process::id();
        let attendance = Attendance::note(&registry, own, Path::new("/w")).unwrap();
        let live = sessions(folder.path()).unwrap();
        assert_eq!(live.len(), 1);
        assert_eq!(
            (live[0].pid, live[0].workspace.as_path()),
            (own, Path::new("/w"))
        );
        // One that was killed leaves its note, and no lock.
        let left = attendance.name.clone();
        std::mem::forget(attendance);
        let path = folder.path().join(&left);
        fs::copy(&path, folder.path().join("session-1-1-1")).unwrap();
        let live = sessions(folder.path()).unwrap();
        assert_eq!(live.len(), 1, "{live:?}");
        assert_eq!(registry.names(), [left]);
        // Those of this process are known otherwise.
        assert_eq!(others_since(folder.path()), None);
        fs::write(folder.path().join("session-1-2-5000000000"), "").unwrap();
        let since = UNIX_EPOCH + Duration::from_secs(5);
        assert_eq!(others_since(folder.path()), Some(since));
    }
}
