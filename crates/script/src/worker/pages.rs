//! The memory that a child shares with its zygote: which of it a run writes to, and how little of it is paid for twice.
//!
//! A forked child pays for every page that it writes to first, and for every stretch of code that it executes first.
//! One that waits for its job anyway pays for the former in advance, and finds the latter done.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use ringfence_confine::process::{self, Fork};

const PAGE: usize = 4096;

/// Stretches of memory that every run writes to.
#[derive(Debug, Default)]
pub(super) struct Pages(Vec<Stretch>);

/// Whole pages, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    start: usize,
    length: usize,
}

impl Pages {
    /// Finds them while files can still be opened: a child does what every child will do, looks which pages that made
    /// its own, says so and ends.
    ///
    /// # Safety
    /// The calling process must have a single thread.
    #[allow(unsafe_code)]
    pub(super) unsafe fn written_by(work: impl FnOnce()) -> io::Result<Self> {
        let (mut ours, mut theirs) = UnixStream::pair()?;
        // SAFETY: passed on to the caller.
        match unsafe { process::fork() }? {
            Fork::Child => {
                drop(ours);
                work();
                let told = own_pages().and_then(|bytes| theirs.write_all(&bytes));
                process::exit_now(i32::from(told.is_err()))
            }
            Fork::Parent(child) => {
                drop(theirs);
                let mut told = Vec::new();
                let read = ours.read_to_end(&mut told);
                process::wait(&child)?;
                read.map(|_| Self(stretches(&told)))
            }
        }
    }

    /// Copies every page now that would be copied at its first write.
    #[allow(unsafe_code)]
    pub(super) fn make_own(&self) {
        /// Since Linux 5.14; older kernels refuse it, which changes nothing.
        const MADV_POPULATE_WRITE: i32 = 23;
        for &Stretch { start, length } in &self.0 {
            // SAFETY: the advice changes no content; stretches that have gone since are refused by the kernel.
            unsafe { libc::madvise(start as *mut libc::c_void, length, MADV_POPULATE_WRITE) };
        }
    }
}

/// Lets children find the program's code mapped.
///
/// The kernel copies the page tables of a mapping of a file only if the process has a page of its own in it; otherwise
/// a child faults its way through the code again. So each such mapping is given one: a byte is written as it was.
/// Where that is forbidden children are only slower; that code stays writable is an error.
#[allow(unsafe_code)]
pub(super) fn hand_code_down() -> io::Result<()> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for mapping in maps.lines().filter_map(Mapping::parse) {
        if !mapping.is_code() {
            continue;
        }
        let Stretch { start, length } = mapping.stretch;
        let (start, before) = (start as *mut libc::c_void, mapping.protection());
        // SAFETY: the mapping stays readable (and executable, if it was) throughout, the byte is written as it is, and
        // nothing else runs in this process. The whole of it changes, because a part would become a mapping of its own.
        unsafe {
            if libc::mprotect(start, length, before | libc::PROT_WRITE) == 0 {
                let byte = start.cast::<u8>();
                byte.write_volatile(byte.read_volatile());
                if libc::mprotect(start, length, before) != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
    }
    Ok(())
}

/// A line of `/proc/self/maps`.
struct Mapping<'a> {
    stretch: Stretch,
    permissions: &'a str,
    path: &'a str,
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let parse = |text| usize::from_str_radix(text, 16).ok();
        let (start, end) = (parse(start)?, parse(end)?);
        Some(Self {
            stretch: Stretch {
                start,
                length: end.checked_sub(start)?,
            },
            permissions: fields.next()?,
            path: fields.nth(3).unwrap_or_default(),
        })
    }

    /// Whether a run may write to it without sharing what it writes.
    fn is_writable(&self) -> bool {
        self.permissions == "rw-p"
    }

    /// Whether it is a part of a program or library that nobody writes to.
    fn is_code(&self) -> bool {
        matches!(self.permissions, "r-xp" | "r--p") && self.path.starts_with('/')
    }

    fn protection(&self) -> i32 {
        if self.permissions.starts_with("r-x") {
            libc::PROT_READ | libc::PROT_EXEC
        } else {
            libc::PROT_READ
        }
    }
}

