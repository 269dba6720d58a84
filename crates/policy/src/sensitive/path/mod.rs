//! Paths that hold secrets, or that run code when somebody comes by.
//!
//! Rows are groups of paths that are treated alike. A path stands in one row of its base.

mod credentials;
mod home;
mod project;
mod system;

use std::{collections::HashMap, sync::LazyLock};

/// What the paths of a row are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The home folder.
    Home,
    /// The top of every writable root.
    Root,
    /// Nothing: the paths are absolute.
    System,
}

/// What reading means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    /// Nothing.
    Free,
    /// A command that names it is asked about; programs may read it, since they need it.
    Asked,
    /// The same, and the fence hides it: it can be neither read nor made.
    Denied,
}

/// What writing means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writing {
    /// Nothing, if reading is free.
    Free,
    /// A command that names it is asked about.
    Asked,
    /// The same, and it cannot be changed where it is there. It may be made: what stands in it
    /// loosens nothing before the user has trusted it, word for word.
    ProtectedWhenThere,
    /// The same, and one that a run makes is set aside at its end.
    Watched,
    /// The same, and it cannot be made while a run lives, which costs a name in the user's folder:
    /// for what every new terminal, git command, editor or agent reads.
    Protected,
}

/// Paths that mean the same.
#[derive(Debug, PartialEq, Eq)]
pub struct PathRow {
    /// What they are relative to.
    pub base: Base,
    /// What it means to read them.
    pub read: Reading,
    /// What it means to write them.
    pub write: Writing,
    /// What they are, in a word or two: "it writes a start-up file".
    pub what: &'static str,
    /// Why they are here.
    pub reason: &'static str,
    /// The paths: files, or folders with all that is in them.
    pub paths: &'static [&'static str],
}

/// What the files of Ringfence itself are called.
pub(crate) const OWN: &str = "the fence's own files";

/// The tables, one after the other.
const TABLES: &[&[PathRow]] = &[
    credentials::TABLE,
    home::TABLE,
    project::TABLE,
    system::TABLE,
];

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static PathRow> {
    TABLES.iter().copied().flatten()
}

/// The paths that the fence hides.
pub fn denied(base: Base) -> impl Iterator<Item = &'static str> {
    paths(base, |row| row.read == Reading::Denied)
}

/// The paths that are kept as they are in this way.
pub fn kept(base: Base, write: Writing) -> impl Iterator<Item = &'static str> {
    paths(base, move |row| row.write == write)
}

/// The relative paths of a writable root that the fence keeps whether they are there or not, and
/// those that it keeps where they are.
pub fn protected_in_roots() -> impl Iterator<Item = &'static str> {
    paths(Base::Root, |row| {
        matches!(row.write, Writing::Protected | Writing::ProtectedWhenThere)
    })
}

fn paths(base: Base, wanted: impl Fn(&PathRow) -> bool) -> impl Iterator<Item = &'static str> {
    rows()
        .filter(move |row| row.base == base && wanted(row))
        .flat_map(|row| row.paths.iter().copied())
}

/// The row of exactly this path.
pub fn row(base: Base, path: &str) -> Option<&'static PathRow> {
    INDEX.rows.get(&(base, path)).copied()
}

/// Why a path is kept as it is: relative to the home folder, or to a writable root.
pub fn kept_because(path: &str) -> Option<&'static str> {
    let rows = [Base::Home, Base::Root].map(|base| row(base, path));
    let mut kept = rows
        .into_iter()
        .flatten()
        .filter(|row| row.write > Writing::Asked);
    kept.next().map(|row| row.reason)
}

/// The row of a path that these names lead to or into: the one that says most about it.
pub(crate) fn around<'n>(
    base: Base,
    names: impl Iterator<Item = &'n str>,
) -> Option<&'static PathRow> {
    let (mut path, mut found) = (String::new(), None);
    for name in names.take(INDEX.deepest) {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(name);
        found = row(base, &path).or(found);
    }
    found
}

struct Index {
    rows: HashMap<(Base, &'static str), &'static PathRow>,
    /// The most names that a path has.
    deepest: usize,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index {
        rows: HashMap::new(),
        deepest: 0,
    };
    for row in rows() {
        for path in row.paths {
            let path = path.trim_start_matches('/');
            index.deepest = index.deepest.max(path.split('/').count());
            index.rows.insert((row.base, path), row);
        }
    }
    index
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_is_there_once_tidy_and_with_a_reason() {
        let mut seen = std::collections::HashSet::new();
        for row in rows() {
            assert!(!row.what.is_empty() && !row.reason.is_empty());
            assert!(
                row.read > Reading::Free || row.write > Writing::Free,
                "{row:?} means nothing"
            );
            for path in row.paths {
                assert!(seen.insert((row.base, path)), "{path} stands twice");
                assert_eq!(path.starts_with('/'), row.base == Base::System, "{path}");
                assert!(!path.ends_with('/') && !path.contains(".."), "{path}");
            }
        }
    }

    /// Each of them is an empty folder in somebody's home for as long as a command runs.
    #[test]
    fn few_names_are_held() {
        assert!(kept(Base::Home, Writing::Protected).count() <= 12);
        assert!(kept(Base::Root, Writing::Protected).count() <= 12);
        assert_eq!(kept(Base::System, Writing::Protected).count(), 0);
    }

    /// The most specific row decides what the judge says, and the fence hides the whole folder.
    #[test]
    fn nothing_below_a_hidden_folder_is_said_to_be_free() {
        for row in rows() {
            for path in row.paths {
                let outer = |at: usize| self::row(row.base, path[..at].trim_start_matches('/'));
                let mut outer = path.match_indices('/').filter_map(|(at, _)| outer(at));
                let hidden = outer.any(|outer| outer.read == Reading::Denied);
                assert!(!hidden || row.read == Reading::Denied, "{path}");
            }
        }
    }

    #[test]
    fn what_is_below_a_path_belongs_to_its_row() {
        for (path, expected) in [
            (".ssh", Some("credentials")),
            (".ssh/id_ed25519", Some("credentials")),
            (".sshd", None),
            (".cargo/credentials.toml", Some("credentials")),
            (".cargo/registry/x", None),
            (".cargo/bin/cargo", Some("programs of the user")),
            (".bashrc", Some("a start-up file")),
            ("src/main.rs", None),
        ] {
            let found = around(Base::Home, path.split('/'));
            assert_eq!(found.map(|row| row.what), expected, "{path}");
        }
    }
}
