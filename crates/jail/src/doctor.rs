//! What this machine can enforce, mechanism by mechanism and backend by backend, found out by trying.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use ringfence_confine::cgroup::{Controller, GroupRoot};
use ringfence_confine::{landlock, namespace};
use ringfence_policy::permissions::{Limits, SandboxMode, SandboxPolicy};
use serde::Serialize;

use crate::backend::guarantee::{GUARANTEES, Guarantee, Holding};
use crate::backend::{Backend, SearchPath, bubblewrap, container, native};
use crate::error::LaunchError;
use crate::jail::identity;
use crate::line::WardenProgram;
use crate::plan;
use crate::surroundings::Surroundings;
use crate::survey::Survey;
use crate::warden::protocol::{Boot, Enclosure, Groups, RawPath, RunFolder, World};

/// Whether a mechanism is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is.
    Available,
    /// It is not, and the fence is weaker for it.
    Missing,
    /// It is not, and nothing that is used by default needs it.
    Optional,
}

/// One mechanism.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its name.
    pub name: &'static str,
    /// Whether it is there.
    pub state: State,
    /// Which version, or why not and what to do about it.
    pub detail: String,
    /// What using it costs, in microseconds, where that can be told apart.
    pub cost_micros: Option<u64>,
}

/// Tries every mechanism.
pub async fn examine() -> Vec<Finding> {
    let mut findings = vec![kernel(), landlock_finding(), seccomp()];
    findings.extend(worlds().await);
    findings.extend([control_groups(), process_limit()]);
    findings
}

/// A backend, as it is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackendFinding {
    /// Its name.
    pub name: &'static str,
    /// Whether it can be used.
    pub state: State,
    /// Which version, or why not.
    pub detail: String,
    /// What of a policy it cannot hold: asking for it there is an error.
    pub lacks: Vec<String>,
    /// What bringing it up costs, once per session, in microseconds.
    pub cost_micros: Option<u64>,
}

/// Tries every backend, with the programs of these folders.
pub async fn backends(programs: &SearchPath) -> Vec<BackendFinding> {
    let native = match try_world(true).await {
        Ok((cost, _)) => backend(
            Backend::Native,
            State::Available,
            "namespaces, Landlock and seccomp".to_owned(),
            Some(cost),
        ),
        Err(why) => BackendFinding {
            lacks: lacking(|row| row.degraded),
            ..backend(
                Backend::Native,
                State::Missing,
                format!("{why}; `sandbox.degraded = \"allow\"` accepts less"),
                None,
            )
        },
    };
    let bubblewrap = match try_bubblewrap(programs).await {
        Ok((version, cost)) => backend(Backend::Bubblewrap, State::Available, version, Some(cost)),
        Err(why) => backend(Backend::Bubblewrap, State::Optional, why.to_string(), None),
    };
    let programs = programs.clone();
    let container = match tokio::task::spawn_blocking(move || container::look(&programs)).await {
        Ok(Ok(detail)) => backend(Backend::Container, State::Available, detail, None),
        Ok(Err(why)) => backend(Backend::Container, State::Optional, why.to_string(), None),
        Err(why) => backend(Backend::Container, State::Optional, why.to_string(), None),
    };
    vec![native, bubblewrap, container]
}

fn backend(
    backend: Backend,
    state: State,
    detail: String,
    cost_micros: Option<u64>,
) -> BackendFinding {
    let lacks = match backend {
        Backend::Native => lacking(|row| row.native),
        Backend::Bubblewrap => lacking(|row| row.bubblewrap),
        Backend::Container => lacking(|row| row.container),
        Backend::None => Vec::new(),
    };
    BackendFinding {
        name: backend.name(),
        state,
        detail,
        lacks,
        cost_micros,
    }
}

fn lacking(of: impl Fn(&Guarantee) -> Holding) -> Vec<String> {
    GUARANTEES
        .iter()
        .filter_map(|row| match of(row) {
            Holding::By(_) => None,
            Holding::Not(why) => Some(format!("{}: {why}", row.name)),
        })
        .collect()
}

