//! The file that a conversation is kept in: everything that was said, as the provider has it, and every step before and after.
//!
//! Entries are JSON objects, one after the other. A program that was killed may have left half of one at the end: it is cut
//! off. Anything else that is wrong is an error. Entries are handed to the kernel before what they announce is done, so they
//! survive the program, not the machine.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ringfence_dialect::message::SourceLimits;
use ringfence_dialect::provider::{History, Object, Provider, Raw, Turn, Usage};
use thiserror::Error;

use super::entry::{Entry, Outcome};
use super::plan::Plan;
use super::record::{OpenTurn, Record};

/// A conversation and the file that it is kept in.
#[derive(Debug)]
pub struct Journal {
    file: Option<(File, PathBuf)>,
    record: Record,
}

/// Why a conversation cannot be kept or gone on with.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{} cannot be used: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// Somebody else goes on with it.
    #[error("{} is in use by another program", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// It is not what was written.
    #[error("{} is damaged at byte {byte}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        byte: usize,
        /// What is wrong there.
        why: String,
    },
}

impl JournalError {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "journal_unusable",
            Self::InUse { .. } => "journal_in_use",
            Self::Damaged { .. } => "journal_damaged",
        }
    }
}

impl Journal {
    /// A new conversation that is kept nowhere.
    pub fn in_memory(provider: Provider) -> Self {
        Self {
            file: None,
            record: Record::new(provider, crate::identifier::random("conv")),
        }
    }

    /// A new conversation in a file that does not exist yet.
    pub fn create(path: &Path, provider: Provider) -> Result<Self, JournalError> {
        Self::create_noting(path, provider, Object::default())
    }

    /// The same, with something that the program wants to know again when it goes on, such as where the model is.
    pub fn create_noting(
        path: &Path,
        provider: Provider,
        note: Object,
    ) -> Result<Self, JournalError> {
        let mut journal = Self::in_memory(provider);
        journal.record.note = note;
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true).mode(0o600);
        journal.file = Some((lock(options.open(path), path)?, path.to_path_buf()));
        journal.write(&Entry::Began {
            provider,
            id: journal.record.id.clone(),
            note: journal.record.note.clone(),
        })?;
        Ok(journal)
    }

    /// A conversation that was begun before, as far as it came.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let opened = OpenOptions::new().read(true).append(true).open(path);
        let mut file = lock(opened, path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|error| unusable(path, error))?;
        let (record, kept) = read(&bytes).map_err(|(byte, why)| JournalError::Damaged {
            path: path.to_path_buf(),
            byte,
            why,
        })?;
        file.set_len(kept as u64)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(|error| unusable(path, error))?;
        Ok(Self {
            file: Some((file, path.to_path_buf())),
            record,
        })
    }

    /// The conversation's own id.
    pub fn id(&self) -> &str {
        &self.record.id
    }

    /// What the program that began it wanted to know again.
    pub fn note(&self) -> &Object {
        &self.record.note
    }

    /// The API that it goes by.
    pub fn provider(&self) -> Provider {
        self.record.history.provider()
    }

    /// All that was said, as the next request has it.
    pub fn history(&self) -> &History {
        &self.record.history
    }

    /// The turns of the model so far.
    pub fn turns(&self) -> u32 {
        self.record.turns
    }

    /// What they cost.
    pub fn usage(&self) -> Usage {
        self.record.usage
    }

    /// Whether there is something to go on with: a step that has not been executed, or a word without an answer.
    pub fn is_unfinished(&self) -> bool {
        match &self.record.open {
            Some(open) => !Plan::of(&open.turn, SourceLimits::default())
                .steps
                .is_empty(),
            None => !self.record.history.items().is_empty(),
        }
    }

    pub(super) fn open_turn(&self) -> Option<&OpenTurn> {
        self.record.open.as_ref()
    }

    /// Whether a call with the same id, tool and input was answered in an earlier turn.
    pub(super) fn has_answered(&self, call: &ringfence_dialect::provider::StructuredCall) -> bool {
        self.record.has_answered(call)
    }

    pub(super) fn say(&mut self, text: &str) -> Result<(), JournalError> {
        let mut said = History::new(self.provider());
        said.say(text);
        self.append(Entry::Said {
            items: said.items().to_vec(),
        })
    }

    pub(super) fn turn(&mut self, turn: Turn) -> Result<(), JournalError> {
        self.append(Entry::Turn {
            turn: Box::new(turn),
        })
    }

    pub(super) fn intent(&mut self, step: usize) -> Result<(), JournalError> {
        self.append(Entry::Intent { step })
    }

    pub(super) fn outcome(&mut self, step: usize, outcome: Outcome) -> Result<(), JournalError> {
        self.append(Entry::Outcome { step, outcome })
    }

    pub(super) fn told(
        &mut self,
        items: Vec<Raw>,
        changes: Vec<super::FileDiff>,
    ) -> Result<(), JournalError> {
        self.append(Entry::Told { items, changes })
    }

    pub(super) fn replace(&mut self, items: Vec<Raw>) -> Result<(), JournalError> {
        self.append(Entry::Replaced { items })
    }

    fn append(&mut self, entry: Entry) -> Result<(), JournalError> {
        self.write(&entry)?;
        self.record.take(entry);
        Ok(())
    }

    fn write(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let Some((file, path)) = &mut self.file else {
            return Ok(());
        };
        let mut text = entry.to_object().to_raw().text().to_owned();
        text.push('\n');
        file.write_all(text.as_bytes())
            .map_err(|error| unusable(path, error))
    }
}

fn lock(opened: io::Result<File>, path: &Path) -> Result<File, JournalError> {
    let file = opened.map_err(|error| unusable(path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::InUse {
            path: path.to_path_buf(),
        }),
        Err(TryLockError::Error(error)) => Err(unusable(path, error)),
    }
}

fn unusable(path: &Path, error: io::Error) -> JournalError {
    JournalError::Io {
        path: path.to_path_buf(),
        error,
    }
}

/// The conversation, and how many bytes of the file are whole entries; or where the trouble is.
fn read(bytes: &[u8]) -> Result<(Record, usize), (usize, String)> {
    let mut entries = serde_json::Deserializer::from_slice(bytes).into_iter::<Object>();
    let mut record: Option<Record> = None;
    let mut kept = 0;
    while let Some(read) = entries.next() {
        let object = match read {
            Ok(object) => object,
            Err(error) if error.is_eof() => break,
            Err(error) => return Err((kept, error.to_string())),
        };
        let provider = record.as_ref().map(|record| record.history.provider());
        let entry = Entry::of_object(&object, provider).map_err(|why| (kept, why))?;
        match (&mut record, entry) {
            (None, Entry::Began { provider, id, note }) => {
                let mut new = Record::new(provider, id);
                new.note = note;
                record = Some(new);
            }
            (Some(record), entry) => record.take(entry),
            (None, _) => return Err((kept, "it does not begin like a conversation".to_owned())),
        }
        kept = entries.byte_offset();
        // With the line's end, so that what is appended begins a line.
        kept += usize::from(bytes.get(kept) == Some(&b'\n'));
    }
    let record = record.ok_or((0, "there is no conversation in it".to_owned()))?;
    Ok((record, kept))
}
