//! The walk beside that of the `ignore` crate, in generated folders with generated ignore files.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;
use proptest::prelude::*;
use proptest::sample::select;

use crate::search::Terrain;
use crate::search::walk::{Haul, Reach, walk};

const NAMES: &[&str] = &["a", "b", "ab", "c.rs", "d.log", ".e", "!f", "Ä", "g h"];
const GLOBS: &[&str] = &[
    "a", "b", "ab", "c.rs", "*.rs", "*.log", "*", "**", "?", "a*", ".*", "[ab]", "[!a]", "{a,b}",
    "Ä", "g h", "\\!f", "[", "c.?s", "*b",
];
const SOURCES: &[&str] = &[".gitignore", ".ignore", ".git/info/exclude"];

fn path(most: usize) -> impl Strategy<Value = PathBuf> {
    prop::collection::vec(select(NAMES), 0..=most).prop_map(|names| names.iter().collect())
}

fn line() -> impl Strategy<Value = String> {
    let globs = prop::collection::vec(select(GLOBS), 1..=3);
    let before = select(&["", "", "", "/", "!", "!/", "#", "**/"][..]);
    let after = select(&["", "", "", "/", "/**", "/*", " ", "\r"][..]);
    (before, globs, after).prop_map(|(before, globs, after)| {
        // Most rules are short, as rules that say nothing about any name tell nothing.
        let many = if globs[0].len() > 1 { 1 } else { globs.len() };
        format!("{before}{}{after}", globs[..many].join("/"))
    })
}

/// Writes a file unless something else has its place.
fn put(file: &Path, content: &str) {
    if let Some(folder) = file.parent()
        && fs::create_dir_all(folder).is_ok()
        && !file.is_dir()
    {
        fs::write(file, content).unwrap();
    }
}

type Seen = (BTreeSet<PathBuf>, BTreeSet<PathBuf>);

/// Files and folders, as the crate finds them.
fn reference(terrain: &Terrain, from: &Path, reach: Reach) -> Seen {
    let denied = Arc::clone(&terrain.denied);
    let walk = WalkBuilder::new(from)
        .max_depth((reach == Reach::Level).then_some(1))
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .follow_links(false)
        .filter_entry(move |entry| entry.file_name() != ".git" && !denied.contains(entry.path()))
        .build();
    let (mut files, mut folders) = Seen::default();
    for entry in walk.flatten() {
        let kind = entry.file_type().unwrap();
        let path = entry.into_path();
        if kind.is_dir() {
            folders.insert(path);
        } else if kind.is_file() {
            files.insert(path);
        }
    }
    (files, folders)
}

fn seen(terrain: &Terrain, haul: Haul) -> Seen {
    let files: Vec<_> = haul
        .files
        .iter()
        .map(|file| terrain.root.join(&**file))
        .collect();
    let many = files.len();
    let files: BTreeSet<_> = files.into_iter().collect();
    assert_eq!(files.len(), many, "a file was found twice");
    (
        files,
        haul.folders.into_iter().map(|(path, _)| path).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_walk_finds_what_the_crate_finds(
        files in prop::collection::vec((path(3), select(NAMES)), 1..40),
        sources in prop::collection::vec(
            (path(2), select(SOURCES), prop::collection::vec(line(), 1..5)), 0..7),
        above in prop::collection::vec((select(SOURCES), line()), 0..2),
        denied in prop::collection::vec(path(2), 0..2),
    ) {
        let place = tempfile::tempdir().unwrap();
        let outer = place.path().canonicalize().unwrap();
        let root = outer.join("b/ab");
        fs::create_dir_all(&root).unwrap();
        for (source, line) in &above {
            put(&outer.join(source), line);
        }
        for (folder, name) in &files {
            put(&root.join(folder).join(name), "");
        }
        for (folder, source, lines) in &sources {
            put(&root.join(folder).join(source), &lines.join("\n"));
        }
        let _ = std::os::unix::fs::symlink(&outer, root.join("link"));
        let denied: HashSet<PathBuf> = denied.iter().map(|path| root.join(path)).collect();
        let terrain = Terrain {
            root: root.clone(),
            denied: Arc::new(denied),
            most_files: 10_000,
            stop: Arc::default(),
        };
        let expected = reference(&terrain, &root, Reach::All);
        let found = seen(&terrain, walk(&terrain, std::slice::from_ref(&root), Reach::All));
        prop_assert_eq!(&found, &expected);
        // And from within: the rules above count there too.
        for folder in expected.1.iter().take(4) {
            let found = walk(&terrain, std::slice::from_ref(folder), Reach::Level);
            let expected = reference(&terrain, folder, Reach::Level);
            prop_assert_eq!(seen(&terrain, found), expected);
        }
    }
}
