//! Trust in what projects bring, bound to its content: a digest of a project's files, kept with
//! the user's state. A file that changes, comes or goes ends it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ringfence::project::Project;
use sha2::{Digest, Sha256};

/// Whether a project is trusted as it is now.
pub(crate) fn is_trusted(state: &Path, project: &Project) -> Result<bool> {
    let key = project.root.display().to_string();
    Ok(!project.is_empty() && read(state)?.get(&key) == Some(&digest(project)))
}

/// Trusts a project as it is now.
pub(crate) fn grant(state: &Path, project: &Project) -> Result<()> {
    let mut all = read(state)?;
    all.insert(project.root.display().to_string(), digest(project));
    write(state, &all)
}

/// Ends the trust in a project. Says whether there was any.
pub(crate) fn revoke(state: &Path, root: &Path) -> Result<bool> {
    let mut all = read(state)?;
    let had = all.remove(&root.display().to_string()).is_some();
    write(state, &all)?;
    Ok(had)
}

fn digest(project: &Project) -> String {
    let mut hash = Sha256::new();
    for (path, text) in project.files() {
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
