//! The built program in a home of its own, for the tests of this folder.

#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)]

pub mod open;
pub mod terminal;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// The program under test.
pub const RINGFENCE: &str = env!("CARGO_BIN_EXE_ringfence");

/// A home, a workspace in it, and nothing of the machine's own settings.
pub struct Place {
    root: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("ringfence-")
            .tempdir_in("/var/tmp")
            .unwrap();
        std::fs::create_dir_all(root.path().join("home/work")).unwrap();
        Self { root }
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    /// A folder beside the home.
    pub fn outside(&self) -> PathBuf {
        let outside = self.root.path().join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        outside
    }

    /// The program with arguments, in the workspace.
    pub fn ringfence(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(RINGFENCE);
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .stdin(Stdio::null());
        command
    }

    pub fn output(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.ringfence(arguments).output().unwrap())
    }

    /// The same with something on standard input.
    pub fn output_given(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self
            .ringfence(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        Ran::of(&child.wait_with_output().unwrap())
    }

    pub fn spawn(&self, arguments: &[&str]) -> Child {
        self.ringfence(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Calls a tool and reads its reply.
    pub fn call(&self, tool: &str, arguments: &Value, flags: &[&str]) -> Value {
        let text = arguments.to_string();
        let mut all = vec!["call"];
        all.extend(flags);
        all.extend([tool, &text]);
        let ran = self.output(&all);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }
}

/// What came of running the program.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The processes of the machine whose command line contains a text.
pub fn processes_with(text: &str) -> Vec<String> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let line = std::fs::read(path.join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let own = path.file_name()?.to_str()? == std::process::id().to_string();
            (!own && line.contains(text)).then_some(line)
        })
        .collect()
}

/// Waits until no process of this one's group, which other tests have no part in, has the text in its command line; at most
/// a second.
pub fn gone_from_the_group_within_a_second(text: &str) -> Result<(), Vec<String>> {
    let own = group(&Path::new("/proc").join("self"));
    none_within_a_second(|| {
        let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        all.filter(|entry| group(&entry.path()) == own)
            .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
            .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
            .filter(|line| line.contains(text))
            .collect()
    })
}

/// The group of a process, given its folder.
fn group(process: &Path) -> Option<String> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    fields.nth(2).map(str::to_owned)
}

/// Waits until no process has the text in its command line; at most a second.
pub fn gone_within_a_second(text: &str) -> Result<(), Vec<String>> {
    none_within_a_second(|| processes_with(text))
}

/// Waits until a folder is empty; at most a second.
pub fn empty_within_a_second(folder: &Path) -> Result<(), Vec<String>> {
    none_within_a_second(|| {
        let entries = std::fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect()
    })
}

pub fn none_within_a_second<T>(look: impl Fn() -> Vec<T>) -> Result<(), Vec<T>> {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(1);
    loop {
        let found = look();
        if found.is_empty() {
            return Ok(());
        }
        if std::time::Instant::now() > deadline {
            return Err(found);
        }
        std::thread::yield_now();
    }
}

pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
