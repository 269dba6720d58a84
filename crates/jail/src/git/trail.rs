//! Where a path leads, link by link: what git runs may lie behind several, and each of them decides
//! as much as the file at the end.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::reach::{Found, Reach};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// A way along links.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// Those in reach, in their order.
    pub(super) links: Vec<(PathBuf, Found)>,
    /// What the path really is, whether something is there or not. Nothing if that is out of reach.
    pub(super) end: Option<PathBuf>,
}

enum Step {
    Up,
    Into(OsString),
}

/// Follows a path. What is outside the roots has no links as far as this knows: a command can make
/// none there.
pub(super) fn follow(reach: &Reach, path: &Path) -> Trail {
    let mut trail = Trail::default();
    let mut at = PathBuf::from("/");
    let mut waiting = steps(path);
    while let Some(step) = waiting.pop_front() {
        let name = match step {
            Step::Up => {
                at.pop();
                continue;
            }
            Step::Into(name) => name,
        };
        at.push(name);
        let is_inside = reach.holds(&at) && !reach.roots().any(|root| root == at);
        if !is_inside {
            continue;
        }
        let found = reach.find(&at, 0);
        let Found::Link(_, target) = &found else {
            continue;
        };
        if trail.links.len() >= MOST_LINKS {
            return trail;
        }
        let mut further = steps(target);
        further.append(&mut waiting);
        waiting = further;
        let link = at.clone();
        if target.is_absolute() {
            at = PathBuf::from("/");
        } else {
            at.pop();
        }
        trail.links.push((link, found));
    }
    trail.end = reach.holds(&at).then_some(at);
    trail
}

fn steps(path: &Path) -> VecDeque<Step> {
    let steps = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(Step::Into(name.to_owned())),
        Component::ParentDir => Some(Step::Up),
        _ => None,
    });
    steps.collect()
}

/// The path that a file names, from a folder without links: as git takes it, if it is in its plain
/// form. That is without control characters and blanks at its ends, and goes up at its beginning
/// alone: further on it may go up from where a link leads.
pub(super) fn plain(folder: &Path, text: &[u8]) -> Option<PathBuf> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() || text.trim() != text || text.chars().any(char::is_control) {
        return None;
    }
    let parts: Vec<Component<'_>> = Path::new(text).components().collect();
    let down = parts
        .iter()
        .position(|part| !matches!(part, Component::ParentDir | Component::CurDir))
        .unwrap_or(parts.len());
    let goes_up = |part: &Component<'_>| *part == Component::ParentDir;
    let is_plain = !parts[down..].iter().any(goes_up);
    is_plain.then(|| super::reach::tidy(&folder.join(text)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_as_the_kernel_does() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        fs::create_dir_all(at("deep/er")).unwrap();
        fs::write(at("deep/file"), "").unwrap();
        for (link, target) in [
            ("corner", Path::new("deep/er")),
            ("one", Path::new("two")),
            ("two", Path::new("deep/file")),
            ("away", Path::new("/etc")),
            ("back", &at("deep")),
            ("round", Path::new("round")),
        ] {
            symlink(target, at(link)).unwrap();
        }
        let reach = Reach::of(std::slice::from_ref(&root));
        for (path, links, end) in [
            ("deep/file", 0, Some("deep/file")),
            ("corner/../file", 1, Some("deep/file")),
            ("one", 2, Some("deep/file")),
            ("back/none/x", 1, Some("deep/none/x")),
            ("away/passwd", 1, None),
            ("round", MOST_LINKS, None),
        ] {
            let trail = follow(&reach, &at(path));
            assert_eq!(trail.links.len(), links, "{path}");
            assert_eq!(trail.end, end.map(at), "{path}");
        }
    }

    #[test]
    fn only_plain_paths_are_taken() {
        for (text, expected) in [
            ("../.git/modules/lib\n", Some("/w/.git/modules/lib")),
            ("../..", Some("/")),
            ("/w/store\n", Some("/w/store")),
            ("./x", Some("/w/sub/x")),
            ("../store ", None),
            (" ../store", None),
            ("../L/../store", None),
            ("x\n\n", None),
            ("x\0y", None),
            ("x\r\n", None),
            ("", None),
        ] {
            let expected = expected.map(PathBuf::from);
            assert_eq!(
                plain(Path::new("/w/sub"), text.as_bytes()),
                expected,
                "{text}"
            );
        }
    }
}
