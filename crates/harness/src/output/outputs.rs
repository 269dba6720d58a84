//! The folder of an engine's long outputs, which outlives it: a reply that names a file in it may be
//! read long after the program that gave it has ended.
//!
//! Commands of other sessions run as the same user and must not find it, so nobody can list the
//! folder that it is in. Which folders there are is kept apart, in the register below the state
//! folder, where no command looks. Whoever makes a folder sweeps those that are too old, or the oldest
//! of what is too much; one whose engine lives is left alone, which the lock on its entry tells.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// How much of old outputs is kept.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// For how long.
    pub age: Duration,
    /// How many bytes of all sessions.
    pub bytes: u64,
}

/// Where an engine's long outputs are.
#[derive(Debug)]
pub struct Outputs {
    folder: PathBuf,
    register: PathBuf,
    retention: Retention,
    /// The entry in the register, locked for as long as the engine lives.
    entry: OnceLock<File>,
}

impl Outputs {
    /// Outputs in a folder of this engine's alone, entered in a register.
    pub fn new(folder: PathBuf, register: PathBuf, retention: Retention) -> Self {
        Self {
            folder,
            register,
            retention,
            entry: OnceLock::new(),
        }
    }

    /// The folder, made and entered.
    pub(super) fn folder(&self) -> io::Result<&Path> {
        if self.entry.get().is_none() {
            let entry = self.enter()?;
            make_folder(&self.folder)?;
            if self.entry.set(entry).is_ok() {
                self.sweep_others();
            }
        }
        Ok(&self.folder)
    }

    fn enter(&self) -> io::Result<File> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.register)?;
        let name = self.folder.file_name().unwrap_or_default();
        let mut entry = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(self.register.join(name))?;
        entry.lock_shared()?;
        entry.write_all(self.folder.as_os_str().as_bytes())?;
        Ok(entry)
    }

    /// Nobody waits for it.
    fn sweep_others(&self) {
        let (register, retention) = (self.register.clone(), self.retention);
        std::thread::spawn(move || sweep(&register, retention, SystemTime::now()));
    }
}

/// Makes a session's folder. The one that it is in, where those of other sessions are too, can be
/// entered and not listed: what commands of one session may read here is what they were told of.
fn make_folder(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent()
        && !parent.exists()
    {
        if let Some(above) = parent.parent() {
            fs::create_dir_all(above)?;
        }
        match DirBuilder::new().mode(0o311).create(parent) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    DirBuilder::new().recursive(true).mode(0o711).create(folder)
}

/// A folder of an engine that has ended.
struct Left {
    entry: PathBuf,
    folder: PathBuf,
    age: Duration,
    bytes: u64,
}

/// Removes what is older than is kept, and the oldest of what is more.
fn sweep(register: &Path, retention: Retention, now: SystemTime) {
    let entries = fs::read_dir(register).into_iter().flatten().flatten();
    let mut left: Vec<Left> = entries
        .filter_map(|entry| Left::of(entry.path(), now).ok().flatten())
        .collect();
    left.sort_by_key(|left| left.age);
    let mut kept = 0_u64;
    for left in left {
        kept = kept.saturating_add(left.bytes);
        if left.age > retention.age || kept > retention.bytes {
            kept -= left.bytes;
            left.remove();
        }
    }
}

impl Left {
    /// What an entry stands for, unless its engine lives.
    fn of(entry: PathBuf, now: SystemTime) -> io::Result<Option<Self>> {
        let mut file = File::open(&entry)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut folder = Vec::new();
        file.read_to_end(&mut folder)?;
        let folder = PathBuf::from(std::ffi::OsString::from_vec(folder));
        // An entry is named after its folder: one that is not was not written by us.
        if !folder.is_absolute() || folder.file_name() != entry.file_name() {
            return Ok(None);
        }
        let since = file.metadata()?.modified()?;
        let files = fs::read_dir(&folder).into_iter().flatten().flatten();
        let sizes = files.filter_map(|file| file.metadata().ok().map(|file| file.len()));
        Ok(Some(Self {
            age: now.duration_since(since).unwrap_or_default(),
            bytes: sizes.sum(),
            entry,
            folder,
        }))
    }

    fn remove(self) {
        let gone = match fs::remove_dir_all(&self.folder) {
            Err(error) => error.kind() == io::ErrorKind::NotFound,
            Ok(()) => true,
        };
        if gone {
            let _ = fs::remove_file(&self.entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const RETENTION: Retention = Retention {
        age: HOUR,
        bytes: 100,
    };

    struct Place(tempfile::TempDir);

    impl Place {
        fn register(&self) -> PathBuf {
            self.0.path().join("register")
        }

        /// Outputs of this many bytes.
        fn outputs(&self, name: &str, bytes: usize) -> Outputs {
            let folder = self.0.path().join("by-name").join(name);
            let outputs = Outputs::new(folder, self.register(), RETENTION);
            let entry = outputs.enter().unwrap();
            make_folder(&outputs.folder).unwrap();
            outputs.entry.set(entry).unwrap();
            fs::write(outputs.folder.join("call.txt"), vec![b'x'; bytes]).unwrap();
            outputs
        }

        fn there(&self, name: &str) -> bool {
            let folder = self.0.path().join("by-name").join(name).exists();
            assert_eq!(folder, self.register().join(name).exists());
            folder
        }
    }

    #[test]
    fn what_is_old_goes_and_what_is_in_use_stays() {
        let place = Place(tempfile::tempdir().unwrap());
        drop(place.outputs("ended", 10));
        let lives = place.outputs("lives", 10);
        sweep(&place.register(), RETENTION, SystemTime::now());
        assert!(place.there("ended") && place.there("lives"));
        sweep(&place.register(), RETENTION, SystemTime::now() + 2 * HOUR);
        assert!(!place.there("ended") && place.there("lives"));
        drop(lives);
        sweep(&place.register(), RETENTION, SystemTime::now() + 2 * HOUR);
        assert!(!place.there("lives"));
    }

    #[test]
    fn the_oldest_of_too_much_goes() {
        let place = Place(tempfile::tempdir().unwrap());
        for (hours_ago, name) in [(3, "first"), (2, "second"), (1, "third")] {
            drop(place.outputs(name, 40));
            let then = SystemTime::now() - hours_ago * Duration::from_mins(10);
            let entry = File::options()
                .write(true)
                .open(place.register().join(name));
            entry.unwrap().set_modified(then).unwrap();
        }
        sweep(&place.register(), RETENTION, SystemTime::now());
        assert!(!place.there("first") && place.there("second") && place.there("third"));
    }

    #[test]
    fn an_entry_that_names_another_folder_removes_nothing() {
        let place = Place(tempfile::tempdir().unwrap());
        let precious = place.0.path().join("precious");
        fs::create_dir(&precious).unwrap();
        fs::create_dir(place.register()).unwrap();
        for (name, content) in [("a", precious.to_str().unwrap()), ("b", "b"), ("c", "")] {
            fs::write(place.register().join(name), content).unwrap();
        }
        sweep(&place.register(), RETENTION, SystemTime::now() + 2 * HOUR);
        assert!(precious.exists());
    }
}
