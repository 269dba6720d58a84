//! Changes of a repository, and what is done about each.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::*;

fn git(folder: &Path, line: &str) {
    let done = Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(line.split(' '))
        .current_dir(folder)
        .env("HOME", folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{line}: {done:?}");
}

fn myself() -> Identity {
    Identity {
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        groups: None,
    }
}

fn setup(root: &Path, covers: Covers) -> Setup {
    let care = Care::of(&SandboxPolicy::workspace_write(root), covers);
    let memory = Arc::new(Memory::default());
    taken(root, &memory.known(root), care, &memory)
}

fn taken(root: &Path, known: &[Known], care: Care, memory: &Arc<Memory>) -> Setup {
    let reach = Reach::of(&[root.to_path_buf()]);
    let before = seen(&reach, known, care, memory);
    let beginning = Beginning::now(&[root.to_path_buf()]);
    Setup::of(
        reach,
        before,
        (Arc::default(), Arc::default(), Arc::default()),
        care,
        &myself(),
        memory,
        beginning,
    )
}

fn repository() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    git(&root, "init -q");
    git(&root, "commit -q --allow-empty -m one");
    (folder, root)
}

/// Something that a run does to a repository.
type Change = Box<dyn FnOnce(&Path)>;

/// What a change is answered with: the file's name and what was done.
fn answers(change: impl FnOnce(&Path)) -> Vec<(String, String)> {
    let (_folder, root) = repository();
    let before = setup(&root, Covers::None);
    change(&root);
    let mended = before.mend_all();
    assert_eq!(before.mend_all(), [], "mended once and for all");
    git(&root, "status");
    let shown = |one: Repair| {
        let path = one.path.strip_prefix(&root).unwrap().display().to_string();
        let done = match one.amends {
            Amends::SetAside(to) => format!("aside as {}", to.file_name().unwrap().display()),
            Amends::PutBack { kept: None } => "back".to_owned(),
            Amends::PutBack { kept: Some(_) } => "back, kept".to_owned(),
            Amends::Failed(why) => why,
            Amends::Ended => "ended".to_owned(),
        };
        (path, done)
    };
    mended.into_iter().map(shown).collect()
}

fn answer(change: impl FnOnce(&Path)) -> String {
    let all = answers(change);
    let all: Vec<_> = all
        .iter()
        .map(|(path, done)| format!("{path}: {done}"))
        .collect();
    all.join(", ")
}

#[test]
fn what_could_run_something_is_put_back_or_aside() {
    let write = |path: &'static str, text: &'static str| {
        move |root: &Path| fs::write(root.join(path), text).unwrap()
    };
    let table: Vec<(Change, &str)> = vec![
        (
            Box::new(write(".git/commondir", "../x\n")),
            ".git/commondir: aside as commondir.set-aside",
        ),
        (Box::new(write(".git/HEAD", "x")), ".git/HEAD: back, kept"),
        (
            Box::new(write(".git/config", "[alias]\nx = !y\n")),
            ".git/config: back, kept",
        ),
        (
            Box::new(write(".git/config", "[broken\n")),
            ".git/config: back, kept",
        ),
        (Box::new(write(".git/config", "[user]\nname = b\n")), ""),
        (Box::new(write(".git/info/exclude", "x\n")), ""),
        (
            Box::new(write(".git/hooks/pre-commit", "not executable")),
            "",
        ),
        (Box::new(write("file", "x")), ""),
        (
            Box::new(|root: &Path| fs::remove_file(root.join(".git/HEAD")).unwrap()),
            ".git/HEAD: back",
        ),
        (
            Box::new(|root: &Path| {
                let hook = root.join(".git/hooks/pre-commit");
                fs::write(&hook, "").unwrap();
                fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
            }),
            ".git/hooks/pre-commit: aside as pre-commit.set-aside",
        ),
        (
            Box::new(|root: &Path| {
                fs::set_permissions(root.join(".git"), fs::Permissions::from_mode(0o000)).unwrap();
            }),
            ".git: back",
        ),
        (
            Box::new(|root: &Path| git(root, "checkout -q -b other")),
            "",
        ),
        (Box::new(|root: &Path| git(root, "clone -q . nested")), ""),
        (
            Box::new(|root: &Path| {
                git(root, "clone -q . nested");
                git(&root.join("nested"), "config core.fsmonitor x");
            }),
            "nested/.git/config: aside as config.set-aside",
        ),
    ];
    for (change, expected) in table {
        assert_eq!(answer(change), expected);
    }
}

