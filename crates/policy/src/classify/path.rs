//! Where a word of a command points.
//!
//! Paths are worked out from the text and the ground alone. Links are not followed: that is the
//! fence's work. What it means to touch a place is decided in `touch`.

use std::path::{Component, Path, PathBuf};

use crate::{
    facts::{Directory, FOLDER_MARK, HOME_MARK, Piece, Word},
    ground::Ground,
    rule::{Matched, path_covers},
};

pub(super) const STAR: char = '\u{f0001}';
pub(super) const ONE: char = '\u{f0002}';
const ANY: char = '\u{f0003}';
pub(super) const HOME: &str = "\u{f0004}";

/// The places that a word may point to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    pub(crate) places: Vec<Spot>,
    /// Whether it may also point somewhere that is not known.
    pub(crate) unknown: bool,
}

/// An absolute path, in parts; a part may hold wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(super) parts: Vec<String>,
    /// Whether something unknown follows.
    pub(super) open: bool,
}

impl Spread {
    /// The paths, if they are all fixed.
    pub(crate) fn fixed(&self) -> Option<Vec<PathBuf>> {
        if self.unknown {
            return None;
        }
        let mut paths = Vec::new();
        for spot in &self.places {
            if spot.open || spot.has_wildcard() || spot.part(0) == HOME {
                return None;
            }
            paths.push(PathBuf::from(format!("/{}", spot.parts.join("/"))));
        }
        Some(paths)
    }

    /// Whether it certainly points into this folder.
    pub(crate) fn is_in(&self, folder: &Path) -> bool {
        let inside = |spot: &Spot| !spot.open && spot.is_in(folder);
        !self.unknown && !self.places.is_empty() && self.places.iter().all(inside)
    }

    /// Whether one of the places may be the path that a pattern names, or in it.
    pub(crate) fn may_be_in(&self, pattern: &[String]) -> Matched {
        let matched = self.places.iter().map(|spot| spot.may_be_in(pattern));
        matched.max().unwrap_or(Matched::No)
    }
}

/// The places that a word may point to from one of these directories.
pub(crate) fn spread(word: &Word, directory: &Directory, ground: &Ground) -> Spread {
    let mut found = Spread {
        places: Vec::new(),
        unknown: false,
    };
    let raw = raw(word, ground);
    if raw.starts_with('/') {
        found.places.push(Spot::start().join(&raw));
        return found;
    }
    if raw.starts_with(ANY) {
        found.unknown = true;
        return found;
    }
    found.unknown = directory.unknown;
    for chain in &directory.chains {
        match base(chain, ground) {
            Some(base) => found.places.push(base.join(&raw)),
            None => found.unknown = true,
        }
    }
    found
}

/// The directory that a chain of `cd` arguments leads to.
fn base(chain: &[Word], ground: &Ground) -> Option<Spot> {
    let mut at = Spot::start().join(&ground.cwd.to_string_lossy());
    for step in chain {
        let raw = raw(step, ground);
        if raw.contains(ANY) {
            return None;
        }
        at = if raw.starts_with('/') {
            Spot::start().join(&raw)
        } else {
            at.join(&raw)
        };
    }
    Some(at)
}

/// A value in which marks stand for the home folder and the working directory.
fn with_folders(value: &str, ground: &Ground) -> String {
    if !value.contains([HOME_MARK, FOLDER_MARK]) {
        return value.to_owned();
    }
    let home = match &ground.home {
        Some(home) => home.to_string_lossy().into_owned(),
        None => format!("/{HOME}"),
    };
    value
        .replace(HOME_MARK, &home)
        .replace(FOLDER_MARK, &ground.cwd.to_string_lossy())
}

/// A word as text with wildcards.
fn raw(word: &Word, ground: &Ground) -> String {
    if let Some(value) = word.literal() {
        return with_folders(value, ground);
    }
    let home = || match &ground.home {
        Some(home) => home.to_string_lossy().into_owned(),
        None => format!("/{HOME}"),
    };
    let mut text = String::new();
    let mut in_class = false;
    for piece in &word.pieces {
        match piece {
            Piece::Text(part) => match part.split_once(']') {
                Some((_, after)) if in_class => {
                    in_class = false;
                    text.push_str(after);
                }
                _ if in_class => {}
                _ => text.push_str(&with_folders(part, ground)),
            },
            Piece::Home(None) => text.push_str(&home()),
            Piece::Home(Some(user)) => match user.as_str() {
                "root" => text.push_str("/root"),
                "+" => text.push_str(&ground.cwd.to_string_lossy()),
                user => {
                    text.push_str("/home/");
                    text.push_str(user);
                }
            },
            Piece::Glob('*') | Piece::Sequence => text.push(STAR),
            Piece::Glob('[') => {
                in_class = true;
                text.push(ONE);
            }
            Piece::Glob(_) => text.push(ONE),
            Piece::Parameter { name, .. } if name == "HOME" => text.push_str(&home()),
            Piece::Parameter { name, .. } if name == "PWD" => {
                text.push_str(&ground.cwd.to_string_lossy());
            }
            Piece::Parameter { name, .. } if name == "TMPDIR" => text.push_str("/tmp"),
            _ => text.push(ANY),
        }
    }
    text
}

