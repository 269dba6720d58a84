//! Marks are made, joined, filled, left behind and removed, by one and by many.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use ringfence_confine::descriptor;

use super::*;

/// A workspace and a registry.
struct Ground {
    root: tempfile::TempDir,
    registry: Registry,
}

impl Ground {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("work")).unwrap();
        let registry = Registry::open(&root.path().join("marks")).unwrap();
        Self { root, registry }
    }

    fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    fn at(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    /// Holds names, and does something meanwhile.
    fn holding(&self, names: &[&str], meanwhile: impl FnOnce()) {
        let (told, survivor) = descriptor::socket_pair().unwrap();
        let ledger = Ledger {
            registry: Some(&self.registry),
            survivor,
        };
        let locks = self.hold(&ledger, names);
        meanwhile();
        drop((locks, ledger));
        let mut estate = Estate::new(Some(&self.registry));
        estate.take_over(&told);
        estate.release();
    }

    fn hold(&self, ledger: &Ledger<'_>, names: &[&str]) -> Vec<OwnedFd> {
        let folder = fs::File::open(self.work()).unwrap();
        let mut holdings = Holdings::new(ledger);
        for name in names {
            holdings
                .hold(
                    &self.work(),
                    folder.as_fd(),
                    Path::new(name),
                    &self.at(name),
                )
                .unwrap();
        }
        holdings.into_locks()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.work()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

#[test]
fn the_last_one_removes_what_was_held() {
    let ground = Ground::new();
    ground.holding(&[".git", ".vscode"], || {
        assert!(is_at(&ground.at(".git")) && is_at(&ground.at(".vscode")));
        ground.holding(&[".git", ".idea"], || {
            ground.registry.sweep();
            assert_eq!(ground.names(), [".git", ".idea", ".vscode"]);
        });
        assert_eq!(ground.names(), [".git", ".idea", ".vscode"]);
    });
    assert_eq!(ground.names(), Vec::<String>::new());
    assert_eq!(ground.registry.names(), Vec::<String>::new());
}

#[test]
fn what_is_somebodys_stays() {
    let ground = Ground::new();
    fs::create_dir(ground.at("theirs")).unwrap();
    fs::write(ground.at("file"), "x").unwrap();
    ground.holding(
        &["theirs", "file", "filled", "emptied", "replaced", "gone"],
        || {
            fs::write(ground.at("filled").join("HEAD"), "x").unwrap();
            fs::write(ground.at("emptied").join("x"), "x").unwrap();
            fs::remove_file(ground.at("emptied").join("x")).unwrap();
            fs::remove_dir(ground.at("replaced")).unwrap();
            fs::create_dir(ground.at("replaced")).unwrap();
            fs::remove_dir(ground.at("gone")).unwrap();
        },
    );
    assert_eq!(
        ground.names(),
        ["emptied", "file", "filled", "replaced", "theirs"]
    );
}

#[test]
fn leftovers_are_swept_wherever_they_are() {
    let ground = Ground::new();
    let (told, survivor) = descriptor::socket_pair().unwrap();
    let ledger = Ledger {
        registry: Some(&ground.registry),
        survivor,
    };
    let locks = ground.hold(&ledger, &[".git", ".vscode"]);
    // Whoever would have removed them dies as well.
    drop((locks, told));
    assert_eq!(ground.names(), [".git", ".vscode"]);
    ground.registry.sweep();
    assert_eq!(ground.names(), Vec::<String>::new());
    // One that was stopped between making a folder and marking it.
    rustix::fs::mkdir(ground.at("meant"), Mode::from_raw_mode(UNFINISHED)).unwrap();
    let record = registry::record_of(&ground.work());
    let line = registry::line(&ground.at("meant"));
    fs::write(ground.root.path().join("marks").join(record), line).unwrap();
    ground.registry.sweep();
    assert_eq!(ground.names(), Vec::<String>::new());
    // One that nobody wrote down goes with the next holder, and so do those of the old kind.
    let (_told, survivor) = descriptor::socket_pair().unwrap();
    let ledger = Ledger { survivor, ..ledger };
    ground.hold(&ledger, &["lost"]);
    for file in fs::read_dir(ground.root.path().join("marks")).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let mode = Mode::from_raw_mode(OLD_MODE);
    rustix::fs::mknodat(CWD, ground.at("old"), FileType::Socket, mode, 0).unwrap();
    ground.registry.sweep();
    assert_eq!(ground.names(), ["lost", "old"]);
    assert!(is_at(&ground.at("lost")) && is_at(&ground.at("old")));
    ground.holding(&["lost", "old"], || assert!(ground.at("old").is_dir()));
    assert_eq!(ground.names(), Vec::<String>::new());
}

#[test]
fn a_record_that_makes_no_sense_removes_nothing() {
    let ground = Ground::new();
    fs::create_dir(ground.at("empty")).unwrap();
    fs::write(ground.at("empty/x"), "x").unwrap();
    fs::remove_file(ground.at("empty/x")).unwrap();
    fs::write(ground.at("file"), "x").unwrap();
    let record = ground.root.path().join("marks/root-0000000000000000");
    let text = format!(
        "{0}/empty\0{0}/file\0\0/\0relative\0{0}/cut",
        ground.work().display()
    );
    fs::write(&record, text).unwrap();
    ground.registry.sweep();
    assert_eq!(ground.names(), ["empty", "file"]);
    assert!(!record.exists());
}

#[test]
fn many_come_and_go_at_once() {
    let ground = Ground::new();
    let names = [".git", ".vscode", ".idea"];
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..40 {
                    ground.holding(&names, || {
                        for name in names {
                            assert!(is_at(&ground.at(name)), "{name} is gone");
                        }
                    });
                }
            });
        }
    });
    assert_eq!(ground.names(), Vec::<String>::new());
    assert_eq!(ground.registry.names(), Vec::<String>::new());
}

#[test]
fn a_mark_is_its_folders_owners() {
    let ground = Ground::new();
    if !rustix::process::geteuid().is_root() {
        return;
    }
    std::os::unix::fs::chown(ground.work(), Some(4321), Some(4322)).unwrap();
    ground.holding(&[".git"], || {
        let mark = fs::metadata(ground.at(".git")).unwrap();
        assert_eq!((mark.uid(), mark.gid()), (4321, 4322));
        assert!(is_at(&ground.at(".git")));
    });
}
