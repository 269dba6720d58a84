//! What a record says of marks: a line for each step, ended by a NUL since paths may hold anything
//! else. A line that was cut off says nothing.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::Certainty;

/// A step in the life of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It is about to be made.
    Meant,
    /// It is there.
    Made,
    /// Something of somebody's was there already.
    Dropped,
}

impl Step {
    const fn sign(self) -> u8 {
        match self {
            Self::Meant => b'+',
            Self::Made => b'=',
            Self::Dropped => b'-',
        }
    }

    fn of(sign: u8) -> Option<Self> {
        [Self::Meant, Self::Made, Self::Dropped]
            .into_iter()
            .find(|step| step.sign() == sign)
    }
}

/// The line for a step.
pub(super) fn line(step: Step, path: &Path) -> Vec<u8> {
    [&[step.sign()], path.as_os_str().as_bytes(), b"\0"].concat()
}

/// The marks that a record knows, each once.
pub(super) fn read(text: &[u8]) -> Vec<(PathBuf, Certainty)> {
    let mut known: Vec<(PathBuf, Certainty)> = Vec::new();
    let whole = text.iter().rposition(|byte| *byte == 0).unwrap_or(0);
    for line in text[..whole].split(|byte| *byte == 0) {
        let Some((sign, path)) = line.split_first() else {
            continue;
        };
        let path = PathBuf::from(OsString::from_vec(path.to_vec()));
        let before = known.iter().position(|(other, _)| *other == path);
        match (Step::of(*sign), before) {
            (Some(Step::Meant), None) => known.push((path, Certainty::Meant)),
            (Some(Step::Made), None) => known.push((path, Certainty::Marked)),
            (Some(Step::Made), Some(at)) => known[at].1 = Certainty::Marked,
            // What somebody else has made stays known.
            (Some(Step::Dropped), Some(at)) if known[at].1 == Certainty::Meant => {
                known.remove(at);
            }
            _ => {}
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_far_as_it_is_whole() {
        use Certainty::{Marked, Meant};
        for (text, expected) in [
            ("", vec![]),
            ("+/w/a\0=/w/a\0", vec![("/w/a", Marked)]),
            ("+/w/a\0", vec![("/w/a", Meant)]),
            ("+/w/a\0-/w/a\0", vec![]),
            ("=/w/a\0+/w/a\0-/w/a\0", vec![("/w/a", Marked)]),
            ("+/w/a\0=/w/a\0+/w/b c\n", vec![("/w/a", Marked)]),
            ("?/w/a\0\0+/w/b\0", vec![("/w/b", Meant)]),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(path, certainty)| (PathBuf::from(path), certainty))
                .collect();
            assert_eq!(read(text.as_bytes()), expected, "{text:?}");
        }
    }
}
