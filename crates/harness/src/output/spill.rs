//! The file that the whole output of a command goes to when a reply cannot hold it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::Outputs;

/// Where such files are kept, and how large one may get.
#[derive(Debug, Clone)]
pub struct SpillOptions {
    /// The folder. It is outside the workspace.
    pub outputs: Arc<Outputs>,
    /// The most bytes of one file.
    pub cap: u64,
}

impl SpillOptions {
    /// Keeps a text that is there already.
    pub(crate) fn keep(&self, name: &str, text: &str) -> io::Result<OutputFile> {
        Ok(Spill::start(self, name, text.as_bytes())?.written)
    }
}

/// A file with the output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Where it is.
    pub path: PathBuf,
    /// Whether the output went on after the file was full.
    pub is_cut: bool,
}

/// A file that is made when output gets long.
#[derive(Debug)]
pub(super) struct Spill {
    written: OutputFile,
    file: File,
    room: u64,
}

impl Spill {
    /// Starts a file with what has come so far.
    pub(super) fn start(options: &SpillOptions, name: &str, so_far: &[u8]) -> io::Result<Self> {
        let path = options.outputs.folder()?.join(format!("{name}.txt"));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)?;
        let mut spill = Self {
            written: OutputFile {
                path,
                is_cut: false,
            },
            file,
            room: options.cap,
        };
        spill.push(so_far)?;
        Ok(spill)
    }

    /// Appends, up to the cap.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fits = usize::try_from(self.room)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        self.file.write_all(&bytes[..fits])?;
        self.room -= fits as u64;
        self.written.is_cut |= fits < bytes.len();
        Ok(())
    }

    /// What has been written.
    pub(super) fn written(&self) -> &OutputFile {
        &self.written
    }
}
