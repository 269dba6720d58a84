//! Sweeping: caches above their bound go, those first whose workspace was used the longest time ago.
//!
//! A sweeper works beside the session, on a thread of its own that begins when the session has lasted a moment: no
//! run waits for it. What others use is not touched, but noted for whoever opens it next.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, SystemTime};

use rustix::fs::FlockOperation;

use super::shelf::{LOCK, TOOLS, note_due};
use super::tree::{self, Measure};

/// How long a session has lasted when its sweeper begins.
const AFTER: Duration = Duration::from_secs(1);
/// How often caches are measured.
const EVERY: Duration = Duration::from_hours(1);
/// Its time is when they were measured; whoever measures holds it.
const MEASURED: &str = "measured";

/// A sweeper of a session. It begins only if the session lives on.
pub(super) struct Sweeper {
    _gone: Sender<()>,
}

impl Sweeper {
    /// Starts one, if it is time to measure again.
    pub(super) fn start(root: &Path, most: u64) -> Option<Self> {
        let measured = fs::metadata(root.join(MEASURED)).and_then(|found| found.modified());
        let fresh = measured.is_ok_and(|then| {
            SystemTime::now()
                .duration_since(then)
                .is_ok_and(|age| age < EVERY)
        });
        if fresh {
            return None;
        }
        let (gone, session) = mpsc::channel();
        let root = root.to_path_buf();
        let thread = std::thread::Builder::new().name("caches".to_owned());
        let started = thread.spawn(move || {
            if session.recv_timeout(AFTER) == Err(RecvTimeoutError::Timeout) {
                // What cannot be swept now can be another time: a full disk is told of by whoever meets it.
                let _ = sweep(&root, most);
            }
        });
        started.ok().map(|_| Self { _gone: gone })
    }
}

/// The caches of one tool of one workspace.
struct Piece {
    shelf: PathBuf,
    tool: CString,
    measure: Measure,
    /// When its workspace was last used.
    used: i64,
}

/// Measures all caches, and throws away what is above the bound.
pub(super) fn sweep(root: &Path, most: u64) -> io::Result<()> {
    let measuring = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(root.join(MEASURED))?;
    if rustix::fs::flock(&measuring, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(());
    }
    tree::remove_aside(root)?;
    let mut pieces = pieces(root)?;
    let mut all = 0_u64;
    for piece in &pieces {
        all = all.saturating_add(piece.measure.bytes);
    }
    // What could not be measured goes first: it may be any size.
    pieces.sort_by_key(|piece| (!piece.measure.unknown, piece.used, piece.measure.changed));
    for piece in &pieces {
        if all <= most && !piece.measure.unknown {
            break;
        }
        all = all.saturating_sub(piece.measure.bytes);
        piece.throw_away(root)?;
    }
    tree::remove_aside(root)?;
    measuring.set_modified(SystemTime::now())
}

fn pieces(root: &Path) -> io::Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    for shelf in fs::read_dir(root)? {
        let shelf = shelf?.path();
        let Ok(tools) = tree::folder_at(rustix::fs::CWD, &shelf.join(TOOLS)) else {
            continue;
        };
        let used = fs::symlink_metadata(shelf.join(LOCK)).map_or(0, |lock| lock.mtime());
        for tool in tree::names(&tools)? {
            pieces.push(Piece {
                measure: tree::measure(&tools, &tool),
                shelf: shelf.clone(),
                tool,
                used,
            });
        }
    }
    Ok(pieces)
}

impl Piece {
    /// Puts it aside, or notes that it is due where somebody uses its shelf.
    fn throw_away(&self, root: &Path) -> io::Result<()> {
        // What is not text was made by no package manager, and can have a line break in it.
        let tool = self.tool.to_str().ok();
        let Some(tool) = tool.filter(|tool| !tool.contains('\n')) else {
            return Ok(());
        };
        let lock = File::options().write(true).open(self.shelf.join(LOCK))?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => tree::put_aside(&self.shelf.join(TOOLS), tool, root),
            Err(_) => note_due(&self.shelf, tool),
        }
    }
}
