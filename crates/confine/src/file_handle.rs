//! File handles: the kernel's own name for a node, which tells it from every other that was or will
//! be on its file system, the one that gets its number next included.

use std::ffi::{c_int, c_uint};
use std::os::fd::{AsFd, AsRawFd};

/// The longest handle that any file system has.
const LONGEST: u32 = 128;

/// A handle for telling nodes apart, from file systems, too, that cannot open anything by one (Linux
/// 6.5).
const FOR_TELLING_APART: c_int = 0x200;

/// `struct file_handle`, with room for the longest.
#[repr(C)]
struct FileHandle {
    length: c_uint,
    kind: c_int,
    bytes: [u8; LONGEST as usize],
}

/// A number for the handle of something that is open: it differs where handles do. None where the
/// file system, or a filter around us, gives none.
pub fn number(opened: impl AsFd) -> Option<u64> {
    let opened = opened.as_fd();
    [FOR_TELLING_APART, 0].into_iter().find_map(|flags| {
        let mut handle = FileHandle {
            length: LONGEST,
            kind: 0,
            bytes: [0; LONGEST as usize],
        };
        let mut mount: c_int = 0;
        // SAFETY: the empty name ends with a NUL, and the handle has the room that it says; both and
        // the number outlive the call.
        let done = unsafe {
            libc::syscall(
                libc::SYS_name_to_handle_at,
                opened.as_raw_fd(),
                c"".as_ptr(),
                &raw mut handle,
                &raw mut mount,
                libc::AT_EMPTY_PATH | flags,
            )
        };
        let bytes = handle.bytes.get(..handle.length as usize)?;
        (done == 0).then(|| digest(handle.kind, bytes))
    })
}

/// FNV-1a. Nobody chooses the bytes: they are the node's number, and one that the kernel draws.
fn digest(kind: c_int, bytes: &[u8]) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let all = kind.to_ne_bytes().into_iter().chain(bytes.iter().copied());
    all.fold(START, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn one_that_gets_the_number_of_another_is_told_from_it() {
        const ROUNDS: usize = 64;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut handles = HashSet::new();
        for _ in 0..ROUNDS {
            let file = File::create_new(&path).unwrap();
            let handle = number(&file);
            assert_eq!(number(File::open(&path).unwrap()), handle);
            handles.insert(handle);
            fs::remove_file(&path).unwrap();
        }
        if handles.contains(&None) {
            return println!("this file system gives no handles");
        }
        assert_eq!(handles.len(), ROUNDS);
    }
}
