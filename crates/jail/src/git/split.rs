//! An index that is split in two: which file holds the other half, and which of the entries there
//! are replaced by those here.

use super::index::{Hash, number};

/// The most entries that a set of them may speak of.
const MOST_ENTRIES: usize = 1 << 24;

/// The other half.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The name of its file; nothing if the index is to be split next time.
    pub(super) name: Option<String>,
    /// The numbers of the entries there that are replaced.
    replaced: Vec<usize>,
}

impl Link {
    /// Reads what an index says of it: the file's checksum, a set of entries that are gone, and one
    /// of those that are replaced.
    pub(super) fn read(content: &[u8], hash: Hash) -> Option<Self> {
        let id = content.get(..hash.bytes())?;
        let mut at = hash.bytes();
        let mut replaced = Vec::new();
        if at < content.len() {
            set(content, &mut at)?;
            replaced = set(content, &mut at)?;
        }
        Some(Self {
            name: id.iter().any(|byte| *byte != 0).then(|| file_name(id)),
            replaced,
        })
    }

    /// How many are replaced.
    pub(super) fn replaced(&self) -> usize {
        self.replaced.len()
    }

    /// The number there of the one that is replaced by this one here.
    pub(super) fn entry(&self, number: usize) -> Option<usize> {
        self.replaced.get(number).copied()
    }
}

fn file_name(id: &[u8]) -> String {
    use std::fmt::Write;
    let mut name = "sharedindex.".to_owned();
    for byte in id {
        // Writing to a string does not fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

/// A compressed set of bits: runs of equal words, each followed by words that are given.
fn set(content: &[u8], at: &mut usize) -> Option<Vec<usize>> {
    let words = usize::try_from(number(content, *at + 4)?).ok()?;
    let start = *at + 8;
    let end = start.checked_add(words.checked_mul(8)?)?;
    // The place of the last run follows.
    content.get(..end.checked_add(4)?)?;
    let word = |number: usize| -> Option<u64> {
        let at = start + number * 8;
        Some(u64::from_be_bytes(
            content.get(at..at + 8)?.try_into().ok()?,
        ))
    };
    let (mut bits, mut read, mut place) = (Vec::new(), 0, 0_usize);
    while read < words {
        let run = word(read)?;
        read += 1;
        let equal = usize::try_from(run >> 1 & u64::from(u32::MAX)).ok()?;
        let given = usize::try_from(run >> 33).ok()?;
        let after = place.checked_add(equal.checked_mul(64)?)?;
        if after > MOST_ENTRIES || given > words - read {
            return None;
        }
        if run & 1 == 1 {
            bits.extend(place..after);
        }
        place = after;
        for _ in 0..given {
            let literal = word(read)?;
            bits.extend(
                (0..64)
                    .filter(|bit| literal >> bit & 1 == 1)
                    .map(|bit| place + bit),
            );
            (read, place) = (read + 1, place + 64);
        }
    }
    *at = end + 4;
    Some(bits)
}

/// A number of variable length, as git writes it into packs and indexes.
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut byte = *bytes.get(*at)?;
    *at += 1;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some(value)
}
