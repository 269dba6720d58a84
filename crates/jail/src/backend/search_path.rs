//! Where programs of the machine's are looked for: `bwrap`, `podman`, `docker`.

use std::path::PathBuf;

/// Folders, in the order in which they are looked into. The front end hands them over: the
/// harness's own `PATH` is nothing that a library should read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPath(Vec<PathBuf>);

impl SearchPath {
    /// The folders of a `PATH`. What is not absolute depends on where one stands, and is left out.
    pub fn of(variable: &str) -> Self {
        let folders = std::env::split_paths(variable);
        Self(folders.filter(|folder| folder.is_absolute()).collect())
    }

    /// Where a program of this name is.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        let mut paths = self.0.iter().map(|folder| folder.join(name));
        paths.find(|path| path.is_file())
    }
}

impl Default for SearchPath {
    /// Where systems keep programs.
    fn default() -> Self {
        Self::of("/usr/local/bin:/usr/bin:/bin")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_folders_are_looked_into_and_the_first_wins() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        for at in [&one, &two] {
            std::fs::create_dir(at).unwrap();
            std::fs::write(at.join("tool"), "").unwrap();
        }
        let both = format!(".:{}:{}", one.display(), two.display());
        for (variable, found) in [
            (both.as_str(), Some(one.join("tool"))),
            (".", None),
            ("", None),
        ] {
            assert_eq!(SearchPath::of(variable).find("tool"), found, "{variable}");
        }
    }
}
