//! Git's index, as far as it names other repositories: its entries of mode 160000, which git's
//! commands at the top look into.
//!
//! Pure: bytes in, paths out. Git reads an index in several ways: by the length that an entry gives
//! for its name, by a table of blocks for its threads, by a pointer to the extensions. Where those
//! disagree with what is read here, or something is in a form that git never writes, the index has
//! not been understood.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::split::{self, Link};

/// The kind of an entry that is a repository, and its mode.
const KIND: u32 = 0o170_000;
const GITLINK: u32 = 0o160_000;
/// Files and links.
const PLAIN: &[u32] = &[0o100_000, 0o120_000];
/// What precedes the name of an object in an entry: times, device, inode, mode, owner, size.
const STAT_BYTES: usize = 40;
/// Where the mode is among that.
const MODE_AT: usize = 24;
/// Set in the flags of an entry that has more of them.
const EXTENDED: u16 = 0x4000;
/// The length of the name in the flags; all ones for a longer one.
const NAME_LENGTH: u16 = 0x0fff;

/// What an index says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// The folders of repositories, relative to the top of the work tree.
    pub(super) gitlinks: Vec<PathBuf>,
    /// The other file that holds the rest of the entries, where they are split.
    pub(super) link: Option<Link>,
    /// Entries of the other file that are repositories here, by their number among those that are
    /// replaced.
    replaced: Vec<usize>,
}

/// How long the names of objects are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
}

impl Hash {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// Reads an index. Nothing if it has not been understood, or has more repositories than this.
pub(super) fn read(bytes: &[u8], hash: Hash, most: usize) -> Option<Index> {
    let mut reader = Reader::new(bytes, hash)?;
    let mut index = Index::default();
    let mut unnamed = 0;
    for _ in 0..reader.count {
        let entry = reader.entry()?;
        let is_gitlink = entry.mode & KIND == GITLINK;
        if !(entry.mode == GITLINK || PLAIN.contains(&(entry.mode & KIND))) {
            return None;
        }
        // One without a name stands for one in the other half.
        if reader.name.is_empty() {
            index.replaced.extend(is_gitlink.then_some(unnamed));
            unnamed += 1;
        } else if is_gitlink {
            let name = OsString::from_vec(reader.name.clone());
            index.gitlinks.push(PathBuf::from(name));
        }
        if index.gitlinks.len() + index.replaced.len() > most {
            return None;
        }
    }
    reader.extensions(&mut index)?;
    let is_whole = unnamed == index.link.as_ref().map_or(0, Link::replaced);
    is_whole.then_some(index)
}

/// The repositories in the other half of an index: its own, and those of its entries that were
/// replaced by one.
pub(super) fn shared(bytes: &[u8], hash: Hash, index: &Index, most: usize) -> Option<Vec<PathBuf>> {
    let own = read(bytes, hash, most)?;
    if own.link.is_some() {
        return None;
    }
    let mut gitlinks = own.gitlinks;
    let link = index.link.as_ref()?;
    let mut wanted: Vec<usize> = Vec::new();
    for number in &index.replaced {
        wanted.push(link.entry(*number)?);
    }
    let mut reader = Reader::new(bytes, hash)?;
    for number in 0..reader.count {
        reader.entry()?;
        if wanted.contains(&number) {
            gitlinks.push(PathBuf::from(OsString::from_vec(reader.name.clone())));
        }
    }
    let are_there = wanted.iter().all(|wanted| *wanted < reader.count);
    are_there.then_some(gitlinks)
}

struct Entry {
    mode: u32,
}

/// Reads entry by entry.
struct Reader<'b> {
    bytes: &'b [u8],
    hash: Hash,
    version: u32,
    count: usize,
    at: usize,
    /// Where each entry began.
    starts: Vec<usize>,
    /// The name of the last one.
    name: Vec<u8>,
}

impl<'b> Reader<'b> {
    fn new(bytes: &'b [u8], hash: Hash) -> Option<Self> {
        let version = number(bytes, 4)?;
        let is_known = bytes.get(..4)? == b"DIRC" && (2..=4).contains(&version);
        let reader = Self {
            bytes,
            hash,
            version,
            count: usize::try_from(number(bytes, 8)?).ok()?,
            at: 12,
            starts: Vec::new(),
            name: Vec::new(),
        };
        is_known.then_some(reader)
    }

