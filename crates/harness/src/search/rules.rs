//! What ignore files say about the names below a folder: `.ignore` before `.gitignore` before
//! `.git/info/exclude`, and of each kind the nearest that has an opinion. Repositories are no border,
//! and the user's own file is not looked up. Nothing is walked here.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Names of files that say what is left out.
pub(super) const IGNORE_FILES: [&[u8]; 2] = [b".ignore", b".gitignore"];
/// The folder, or file, that makes a folder a repository.
pub(super) const REPOSITORY: &[u8] = b".git";

/// The rules that hold in a folder.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// For each kind, the nearest first.
    chains: [Option<Arc<Level>>; 3],
}

/// Which sources of rules a folder has, by kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sources {
    has: [bool; 3],
}

#[derive(Debug)]
struct Level {
    /// How many bytes of a path lead into the folder that the rules are about, with the last slash.
    skipped: usize,
    globs: Gitignore,
    above: Option<Arc<Level>>,
}

impl Sources {
    const ALL: Self = Self { has: [true; 3] };

    /// Takes note of a name; says whether it is an ignore file's.
    pub(super) fn note(&mut self, name: &[u8]) -> bool {
        // Nearly all names are told apart here.
        if name.first() != Some(&b'.') {
            return false;
        }
        self.has[2] |= name == REPOSITORY;
        let kind = IGNORE_FILES.iter().position(|ignore| name == *ignore);
        if let Some(kind) = kind {
            self.has[kind] = true;
        }
        kind.is_some()
    }
}

impl Rules {
    /// What the folders above one say. The path is absolute.
    pub(super) fn above(folder: &Path) -> Self {
        let mut above: Vec<&Path> = folder.ancestors().skip(1).collect();
        above.reverse();
        above.into_iter().fold(Self::default(), |rules, folder| {
            rules.within(folder, Sources::ALL)
        })
    }

    /// The rules in a folder below, given what it has.
    pub(super) fn within(&self, folder: &Path, sources: Sources) -> Self {
        let mut rules = self.clone();
        if !sources.has.contains(&true) {
            return rules;
        }
        let files = [
            sources.has[0].then(|| folder.join(".ignore")),
            sources.has[1].then(|| folder.join(".gitignore")),
            sources.has[2].then(|| exclude_file(folder)).flatten(),
        ];
        let length = folder.as_os_str().len();
        let is_top = folder.as_os_str().as_bytes().ends_with(b"/");
        for (chain, file) in rules.chains.iter_mut().zip(files) {
            if let Some(globs) = file.and_then(|file| globs(&file)) {
                *chain = Some(Arc::new(Level {
                    skipped: length + usize::from(!is_top),
                    globs,
                    above: chain.take(),
                }));
            }
        }
        rules
    }

    /// Whether a path is left out. It is absolute, and right below the folder of these rules.
    pub(super) fn leave_out(&self, path: &[u8], is_folder: bool) -> bool {
        for chain in &self.chains {
            let mut next = chain.as_deref();
            while let Some(level) = next {
                let inner = OsStr::from_bytes(path.get(level.skipped..).unwrap_or_default());
                match level.globs.matched(Path::new(inner), is_folder) {
                    Match::None => next = level.above.as_deref(),
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                }
            }
        }
        false
    }
}

/// The rules of a file; nothing if there are none.
fn globs(file: &Path) -> Option<Gitignore> {
    // Only of a plain file: a pipe would keep us waiting.
    if !fs::metadata(file).is_ok_and(|found| found.is_file()) {
        return None;
    }
    // Paths come without what leads to the folder, so that nothing has to be taken off each.
    let mut builder = GitignoreBuilder::new(".");
    // A line that is no pattern says nothing; the others hold.
    let _ = builder.add(file);
    builder.build().ok().filter(|globs| !globs.is_empty())
}

/// Where a repository keeps the rules that it does not share. That of a worktree is elsewhere.
fn exclude_file(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let found = fs::metadata(&git).ok()?;
    if found.is_dir() {
        return Some(git.join("info/exclude"));
    }
    if !found.is_file() {
        return None;
    }
    let first_line = |file: &Path| {
        let text = fs::read_to_string(file).ok()?;
        text.lines().next().map(str::to_owned)
    };
    let line = first_line(&git)?;
    let worktree = folder.join(line.strip_prefix("gitdir: ")?);
    let shared = worktree.join(first_line(&worktree.join("commondir"))?);
    Some(shared.join("info/exclude"))
}
