//! Searches in real folders.

mod likeness;

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Catalogue, Found, Query, Terrain, best};

struct Site {
    root: tempfile::TempDir,
    catalogue: Catalogue,
}

impl Site {
    fn new(files: &[&str]) -> Self {
        let site = Self {
            root: tempfile::tempdir().unwrap(),
            catalogue: Catalogue::default(),
        };
        for file in files {
            site.write(file, "");
        }
        site
    }

    fn path(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    fn write(&self, file: &str, content: &str) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn terrain(&self, denied: &[&str]) -> Terrain {
        let denied: HashSet<PathBuf> = denied.iter().map(|path| self.path().join(path)).collect();
        Terrain {
            root: self.path(),
            denied: Arc::new(denied),
            most_files: 10_000,
            stop: Arc::default(),
        }
    }

    fn find(&self, pattern: &str, excluded: &[&str], limit: usize) -> Vec<Found> {
        let index = self.catalogue.names(&self.terrain(&[]));
        let excluded: Vec<String> = excluded.iter().map(|text| (*text).to_owned()).collect();
        let query = Query::parse(pattern, &excluded).unwrap();
        best(&index.files, &query, limit, &|_| true)
    }

    fn paths(&self, pattern: &str) -> Vec<String> {
        let found = self.find(pattern, &[], 50).into_iter();
        found.map(|found| found.path).collect()
    }

    /// Lets everything be older than what is looked at twice.
    fn age(&self) {
        fn age(path: &std::path::Path) {
            let then = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
            if path.is_dir() {
                for entry in fs::read_dir(path).unwrap() {
                    age(&entry.unwrap().path());
                }
            }
            let file = fs::File::open(path).unwrap();
            file.set_modified(then).unwrap();
        }
        age(&self.path());
    }
}

const FILES: &[&str] = &[
    "README.md",
    "src/main.rs",
    "src/lib.rs",
    "src/parser/mod.rs",
    "src/parser/lexer.rs",
    "web/app.test.ts",
    "web/app.ts",
    "web/pages/[id].tsx",
    "web/deep/er/list.test.ts",
    ".github/ci.yml",
    "target/debug/main.rs",
    "notes/Ärger.txt",
];

#[test]
fn names_are_found_as_people_and_models_ask_for_them() {
    let site = Site::new(FILES);
    site.write(".gitignore", "target/\n*.log\n");
    site.write("web/.ignore", "secret*\n");
    site.write("web/secret.ts", "");
    site.write("a.log", "");
    site.write(".git/config", "");
    // The pattern, and all that it finds, best first; `…` where only the first matter.
    let cases: &[(&str, &[&str])] = &[
        (
            "*.test.ts",
            &["web/app.test.ts", "web/deep/er/list.test.ts"],
        ),
        (
            "**/*.test.ts",
            &["web/app.test.ts", "web/deep/er/list.test.ts"],
        ),
        ("web/*.ts", &["web/app.ts", "web/app.test.ts"]),
        ("./src/*.rs", &["src/lib.rs", "src/main.rs"]),
        (
            "src/**/*.rs",
            &[
                "src/lib.rs",
                "src/main.rs",
                "src/parser/mod.rs",
                "src/parser/lexer.rs",
            ],
        ),
        ("*.{md,yml}", &["README.md", ".github/ci.yml"]),
        ("m?in.rs", &["src/main.rs"]),
        ("*.log", &[]),
        ("main.rs", &["src/main.rs"]),
        ("parslex", &["src/parser/lexer.rs"]),
        ("src lexer", &["src/parser/lexer.rs"]),
        ("readme", &["README.md"]),
        ("README", &["README.md"]),
        ("REadme", &[]),
        ("[id]", &["web/pages/[id].tsx"]),
        ("secret", &[]),
        ("gitconfig", &[]),
        ("arger", &["notes/Ärger.txt"]),
        ("zzz", &[]),
    ];
    for (pattern, expected) in cases {
        assert_eq!(site.paths(pattern), *expected, "{pattern}");
    }
}

#[test]
fn limits_exclusions_scores_and_indices() {
    let site = Site::new(FILES);
    let found = site.find("*.rs", &["parser/", "target"], 50);
    let paths: Vec<_> = found.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(paths, ["src/lib.rs", "src/main.rs"]);
    assert!(found.iter().all(|found| found.indices.is_none()));
    let found = site.find("lib", &[], 1);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, "src/lib.rs");
    assert_eq!(found[0].indices.as_deref(), Some(&[4, 5, 6][..]));
    let scores: Vec<_> = site
        .find("main", &[], 9)
        .iter()
        .map(|found| found.score)
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    // Positions are those of a JavaScript string.
    site.write("😀/x.txt", "");
    assert_eq!(
        site.find("x.txt", &[], 1)[0].indices.as_deref(),
        Some(&[3, 4, 5, 6, 7][..])
    );
}

