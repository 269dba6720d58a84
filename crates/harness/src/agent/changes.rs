//! What a turn changed in the workspace, as a diff of each file.
//!
//! The files that no ignore file leaves out are looked at before and after, as the user that commands run as; those whose
//! stamp has changed are read again. What is too large or too many is not compared.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use super::diff;
use crate::engine::Engine;
use crate::file_user::FileUser;

/// The most files that are looked at.
const MOST_FILES: usize = 10_000;
/// The largest file that is compared.
const LARGEST: u64 = 256 << 10;
/// How many bytes of files are held for comparison.
const MOST_BYTES: u64 = 32 << 20;
/// The longest diff of one file.
const LONGEST_DIFF: usize = 64 << 10;

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// Its path below the workspace.
    pub path: String,
    /// How it changed.
    pub kind: FileDiffKind,
    /// The unified diff; none where it is not text, or too large to compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum FileDiffKind {
    Add,
    Delete,
    Update,
}

/// The workspace as it was when it was looked at last.
pub(super) struct Workspace {
    root: PathBuf,
    owner: FileUser,
    files: Option<Arc<Files>>,
    /// A look that is under way.
    looking: Option<JoinHandle<io::Result<Files>>>,
}

type Files = BTreeMap<String, Seen>;

/// A file as it was.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    stamp: (u64, i64, i64, i64, i64, u64),
    text: Option<Arc<str>>,
}

impl Workspace {
    pub(super) fn of(engine: &Engine) -> Self {
        Self {
            root: engine.workspace().to_path_buf(),
            owner: engine.owner(),
            files: None,
            looking: None,
        }
    }

    /// Begins to look at the workspace, while the model is asked.
    pub(super) fn begin(&mut self) {
        let before = self.files.clone();
        let root = self.root.clone();
        let owner = self.owner.clone();
        let looked = owner.act(move || look(&root, before.as_deref()));
        self.looking = Some(tokio::spawn(looked));
    }

    /// Waits for the look that was begun: from here on things may change.
    pub(super) async fn ready(&mut self) {
        if let Some(looking) = self.looking.take()
            && let Ok(Ok(files)) = looking.await
        {
            self.files = Some(Arc::new(files));
        }
    }

    /// Looks at the workspace; tells what has changed since it was looked at last.
    pub(super) async fn look(&mut self) -> Vec<FileDiff> {
        let before = self.files.clone();
        let root = self.root.clone();
        let looked = self.owner.clone().act(move || {
            let after = look(&root, before.as_deref());
            let changes = before
                .map(|before| compare(&before, &after))
                .unwrap_or_default();
            (after, changes)
        });
        // A workspace that cannot be looked at has no changes that could be told.
        let Ok((after, changes)) = looked.await else {
            return Vec::new();
        };
        self.files = Some(Arc::new(after));
        changes
    }
}

fn look(root: &Path, before: Option<&Files>) -> Files {
    let mut files = Files::new();
    let mut held = 0;
    // Hidden files are left out: what is in them is often no business of a history's.
    let mut walk = WalkBuilder::new(root);
    // The workspace alone says what is left out of it.
    walk.require_git(false).parents(false).git_global(false);
    for entry in walk.build().flatten() {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let path = entry.path().strip_prefix(root).ok().and_then(Path::to_str);
        let (true, Some(path)) = (is_file, path) else {
            continue;
        };
        if files.len() == MOST_FILES {
            break;
        }
        let known = before.and_then(|before| before.get(path));
        if let Ok(seen) = Seen::of(entry.path(), known, &mut held) {
            files.insert(path.to_owned(), seen);
        }
    }
    files
}

impl Seen {
    fn of(path: &Path, known: Option<&Self>, held: &mut u64) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        let stamp = (
            found.ino(),
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
            found.size(),
        );
        *held += found.size();
        if let Some(known) = known.filter(|known| known.stamp == stamp) {
            return Ok(known.clone());
        }
        let fits = found.size() <= LARGEST && *held <= MOST_BYTES;
        let text = if fits { read(path)? } else { None };
        Ok(Self { stamp, text })
    }
}

/// The text of a file, if it is one. A link that has taken its place is not followed, and nothing waits for a pipe.
fn read(path: &Path) -> io::Result<Option<Arc<str>>> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file: File = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).ok();
    Ok(text.filter(|text| !text.contains('\0')).map(Arc::from))
}

fn compare(before: &Files, after: &Files) -> Vec<FileDiff> {
    let gone = before.iter().filter(|(path, _)| !after.contains_key(*path));
    let gone = gone.map(|(path, old)| change(path, Some(old), None));
    let other = after
        .iter()
        .filter_map(|(path, new)| match before.get(path) {
            // Written again with the same content is no change.
            Some(old) if old.stamp == new.stamp || old.text.is_some() && old.text == new.text => {
                None
            }
            old => Some(change(path, old, Some(new))),
        });
    let mut changes: Vec<FileDiff> = other.chain(gone).collect();
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    changes
}

fn change(path: &str, old: Option<&Seen>, new: Option<&Seen>) -> FileDiff {
    let is_text = |seen: Option<&Seen>| seen.is_none_or(|seen| seen.text.is_some());
    let text = |seen: Option<&Seen>| seen.and_then(|seen| seen.text.clone());
    let diff = (is_text(old) && is_text(new))
        .then(|| diff::unified(path, text(old).as_deref(), text(new).as_deref()))
        .filter(|diff| diff.len() <= LONGEST_DIFF);
    FileDiff {
        path: path.to_owned(),
        kind: match (old, new) {
            (None, _) => FileDiffKind::Add,
            (_, None) => FileDiffKind::Delete,
            _ => FileDiffKind::Update,
        },
        diff,
    }
}
