//! The memory that a child shares with its zygote until it writes to it, and making it the child's own ahead of time.
//!
//! A forked child pays for every page that it writes to first. One that waits for its job anyway pays in advance.

/// Ranges larger than this hold stacks and reserves, not what a run touches.
const LARGEST: usize = 4 << 20;

/// The writable private ranges of a process.
#[derive(Debug)]
pub(super) struct Pages(Vec<(usize, usize)>);

impl Pages {
    /// Reads them, while files can still be opened. Without them a child is only slower.
    pub(super) fn of_this_process() -> Self {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Self(maps.lines().filter_map(writable).collect())
    }

    /// Copies every page now that would be copied at its first write.
    #[allow(unsafe_code)]
    pub(super) fn make_own(&self) {
        /// Since Linux 5.14; older kernels refuse it, which changes nothing.
        const MADV_POPULATE_WRITE: i32 = 23;
        for &(start, length) in &self.0 {
            // SAFETY: the advice changes no content; ranges that have gone since are refused by the kernel.
            unsafe { libc::madvise(start as *mut libc::c_void, length, MADV_POPULATE_WRITE) };
        }
    }
}

/// Start and length of a line of `/proc/self/maps`, if it is one that a run writes to.
fn writable(line: &str) -> Option<(usize, usize)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let parse = |text| usize::from_str_radix(text, 16).ok();
    let (start, length) = (parse(start)?, parse(end)? - parse(start)?);
    (rest.starts_with("rw-p") && length <= LARGEST).then_some((start, length))
}

#[cfg(test)]
mod tests {
    use super::writable;

    #[test]
    fn only_writable_private_ranges_of_moderate_size_count() {
        for (line, expected) in [
            (
                "1000-3000 rw-p 00000000 00:00 0 [heap]",
                Some((0x1000, 0x2000)),
            ),
            ("1000-3000 r-xp 00000000 00:00 0 /bin/x", None),
            ("1000-3000 rw-s 00000000 00:00 0", None),
            ("0-8000000 rw-p 00000000 00:00 0", None),
            ("", None),
        ] {
            assert_eq!(writable(line), expected, "{line}");
        }
    }
}
