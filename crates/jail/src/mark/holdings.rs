//! What one run, or one session's container, holds: its locks on records, and the marks that it
//! makes under them.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use ringfence_confine::descriptor;

use super::entry::{self, Step};
use super::registry::{Registry, marks_in, record_of};
use super::{Certainty, Made};

/// Where marks are written down, and who is told of it: somebody who outlives the holder, and then
/// releases what it held.
pub(crate) struct Ledger<'a> {
    pub(crate) registry: Option<&'a Registry>,
    pub(crate) survivor: OwnedFd,
}

/// The records that are held.
pub(crate) struct Holdings<'a> {
    ledger: &'a Ledger<'a>,
    held: Vec<Record>,
    /// Who has this makes marks: nobody else sees a folder that is not marked yet.
    making: Option<File>,
}

/// A record that is held.
struct Record {
    root: PathBuf,
    file: File,
    /// The marks that it knew when it was taken hold of, or that were made since.
    known: Vec<PathBuf>,
}

/// What was found, or made, at a place.
pub(crate) enum Held {
    /// A mark. It lasts as long as these holdings, or another's.
    Mark(OwnedFd),
    /// Something of the user's is there.
    Existing,
}

impl<'a> Holdings<'a> {
    pub(crate) fn new(ledger: &'a Ledger<'a>) -> Self {
        Self {
            ledger,
            held: Vec::new(),
            making: None,
        }
    }

    /// The locks, which must live as long as the marks are needed.
    pub(crate) fn into_locks(self) -> Vec<OwnedFd> {
        self.held
            .into_iter()
            .map(|record| record.file.into())
            .collect()
    }

    /// Has made what was to be made.
    pub(crate) fn let_others_make(&mut self) {
        self.making = None;
    }

    /// Makes a mark in a root, or joins one that is there. `path` is where it is; `folder` and
    /// `name` are the same place as it is reached from here.
    pub(crate) fn hold(
        &mut self,
        root: &Path,
        folder: BorrowedFd<'_>,
        name: &Path,
        path: &Path,
    ) -> io::Result<Held> {
        let registry = self.registry()?;
        let making = &mut self.making;
        let record = lock(&mut self.held, self.ledger, root)?;
        if !record.knows(path) && making.is_none() {
            *making = registry.turn_to_make();
            record.look_again()?;
        }
        let known = record.knows(path);
        if !known {
            // Before anything is made, so that it is found however this goes on.
            record.write(Step::Meant, path)?;
        }
        match super::make(folder, name)? {
            Made::Mark(mark) if known => Ok(Held::Mark(mark)),
            Made::Mark(mark) => {
                record.write(Step::Made, path)?;
                record.known.push(path.to_path_buf());
                Ok(Held::Mark(mark))
            }
            Made::Existing => {
                record.write(Step::Dropped, path)?;
                Ok(Held::Existing)
            }
        }
    }

    fn registry(&self) -> io::Result<&'a Registry> {
        let lacking = || io::Error::from_raw_os_error(libc::ENOLCK);
        self.ledger.registry.ok_or_else(lacking)
    }
}

/// Takes hold of a root's record: no mark in it goes from now on.
fn lock<'h>(
    held: &'h mut Vec<Record>,
    ledger: &Ledger<'_>,
    root: &Path,
) -> io::Result<&'h mut Record> {
    let known = held.iter().position(|record| record.root == root);
    let at = known.unwrap_or(held.len());
    if known.is_none() {
        held.push(Record::take(ledger, root)?);
    }
    Ok(&mut held[at])
}

impl Record {
    fn take(ledger: &Ledger<'_>, root: &Path) -> io::Result<Self> {
        let lacking = || io::Error::from_raw_os_error(libc::ENOLCK);
        let registry = ledger.registry.ok_or_else(lacking)?;
        let name = record_of(root);
        descriptor::send(&ledger.survivor, name.as_bytes(), &[])?;
        let mut record = Self {
            root: root.to_path_buf(),
            file: registry.hold(&name)?,
            known: Vec::new(),
        };
        record.look_again()?;
        Ok(record)
    }

    /// Looks what marks there are by now.
    fn look_again(&mut self) -> io::Result<()> {
        self.file.rewind()?;
        let marks = marks_in(&mut self.file)?.into_iter();
        let made = marks.filter(|(_, certainty)| *certainty == Certainty::Marked);
        self.known = made.map(|(path, _)| path).collect();
        Ok(())
    }

    fn knows(&self, path: &Path) -> bool {
        self.known.iter().any(|known| known == path)
    }

    fn write(&mut self, step: Step, path: &Path) -> io::Result<()> {
        // One call, at the end of the file: others may be writing.
        self.file.write_all(&entry::line(step, path))
    }
}

/// Releases what a holder that has ended told of.
pub(crate) fn release_all(survivor: &OwnedFd, registry: &Registry) {
    let mut buffer = [0; 256];
    loop {
        match descriptor::receive(survivor, &mut buffer) {
            Ok(message) if message.length > 0 => {
                if let Ok(record) = std::str::from_utf8(&buffer[..message.length]) {
                    registry.release(record);
                }
            }
            _ => return,
        }
    }
}
