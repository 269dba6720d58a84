//! A fence to try: a workspace, a home with secrets, somewhere outside, and a session in which
//! deeds are done.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use ringfence_jail::{
    Degraded, Input, Io, Jail, JailOptions, LaunchError, Output, Process, Terminal, TerminalSize,
};
use ringfence_policy::Permit;
use ringfence_policy::permissions::{Limits, SandboxPolicy};
use ringfence_testkit::scratch::Scratch;

use crate::suite::permit::PATH;
use crate::suite::{Where, permit};

/// Everything an attempt works with.
pub struct Fence {
    pub scratch: Scratch,
    pub sandbox: SandboxPolicy,
    pub limits: Limits,
    pub jail: Jail,
    pub where_: Where,
}

/// What is done inside.
#[derive(Clone, Copy)]
pub enum Deed {
    /// A text for bash.
    Shell(&'static str),
    /// A probe of this program, by its name.
    Probe(&'static str),
    /// A probe, with a terminal of its own.
    ProbeOnTerminal(&'static str),
}

/// What came of it.
#[derive(Debug)]
pub struct RunResult {
    pub code: i32,
    pub text: String,
}

impl Fence {
    pub fn new(scratch: Scratch, where_: Where) -> Self {
        let sandbox = SandboxPolicy {
            denied_reads: vec![
                scratch.home().join(".ssh/"),
                scratch.home().join(".netrc"),
                scratch.marks(),
            ],
            ..SandboxPolicy::workspace_write(scratch.workspace())
        };
        let options = where_.options(where_.degraded(), &scratch.workspace(), &scratch.marks());
        let jail = Jail::open(options).expect("jail");
        Self {
            scratch,
            sandbox,
            limits: Limits::default(),
            jail,
            where_,
        }
    }

    /// How another jail around the same workspace is opened.
    pub fn options(&self) -> JailOptions {
        let (workspace, marks) = (self.workspace(), self.scratch.marks());
        self.where_.options(Degraded::Refuse, &workspace, &marks)
    }

    pub fn workspace(&self) -> PathBuf {
        self.scratch.workspace()
    }

    pub fn outside(&self) -> PathBuf {
        self.scratch.outside()
    }

    pub fn home(&self) -> PathBuf {
        self.scratch.home()
    }

    /// A permit for a command, got the only way there is: every question is answered with yes.
    pub fn permit(&self, argv: Vec<String>) -> Permit {
        let mut environment: BTreeMap<String, String> = [
            ("PATH", PATH.to_owned()),
            ("HOME", self.home().display().to_string()),
            ("OUTSIDE", self.outside().display().to_string()),
            ("WORKSPACE", self.workspace().display().to_string()),
            ("HARNESS_PID", std::process::id().to_string()),
            ("TMPDIR", "/tmp".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        environment.extend(std::env::vars().filter(|(name, _)| name.starts_with("TEST_")));
        permit(
            argv,
            self.workspace(),
            environment,
            &self.sandbox,
            &self.limits,
        )
    }

    /// Does a deed and waits for its end.
    pub async fn run(&self, deed: Deed) -> Result<RunResult, LaunchError> {
        let probe = |name: &str| {
            let mut argv = self.where_.this_program();
            argv.extend(["__probe".to_owned(), name.to_owned()]);
            argv
        };
        let (argv, io): (Vec<String>, Io) = match deed {
            // From a file, so that it is the fence that is tried and not the policy, which would
            // refuse many of these at sight.
            Deed::Shell(text) => {
                let script = self.workspace().join("deed.sh");
                std::fs::write(&script, text).expect("deed");
                let argv = vec!["bash".to_owned(), script.display().to_string()];
                (argv, Io::Pipes(Input::Null))
            }
            Deed::Probe(name) => (probe(name), Io::Pipes(Input::Null)),
            Deed::ProbeOnTerminal(name) => (
                probe(name),
                Io::Terminal(TerminalSize {
                    rows: 24,
                    columns: 80,
                }),
            ),
        };
        let process = self.jail.launch(self.permit(argv), io).await?;
        Ok(finish(process).await)
    }
}

/// Reads a process to its end.
pub async fn finish(mut process: Process) -> RunResult {
    let mut text = Vec::new();
    let read = async {
        match process.output.take().expect("output") {
            Output::Pipes {
                mut stdout,
                mut stderr,
            } => {
                use tokio::io::AsyncReadExt;
                let (mut out, mut err) = (Vec::new(), Vec::new());
                let (a, b) =
                    tokio::join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut err));
                a.and(b).expect("read");
                text.extend(out);
                text.extend(err);
            }
            Output::Terminal(terminal) => text.extend(read_terminal(&terminal).await),
        }
        let code = process.exited().await.expect("exit").code();
        process.kill().expect("kill");
        process.gone().await.expect("gone");
        code
    };
    let code = tokio::time::timeout(Duration::from_secs(30), read)
        .await
        .expect("a deed hangs");
    RunResult {
        code,
        text: String::from_utf8_lossy(&text).into_owned(),
    }
}

async fn read_terminal(terminal: &Terminal) -> Vec<u8> {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match terminal.read(&mut buffer).await.expect("read") {
            0 => return text,
            count => text.extend_from_slice(&buffer[..count]),
        }
    }
}
