//! Caches under attack: commands own what is in them, and must not get further by that.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ringfence_confine::account;

use super::shelf::Shelf;
use super::sweep::sweep;
use super::*;

/// A folder for caches, and a home.
struct Scene {
    folder: tempfile::TempDir,
    environment: BTreeMap<String, String>,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("caches")).unwrap();
        Self {
            folder,
            environment: BTreeMap::new(),
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("caches")
    }

    fn open(&self, workspace: &str) -> Shelf {
        let home = self.folder.path().join("home");
        let whose = Whose {
            workspace: Path::new(workspace),
            home: Some(&home),
            environment: &self.environment,
            uid: account::own_uid(),
        };
        let name = Shelf::name_of(whose.workspace, whose.uid);
        Shelf::open(&self.root(), &name, &whose).unwrap()
    }

    /// Has a tool keep so many bytes for a workspace that was last used so many seconds after the beginning.
    fn fill(&self, workspace: &str, tool: &str, bytes: usize, used: u64) -> PathBuf {
        let shelf = self.open(workspace);
        let folder = shelf.tools().join(tool);
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(folder.join("a/b/c"), vec![1; bytes]).unwrap();
        let lock = shelf.tools().with_file_name(shelf::LOCK);
        let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(used);
        let lock = fs::File::options().write(true).open(lock).unwrap();
        lock.set_modified(then).unwrap();
        folder
    }

    fn aside(&self) -> usize {
        let entries = fs::read_dir(self.root()).unwrap().map(Result::unwrap);
        let aside = entries.filter(|it| it.file_name().to_string_lossy().starts_with("aside"));
        aside.count()
    }
}

#[test]
fn each_workspace_has_a_cache_of_its_own() {
    let scene = Scene::new();
    let (one, two) = (scene.open("/w/one"), scene.open("/w/two"));
    assert_ne!(one.tools(), two.tools());
    assert_eq!(one.tools(), scene.open("/w/one").tools());
    let mode = fs::metadata(one.tools()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_ne!(
        Shelf::name_of(Path::new("/w"), 1),
        Shelf::name_of(Path::new("/w"), 2),
        "users do not share"
    );
}

#[test]
fn the_longest_unused_goes_first_and_only_as_much_as_must() {
    let scene = Scene::new();
    let old = scene.fill("/w/old", "npm", 200_000, 100);
    let new = scene.fill("/w/new", "npm", 200_000, 200);
    sweep(&scene.root(), 1 << 20).unwrap();
    assert!(old.exists() && new.exists(), "all is within the bound");
    sweep(&scene.root(), 300_000).unwrap();
    assert!(!old.exists() && new.exists());
    sweep(&scene.root(), 0).unwrap();
    assert!(!new.exists());
    assert_eq!(scene.aside(), 0, "nothing is left lying about");
}

#[test]
fn what_is_in_use_goes_when_it_is_opened_next() {
    let scene = Scene::new();
    let kept = scene.fill("/w/one", "npm", 200_000, 100);
    let user = scene.open("/w/one");
    sweep(&scene.root(), 0).unwrap();
    assert!(kept.exists(), "somebody uses it");
    let second = scene.open("/w/one");
    assert!(kept.exists(), "somebody uses it still");
    drop((user, second));
    drop(scene.open("/w/one"));
    assert!(!kept.exists());
}

#[test]
fn sweeping_stays_inside_whatever_was_put_there() {
    let scene = Scene::new();
    let outside = scene.folder.path().join("precious");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "mine").unwrap();
    let npm = scene.fill("/w/one", "npm", 10, 100);
    symlink(&outside, npm.join("link")).unwrap();
    symlink(&outside, npm.with_file_name("pip")).unwrap();
    // As Go leaves its modules, and worse.
    let closed = npm.join("closed/inner");
    fs::create_dir_all(&closed).unwrap();
    fs::write(closed.join("module.go"), "").unwrap();
    for folder in [&closed, &npm.join("closed")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    }
    let mut deep = npm.with_file_name("deep");
    fs::create_dir(&deep).unwrap();
    for _ in 0..200 {
        deep = deep.join("d");
        fs::create_dir(&deep).unwrap();
    }
    fs::write(npm.with_file_name("odd\nname"), "").unwrap();
    sweep(&scene.root(), 0).unwrap();
    for name in ["npm", "deep"] {
        assert!(
            npm.with_file_name(name).symlink_metadata().is_err(),
            "{name}"
        );
    }
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "mine");
    assert_eq!(scene.aside(), 0);
}

#[test]
fn what_cannot_be_measured_goes_even_below_the_bound() {
    let scene = Scene::new();
    let npm = scene.fill("/w/one", "npm", 10, 100);
    let mut deep = npm.clone();
    for _ in 0..100 {
        deep = deep.join("d");
        fs::create_dir(&deep).unwrap();
    }
    let twin = scene.fill("/w/one", "pip", 10, 100);
    sweep(&scene.root(), u64::MAX).unwrap();
    assert!(!npm.exists() && twin.exists());
}

#[test]
fn links_to_the_users_settings_are_made_and_mended_and_lead_nowhere_else() {
    let scene = Scene::new();
    let own = scene.folder.path().join("home/.cargo/config.toml");
    let cargo = scene.open("/w/one").tools().join("cargo");
    let link = cargo.join("config.toml");
    assert_eq!(fs::read_link(&link).unwrap(), own);
    // A command puts something in its place.
    fs::remove_file(&link).unwrap();
    fs::write(&link, "[build]\nrustc-wrapper = '/tmp/evil'\n").unwrap();
    scene.open("/w/one");
    assert_eq!(fs::read_link(&link).unwrap(), own);
    // A command has the harness make the link elsewhere.
    let outside = scene.folder.path().join("ssh");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("config"), "mine").unwrap();
    fs::remove_dir_all(&cargo).unwrap();
    symlink(&outside, &cargo).unwrap();
    scene.open("/w/one");
    assert_eq!(fs::read_to_string(outside.join("config")).unwrap(), "mine");
    assert!(!outside.join("config.toml").exists());
}

#[test]
fn a_place_that_is_somebody_elses_is_not_used() {
    let scene = Scene::new();
    let whose = Whose {
        workspace: Path::new("/w"),
        home: None,
        environment: &scene.environment,
        uid: account::own_uid(),
    };
    let name = Shelf::name_of(whose.workspace, whose.uid);
    let elsewhere = scene.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, scene.root().join(&name)).unwrap();
    let config = crate::config::Config::default().caches;
    let open = OpenCaches::open(&config, Some(&scene.root()), &whose).unwrap();
    assert_eq!(open.caches.place, Place::Session(IN_SESSION.into()));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    // The twin, where nothing is in the way.
    fs::remove_file(scene.root().join(&name)).unwrap();
    let open = OpenCaches::open(&config, Some(&scene.root()), &whose).unwrap();
    assert!(matches!(open.caches.place, Place::Kept(_)));
}
