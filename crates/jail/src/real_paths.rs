//! What paths really are, for many of them at once.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Paths with every link in them followed, as far as they exist. Many are in few folders, and
/// following the way to each of those costs a call for every name on it.
#[derive(Default)]
pub(crate) struct RealPaths(HashMap<PathBuf, PathBuf>);

impl RealPaths {
    /// What a path really is.
    pub(crate) fn of(&mut self, path: &Path) -> PathBuf {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return resolved(path);
        };
        let folders = &mut self.0;
        let real = folders
            .entry(folder.to_path_buf())
            .or_insert_with(|| resolved(folder))
            .join(name);
        let is_link = fs::symlink_metadata(&real).is_ok_and(|found| found.is_symlink());
        if is_link { resolved(path) } else { real }
    }
}

/// A path with every link in it followed, as far as it exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return match path.strip_prefix(ancestor) {
                Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
                _ => real,
            };
        }
    }
    path.to_path_buf()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_as_far_as_there_is_something() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let at = |path: &str| top.join(path);
        fs::create_dir_all(at("real/deep")).unwrap();
        fs::write(at("real/deep/file"), "").unwrap();
        symlink("real", at("link")).unwrap();
        symlink("deep/file", at("real/to_file")).unwrap();
        symlink("nowhere", at("real/broken")).unwrap();
        let mut real = RealPaths::default();
        for (path, expected) in [
            ("real/deep/file", "real/deep/file"),
            ("link/deep/file", "real/deep/file"),
            ("link/to_file", "real/deep/file"),
            ("link/absent", "real/absent"),
            ("link/absent/below", "real/absent/below"),
            ("link/broken", "real/broken"),
            ("link", "real"),
        ] {
            assert_eq!(real.of(&at(path)), at(expected), "{path}");
        }
    }
}
