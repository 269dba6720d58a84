//! Trust in what projects bring, bound to its content: a digest of a project's files, kept with
//! the user's state. A file that changes, comes or goes ends it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::config::{ProjectLayer, Trust};
use crate::project::{self, Project};

/// Why trust could not be looked up or kept.
#[derive(Debug, Error)]
pub enum TrustError {
    /// The file does not say what it should.
    #[error("{} is not readable; remove it to trust projects anew", path.display())]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// There is no place to keep it.
    #[error("there is no place to remember trust")]
    Nowhere,
    /// The file cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("{} cannot be written", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The projects that a user trusts, each as it was when they looked at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    file: Option<PathBuf>,
}

impl TrustStore {
    /// The one in a folder of state.
    pub fn in_state(state: &Path) -> Self {
        Self {
            file: Some(state.join("trusted-projects.json")),
        }
    }

    /// One that trusts no project and remembers none.
    pub fn nowhere() -> Self {
        Self { file: None }
    }

    /// Whether a project is trusted as it is now.
    pub fn trust(&self, project: &Project) -> Result<Trust, TrustError> {
        let known = self.read()?;
        let known = known.get(&project.root.display().to_string());
        if !project.is_empty() && known == Some(&digest(project)) {
            Ok(Trust::Trusted)
        } else {
            Ok(Trust::Untrusted)
        }
    }

    /// The configuration of each of these projects, with the trust in it.
    pub fn layers(&self, projects: &[Project]) -> Result<Vec<ProjectLayer>, TrustError> {
        let mut layers = Vec::new();
        for project in projects {
            if let Some(text) = &project.config {
                layers.push(ProjectLayer {
                    file: project.path(project::CONFIG),
                    text: text.clone(),
                    trust: self.trust(project)?,
                });
            }
        }
        Ok(layers)
    }

    /// Trusts a project as it is now.
    pub fn grant(&self, project: &Project) -> Result<(), TrustError> {
        let mut all = self.read()?;
        all.insert(project.root.display().to_string(), digest(project));
        self.write(&all)
    }

    /// Ends the trust in a project. Says whether there was any.
    pub fn revoke(&self, root: &Path) -> Result<bool, TrustError> {
        let mut all = self.read()?;
        let had = all.remove(&root.display().to_string()).is_some();
        self.write(&all)?;
        Ok(had)
    }

    fn read(&self) -> Result<BTreeMap<String, String>, TrustError> {
        let Some(file) = &self.file else {
            return Ok(BTreeMap::new());
        };
        let path = || file.clone();
        match fs::read_to_string(file) {
            Ok(text) => serde_json::from_str(&text).map_err(|source| TrustError::NotUnderstood {
                path: path(),
                source,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(source) => Err(TrustError::Unreadable {
                path: path(),
                source,
            }),
        }
    }

    fn write(&self, all: &BTreeMap<String, String>) -> Result<(), TrustError> {
        let file = self.file.as_ref().ok_or(TrustError::Nowhere)?;
        let draft = file.with_extension("new");
        let folder = file.parent().unwrap_or(Path::new("/"));
        let text = serde_json::to_string_pretty(all).unwrap_or_default();
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&draft, text))
            .and_then(|()| fs::rename(&draft, file))
            .map_err(|source| TrustError::Unwritable {
                path: file.clone(),
                source,
            })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn project(config: Option<&str>, rules: Option<&str>) -> Project {
        Project {
            root: PathBuf::from("/work"),
            config: config.map(str::to_owned),
            rules: rules.map(str::to_owned),
        }
    }

    #[test]
    fn trust_is_bound_to_the_content() {
        let state = tempfile::tempdir().unwrap();
        let store = TrustStore::in_state(&state.path().join("ringfence"));
        let seen = project(Some("a"), Some("b"));
        assert_eq!(store.trust(&seen).unwrap(), Trust::Untrusted);
        store.grant(&seen).unwrap();
        assert_eq!(store.trust(&seen).unwrap(), Trust::Trusted);
        assert_eq!(store.layers(&[seen]).unwrap()[0].trust, Trust::Trusted);
        for other in [
            project(Some("a"), None),
            project(Some("a "), Some("b")),
            project(Some("ab"), Some("")),
            project(Some("arules.toml 1\nb"), None),
            project(None, None),
        ] {
            assert_eq!(store.trust(&other).unwrap(), Trust::Untrusted, "{other:?}");
        }
        assert!(store.revoke(Path::new("/work")).unwrap());
        assert!(!store.revoke(Path::new("/work")).unwrap());
    }

    #[test]
    fn a_store_that_says_nothing_trusts_nobody() {
        let state = tempfile::tempdir().unwrap();
        let store = TrustStore::in_state(state.path());
        fs::write(state.path().join("trusted-projects.json"), "{").unwrap();
        assert!(store.trust(&project(Some("a"), None)).is_err());
        let (nowhere, any) = (TrustStore::nowhere(), project(Some("a"), None));
        assert!(nowhere.grant(&any).is_err());
        assert_eq!(nowhere.trust(&any).unwrap(), Trust::Untrusted);
    }
}
