//! All or nothing: new contents are made ready beside the files, then every file is exchanged while
//! the old one is kept aside, and only then do the old ones go. Whatever goes wrong on the way, and
//! wherever the program is cut off, the journal says how to get back.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::draft::{Edit, Stamp};
use super::error::PatchError;
use super::folder::{Folder, stamp};
use super::journal::{self, Journal, Move, MoveKind, NewFolder, Plan, os_name};
use crate::audit::{CallId, SessionId};
use crate::file_user::FileUser;

/// Who changes files, on whose behalf.
#[derive(Debug, Clone)]
pub(super) struct Errand {
    pub(super) call: CallId,
    pub(super) session: SessionId,
    pub(super) owner: Option<FileUser>,
    /// Distinguishes the names that it makes.
    pub(super) id: String,
}

/// Plans the exchange of files.
pub(super) fn plan(errand: Errand, edits: &[Edit]) -> Result<Plan, PatchError> {
    let mut folders = Missing::default();
    let mut moves = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        let location = &edit.location;
        let failed = |what| {
            let path = location.spelled.clone();
            move |reason| PatchError::Io { path, what, reason }
        };
        folders
            .on_the_way(&location.root, &location.folder)
            .map_err(failed("placed"))?;
        moves.push(Move {
            root: location.root.clone(),
            folder: location.folder.clone(),
            name: os_name(&location.name).map_err(failed("named"))?,
            kind: match (&edit.before, &edit.after) {
                (None, _) => MoveKind::Add,
                (Some(_), None) => MoveKind::Delete,
                (Some(_), Some(_)) => MoveKind::Update,
            },
            ready: format!(".ringfence-{}-{index}.new", errand.id),
            aside: format!(".ringfence-{}-{index}.old", errand.id),
        });
    }
    Ok(Plan {
        call: errand.call,
        session: errand.session,
        owner: errand.owner,
        folders: folders.list,
        moves,
    })
}

/// The folders that are not there, outermost first. Each is looked at once, however many files are
/// in it.
#[derive(Default)]
struct Missing {
    list: Vec<NewFolder>,
    /// The folders that were looked at, by root.
    known: HashSet<(PathBuf, PathBuf)>,
}

