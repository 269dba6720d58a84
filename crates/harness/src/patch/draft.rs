//! What files will hold after a patch, worked out in memory before anything is written. Changes are
//! taken in order, each on top of those before it, and then seen as one: a file is added, deleted
//! or updated, whatever happened to it on the way.

use std::collections::HashMap;
use std::path::PathBuf;

use super::amend::amend;
use super::change::{Change, Hunk};
use super::error::{HunkFailure, PatchError};
use super::fit::Looseness;
use super::location::FileLocation;

/// A file as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Original {
    pub(super) content: Vec<u8>,
    pub(super) mode: u32,
    pub(super) stamp: Stamp,
    /// Links can be deleted, and nothing else.
    pub(super) is_link: bool,
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Stamp {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) modified: (i64, i64),
}

/// What a file will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    /// Permission bits.
    pub(super) mode: u32,
}

/// A file that changes.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) location: FileLocation,
    pub(super) before: Option<Original>,
    pub(super) after: Option<Content>,
    pub(super) moved_from: Option<String>,
}

/// Everything that changes, and what the caller ought to know.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) edits: Vec<Edit>,
    pub(super) notes: Vec<String>,
}

/// A change with the places of its paths.
pub(super) type Placed = (Change, Vec<FileLocation>);

/// Works out what a patch makes of the files that `read` finds.
pub(super) fn draft(
    patch: Vec<Placed>,
    read: &mut dyn FnMut(&FileLocation) -> Result<Option<Original>, PatchError>,
) -> Result<Draft, PatchError> {
    let mut sheets = Sheets {
        read,
        all: Vec::new(),
        by_path: HashMap::new(),
        notes: Vec::new(),
    };
    for (change, places) in patch {
        sheets.take(change, places)?;
    }
    let edits = sheets.all.into_iter().filter(Edit::is_change);
    Ok(Draft {
        edits: edits.collect(),
        notes: sheets.notes,
    })
}

impl Edit {
    fn is_change(&self) -> bool {
        match (&self.before, &self.after) {
            (None, None) => false,
            (Some(before), Some(after)) => {
                before.content != after.bytes || before.mode != after.mode
            }
            _ => true,
        }
    }
}

struct Sheets<'r> {
    read: &'r mut dyn FnMut(&FileLocation) -> Result<Option<Original>, PatchError>,
    all: Vec<Edit>,
    by_path: HashMap<PathBuf, usize>,
    notes: Vec<String>,
}

impl Sheets<'_> {
    /// The sheet of a place, begun with what is there.
    fn sheet(&mut self, location: &FileLocation) -> Result<&mut Edit, PatchError> {
        let path = location.path();
        if let Some(index) = self.by_path.get(&path) {
            return Ok(&mut self.all[*index]);
        }
        let before = (self.read)(location)?;
        let after = before.as_ref().map(|original| Content {
            bytes: original.content.clone(),
            mode: original.mode,
        });
        let edit = Edit {
            location: location.clone(),
            before,
            after,
            moved_from: None,
        };
        let index = self.all.len();
        self.by_path.insert(path, index);
        self.all.push(edit);
        Ok(&mut self.all[index])
    }

    fn take(&mut self, change: Change, places: Vec<FileLocation>) -> Result<(), PatchError> {
        let mut places = places.into_iter();
        let (first, second) = (places.next(), places.next());
        let Some(location) = first else {
            return Ok(());
        };
        match change {
            Change::Add {
                content,
                executable,
                ..
            } => {
                let mode = if executable == Some(true) {
                    0o755
                } else {
                    0o644
                };
                self.put(
                    &location,
                    Content {
                        bytes: content,
                        mode,
                    },
                )
                .map(|_| ())
            }
            Change::Delete { hunks, .. } => {
                let content = self.content(&location, DeletesLinks::Yes)?;
                if !hunks.is_empty() && !self.amended(&location, &content.bytes, &hunks)?.is_empty()
                {
                    return Err(PatchError::NotAll {
                        path: location.spelled,
                    });
                }
                self.sheet(&location)?.after = None;
                Ok(())
            }
            Change::Update {
                hunks, executable, ..
            } => {
                let old = self.content(&location, DeletesLinks::No)?;
                let content = Content {
                    bytes: self.amended(&location, &old.bytes, &hunks)?,
                    mode: with_executable(old.mode, executable),
                };
                match second.filter(|to| to.path() != location.path()) {
                    None => self.sheet(&location)?.after = Some(content),
                    Some(to) => {
                        self.sheet(&location)?.after = None;
                        self.put(&to, content)?.moved_from = Some(location.spelled);
                    }
                }
                Ok(())
            }
        }
    }

    /// Puts a file where none is.
    fn put(&mut self, location: &FileLocation, content: Content) -> Result<&mut Edit, PatchError> {
        let sheet = self.sheet(location)?;
        if sheet.after.is_some() {
            return Err(PatchError::Exists {
                path: location.spelled.clone(),
            });
        }
        sheet.after = Some(content);
        Ok(sheet)
    }

    fn content(
        &mut self,
        location: &FileLocation,
        links: DeletesLinks,
    ) -> Result<Content, PatchError> {
        let sheet = self.sheet(location)?;
        let is_link = sheet.before.as_ref().is_some_and(|before| before.is_link);
        match &sheet.after {
            Some(_) if is_link && links == DeletesLinks::No => Err(PatchError::NotAFile {
                path: location.spelled.clone(),
            }),
            Some(content) => Ok(content.clone()),
            None => Err(PatchError::Missing {
                path: location.spelled.clone(),
            }),
        }
    }

    fn amended(
        &mut self,
        location: &FileLocation,
        old: &[u8],
        hunks: &[Hunk],
    ) -> Result<Vec<u8>, PatchError> {
        let amended = amend(old, hunks).map_err(|misfit| {
            PatchError::Hunk(Box::new(HunkFailure {
                path: location.spelled.clone(),
                hunk: misfit.hunk,
                of: hunks.len(),
                expected: misfit.expected,
                heading: misfit.heading,
                nearest: misfit.nearest,
            }))
        })?;
        let ignoring = match amended.looseness {
            Looseness::Exact => None,
            Looseness::TrailingBlanks => Some("blanks at the end of lines"),
            Looseness::Indentation => Some("indentation"),
            Looseness::Lookalikes => Some("indentation, and quotes and dashes that look alike"),
        };
        if let Some(ignoring) = ignoring {
            let path = &location.spelled;
            self.notes
                .push(format!("`{path}`: a hunk fitted only without {ignoring}"));
        }
        Ok(amended.content)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeletesLinks {
    Yes,
    No,
}

/// The mode with or without the right to be executed, for whoever may read.
fn with_executable(mode: u32, executable: Option<bool>) -> u32 {
    match executable {
        None => mode,
        Some(true) => mode | ((mode & 0o444) >> 2),
        Some(false) => mode & !0o111,
    }
}
