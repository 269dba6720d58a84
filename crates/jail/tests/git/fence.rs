//! A fence around a scene's workspace, in which scripts are run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ringfence_jail::{
    Backend, Choice, ContainerEngine, ContainerOptions, Degraded, Input, Io, Output, Session,
    SessionOptions, WardenProgram,
};
use ringfence_policy::action::{Action, FenceRequest, RunCommand};
use ringfence_policy::command_line::CommandLine;
use ringfence_policy::judge::{Bench, Escalation, Remembered, judge};
use ringfence_policy::permissions::{ApprovalPolicy, Limits, SandboxPolicy};
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::settle::{Answer, settle};
use ringfence_policy::{Ground, Verdict};
use ringfence_testkit::podman;
use tokio::io::AsyncReadExt;

use crate::scene::Scene;

/// What builds the fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    Native,
    Bubblewrap,
    Container,
    /// On a machine that refuses namespaces, once that is accepted.
    Degraded,
}

impl Where {
    pub const ALL: [Self; 4] = [
        Self::Native,
        Self::Bubblewrap,
        Self::Container,
        Self::Degraded,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Bubblewrap => "bubblewrap",
            Self::Container => "container",
            Self::Degraded => "degraded",
        }
    }

    pub fn named(name: &str) -> Self {
        let mut all = Self::ALL.into_iter();
        all.find(|known| known.name() == name).expect("where")
    }
}

/// A session with a workspace.
pub struct Fence<'s> {
    scene: &'s Scene,
    sandbox: SandboxPolicy,
    session: Session,
}

impl<'s> Fence<'s> {
    pub fn around(scene: &'s Scene, at: Where) -> Self {
        Self::with(scene, at, SandboxPolicy::workspace_write(scene.workspace()))
    }

    /// The same with a policy of its own.
    pub fn with(scene: &'s Scene, at: Where, mut sandbox: SandboxPolicy) -> Self {
        let workspace = scene.workspace();
        sandbox.denied_reads.push(scene.marks());
        let session = Session::open(SessionOptions {
            backend: Choice::Only(match at {
                Where::Native | Where::Degraded => Backend::Native,
                Where::Bubblewrap => Backend::Bubblewrap,
                Where::Container => Backend::Container,
            }),
            degraded: match at {
                Where::Degraded => Degraded::Allow,
                _ => Degraded::Refuse,
            },
            container: ContainerOptions {
                image: podman::IMAGE.to_owned(),
                engine: Some(ContainerEngine::Podman),
            },
            marks: Some(scene.marks()),
            ..SessionOptions::new(WardenProgram::ThisProgram, &workspace)
        })
        .expect("session");
        Self {
            scene,
            sandbox,
            session,
        }
    }

    /// Runs a script for bash, and gives back how it ended and what it printed.
    pub async fn run(&self, script: &str) -> String {
        // Several may run beside each other.
        static DEEDS: AtomicU32 = AtomicU32::new(0);
        let number = DEEDS.fetch_add(1, Ordering::Relaxed);
        let file = self.scene.workspace().join(format!(".deed-{number}.sh"));
        std::fs::write(&file, script).expect("deed");
        let permit = self.permit(vec!["bash".to_owned(), file.display().to_string()]);
        let launched = self.session.launch(permit, Io::Pipes(Input::Null)).await;
        let mut process = launched.expect("launch");
        let Some(Output::Pipes {
            mut stdout,
            mut stderr,
        }) = process.output.take()
        else {
            panic!("no output");
        };
        let read = async {
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let (a, b) = tokio::join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut err));
            a.and(b).expect("read");
            let exit = process.exited().await.expect("exit");
            process.kill().expect("kill");
            process.gone().await.expect("gone");
            let text = String::from_utf8_lossy(&[out, err].concat()).into_owned();
            format!("{}: {text}", exit.code())
        };
        tokio::time::timeout(Duration::from_mins(1), read)
            .await
            .expect("a script hangs")
    }

    fn permit(&self, argv: Vec<String>) -> ringfence_policy::Permit {
        let path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".to_owned();
        let mut environment = BTreeMap::from([("PATH".to_owned(), path)]);
        for (name, value) in [
            ("HOME", self.scene.home()),
            ("OUTSIDE", self.scene.outside()),
            ("WORKSPACE", self.scene.workspace()),
        ] {
            environment.insert(name.to_owned(), value.display().to_string());
        }
        for (name, value) in crate::scene::PERSON {
            environment.insert((*name).to_owned(), (*value).to_owned());
        }
        let action = Action::RunCommand(RunCommand {
            tool: "test".into(),
            line: CommandLine::Argv(argv),
            cwd: self.scene.workspace(),
            environment,
            fence: FenceRequest::Stay,
            justification: None,
            description: None,
        });
        let bench = Bench {
            ground: &Ground::at(self.scene.workspace()),
            sandbox: &self.sandbox,
            limits: &Limits::default(),
            approval: ApprovalPolicy::OnFailure,
            escalation: Escalation::Off,
            rules: &RuleSet::default(),
            remembered: &Remembered::default(),
        };
        match judge(action, &bench).verdict {
            Verdict::Allow(permit) => permit,
            Verdict::Ask(question) => settle(question, &Answer::Approved).expect("approved"),
            Verdict::Deny(denial) => panic!("the policy already refuses this: {denial}"),
        }
    }
}
