//! The built program in a home of its own, for the tests of this folder.

#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)]

pub mod terminal;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use ringfence_testkit::home::TestHome;
use serde_json::Value;

/// The program under test.
pub const RINGFENCE: &str = env!("CARGO_BIN_EXE_ringfence");

/// The program in a home with a workspace.
pub struct Place {
    home: TestHome,
}

impl Place {
    pub fn new() -> Self {
        Self {
            home: TestHome::new(),
        }
    }

    pub fn home(&self) -> PathBuf {
        self.home.path()
    }

    pub fn work(&self) -> PathBuf {
        self.home.work()
    }

    pub fn outside(&self) -> PathBuf {
        self.home.outside()
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

pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Waits for the program, and tells what it printed and the most memory that it had, in MiB.
pub fn output_and_memory(mut child: Child) -> (String, i64) {
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut said).unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    // SAFETY: the out-parameters outlive the call, and rusage is plain data.
    #[allow(unsafe_code)]
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let mut status = 0;
        assert_eq!(libc::wait4(pid, &raw mut status, 0, &raw mut usage), pid);
        usage
    };
    (said, usage.ru_maxrss / 1024)
}
