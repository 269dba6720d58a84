//! The file that the whole output of a command goes to when it is too long for a reply.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where such files are kept, and how large one may get.
#[derive(Debug, Clone)]
pub struct SpillPlace {
    /// The folder. It is outside the workspace, and goes with the session.
    pub folder: PathBuf,
    /// The most bytes of one file.
    pub cap: u64,
}

/// A file that is made when output gets long.
#[derive(Debug)]
pub(super) struct Spill {
    path: PathBuf,
    file: File,
    room: u64,
}

impl Spill {
    /// Starts a file with what has come so far.
    pub(super) fn start(place: &SpillPlace, name: &str, so_far: &[u8]) -> io::Result<Self> {
        std::fs::create_dir_all(&place.folder)?;
        let path = place.folder.join(format!("{name}.txt"));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)?;
        let mut spill = Self {
            path,
            file,
            room: place.cap,
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
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