impl Spot {
    fn start() -> Self {
        Self {
            parts: Vec::new(),
            open: false,
        }
    }

    fn join(&self, raw: &str) -> Self {
        let mut parts = if raw.starts_with('/') {
            Vec::new()
        } else {
            self.parts.clone()
        };
        let mut open = self.open;
        for part in raw.split('/') {
            match part {
                "" | "." => {}
                ".." => _ = parts.pop(),
                part if part.contains(ANY) => {
                    open = true;
                    break;
                }
                part => parts.push(part.to_owned()),
            }
        }
        Self { parts, open }
    }

    /// The spot for a person to read.
    pub(super) fn shown(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            text.push('/');
            text.extend(part.chars().map(|c| match c {
                STAR => '*',
                ONE => '?',
                other => other,
            }));
        }
        if text.is_empty() {
            "/".into()
        } else {
            text.replace(HOME, "~")
        }
    }

    /// Whether this is the path or above it.
    pub(super) fn covers(&self, path: &Path) -> bool {
        let mut names = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        });
        let mut parts = self.parts.as_slice();
        // Everything in a folder is as good as the folder.
        while let [before @ .., last] = parts {
            if last.chars().all(|c| c == STAR || c == '.' || c == ONE) && last.contains(STAR) {
                parts = before;
            } else {
                break;
            }
        }
        parts
            .iter()
            .all(|part| names.next().is_some_and(|name| wildcard(part, &name)))
    }

    /// Whether this is below the path or the path itself.
    pub(super) fn is_in(&self, path: &Path) -> bool {
        let mut parts = self.parts.iter();
        path.components().all(|component| match component {
            Component::Normal(name) => parts.next().is_some_and(|part| part.as_str() == name),
            _ => true,
        })
    }

    fn may_be_in(&self, pattern: &[String]) -> Matched {
        if !self.has_wildcard() && !self.open {
            return Matched::of(path_covers(pattern, &self.parts));
        }
        // With wildcards on both sides, what may match is taken to match.
        for (index, expected) in pattern.iter().enumerate() {
            if expected.contains('*') {
                return Matched::Yes;
            }
            match self.parts.get(index) {
                Some(part) if wildcard(part, expected) => {}
                None if self.open => return Matched::Maybe,
                _ => return Matched::No,
            }
        }
        Matched::Yes
    }

    pub(super) fn has_wildcard(&self) -> bool {
        self.parts.iter().any(|part| part.contains([STAR, ONE]))
    }

    pub(super) fn part(&self, at: usize) -> &str {
        self.parts.get(at).map_or("", String::as_str)
    }

    pub(super) fn may_write(&self, ground: &Ground) -> bool {
        self.is_in(&ground.workspace) || ground.writable.iter().any(|root| self.is_in(root))
    }

    /// The parts below the home folder, if it is there.
    pub(super) fn below_home(&self, ground: &Ground) -> Option<&[String]> {
        if self.part(0) == HOME {
            return Some(&self.parts[1..]);
        }
        let depth = match &ground.home {
            Some(home) if self.is_in(home) => home.components().count().saturating_sub(1),
            _ if self.part(0) == "root" => 1,
            _ if matches!(self.part(0), "home" | "Users") && self.parts.len() > 2 => 2,
            _ => return None,
        };
        Some(&self.parts[depth.min(self.parts.len())..])
    }
}

/// Whether a part with wildcards matches a name.
pub(super) fn wildcard(pattern: &str, name: &str) -> bool {
    if !pattern.contains([STAR, ONE]) {
        return pattern == name;
    }
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(&STAR) => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == ONE || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    n = from + 1;
                    star = Some((at, n));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == STAR)
}

/// Whether a word is a Windows network path.
pub(crate) fn is_unc(word: &Word) -> bool {
    let start = word.known_start();
    let start = start.split_once('=').map_or(start, |(_, value)| value);
    start.starts_with("\\\\") || start.starts_with("//") && start.len() > 2
}
