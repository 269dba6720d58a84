//! Commands that are really run: in a throwaway mount namespace without a network, on a writable
//! copy of a home folder, by the shell that they are written for.

#![allow(dead_code, reason = "each test that includes it uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use ringfence_policy::{Ground, ShellKind};
use tempfile::TempDir;

/// The folder that the copy is seen as.
pub(crate) const HOME: &str = "/home/u";
/// The workspace in it, which is also the working directory.
pub(crate) const WORKSPACE: &str = "/home/u/work";

/// The ground that commands are judged on, as the namespace shows it.
pub(crate) fn ground() -> Ground {
    Ground::at(WORKSPACE).with_home(HOME)
}

/// A shell by the name that the tables use.
pub(crate) fn shell_kind(name: &str) -> ShellKind {
    match name {
        "bash" => ShellKind::Bash,
        "sh" => ShellKind::Sh,
        "zsh" => ShellKind::Zsh,
        other => panic!("{other} is no shell"),
    }
}

/// A home folder that every run gets its own copy of.
pub(crate) struct Fixture {
    folder: TempDir,
}

/// What a run left behind.
pub(crate) struct Run {
    /// Every file of the home folder before: its path, mode and content.
    pub(crate) before: BTreeMap<PathBuf, (u32, Vec<u8>)>,
    /// The same after.
    pub(crate) after: BTreeMap<PathBuf, (u32, Vec<u8>)>,
    /// What was printed to standard output and standard error.
    pub(crate) printed: String,
    /// The programs that were started, if they were watched.
    pub(crate) started: Vec<String>,
}

impl Run {
    /// What is not as it was, as paths below the home folder.
    pub(crate) fn changed(&self) -> Vec<&PathBuf> {
        let both = self.before.keys().chain(self.after.keys());
        let mut changed: Vec<&PathBuf> = both
            .filter(|path| self.before.get(*path) != self.after.get(*path))
            .collect();
        changed.sort();
        changed.dedup();
        changed
    }
}

/// Whether programs that are started are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    No,
    Programs,
}

/// The programs without which nothing can be shown here. Says so if one is missing.
pub(crate) fn can_run() -> bool {
    let missing: Vec<&str> = ["bash", "dash", "zsh", "bwrap", "strace", "git", "timeout"]
        .into_iter()
        .filter(|program| !Path::new("/usr/bin").join(program).exists())
        .collect();
    if missing.is_empty() && namespaces() {
        return true;
    }
    assert!(
        std::env::var_os("RINGFENCE_REQUIRE").is_none(),
        "required and missing: {missing:?}, or namespaces"
    );
    #[allow(clippy::print_stderr, reason = "a test that cannot run says so")]
    {
        eprintln!("SKIPPED: missing here: {missing:?}, or namespaces");
    }
    false
}

fn namespaces() -> bool {
    let mut command = Command::new("bwrap");
    command.args(["--ro-bind", "/", "/", "--unshare-all", "true"]);
    command.status().is_ok_and(|status| status.success())
}

impl Fixture {
    /// Makes the home folder.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/fixture.sh");
        let mut command = Command::new("sh");
        command.arg(script).arg(folder.path());
        command.env("HOME", folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        assert!(command.status().unwrap().success(), "the fixture");
        Self { folder }
    }

    /// Runs a command on a copy of the home folder.
    pub(crate) fn run(&self, shell: &str, text: &str, watch: Watch) -> Run {
        let copy = tempfile::tempdir().unwrap();
        let from = format!("{}/.", self.folder.path().display());
        let mut command = Command::new("cp");
        command.arg("-a").arg(from).arg(copy.path());
        assert!(command.status().unwrap().success(), "the copy");
        let before = contents(copy.path());
        let log = tempfile::tempdir().unwrap();
        let output = fenced(copy.path(), log.path(), shell, text, watch)
            .output()
            .unwrap();
        let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
        printed.push_str(&String::from_utf8_lossy(&output.stderr));
        Run {
            before,
            after: contents(copy.path()),
            printed,
            started: started(log.path()),
        }
    }
}

/// The command inside a namespace in which nothing but the copy can be written.
fn fenced(copy: &Path, log: &Path, shell: &str, text: &str, watch: Watch) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "20", "bwrap", "--ro-bind", "/", "/"]);
    command.args(["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]);
    command.args(["--tmpfs", "/home", "--bind"]).arg(copy);
    command.args([HOME, "--unshare-all", "--die-with-parent", "--new-session"]);
    command.args([
        "--clearenv",
        "--setenv",
        "PATH",
        "/usr/local/bin:/usr/bin:/bin",
    ]);
    command.args(["--setenv", "HOME", HOME, "--setenv", "LANG", "C"]);
    command.args(["--setenv", "GIT_OPTIONAL_LOCKS", "0", "--chdir", WORKSPACE]);
    if watch == Watch::Programs {
        command.arg("--bind").arg(log).arg("/tmp");
        command.args([
            "strace",
            "-f",
            "-qq",
            "-e",
            "trace=execve",
            "-o",
            "/tmp/log",
        ]);
    }
    match shell {
        "zsh" => command.args(["zsh", "-f", "-c", text]),
        other => command.args([other, "-c", text]),
    };
    command.stdin(Stdio::null());
    command
}

/// The programs that a trace names as started.
fn started(log: &Path) -> Vec<String> {
    let Ok(trace) = fs::read_to_string(log.join("log")) else {
        return Vec::new();
    };
    let lines = trace.lines().filter(|line| line.ends_with(" = 0"));
    let names = lines.filter_map(|line| line.split_once("execve(\"")?.1.split('"').next());
    names.map(str::to_owned).collect()
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let content = if meta.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if meta.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else if meta.len() > 100_000 {
                meta.mtime().to_be_bytes().to_vec()
            } else {
                fs::read(&path).unwrap_or_default()
            };
            let name = path.strip_prefix(folder).unwrap().to_owned();
            found.insert(name, (meta.permissions().mode(), content));
        }
    }
    found
}