#[test]
fn a_change_from_outside_to_what_was_covered_stays() {
    let (_folder, root) = repository();
    let before = setup(&root, Covers::InForce);
    let config = root.join(".git/config");
    let mut text = fs::read_to_string(&config).unwrap();
    text.push_str("[alias]\nx = !y\n");
    fs::write(&config, &text).unwrap();
    assert_eq!(before.mend(), []);
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
    // Another file in its place was not covered.
    fs::write(root.join("new"), &text).unwrap();
    fs::rename(root.join("new"), &config).unwrap();
    assert_eq!(before.mend().len(), 1);
}

#[test]
fn an_unchanged_repository_is_not_read_again() {
    let (_folder, root) = repository();
    let memory = Arc::default();
    let care = Care::of(&SandboxPolicy::workspace_write(&root), Covers::InForce);
    let take = || taken(&root, &[], care, &memory);
    // Changes of this very moment could not be told from the next: wait until they are old.
    let started = std::time::Instant::now();
    while !take().before[0].is_still_so(&Reach::of(std::slice::from_ref(&root))) {
        assert!(started.elapsed() < Duration::from_secs(10));
        std::thread::yield_now();
    }
    let (one, two) = (take(), take());
    assert!(Arc::ptr_eq(&one.before[0], &two.before[0]));
    assert_eq!(two.mend(), []);
}

#[test]
fn a_folder_becomes_no_repository() {
    let before = |names: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in names {
            fs::write(root.join(name), "ref: refs/heads/main\n").unwrap();
        }
        let setup = setup(&root, Covers::InForce);
        (folder, root, setup)
    };
    for (there, made, aside) in [
        (&[][..], &["HEAD", "commondir"][..], &["HEAD"][..]),
        (&[], &["HEAD", "objects", "refs"], &["HEAD"]),
        (&["HEAD"], &["commondir"], &["commondir"]),
        (&["HEAD"], &["objects", "refs"], &["objects"]),
        (&[], &["HEAD", "objects"], &[]),
        (&[], &["commondir", "config.worktree"], &[]),
        (&["HEAD", "commondir"], &["other"], &[]),
    ] {
        let (_folder, root, setup) = before(there);
        for name in made {
            fs::write(root.join(name), "ref: refs/heads/main\n").unwrap();
        }
        let mended = setup.mend_all();
        let paths: Vec<_> = mended.iter().map(|one| one.path.clone()).collect();
        let expected: Vec<_> = aside.iter().map(|name| root.join(name)).collect();
        assert_eq!(paths, expected, "{there:?} {made:?}");
    }
}

#[test]
fn names_that_are_taken_or_long_are_in_nobodys_way() {
    let (_folder, root) = repository();
    let long = "n".repeat(250);
    let entry = format!("[include]\npath = ../{long}\n");
    fs::write(root.join(".git/config"), entry).unwrap();
    let before = setup(&root, Covers::InForce);
    fs::write(root.join(&long), "[alias]\nx = !y\n").unwrap();
    fs::write(root.join(".git/commondir"), "../x\n").unwrap();
    for number in 1..100 {
        let end = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        fs::write(root.join(format!(".git/commondir.set-aside{end}")), "").unwrap();
    }
    let mended = before.mend_all();
    let is_aside = |one: &Repair| matches!(one.amends, Amends::SetAside(_));
    assert!(
        mended.len() == 2 && mended.iter().all(is_aside),
        "{mended:?}"
    );
}
