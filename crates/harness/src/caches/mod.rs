//! Caches for package managers: private to Ringfence, outside the workspace, and never the user's own.
//!
//! What a command downloads lies where only fenced commands of the same workspace look for it. A poisoned cache is therefore as far as
//! it gets: it is never read outside the fence, nor by another project unless the user shares one.

mod shelf;
mod sweep;
mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence_policy::preset::{Caches, Place};

use crate::config::{CachesConfig, Keeping};
use shelf::Shelf;
use sweep::Sweeper;

/// Where caches are that go with their session.
const IN_SESSION: &str = "/tmp/ringfence-caches";

/// Whose caches they are.
pub(crate) struct Whose<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) home: Option<&'a Path>,
    /// The user's environment, which says where the user's own caches are.
    pub(crate) environment: &'a BTreeMap<String, String>,
    /// The user that commands run as.
    pub(crate) uid: u32,
}

/// The caches of a session, held for as long as it lives.
pub(crate) struct OpenCaches {
    pub(crate) caches: Arc<Caches>,
    /// What keeps others from sweeping them.
    _shelf: Option<Shelf>,
    _sweeper: Option<Sweeper>,
}

impl OpenCaches {
    /// Opens the caches of a workspace in the folder that all of them are in. Where none can be kept (there is no
    /// folder, or commands could not reach it) they go with the session.
    pub(crate) fn open(
        config: &CachesConfig,
        folder: Option<&Path>,
        whose: &Whose<'_>,
    ) -> Option<Self> {
        let name = match config.keep {
            Keeping::Off => return None,
            Keeping::Session => return Some(Self::in_session(whose)),
            Keeping::Workspace => Shelf::name_of(whose.workspace, whose.uid),
            Keeping::User => Shelf::shared_name(whose.uid),
        };
        let opened = folder.map(|folder| (folder, Shelf::open(folder, &name, whose)));
        let Some((folder, Ok(shelf))) = opened else {
            return Some(Self::in_session(whose));
        };
        let place = Place::Kept(shelf.tools());
        Some(Self {
            caches: Arc::new(Caches::at(place, whose.home, whose.environment)),
            _shelf: Some(shelf),
            _sweeper: Sweeper::start(folder, config.max_bytes),
        })
    }

    fn in_session(whose: &Whose<'_>) -> Self {
        let place = Place::Session(PathBuf::from(IN_SESSION));
        Self {
            caches: Arc::new(Caches::at(place, whose.home, whose.environment)),
            _shelf: None,
            _sweeper: None,
        }
    }
}

#[cfg(test)]
mod tests;