impl Missing {
    /// Adds those on the way to a folder.
    fn on_the_way(&mut self, root: &Path, folder: &Path) -> io::Result<()> {
        if folder.as_os_str().is_empty() || !self.known.insert((root.into(), folder.into())) {
            return Ok(());
        }
        let parent = folder.parent().unwrap_or(folder);
        self.on_the_way(root, parent)?;
        match Folder::open(root, folder) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = folder.file_name().unwrap_or_default().to_owned();
                self.list.push(NewFolder {
                    root: root.to_path_buf(),
                    parent: parent.to_path_buf(),
                    name: os_name(&name)?,
                });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Carries a plan out, all of it or nothing.
pub(super) fn carry_out(
    plan: &Plan,
    edits: &[Edit],
    journal: &mut Journal,
) -> Result<(), PatchError> {
    journal.plan(plan).map_err(PatchError::Journal)?;
    let mut ready = None;
    match exchange(plan, edits, journal, &mut ready) {
        Ok(()) => Ok(()),
        Err(cause) => match undo(plan, ready.as_deref()) {
            Ok(()) => Err(cause),
            Err(reason) => Err(PatchError::NotUndone {
                cause: Box::new(cause),
                reason,
            }),
        },
    }
}

fn exchange(
    plan: &Plan,
    edits: &[Edit],
    journal: &mut Journal,
    ready: &mut Option<Vec<Option<Stamp>>>,
) -> Result<(), PatchError> {
    for new in &plan.folders {
        let made = Folder::open(&new.root, &new.parent)
            .and_then(|parent| parent.make_folder(OsStr::new(&new.name)));
        made.map_err(|reason| PatchError::Io {
            path: new.parent.join(&new.name).display().to_string(),
            what: "made",
            reason,
        })?;
    }
    let mut stamps = Vec::new();
    for (step, edit) in plan.moves.iter().zip(edits) {
        stamps.push(make_ready(step, edit).map_err(failed(edit, "written"))?);
    }
    journal.ready(&stamps).map_err(PatchError::Journal)?;
    *ready = Some(stamps);
    for (step, edit) in plan.moves.iter().zip(edits) {
        exchange_one(step, edit)?;
    }
    journal.done().map_err(PatchError::Journal)
}

fn failed(edit: &Edit, what: &'static str) -> impl FnOnce(io::Error) -> PatchError {
    let path = edit.location.spelled.clone();
    move |reason| PatchError::Io { path, what, reason }
}

impl Move {
    fn open(&self) -> io::Result<Folder> {
        Folder::open(&self.root, &self.folder)
    }

    fn name(&self) -> &OsStr {
        OsStr::new(&self.name)
    }

    fn ready(&self) -> &OsStr {
        OsStr::new(&self.ready)
    }

    fn aside(&self) -> &OsStr {
        OsStr::new(&self.aside)
    }
}

/// Makes a file's new content ready beside it.
fn make_ready(step: &Move, edit: &Edit) -> io::Result<Option<Stamp>> {
    let Some(after) = &edit.after else {
        return Ok(None);
    };
    let folder = step.open()?;
    let owner = match (&edit.before, folder.look(step.name())?) {
        (Some(_), Some(found)) => (found.st_uid, found.st_gid),
        _ => folder.owner()?,
    };
    let made = folder.make_file(step.ready(), &after.bytes, after.mode, owner)?;
    Ok(Some(made))
}

fn exchange_one(step: &Move, edit: &Edit) -> Result<(), PatchError> {
    let folder = step.open().map_err(failed(edit, "found"))?;
    let changed = || PatchError::Changed {
        path: edit.location.spelled.clone(),
    };
    let same_as_read = || -> Result<bool, PatchError> {
        let aside = folder.look(step.aside()).map_err(failed(edit, "found"))?;
        Ok(aside.map(|found| stamp(&found)) == edit.before.as_ref().map(|before| before.stamp))
    };
    match step.kind {
        MoveKind::Add => match folder.link(step.ready(), step.name()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(changed()),
            Err(error) if cannot_link(&error) => folder
                .rename_to_free(step.ready(), step.name())
                .map_err(failed(edit, "added")),
            Err(error) => Err(failed(edit, "added")(error)),
        },
        MoveKind::Update => match folder.link(step.name(), step.aside()) {
            Ok(()) if !same_as_read()? => Err(changed()),
            Ok(()) => folder
                .rename_over(step.ready(), step.name())
                .map_err(failed(edit, "updated")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(changed()),
            Err(error) if cannot_link(&error) => {
                folder
                    .rename_to_free(step.name(), step.aside())
                    .map_err(failed(edit, "updated"))?;
                if !same_as_read()? {
                    return Err(changed());
                }
                folder
                    .rename_to_free(step.ready(), step.name())
                    .map_err(failed(edit, "updated"))
            }
            Err(error) => Err(failed(edit, "updated")(error)),
        },
        MoveKind::Delete => {
            match folder.rename_to_free(step.name(), step.aside()) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(changed()),
                Err(error) => return Err(failed(edit, "deleted")(error)),
            }
            if same_as_read()? {
                Ok(())
            } else {
                Err(changed())
            }
        }
    }
}

/// Whether second names are not to be had: on this file system, or for somebody else's file.
fn cannot_link(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(
        errno,
        Some(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK)
    )
}

/// Removes the old files: there is no way back from here, and none is needed.
pub(super) fn clear_up(plan: &Plan) -> io::Result<()> {
    for step in &plan.moves {
        match step.open() {
            Ok(folder) => {
                folder.remove(step.aside())?;
                folder.remove(step.ready())?;
            }
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Goes back to how it was before. Files that somebody else has changed since stay as they are.
pub(super) fn undo(plan: &Plan, ready: Option<&[Option<Stamp>]>) -> io::Result<()> {
    for (index, step) in plan.moves.iter().enumerate().rev() {
        let folder = match step.open() {
            Ok(folder) => folder,
            Err(error) if is_gone(&error) => continue,
            Err(error) => return Err(error),
        };
        if let Some(stamps) = ready {
            let new = stamps.get(index).copied().flatten();
            undo_one(step, &folder, new)?;
        }
        folder.remove(step.ready())?;
    }
    for new in plan.folders.iter().rev() {
        let removed = Folder::open(&new.root, &new.parent)
            .and_then(|parent| parent.remove_folder(OsStr::new(&new.name)));
        match removed {
            Err(error) if !is_gone(&error) && !is_in_use(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn undo_one(step: &Move, folder: &Folder, new: Option<Stamp>) -> io::Result<()> {
    let there = folder.look(step.name())?.map(|found| stamp(&found));
    let aside = folder.look(step.aside())?.map(|found| stamp(&found));
    let is_ours = there.is_some() && there == new;
    match (step.kind, aside) {
        (MoveKind::Add, _) if is_ours => folder.remove(step.name()),
        (MoveKind::Add, _) | (_, None) => Ok(()),
        (_, Some(_)) if there.is_none() => folder.rename_to_free(step.aside(), step.name()),
        (MoveKind::Update, Some(_)) if is_ours => folder.rename_over(step.aside(), step.name()),
        // Not exchanged yet, or somebody's newer file: either way the old one is not needed.
        (_, Some(_)) => folder.remove(step.aside()),
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn is_in_use(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::ResourceBusy
    )
}

/// A patch that was cut off and has been looked after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recovered {
    /// The call that it came with.
    pub(crate) call: CallId,
    /// Its session.
    pub(crate) session: SessionId,
    /// What became of it.
    pub(crate) became: Became,
}

/// What became of a patch that was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Became {
    /// All of it is there.
    Whole,
    /// Nothing of it is there.
    Undone,
}

/// Looks after patches that were cut off.
pub(super) fn recover(journals: &Path) -> io::Result<Vec<Recovered>> {
    let mut recovered = Vec::new();
    for leftover in journal::leftovers(journals)? {
        let Some(plan) = leftover.plan.clone() else {
            leftover.end()?;
            continue;
        };
        let became = if leftover.done {
            Became::Whole
        } else {
            Became::Undone
        };
        let settle = || match became {
            Became::Whole => clear_up(&plan),
            Became::Undone => undo(&plan, leftover.ready.as_deref()),
        };
        match &plan.owner {
            Some(owner) => owner.act_now(settle)??,
            None => settle()?,
        }
        leftover.end()?;
        recovered.push(Recovered {
            call: plan.call,
            session: plan.session,
            became,
        });
    }
    Ok(recovered)
}
