//! A patch the whole way: read, placed, and, once there is a permit, applied.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ringfence_policy::action::{Action, ApplyPatch};
use ringfence_policy::{Permit, permit::Confinement};
use rustix::fs::FileType;

use super::change::Change;
use super::draft::{Draft, Edit, Original, Placed, draft};
use super::error::PatchError;
use super::folder::{Folder, read_bounded, stamp};
use super::journal::Journal;
use super::location::{Atlas, FileLocation, LastLink};
use super::parse::parse;
use super::swap::{self, Errand, Recovered};
use crate::audit::{CallId, SessionId};
use crate::file_user::FileUser;

/// A patch that has been read, and whose paths have been found. Nothing has been judged.
#[derive(Debug)]
pub(crate) struct Located {
    pub(super) changes: Vec<Placed>,
    /// Those of its paths that decide what git runs.
    guarded: Vec<PathBuf>,
}

/// Reads a patch and finds the places of its paths.
pub(crate) fn locate(text: &str, most_bytes: u64, atlas: &Atlas) -> Result<Located, PatchError> {
    let size = text.len() as u64;
    if size > most_bytes {
        return Err(PatchError::TooLong {
            size,
            most: most_bytes,
        });
    }
    let changes = parse(text)?.changes.into_iter().map(|change| {
        let first = match change {
            Change::Update { .. } => LastLink::Followed,
            Change::Add { .. } | Change::Delete { .. } => LastLink::Meant,
        };
        let links = [first, LastLink::Meant];
        let places = change
            .paths()
            .into_iter()
            .zip(links)
            .map(|(path, link)| atlas.location(path, link))
            .collect::<Result<Vec<_>, _>>()?;
        Ok((change, places))
    });
    let changes: Vec<Placed> = changes.collect::<Result<_, PatchError>>()?;
    let places = changes.iter().flat_map(|(_, places)| places);
    let guarded = places.filter(|location| atlas.is_guarded(location));
    Ok(Located {
        guarded: guarded.map(|location| location.known.clone()).collect(),
        changes,
    })
}

impl Located {
    /// What it would do, to be judged.
    pub(crate) fn action(&self) -> ApplyPatch {
        let mut seen = HashSet::new();
        let places = self.changes.iter().flat_map(|(_, places)| places);
        let writes = places.map(|location| &location.known);
        ApplyPatch {
            writes: writes.filter(|path| seen.insert(*path)).cloned().collect(),
            guarded: self.guarded.clone(),
        }
    }
}

/// Where and as whom patches are applied.
#[derive(Debug, Clone)]
pub(crate) struct Workplace {
    /// Where journals are kept.
    pub(crate) journals: PathBuf,
    /// The user that fenced commands run as.
    pub(crate) owner: FileUser,
    /// How large a file may be.
    pub(crate) most_file_bytes: u64,
    /// The call, for the journal.
    pub(crate) call: CallId,
    /// The session, for the journal.
    pub(crate) session: SessionId,
}

/// What a patch has changed.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) changes: Vec<FileChange>,
    pub(crate) notes: Vec<String>,
    pub(super) is_cleared_up: bool,
}

/// A file that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    pub(crate) kind: ChangeKind,
    pub(crate) moved_from: Option<String>,
}

/// How.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Add,
    Delete,
    Update,
}

impl FileChange {
    fn of(edit: &Edit) -> Self {
        Self {
            path: edit.location.spelled.clone(),
            kind: match (&edit.before, &edit.after) {
                (None, _) => ChangeKind::Add,
                (Some(_), None) => ChangeKind::Delete,
                (Some(_), Some(_)) => ChangeKind::Update,
            },
            moved_from: edit.moved_from.clone(),
        }
    }
}

/// Looks after patches that were cut off.
pub(crate) fn recover(journals: &Path) -> Result<Vec<Recovered>, PatchError> {
    swap::recover(journals).map_err(PatchError::Journal)
}

/// Applies a patch that may be applied, all of it or nothing.
pub(crate) async fn apply(
    permit: Permit,
    located: Located,
    workplace: Workplace,
) -> Result<Applied, PatchError> {
    let (action, confinement) = permit.redeem();
    // A permit is for the files that it names, and no others.
    if action != Action::ApplyPatch(located.action()) {
        return Err(PatchError::Text(
            "the permit is for another patch".to_owned(),
        ));
    }
    let owner = match confinement {
        Confinement::Fenced { .. } => Some(workplace.owner.clone()),
        Confinement::Unfenced { .. } => None,
    };
    let mut journal = Journal::begin(&workplace.journals, &crate::identifier::random("patch"))
        .map_err(PatchError::Journal)?;
    let errand = Errand {
        call: workplace.call,
        session: workplace.session,
        owner: owner.clone(),
        id: crate::identifier::random("p"),
    };
    let most = workplace.most_file_bytes;
    let work = move || {
        let result = write(located.changes, errand, most, &mut journal);
        (result, journal)
    };
    let (result, journal) = match owner {
        Some(owner) => owner.act(work).await.map_err(PatchError::Journal)?,
        None => tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| PatchError::Journal(std::io::Error::other(error)))?,
    };
    // What could not be undone or cleared up stays in the journal for the next one to try.
    let is_settled = match &result {
        Ok(applied) => applied.is_cleared_up,
        Err(error) => !matches!(error, PatchError::NotUndone { .. }),
    };
    if is_settled {
        journal.end().map_err(PatchError::Journal)?;
    }
    result
}

/// The part that touches files.
pub(super) fn write(
    changes: Vec<Placed>,
    errand: Errand,
    most_file_bytes: u64,
    journal: &mut Journal,
) -> Result<Applied, PatchError> {
    let Draft { edits, notes } = draft(changes, &mut |location| read(location, most_file_bytes))?;
    let plan = swap::plan(errand, &edits)?;
    swap::carry_out(&plan, &edits, journal)?;
    let mut applied = Applied {
        changes: edits.iter().map(FileChange::of).collect(),
        notes,
        is_cleared_up: true,
    };
    if let Err(error) = swap::clear_up(&plan) {
        applied.is_cleared_up = false;
        applied.notes.push(format!(
            "old files named `.ringfence-…` could not be removed ({error}); the next patch tries again"
        ));
    }
    Ok(applied)
}

/// Reads what is at a place.
pub(super) fn read(location: &FileLocation, most: u64) -> Result<Option<Original>, PatchError> {
    let failed = |reason| PatchError::Io {
        path: location.spelled.clone(),
        what: "opened",
        reason,
    };
    let folder = match Folder::open(&location.root, &location.folder) {
        Ok(folder) => folder,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let Some(found) = folder.look(&location.name).map_err(failed)? else {
        return Ok(None);
    };
    let original = |found: &rustix::fs::Stat, content, is_link| Original {
        content,
        mode: found.st_mode & 0o7777,
        stamp: stamp(found),
        is_link,
    };
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => return Ok(Some(original(&found, Vec::new(), true))),
        FileType::RegularFile => {}
        _ => {
            return Err(PatchError::NotAFile {
                path: location.spelled.clone(),
            });
        }
    }
    let file = folder.open_file(&location.name).map_err(failed)?;
    let found = rustix::fs::fstat(&file).map_err(|error| failed(error.into()))?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(PatchError::NotAFile {
            path: location.spelled.clone(),
        });
    }
    match read_bounded(&file, most).map_err(failed)? {
        Some(content) => Ok(Some(original(&found, content, false))),
        None => Err(PatchError::TooLarge {
            path: location.spelled.clone(),
            most,
        }),
    }
}