#[test]
fn what_may_not_be_read_is_not_listed() {
    let site = Site::new(&["keys/id", "keys-not/id", "id"]);
    let index = site.catalogue.names(&site.terrain(&["keys"]));
    let query = Query::parse("id", &[]).unwrap();
    let found = best(&index.files, &query, 9, &|name| name != "id");
    let paths: Vec<_> = found.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(paths, ["keys-not/id"]);
}

#[test]
fn links_are_not_followed() {
    let outside = Site::new(&["found-outside.txt"]);
    let site = Site::new(&["inside.txt"]);
    std::os::unix::fs::symlink(outside.path(), site.path().join("way-out")).unwrap();
    assert_eq!(site.paths("*.txt"), ["inside.txt"]);
}

#[test]
fn later_searches_see_what_changed() {
    let site = Site::new(FILES);
    site.write(".gitignore", "target/\n");
    let mut before = vec!["src/main.rs"];
    assert_eq!(site.paths("main.rs"), before);
    for round in 0..2 {
        // The second time around everything has been the same for a while, so that it is only
        // looked at, not walked.
        if round == 1 {
            site.age();
            before = vec!["src/main.rs", "new/sub/main.rs"];
            assert_eq!(site.paths("main.rs"), before);
        }
        site.write("new/sub/main.rs", "");
        assert!(
            site.paths("main.rs")
                .contains(&"new/sub/main.rs".to_owned()),
            "{round}"
        );
        site.write("new/sub/deeper/yet/main.rs", "");
        assert_eq!(site.paths("main.rs").len(), 3, "{round}");
        fs::rename(
            site.path().join("new/sub/deeper"),
            site.path().join("moved"),
        )
        .unwrap();
        assert!(
            site.paths("main.rs")
                .contains(&"moved/yet/main.rs".to_owned()),
            "{round}"
        );
        fs::remove_dir_all(site.path().join("moved")).unwrap();
        assert_eq!(site.paths("main.rs").len(), 2, "{round}");
        site.write("target/x/main.rs", "");
        assert_eq!(site.paths("main.rs").len(), 2, "{round}: ignored");
    }
    site.write(".gitignore", "target/\nnew/\n");
    assert_eq!(site.paths("main.rs"), ["src/main.rs"]);
    site.age();
    site.paths("main.rs");
    site.write("src/.ignore", "main.rs");
    assert_eq!(site.paths("main.rs"), Vec::<String>::new());
}

#[test]
fn a_search_that_makes_no_sense_says_so() {
    for (pattern, excluded, expected) in [
        ("  ", vec![], "it is empty"),
        ("a", vec!["{".to_owned()], "is not a pattern"),
    ] {
        let error = Query::parse(pattern, &excluded).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn more_files_than_may_be_looked_at_are_told() {
    let site = Site::new(FILES);
    let terrain = Terrain {
        most_files: 3,
        ..site.terrain(&[])
    };
    let index = site.catalogue.names(&terrain);
    assert!(index.is_cut_off && index.files.len() <= 3);
}

#[test]
fn a_search_that_was_given_up_leaves_no_gaps() {
    let site = Site::new(FILES);
    site.age();
    let terrain = Terrain {
        stop: Arc::new(true.into()),
        ..site.terrain(&[])
    };
    assert!(site.catalogue.names(&terrain).files.is_empty());
    assert_eq!(site.paths("lexer.rs"), ["src/parser/lexer.rs"]);
}

#[test]
fn a_worktree_has_the_rules_of_its_repository() {
    let site = Site::new(&["tree/a.txt", "tree/b.txt", "pipe/c.txt"]);
    site.write("repository/info/exclude", "a.txt\n");
    site.write("repository/worktrees/tree/commondir", "../..\n");
    let gitdir = site.path().join("repository/worktrees/tree");
    for gitdir in [gitdir.to_str().unwrap(), "../repository/worktrees/tree"] {
        site.write("tree/.git", &format!("gitdir: {gitdir}\n"));
        let fresh = Catalogue::default().names(&site.terrain(&[]));
        let files = fresh.files.iter().filter(|file| file.ends_with(".txt"));
        let mut files: Vec<_> = files.map(|file| &**file).collect();
        files.sort_unstable();
        assert_eq!(files, ["pipe/c.txt", "tree/b.txt"], "{gitdir}");
    }
}

#[test]
fn an_ignore_file_that_is_a_pipe_is_not_waited_for() {
    let site = Site::new(&["a.txt"]);
    let pipe = site.path().join(".gitignore");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    assert_eq!(site.paths("a.txt"), ["a.txt"]);
}