/// The version of `bwrap`, and what a session's namespaces by it cost.
async fn try_bubblewrap(programs: &SearchPath) -> Result<(String, u64), LaunchError> {
    let bwrap = bubblewrap::find(programs)?;
    let boot = Boot {
        world: World::Bubblewrap {
            bwrap: RawPath::from(bwrap.as_path()),
            own_network: true,
            tmp_bytes: None,
            groups: Groups::default(),
        },
        identity: identity(Path::new("/"))?,
        run_folder: RunFolder::default(),
        marks: None,
        workspace: RawPath::default(),
        harness: std::process::id(),
    };
    let started = Instant::now();
    bubblewrap::open(&WardenProgram::ThisProgram, &bwrap, &boot).await?;
    Ok((version(&bwrap), micros(started)))
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn finding(name: &'static str, state: State, detail: impl Into<String>) -> Finding {
    Finding {
        name,
        state,
        detail: detail.into(),
        cost_micros: None,
    }
}

fn kernel() -> Finding {
    let (major, minor) = namespace::kernel_version();
    let state = if (major, minor) >= (5, 13) {
        State::Available
    } else {
        State::Missing
    };
    finding(
        "kernel",
        state,
        format!("Linux {major}.{minor} (5.13 or later is needed)"),
    )
}

fn landlock_finding() -> Finding {
    match landlock::version() {
        0 => finding(
            "landlock",
            State::Missing,
            "not enforced by this kernel; add `landlock` to its lsm= list",
        ),
        version => finding(
            "landlock",
            State::Available,
            format!("interface version {version}"),
        ),
    }
}

fn seccomp() -> Finding {
    match std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail") {
        Ok(actions) if actions.contains("kill_process") => {
            finding("seccomp", State::Available, "filters, with kill_process")
        }
        _ => finding("seccomp", State::Missing, "no filters, or no kill_process"),
    }
}

/// Makes worlds and takes stages from them.
async fn worlds() -> Vec<Finding> {
    let shared = try_world(false).await;
    let own = try_world(true).await;
    let describe = |name, result: &Result<(u64, u64), String>, good: &str| match result {
        Ok((boot, _)) => Finding {
            cost_micros: Some(*boot),
            ..finding(name, State::Available, good)
        },
        Err(reason) => finding(
            name,
            State::Missing,
            format!(
                "{reason}; allow unprivileged user namespaces, or accept less with \
                 `sandbox.degraded = \"allow\"`"
            ),
        ),
    };
    let mut findings = vec![
        describe(
            "namespaces",
            &shared,
            "user, mount, PID, IPC and UTS (cost: once per session)",
        ),
        describe("network namespace", &own, "a loopback of the session's own"),
    ];
    if let Ok((_, stage)) = own {
        findings.push(Finding {
            cost_micros: Some(stage),
            ..finding(
                "stage",
                State::Available,
                "ready for a command (made ahead of need)",
            )
        });
    }
    findings
}

/// The costs of a world and of a stage in it, in microseconds.
async fn try_world(own_network: bool) -> Result<(u64, u64), String> {
    let identity = identity(Path::new("/")).map_err(|error| error.to_string())?;
    let boot = Boot {
        world: World::Namespaces {
            own_network,
            tmp_bytes: None,
            groups: Groups::default(),
        },
        identity,
        run_folder: RunFolder::default(),
        marks: None,
        workspace: RawPath::default(),
        harness: std::process::id(),
    };
    let started = Instant::now();
    let enclosure = reading().map_err(|error| error.to_string())?;
    let mut line = native::open(&WardenProgram::ThisProgram, &boot)
        .await
        .map_err(|error| error.to_string())?;
    let booted = micros(started);
    let started = Instant::now();
    line.stage(&enclosure)
        .await
        .map_err(|error| error.to_string())?;
    Ok((booted, micros(started)))
}

/// The plainest of fences.
fn reading() -> Result<Enclosure, LaunchError> {
    let sandbox = SandboxPolicy::new(SandboxMode::ReadOnly);
    Ok(Enclosure {
        fence: Some(
            Survey::of(&sandbox, &Surroundings::default())?
                .fence()
                .clone(),
        ),
        limits: plan::limits(&Limits::default()),
    })
}

fn control_groups() -> Finding {
    let nested = GroupRoot::make(&[Controller::Pids, Controller::Memory])
        .or_else(|_| GroupRoot::make(&[Controller::Pids]));
    match nested {
        Ok(root) => {
            let places: Vec<_> = root
                .paths()
                .iter()
                .filter_map(|path| path.parent().map(|parent| parent.display().to_string()))
                .collect();
            let detail = format!(
                "limits hold for a run as a whole, and are counted (below {})",
                places.join(" and ")
            );
            finding("control groups", State::Available, detail)
        }
        Err(refused) => finding(
            "control groups",
            State::Optional,
            format!("{refused}; `limits.memory_bytes` bounds each process by itself instead"),
        ),
    }
}

fn process_limit() -> Finding {
    let detail = if GroupRoot::make(&[Controller::Pids]).is_ok() {
        "by a control group, for everybody"
    } else if namespace::pid_max_is_per_namespace() {
        "by the PID namespace, for everybody, and never below 301"
    } else {
        "by rlimit, which does not hold root (Linux 6.14 has a limit per PID namespace)"
    };
    finding("process limit", State::Available, detail)
}

fn version(path: &Path) -> String {
    let output = Command::new(path)
        .arg("--version")
        .stderr(Stdio::null())
        .output();
    let line = output.ok().and_then(|output| {
        String::from_utf8(output.stdout)
            .ok()?
            .lines()
            .next()
            .map(str::to_owned)
    });
    line.unwrap_or_else(|| path.display().to_string())
}
