//! Code in a line: what is between backquotes is only shown.

/// Code in a line is no longer than this.
const LONGEST: usize = 4096;

/// How many bytes the code in a line has that begins here, marks included; only the marks if nothing
/// closes them in this line. Nothing if that cannot be told yet.
pub(super) fn inline_code(rest: &[u8], is_all: bool) -> Option<usize> {
    let width = rest.iter().take_while(|byte| **byte == b'`').count();
    if width == rest.len() && !is_all {
        return None;
    }
    let mut at = width;
    while at < rest.len().min(LONGEST) {
        match rest[at] {
            b'\n' => return Some(width),
            b'`' => {
                let run = rest[at..].iter().take_while(|byte| **byte == b'`').count();
                let run_ends = at + run < rest.len() || is_all;
                if run == width && run_ends {
                    return Some(at + run);
                }
                if !run_ends {
                    return None;
                }
                at += run;
            }
            _ => at += 1,
        }
    }
    if at < LONGEST && !is_all {
        None
    } else {
        Some(width)
    }
}