    /// The next entry.
    fn entry(&mut self) -> Option<Entry> {
        let (bytes, start) = (self.bytes, self.at);
        self.starts.push(start);
        let mode = number(bytes, start + MODE_AT)?;
        let mut at = start + STAT_BYTES + self.hash.bytes();
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += 2;
        if flags & EXTENDED != 0 {
            if self.version == 2 {
                return None;
            }
            at += 2;
        }
        if self.version == 4 {
            let stripped = split::varint(bytes, &mut at)?;
            let kept = self.name.len().checked_sub(stripped)?;
            self.name.truncate(kept);
        } else {
            self.name.clear();
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        self.name.extend_from_slice(&bytes[at..at + length]);
        at += length + 1;
        if self.version != 4 {
            // Entries are padded with one to eight zeros.
            at = start + (at - 1 - start + 8) / 8 * 8;
        }
        let said = usize::from(flags & NAME_LENGTH);
        if said != self.name.len().min(usize::from(NAME_LENGTH)) {
            return None;
        }
        self.at = at;
        Some(Entry { mode })
    }

    /// What follows the entries: where the rest of them is, if it is elsewhere.
    fn extensions(&self, index: &mut Index) -> Option<()> {
        let (bytes, mut at) = (self.bytes, self.at);
        while at + 8 + self.hash.bytes() <= bytes.len() {
            let length = usize::try_from(number(bytes, at + 4)?).ok()?;
            let content = bytes.get(at + 8..(at + 8).checked_add(length)?)?;
            match &bytes[at..at + 4] {
                b"link" => index.link = Some(Link::read(content, self.hash)?),
                b"EOIE" if usize::try_from(number(content, 0)?).ok()? != self.at => return None,
                b"IEOT" if !self.has_blocks(content) => return None,
                // Folders that stand for what is in them.
                b"sdir" => return None,
                _ => {}
            }
            at += 8 + length;
        }
        Some(())
    }

    /// Whether a table of blocks is one of these entries, in this order.
    fn has_blocks(&self, table: &[u8]) -> bool {
        let mut entries = 0;
        for block in table.get(4..).unwrap_or_default().chunks(8) {
            let (Some(offset), Some(count)) = (number(block, 0), number(block, 4)) else {
                return false;
            };
            if self.starts.get(entries).copied() != usize::try_from(offset).ok() {
                return false;
            }
            entries += usize::try_from(count).unwrap_or(usize::MAX / 2);
        }
        entries == self.count
    }
}

pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
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
                let index = read(&bytes, hash, 10).unwrap();
                assert_eq!(index.gitlinks, expected, "{setting:?} {words:?}");
                assert_eq!(read(&bytes, hash, 1), None, "too many");
                // Cut off among its entries it is not understood.
                for end in (0..bytes.len() / 2).step_by(7) {
                    assert_eq!(read(&bytes[..end], hash, 10), None);
                }
            }
        }
    }

    #[test]
    fn a_split_index_names_the_other_half() {
        let (folder, bytes) = written(&[], &["update-index", "--split-index"]);
        let halves = |bytes: &[u8]| {
            let index = read(bytes, Hash::Sha1, 10).unwrap();
            let name = index.link.as_ref().unwrap().name.clone().unwrap();
            let rest = std::fs::read(folder.path().join(".git").join(name)).unwrap();
            shared(&rest, Hash::Sha1, &index, 10).unwrap()
        };
        assert_eq!(halves(&bytes).len(), 2);
        // A file of the other half that is replaced by a repository here has no name here.
        let id = "1".repeat(40);
        let entry = format!("160000,{id},a-7-long-name");
        git(
            folder.path(),
            &["update-index", "--add", "--cacheinfo", &entry],
        );
        let bytes = std::fs::read(folder.path().join(".git/index")).unwrap();
        let own = read(&bytes, Hash::Sha1, 10).unwrap();
        let all = [own.gitlinks, halves(&bytes)].concat();
        assert!(all.contains(&PathBuf::from("a-7-long-name")), "{all:?}");
    }

    #[test]
    fn what_git_would_read_otherwise_is_not_understood() {
        let (_folder, bytes) = written(&[], &["update-index", "--index-version=2"]);
        let end = bytes.len() - 20;
        let with = |name: &[u8], content: &[u8]| {
            let length = u32::try_from(content.len()).unwrap().to_be_bytes();
            [&bytes[..end], name, &length, content, &bytes[end..]].concat()
        };
        let changed = |at: usize, to: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = to;
            bytes
        };
        for (what, odd) in [
            (
                "a mode that git never writes",
                changed(12 + MODE_AT + 2, 0xe1),
            ),
            ("a length that the name has not", changed(12 + 61, 1)),
            ("more flags than the version has", changed(12 + 60, 0x40)),
            ("extensions elsewhere", with(b"EOIE", &[0; 24])),
            (
                "entries elsewhere",
                with(b"IEOT", &[0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 53]),
            ),
            ("folders for what is in them", with(b"sdir", b"")),
        ] {
            assert_eq!(read(&odd, Hash::Sha1, 10), None, "{what}");
        }
        let whole = [0, 0, 0, 1, 0, 0, 0, 12, 0, 0, 0, 52];
        assert!(read(&with(b"IEOT", &whole), Hash::Sha1, 10).is_some());
        assert!(read(&with(b"PADD", &[0; 99]), Hash::Sha1, 10).is_some());
    }
}