/// The numbers of the pages that this process shares with nobody, as bytes.
fn own_pages() -> io::Result<Vec<u8>> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let pagemap = File::open("/proc/self/pagemap")?;
    let mut own = Vec::new();
    let mut entries = vec![0_u8; 8 << 10];
    for mapping in maps.lines().filter_map(Mapping::parse) {
        if !mapping.is_writable() {
            continue;
        }
        let first = mapping.stretch.start / PAGE;
        let end = first + mapping.stretch.length / PAGE;
        let mut at = first;
        while at < end {
            let wanted = (end - at).min(entries.len() / 8);
            let read = pagemap.read_at(&mut entries[..wanted * 8], at as u64 * 8)? / 8;
            if read == 0 {
                break;
            }
            for (number, entry) in (at..).zip(entries[..read * 8].chunks_exact(8)) {
                if is_own(entry) {
                    own.extend_from_slice(&(number as u64).to_ne_bytes());
                }
            }
            at += read;
        }
    }
    Ok(own)
}

/// Whether an entry of `/proc/self/pagemap` is about a page in memory, of no file, that only one process has.
fn is_own(entry: &[u8]) -> bool {
    const PRESENT: u64 = 1 << 63;
    const OF_A_FILE: u64 = 1 << 61;
    const EXCLUSIVE: u64 = 1 << 56;
    let entry = entry.try_into().map_or(0, u64::from_ne_bytes);
    entry & (PRESENT | OF_A_FILE | EXCLUSIVE) == PRESENT | EXCLUSIVE
}

/// Numbers of pages, in order, as stretches.
fn stretches(numbers: &[u8]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for number in numbers.chunks_exact(8) {
        let number = number.try_into().map_or(0, u64::from_ne_bytes);
        let start = usize::try_from(number).unwrap_or(0) * PAGE;
        match stretches.last_mut() {
            Some(last) if last.start + last.length == start => last.length += PAGE,
            _ => stretches.push(Stretch {
                start,
                length: PAGE,
            }),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::{Mapping, PAGE, Stretch, is_own, stretches};

    #[test]
    fn a_mapping_is_written_to_or_code_or_neither() {
        for (line, expected) in [
            (
                "1000-3000 rw-p 00000000 00:00 0 [heap]",
                Some((0x1000, 0x2000, true, false)),
            ),
            (
                "1000-3000 r-xp 00000000 00:2a 77   /bin/x y",
                Some((0x1000, 0x2000, false, true)),
            ),
            (
                "1000-2000 r--p 00000000 00:2a 77 /bin/x",
                Some((0x1000, 0x1000, false, true)),
            ),
            (
                "1000-3000 r-xp 00000000 00:00 0 [vdso]",
                Some((0x1000, 0x2000, false, false)),
            ),
            (
                "1000-3000 rw-s 00000000 00:00 0",
                Some((0x1000, 0x2000, false, false)),
            ),
            (
                "0-8000000 ---p 00000000 00:00 0",
                Some((0, 0x800_0000, false, false)),
            ),
            ("3000-1000 rw-p 00000000 00:00 0", None),
            ("", None),
        ] {
            let mapping = Mapping::parse(line).map(|mapping| {
                let Stretch { start, length } = mapping.stretch;
                (start, length, mapping.is_writable(), mapping.is_code())
            });
            assert_eq!(mapping, expected, "{line}");
        }
    }

    #[test]
    fn pages_that_follow_each_other_are_one_stretch() {
        let numbers = |list: &[u64]| -> Vec<u8> {
            list.iter()
                .flat_map(|number| number.to_ne_bytes())
                .collect()
        };
        let pages = |list: &[(usize, usize)]| -> Vec<Stretch> {
            list.iter()
                .map(|&(first, count)| Stretch {
                    start: first * PAGE,
                    length: count * PAGE,
                })
                .collect()
        };
        assert_eq!(stretches(&numbers(&[])), pages(&[]));
        assert_eq!(
            stretches(&numbers(&[3, 4, 5, 9, 11, 12])),
            pages(&[(3, 3), (9, 1), (11, 2)])
        );
    }

    #[test]
    fn a_page_is_own_if_it_is_there_of_no_file_and_exclusive() {
        for (entry, own) in [
            (0_u64, false),
            (1 << 63, false),
            (1 << 56, false),
            (1 << 63 | 1 << 56, true),
            (1 << 63 | 1 << 61 | 1 << 56, false),
        ] {
            assert_eq!(is_own(&entry.to_ne_bytes()), own, "{entry:#x}");
        }
    }
}
