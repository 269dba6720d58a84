//! What the command tools share: where a command runs, for how long and with which environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ringfence_policy::ShellKind;
use ringfence_policy::action::{FenceRequest, RunCommand};
use ringfence_policy::command_line::{CommandLine, Profile, Shell};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::engine::{Call, Engine, Outcome, RunOptions};
use crate::environment::{merge_login_environment, parse_environment};
use crate::error::CallError;
use crate::output::{HeadTail, Kind, OutputFile};

/// Where a call asks to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SandboxPermissions {
    /// Where the policy puts it.
    #[default]
    UseDefault,
    /// Outside the fence, after somebody has been asked.
    RequireEscalated,
}

impl From<SandboxPermissions> for FenceRequest {
    fn from(permissions: SandboxPermissions) -> Self {
        match permissions {
            SandboxPermissions::UseDefault => Self::Stay,
            SandboxPermissions::RequireEscalated => Self::Leave,
        }
    }
}

/// The folder that a call names, relative to the session's.
pub(crate) fn workdir(engine: &Engine, asked: Option<&str>) -> Result<PathBuf, CallError> {
    let path = engine.ground.cwd.join(asked.unwrap_or("."));
    let unusable = |reason| CallError::Workdir {
        path: path.clone(),
        reason,
    };
    let resolved = path.canonicalize().map_err(unusable)?;
    if !resolved.is_dir() {
        return Err(unusable(std::io::ErrorKind::NotADirectory.into()));
    }
    Ok(resolved)
}

/// The time that a call names, within the maximum, or else the one that is configured.
pub(crate) fn timeout(
    engine: &Engine,
    asked: Option<u64>,
    otherwise: Duration,
) -> Result<Duration, CallError> {
    let most = engine.config.bash.max_timeout;
    match asked.map(Duration::from_millis) {
        Some(asked) if asked > most => Err(CallError::TimeoutTooLong {
            given: u64::try_from(asked.as_millis()).unwrap_or(u64::MAX),
            most: u64::try_from(most.as_millis()).unwrap_or(u64::MAX),
        }),
        asked => Ok(asked.unwrap_or(otherwise)),
    }
}

/// Whether the user's profile applies to a text: as it was asked for, or as it is configured.
pub(super) fn profile(engine: &Engine, login: Option<bool>) -> Profile {
    if login.unwrap_or(engine.config.shell.login) {
        Profile::Login
    } else {
        Profile::Plain
    }
}

/// How a command of a model's is run.
pub(crate) fn run_options(engine: &Engine, timeout: Duration) -> RunOptions {
    RunOptions {
        timeout: Some(timeout),
        silence: engine.config.shell.silence,
        ..RunOptions::default()
    }
}

/// A shell command line and the environment to run it with. A login shell is served from a
/// snapshot of the login environment; where none could be taken, the profile is read each time.
pub(super) async fn in_shell(
    engine: &Engine,
    call: &Call,
    shell: &Shell,
    text: String,
    profile: Profile,
) -> (CommandLine, BTreeMap<String, String>) {
    let line = |profile| CommandLine::Shell {
        shell: shell.clone(),
        text: text.clone(),
        profile,
    };
    if profile == Profile::Plain || !shell.kind.is_bourne() {
        return (line(profile), on_pipes(&engine.environment));
    }
    match login_environment(engine, call).await {
        Some(environment) => (line(Profile::Plain), on_pipes(environment)),
        None => (line(Profile::Login), on_pipes(&engine.environment)),
    }
}

/// The environment of a command that has no terminal, and must not believe that it has the user's.
pub(crate) fn on_pipes(environment: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut environment = environment.clone();
    environment.insert("TERM".to_owned(), "dumb".to_owned());
    environment
}

/// The environment after the user's profile, taken once per session, inside the fence.
async fn login_environment<'a>(
    engine: &'a Engine,
    call: &Call,
) -> Option<&'a BTreeMap<String, String>> {
    engine
        .login
        .get_or_init(|| take_login_environment(engine, call))
        .await
        .as_ref()
}

async fn take_login_environment(engine: &Engine, call: &Call) -> Option<BTreeMap<String, String>> {
    const LONGEST: Duration = Duration::from_secs(10);
    let command = RunCommand {
        tool: "login-environment".to_owned(),
        line: CommandLine::Shell {
            shell: engine.shell.clone(),
            text: printing_the_environment(engine.shell.kind).to_owned(),
            profile: Profile::Login,
        },
        cwd: engine.ground.cwd.clone(),
        environment: engine.environment.clone(),
        fence: FenceRequest::Stay,
        justification: None,
        description: None,
    };
    let options = RunOptions {
        timeout: Some(LONGEST),
        ..RunOptions::default()
    };
    let taken = engine.run_quietly(command, options).await;
    let login = match &taken {
        Ok(outcome) if outcome.execution.exit_code() == 0 => {
            let stdout = &outcome.execution.output.stdout;
            parse_environment(&[stdout.head(), &stdout.tail()].concat())
        }
        _ => None,
    };
    if login.is_none() {
        engine.desk.notice(
            call,
            "the login environment could not be taken; the profile is read by every command"
                .to_owned(),
        );
    }
    login.map(|login| {
        let mut merged =
            merge_login_environment(&engine.config.environment, &engine.environment, login);
        // A profile may set what headers are made from.
        merged.retain(|name, _| !engine.network.keeps(name));
        merged.retain(|name, value| !engine.own_secrets.include(name, value));
        merged
    })
}

/// A text that prints the environment. A profile's functions are part of it where the shell can hand
/// them on in it.
fn printing_the_environment(shell: ShellKind) -> &'static str {
    match shell {
        ShellKind::Bash => "env -0; declare -f",
        _ => "env -0",
    }
}

/// The shell for a tool that is called after one: the session's if it is of that kind.
pub(super) fn bash_like(engine: &Engine) -> Shell {
    let session = &engine.shell;
    if session.kind == ShellKind::Bash {
        return session.clone();
    }
    ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]
        .iter()
        .find(|path| Path::new(path).is_file())
        .map_or_else(
            || session.clone(),
            |path| Shell {
                kind: ShellKind::Bash,
                path: PathBuf::from(path),
            },
        )
}

/// The file with the whole output, if the reply leaves some of it out.
pub(super) fn long_output<'a>(engine: &Engine, outcome: &'a Outcome) -> Option<&'a OutputFile> {
    let output = &outcome.execution.output;
    let is_data = |stream: &HeadTail| matches!(Kind::of(stream.head()), Kind::Binary(_));
    let cut = output.both.total() > engine.max_output_chars() as u64
        || is_data(&output.stdout)
        || is_data(&output.stderr);
    output.file.as_ref().filter(|_| cut)
}
