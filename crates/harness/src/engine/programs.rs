//! Where the user's own shell finds programs. What lies there is run outside the fence, so that nobody is offered to have it written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folders of a search path, and those that programs in them are links to, with every link followed. It is looked up when
/// something is about to be offered: programs come and go.
pub(super) fn places(search_path: Option<&str>) -> Vec<PathBuf> {
    let folders = search_path.into_iter().flat_map(|path| path.split(':'));
    let folders: BTreeSet<PathBuf> = folders
        // What is relative is below the folder that commands work in.
        .filter(|folder| folder.starts_with('/'))
        .map(|folder| real(Path::new(folder)))
        .collect();
    let mut places = folders.clone();
    for folder in &folders {
        places.extend(led_to(folder));
    }
    places.into_iter().collect()
}

/// The folders that links in a folder lead to.
fn led_to(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    links.filter_map(|link| {
        let program = link.path().canonicalize().ok()?;
        program.parent().map(Path::to_path_buf)
    })
}

/// The path with every link in it followed, as far as it is there.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for folder in ["bin", "tools/one/bin", "elsewhere"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        std::fs::write(home.join("tools/one/bin/one"), "").unwrap();
        symlink(home.join("tools/one/bin/one"), home.join("bin/one")).unwrap();
        symlink(home.join("gone"), home.join("bin/dangling")).unwrap();
        symlink(home.join("bin"), home.join("by-another-name")).unwrap();
        let path = format!(
            "{0}/by-another-name:{0}/not-there::relative/bin",
            home.display()
        );
        let found = places(Some(&path));
        let expected = ["bin", "not-there", "tools/one/bin"].map(|name| home.join(name));
        assert_eq!(found, expected);
        assert!(places(None).is_empty());
    }
}
