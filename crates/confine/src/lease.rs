//! Leases: whether anybody has a file open for writing, whoever it is and wherever the descriptor
//! may be.

use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Whether nobody has the file at a path open for writing, now. The kernel counts writers, and
/// refuses a lease for reading while there is one. False as well if it cannot be told.
pub fn is_free_of_writers(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()) else {
        return false;
    };
    let lease = |kind: libc::c_int| -> io::Result<()> {
        // SAFETY: the request takes a number.
        match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    let free = lease(libc::F_RDLCK).is_ok();
    if free {
        let _ = lease(libc::F_UNLCK);
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_noticed_and_a_reader_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "x").unwrap();
        let reader = std::fs::File::open(&path).unwrap();
        assert!(is_free_of_writers(&path));
        drop(reader);
        let writer = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap();
        assert!(!is_free_of_writers(&path));
        drop(writer);
        assert!(is_free_of_writers(&path));
        assert!(!is_free_of_writers(&folder.path().join("absent")));
    }
}
