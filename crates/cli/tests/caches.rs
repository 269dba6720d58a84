//! The folder of a workspace's caches, attacked by a command that may write it: nothing beside it changes, and what is denied
//! in it stays denied.

#![allow(clippy::unwrap_used)]

mod program;

use std::path::{Path, PathBuf};

use program::{Place, Ran};

/// Each tries to change something beside `$TOOLS`, the folder that can be written, or to put another in its place.
const ATTEMPTS: &[&str] = &[
    "touch $TOOLS/../escaped",
    "echo npm >> $TOOLS/../due",
    "echo x > $TOOLS/../lock",
    "echo x > $TOOLS/../workspace",
    "rm -f $TOOLS/../lock",
    "mkdir $TOOLS/../../escaped",
    "mv $TOOLS $TOOLS/../escaped",
    "rmdir $TOOLS",
    "mv $TOOLS/.. $TOOLS/../../escaped",
    "mv $HOME/.cache/ringfence $HOME/.cache/escaped",
    "mv $HOME/.cache $HOME/escaped",
    "ln -sfn .. $TOOLS/up; touch $TOOLS/up/escaped",
    "ln -sfn $TOOLS/../lock $TOOLS/held; echo x > $TOOLS/held",
    "ln $TOOLS/../lock $TOOLS/hard && echo x > $TOOLS/hard",
    "chmod 777 $TOOLS/..",
];

/// A workspace, and the folder that holds its caches.
struct Scene {
    place: Place,
    workspace: PathBuf,
    tools: PathBuf,
}

impl Scene {
    fn new(workspace: impl Fn(&Place) -> PathBuf) -> Self {
        let place = Place::new();
        let workspace = workspace(&place);
        let mut scene = Self {
            place,
            workspace,
            tools: PathBuf::new(),
        };
        let ran = scene.run(&[], "true");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let shelves = std::fs::read_dir(scene.all()).unwrap();
        let mut shelves = shelves.map(|entry| entry.unwrap().path().join("tools"));
        scene.tools = shelves.find(|tools| tools.is_dir()).unwrap();
        scene
    }

    fn all(&self) -> PathBuf {
        self.place.home().join(".cache/ringfence/caches")
    }

    fn run(&self, flags: &[&str], text: &str) -> Ran {
        let text = format!("TOOLS={}; {text}", self.tools.display());
        let mut arguments = vec!["run", "--approval", "never"];
        arguments.extend(flags);
        arguments.extend(["--", "bash", "-c", &text]);
        let mut command = self.place.ringfence(&arguments);
        Ran::of(&command.current_dir(&self.workspace).output().unwrap())
    }

    /// Everything beside the folder that can be written.
    fn beside(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        look(&self.all(), &self.tools, &mut found);
        found.sort();
        found
    }
}

fn look(folder: &Path, but: &Path, found: &mut Vec<(PathBuf, u32, Vec<u8>)>) {
    use std::os::unix::fs::PermissionsExt as _;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let content = std::fs::read(&path).unwrap_or_default();
        found.push((path.clone(), metadata.permissions().mode(), content));
        if metadata.is_dir() && path != but {
            look(&path, but, found);
        }
    }
}

#[test]
fn nothing_beside_the_caches_can_be_changed() {
    // The caches lie outside the workspace, or in it.
    for workspace in [Place::work, Place::home] {
        let scene = Scene::new(workspace);
        let before = scene.beside();
        for attempt in ATTEMPTS {
            let ran = scene.run(&[], attempt);
            assert_ne!(ran.code, Some(0), "{attempt}: {ran:?}");
            assert_eq!(scene.beside(), before, "{attempt}: {ran:?}");
        }
        let ran = scene.run(&[], "echo kept > $TOOLS/twin");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let kept = std::fs::read_to_string(scene.tools.join("twin"));
        assert_eq!(kept.unwrap(), "kept\n");
    }
}

#[test]
fn a_fence_that_writes_nothing_writes_no_cache() {
    let scene = Scene::new(Place::work);
    let ran = scene.run(&["--sandbox", "read-only"], "echo x > $TOOLS/written");
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(!scene.tools.join("written").exists());
}

#[test]
fn what_is_denied_in_a_cache_stays_denied() {
    let scene = Scene::new(Place::work);
    let secret = scene.tools.join("secret");
    let ran = scene.run(&[], "echo told > $TOOLS/secret; cat $TOOLS/secret");
    assert_eq!(ran.stdout, "told\n", "{ran:?}");
    let config = scene.place.home().join(".config/ringfence");
    std::fs::create_dir_all(&config).unwrap();
    let text = format!(
        "[sandbox]\ndenied_reads = [{:?}]\n",
        secret.display().to_string()
    );
    std::fs::write(config.join("config.toml"), text).unwrap();
    let ran = scene.run(&[], "cat $TOOLS/secret");
    assert_eq!(ran.stdout, "", "{ran:?}");
}
