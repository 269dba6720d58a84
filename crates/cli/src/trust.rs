//! Trust in what projects bring, bound to its content: a digest of a project's files, kept with
//! the user's state. A file that changes, comes or goes ends it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

/// The files of a project that Ringfence reads.
const FILES: &[&str] = &["config.toml", "rules.toml"];

/// More than any of them needs.
const LARGEST: u64 = 1 << 20;

/// The files that a project brings, with their text: plain files of a bounded size, in the project.
pub(crate) fn brought(workspace: &Path) -> Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for name in FILES {
        let path = workspace.join(".ringfence").join(name);
        let text = read_beneath(workspace, &Path::new(".ringfence").join(name))
            .with_context(|| format!("{} cannot be read", path.display()))?;
        found.extend(text.map(|text| (path, text)));
    }
    Ok(found)
}

/// The text of a file in a folder; none if it is not there, or is a mark.
fn read_beneath(folder: &Path, file: &Path) -> Result<Option<String>> {
    if ringfence::jail::mark::is_at(&folder.join(file)) {
        return Ok(None);
    }
    let root = rustix::fs::open(folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    // A link that leads out of the project is not followed, and a pipe is not waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = match rustix::fs::openat2(&root, file, flags, Mode::empty(), ResolveFlags::BENEATH)
    {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::XDEV) => bail!("it is a link that leads out of the project"),
        other => File::from(other?),
    };
    if !opened.metadata()?.is_file() {
        bail!("it is not a plain file");
    }
    let mut text = String::new();
    opened.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        bail!("it is larger than {LARGEST} bytes");
    }
    Ok(Some(text))
}

/// Whether a project is trusted with what it brings.
pub(crate) fn is_trusted(
    state: &Path,
    workspace: &Path,
    brought: &[(PathBuf, String)],
) -> Result<bool> {
    if brought.is_empty() {
        return Ok(false);
    }
    let key = workspace.display().to_string();
    Ok(read(state)?.get(&key) == Some(&digest(brought)))
}

/// Trusts a project with what it brings, as it was shown.
pub(crate) fn grant(state: &Path, workspace: &Path, brought: &[(PathBuf, String)]) -> Result<()> {
    let mut all = read(state)?;
    all.insert(workspace.display().to_string(), digest(brought));
    write(state, &all)
}

/// Ends the trust in a project. Says whether there was any.
pub(crate) fn revoke(state: &Path, workspace: &Path) -> Result<bool> {
    let mut all = read(state)?;
    let had = all.remove(&workspace.display().to_string()).is_some();
    write(state, &all)?;
    Ok(had)
}

fn digest(files: &[(PathBuf, String)]) -> String {
    let mut hash = Sha256::new();
    for (path, text) in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Lengths keep one file's end from being taken for another's beginning.
        hash.update(format!("{name} {}\n", text.len()));
        hash.update(text);
    }
    hash.finalize()
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

fn store(state: &Path) -> PathBuf {
    state.join("trusted-projects.json")
}

fn read(state: &Path) -> Result<BTreeMap<String, String>> {
    let path = store(state);
    match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).with_context(|| {
            format!(
                "{} is not readable; remove it to trust projects anew",
                path.display()
            )
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

fn write(state: &Path, all: &BTreeMap<String, String>) -> Result<()> {
    let path = store(state);
    let draft = path.with_extension("new");
    fs::create_dir_all(state)
        .and_then(|()| {
            fs::write(
                &draft,
                serde_json::to_string_pretty(all).unwrap_or_default(),
            )
        })
        .and_then(|()| fs::rename(&draft, &path))
        .with_context(|| format!("{} cannot be written", path.display()))
}
