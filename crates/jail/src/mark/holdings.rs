//! What one run, or one session's container, holds: its locks on records, and the marks that it
//! makes under them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use ringfence_confine::descriptor;

use super::Made;
use super::registry::{Registry, Release, line, marks_in, record_of};

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
}

/// A record that is held.
struct Record {
    root: PathBuf,
    file: File,
    /// The names that are written down in it, as far as we have seen.
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
        }
    }

    /// The locks, which must live as long as the marks are needed.
    pub(crate) fn into_locks(self) -> Vec<OwnedFd> {
        self.held
            .into_iter()
            .map(|record| record.file.into())
            .collect()
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
        let record = lock(&mut self.held, self.ledger, root)?;
        if !record.known.iter().any(|known| known == path) {
            // Before anything is made, so that it is found however this goes on. One call, at the end
            // of the file: others may be writing.
            record.file.write_all(&line(path))?;
            record.known.push(path.to_path_buf());
        }
        Ok(match super::make(folder, name)? {
            Made::Mark(mark) => Held::Mark(mark),
            Made::Existing => Held::Existing,
        })
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
        let mut file = registry.hold(&name)?;
        Ok(Self {
            root: root.to_path_buf(),
            known: marks_in(&mut file)?,
            file,
        })
    }
}

/// What holders that have ended have left, until it is released: somebody else may need it, or those
/// that died with a holder may take a moment to let go.
pub(crate) struct Estate<'a> {
    registry: Option<&'a Registry>,
    records: BTreeSet<String>,
}

impl<'a> Estate<'a> {
    pub(crate) fn new(registry: Option<&'a Registry>) -> Self {
        let records = BTreeSet::new();
        Self { registry, records }
    }

    /// Takes over what a holder that has ended told of.
    pub(crate) fn take_over(&mut self, told: &OwnedFd) {
        let mut buffer = [0; 256];
        loop {
            match descriptor::receive(told, &mut buffer) {
                Ok(message) if message.length > 0 => {
                    let record = String::from_utf8_lossy(&buffer[..message.length]);
                    self.records.insert(record.into_owned());
                }
                _ => return,
            }
        }
    }

    /// Releases what nobody holds any more.
    pub(crate) fn release(&mut self) {
        if let Some(registry) = self.registry {
            self.release_in(registry);
            registry.let_go();
        }
    }

    /// The same for the last time, in a process that is about to end.
    pub(crate) fn release_at_last(&mut self) {
        if let Some(registry) = self.registry {
            self.release_in(registry);
            registry.leave_to_the_kernel();
        }
    }

    fn release_in(&mut self, registry: &Registry) {
        self.records
            .retain(|record| registry.release(record) == Release::Held);
    }
}
