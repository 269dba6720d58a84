//! Git's index, as far as it names other repositories: its entries of mode 160000, which git's
//! commands at the top look into.
//!
//! Pure: bytes in, paths out. An index that git could not read either names none.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The mode of an entry that is a repository.
const GITLINK: u32 = 0o160_000;
/// What precedes the name of an object in an entry: times, device, inode, mode, owner, size.
const STAT_BYTES: usize = 40;
/// Where the mode is among that.
const MODE_AT: usize = 24;
/// Set in the flags of an entry that has more of them.
const EXTENDED: u16 = 0x4000;

/// What an index says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// The folders of repositories, relative to the top of the work tree.
    pub(super) gitlinks: Vec<PathBuf>,
    /// The name of the file that holds the rest of the entries, where they are split.
    pub(super) shared: Option<String>,
}

/// How long the names of objects are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
}

impl Hash {
    fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// Reads an index, and no more repositories from it than this.
pub(super) fn read(bytes: &[u8], hash: Hash, most: usize) -> Index {
    let mut index = Index::default();
    // A cut-off index has been read as far as it goes.
    let _ = entries(bytes, hash, most, &mut index);
    index
}

fn entries(bytes: &[u8], hash: Hash, most: usize, index: &mut Index) -> Option<()> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = number(bytes, 4)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = number(bytes, 8)?;
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let start = at;
        let mode = number(bytes, at + MODE_AT)?;
        at += STAT_BYTES + hash.bytes();
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += 2;
        if version >= 3 && flags & EXTENDED != 0 {
            at += 2;
        }
        if version == 4 {
            let stripped = varint(bytes, &mut at)?;
            name.truncate(name.len().checked_sub(stripped)?);
        } else {
            name.clear();
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&bytes[at..at + length]);
        at += length + 1;
        if version != 4 {
            // Entries are padded with one to eight zeros.
            at = start + (at - 1 - start + 8) / 8 * 8;
        }
        if mode == GITLINK && index.gitlinks.len() < most {
            index
                .gitlinks
                .push(PathBuf::from(OsString::from_vec(name.clone())));
        }
    }
    extensions(bytes, at, hash, index)
}

/// What follows the entries, of which only the name of a shared index matters.
fn extensions(bytes: &[u8], mut at: usize, hash: Hash, index: &mut Index) -> Option<()> {
    while at + 8 + hash.bytes() <= bytes.len() {
        let length = usize::try_from(number(bytes, at + 4)?).ok()?;
        if &bytes[at..at + 4] == b"link" {
            let name = bytes.get(at + 8..at + 8 + hash.bytes())?;
            index.shared = Some(shared_name(name));
        }
        at = at.checked_add(8)?.checked_add(length)?;
    }
    Some(())
}

fn shared_name(id: &[u8]) -> String {
    use std::fmt::Write;
    let mut name = "sharedindex.".to_owned();
    for byte in id {
        // Writing to a string does not fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A number of variable length, as git writes it into packs and here.
fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, words: &[&str]) {
        let done = Command::new("git")
            .args(words)
            .current_dir(folder)
            .env("HOME", folder)
            .output()
            .unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
    }

    /// An index as git writes it: two repositories between many files.
    fn written(setting: &[&str], words: &[&str]) -> (tempfile::TempDir, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let mut init = vec!["init", "-q"];
        init.extend(setting);
        git(folder.path(), &init);
        for number in 0..50 {
            std::fs::write(folder.path().join(format!("a-{number}-long-name")), "").unwrap();
        }
        git(folder.path(), &["add", "."]);
        let id = if setting.is_empty() {
            "1".repeat(40)
        } else {
            "1".repeat(64)
        };
        for name in ["a-3-long-name-x/sub", "zz"] {
            let entry = format!("160000,{id},{name}");
            git(
                folder.path(),
                &["update-index", "--add", "--cacheinfo", &entry],
            );
        }
        std::fs::write(folder.path().join("later"), "").unwrap();
        git(folder.path(), words);
        let bytes = std::fs::read(folder.path().join(".git/index")).unwrap();
        (folder, bytes)
    }

    #[test]
    fn repositories_are_found_in_every_version() {
        let expected = ["a-3-long-name-x/sub", "zz"].map(PathBuf::from);
        for (setting, hash) in [
            (&[][..], Hash::Sha1),
            (&["--object-format=sha256"][..], Hash::Sha256),
        ] {
            for words in [
                &["update-index", "--index-version=2"][..],
                &["update-index", "--index-version=4"],
                &["add", "-N", "later"],
            ] {
                let (_folder, bytes) = written(setting, words);
                let index = read(&bytes, hash, 10);
                assert_eq!(index.gitlinks, expected, "{setting:?} {words:?}");
                assert_eq!(read(&bytes, hash, 1).gitlinks.len(), 1);
                // Cut off anywhere it is read as far as it goes.
                for end in (0..bytes.len()).step_by(7) {
                    assert!(read(&bytes[..end], hash, 10).gitlinks.len() <= 2);
                }
            }
        }
    }

    #[test]
    fn a_split_index_names_the_other_half() {
        let (folder, bytes) = written(&[], &["update-index", "--split-index"]);
        let shared = read(&bytes, Hash::Sha1, 10).shared.unwrap();
        let rest = std::fs::read(folder.path().join(".git").join(shared)).unwrap();
        assert_eq!(read(&rest, Hash::Sha1, 10).gitlinks.len(), 2);
    }
}
