//! The file that the whole output of a command goes to when it is too long for a reply.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
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
        make_folder(&place.folder)?;
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

/// Makes a session's folder. The one that it is in, where those of other sessions are too, can be
/// entered and not listed: what commands of one session may read here is what they were told of.
fn make_folder(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent()
        && !parent.exists()
    {
        if let Some(above) = parent.parent() {
            std::fs::create_dir_all(above)?;
        }
        match std::fs::DirBuilder::new().mode(0o311).create(parent) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o711)
        .create(folder)
}
