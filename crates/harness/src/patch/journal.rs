//! The journal of one patch: what it is about to do, in a file that outlives the program. It has up
//! to three lines. Without the second nothing has been changed yet; with the third everything has.
//! A journal that nobody holds locked belongs to a program that was cut off.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::draft::Stamp;
use super::step::step;
use crate::audit::{CallId, SessionId};
use crate::file_user::FileUser;

/// What a patch is about to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    /// The call that the patch came with.
    pub(super) call: CallId,
    /// Its session.
    pub(super) session: SessionId,
    /// As whom.
    pub(super) owner: Option<FileUser>,
    /// Folders that are made, outermost first.
    pub(super) folders: Vec<NewFolder>,
    /// Files that change.
    pub(super) moves: Vec<Move>,
}

/// A folder that is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NewFolder {
    pub(super) root: PathBuf,
    pub(super) parent: PathBuf,
    pub(super) name: OsName,
}

/// A file that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Move {
    pub(super) root: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) name: OsName,
    pub(super) kind: MoveKind,
    /// Where the new content is made ready.
    pub(super) ready: OsName,
    /// Where the old file is kept until all is done.
    pub(super) aside: OsName,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MoveKind {
    Add,
    Update,
    Delete,
}

/// The name of an entry. Those of patches are text, and so is whatever is written down.
pub(super) type OsName = String;

pub(super) fn os_name(name: &OsString) -> io::Result<OsName> {
    name.to_str()
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other("a name that is not UTF-8"))
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Plan(Plan),
    /// The new contents are ready; files change from here on.
    Ready(Vec<Option<Stamp>>),
    /// Every file has changed.
    Done,
}

/// A journal that is being written.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Begins a journal in a folder, which is made if need be.
    pub(super) fn begin(folder: &Path, id: &str) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode_private()
            .create(folder)?;
        let draft = folder.join(format!(".{id}"));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)?;
        // Locked before it has its name: nobody takes it for one that was left behind.
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let path = folder.join(format!("{id}.journal"));
        fs::rename(&draft, &path)?;
        Ok(Self { file, path })
    }

    pub(super) fn plan(&mut self, plan: &Plan) -> io::Result<()> {
        self.write(&Entry::Plan(plan.clone()))
    }

    pub(super) fn ready(&mut self, stamps: &[Option<Stamp>]) -> io::Result<()> {
        self.write(&Entry::Ready(stamps.to_vec()))
    }

    pub(super) fn done(&mut self) -> io::Result<()> {
        self.write(&Entry::Done)
    }

    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        step()?;
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }

    /// Removes the journal: there is nothing left to do.
    pub(super) fn end(self) -> io::Result<()> {
        step()?;
        fs::remove_file(&self.path)
    }
}

trait Private {
    fn mode_private(&mut self) -> &mut Self;
}

impl Private for fs::DirBuilder {
    fn mode_private(&mut self) -> &mut Self {
        use std::os::unix::fs::DirBuilderExt;
        self.mode(0o700)
    }
}

/// A journal that was left behind.
#[derive(Debug)]
pub(super) struct Leftover {
    /// What was about to be done, if anything.
    pub(super) plan: Option<Plan>,
    /// The new contents, if files may have changed.
    pub(super) ready: Option<Vec<Option<Stamp>>>,
    /// Whether every file had changed.
    pub(super) done: bool,
    /// Keeps it ours while we look after it.
    _locked: File,
    path: PathBuf,
}

impl Leftover {
    /// Removes the journal, once it has been looked after.
    pub(super) fn end(self) -> io::Result<()> {
        step()?;
        fs::remove_file(&self.path)
    }
}

/// The journals that were left behind in a folder.
pub(super) fn leftovers(folder: &Path) -> io::Result<Vec<Leftover>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "journal") {
            found.extend(leftover(path)?);
        } else {
            remove_old_beginning(&path);
        }
    }
    Ok(found)
}

/// Removes a journal that was never begun, once nobody can be about to begin it.
fn remove_old_beginning(path: &Path) {
    const OLD: Duration = Duration::from_mins(1);
    let is_beginning = path
        .file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b".patch_"));
    let age = fs::metadata(path)
        .and_then(|found| found.modified())
        .map(|modified| modified.elapsed().unwrap_or_default());
    if is_beginning && age.is_ok_and(|age| age > OLD) {
        let _ = fs::remove_file(path);
    }
}

/// Takes a journal over, unless it belongs to somebody.
fn leftover(path: PathBuf) -> io::Result<Option<Leftover>> {
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(None);
    }
    // Whoever held it may have ended it just now.
    if file.metadata()?.nlink() == 0 {
        return Ok(None);
    }
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    let mut leftover = Leftover {
        plan: None,
        ready: None,
        done: false,
        _locked: file,
        path,
    };
    // A line without an end was cut off while it was written: what it says had not begun.
    for line in text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
    {
        match serde_json::from_str(line)? {
            Entry::Plan(plan) => leftover.plan = Some(plan),
            Entry::Ready(stamps) => leftover.ready = Some(stamps),
            Entry::Done => leftover.done = true,
        }
    }
    Ok(Some(leftover))
}
