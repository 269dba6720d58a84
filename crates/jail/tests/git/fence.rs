//! A fence around a scene's workspace, in which scripts are run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ringfence_jail::{Degraded, Input, Io, Jail, Output};
use ringfence_policy::Permit;
use ringfence_policy::permissions::{Limits, SandboxPolicy};
use tokio::io::AsyncReadExt;

use crate::scene::Scene;
use crate::suite::permit::PATH;
use crate::suite::{Where, permit};

/// A session with a workspace.
pub struct Fence<'s> {
    scene: &'s Scene,
    sandbox: SandboxPolicy,
    jail: Jail,
}

impl<'s> Fence<'s> {
    pub fn around(scene: &'s Scene, at: Where) -> Self {
        Self::with(scene, at, SandboxPolicy::workspace_write(scene.workspace()))
    }

    /// The same with a policy of its own.
    pub fn with(scene: &'s Scene, at: Where, mut sandbox: SandboxPolicy) -> Self {
        sandbox.denied_reads.push(scene.marks());
        let degraded = match at {
            Where::Degraded => Degraded::Allow,
            _ => Degraded::Refuse,
        };
        let options = at.options(degraded, &scene.workspace(), &scene.marks());
        let jail = Jail::open(options).expect("jail");
        Self {
            scene,
            sandbox,
            jail,
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
        let launched = self.jail.launch(permit, Io::Pipes(Input::Null)).await;
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

    fn permit(&self, argv: Vec<String>) -> Permit {
        let mut environment = BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]);
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
        let limits = Limits::default();
        let cwd = self.scene.workspace();
        permit(argv, cwd, environment, &self.sandbox, &limits)
    }
}
