//! What a client wants its session to be like, as settings on top of the configuration.
//!
//! What a flag of the program sets, whoever started it has decided: a client cannot set it again.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use ringfence::config::{FlagValue, Value};
use ringfence::policy::ruleset::RuleSet;
use ringfence::{CallError, Engine};
use ringfence_protocol::wire::{LimitOptions, SessionOptions};
use ringfence_protocol::{OpenError, Opener, Parts};

use crate::arguments::Common;
use crate::locations::Locations;
use crate::opening;
use crate::own_secrets::OwnSecrets;
use crate::paint;
use crate::workspace;

/// Opens engines for clients of this program.
pub(in crate::verb) struct OnThisMachine {
    common: Common,
    secrets: OwnSecrets,
    /// The user's rules file, and how it was when it was read last.
    rules: Mutex<Option<(PathBuf, Option<Stamp>)>>,
}

/// What tells one state of a file from another.
type Stamp = (u64, u64, i64, i64);

impl OnThisMachine {
    pub(in crate::verb) fn new(common: Common) -> Self {
        Self::keeping(OwnSecrets::default(), common)
    }

    /// With secrets that no command gets to see.
    pub(in crate::verb) fn keeping(secrets: OwnSecrets, common: Common) -> Self {
        Self {
            common,
            secrets,
            rules: Mutex::default(),
        }
    }

    /// Looks at the rules file, which is about to be read.
    fn look_at_rules(&self) {
        let found = Locations::find(self.common.cwd.as_deref()).ok();
        let file = found.and_then(|found| found.user_rules());
        let looked = file.map(|file| (file.clone(), stamp(&file)));
        *self.rules.lock().unwrap_or_else(PoisonError::into_inner) = looked;
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let file = file.metadata().ok()?;
    Some((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}

impl Opener for OnThisMachine {
    fn open(&self, options: &SessionOptions, parts: Parts) -> Result<Engine, OpenError> {
        if let Some((option, flag)) = fixed(&self.common, options) {
            return Err(OpenError {
                code: "option_fixed",
                message: format!("`{option}` is set by {flag} of the program, and stays so"),
                option: Some(option),
            });
        }
        let workspace = options.workspace.as_ref().map(PathBuf::from);
        let opened = settings(options).and_then(|settings| {
            workspace::check(workspace.as_deref().or(self.common.cwd.as_deref()))?;
            self.look_at_rules();
            opening::open_for_client(
                &self.common,
                workspace.as_deref(),
                settings,
                parts,
                &self.secrets,
            )
        });
        opened.map_err(|error| {
            let message = format!("{error:#}");
            OpenError {
                code: error.downcast_ref().map_or("cannot_open", CallError::code),
                option: NAMES
                    .into_iter()
                    .find(|name| message.contains(&named(name))),
                message,
            }
        })
    }

    fn changed_rules(&self) -> Option<RuleSet> {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, seen) = rules.as_mut()?;
        let now = stamp(file);
        if *seen == now {
            return None;
        }
        *seen = now;
        let rules = Locations::find(self.common.cwd.as_deref()).and_then(|found| found.rules());
        rules
            .inspect_err(|error| paint::remark(&format!("the rules stay as they were: {error:#}")))
            .ok()
    }
}

const NAMES: [&str; 9] = [
    "sandbox",
    "approval",
    "network",
    "allow_hosts",
    "writable_roots",
    "unix_sockets",
    "environment",
    "limits",
    "question_timeout_ms",
];

/// An option as errors name it.
fn named(option: &str) -> String {
    format!("`options.{option}`")
}

/// An option that a flag has set already, and the flag.
fn fixed(common: &Common, options: &SessionOptions) -> Option<(&'static str, &'static str)> {
    let both = [
        (
            options.workspace.is_some() && common.cwd.is_some(),
            "workspace",
            "--cwd",
        ),
        (
            options.sandbox.is_some() && common.sandbox.is_some(),
            "sandbox",
            "--sandbox",
        ),
        (
            options.approval.is_some() && common.approval.is_some(),
            "approval",
            "--approval",
        ),
        (
            options.network.is_some() && common.network.is_some(),
            "network",
            "--network",
        ),
        // An allow-list of the program's own is no allow-list of the client's.
        (
            options.network.is_some() && !common.allow_host.is_empty(),
            "network",
            "--allow-host",
        ),
        (
            options.allow_hosts.is_some() && common.network.is_some(),
            "allow_hosts",
            "--network",
        ),
        (
            options.allow_hosts.is_some() && !common.allow_host.is_empty(),
            "allow_hosts",
            "--allow-host",
        ),
        (
            options.writable_roots.is_some() && !common.writable.is_empty(),
            "writable_roots",
            "--writable",
        ),
        (
            options.unix_sockets.is_some() && !common.allow_socket.is_empty(),
            "unix_sockets",
            "--allow-socket",
        ),
    ];
    let first = both.into_iter().find(|(both, ..)| *both);
    first.map(|(_, option, flag)| (option, flag))
}

/// The options as settings.
fn settings(options: &SessionOptions) -> Result<Vec<FlagValue>> {
    let mut settings = Vec::new();
    let mut set = |option: &str, key: &'static str, value: Option<Value>| {
        settings.extend(value.map(|value| FlagValue {
            flag: named(option),
            key,
            value,
        }));
    };
    let text = |value: &Option<String>| value.clone().map(Value::Text);
    set("sandbox", "sandbox.mode", text(&options.sandbox));
    set("approval", "approval.policy", text(&options.approval));
    let allow_list = || {
        options
            .allow_hosts
            .is_some()
            .then(|| "allow-list".to_owned())
    };
    let network = options.network.clone().or_else(allow_list);
    set("network", "sandbox.network", text(&network));
    let hosts = options.allow_hosts.clone().map(Value::List);
    set("allow_hosts", "network.allow", hosts);
    let roots = real_paths("writable_roots", options.writable_roots.as_deref())?;
    set("writable_roots", "sandbox.writable_roots", roots);
    let sockets = real_paths("unix_sockets", options.unix_sockets.as_deref())?;
    set("unix_sockets", "sandbox.unix_sockets", sockets);
    let variables = options.environment.clone().map(Value::Table);
    set("environment", "environment.set", variables);
    let timeout = options.question_timeout_ms.map(Value::Number);
    set("question_timeout_ms", "approval.timeout_ms", timeout);
    for (key, limit) in options.limits.as_ref().map(limits).into_iter().flatten() {
        set("limits", key, limit.map(Value::Number));
    }
    Ok(settings)
}

fn limits(limits: &LimitOptions) -> [(&'static str, Option<u64>); 9] {
    [
        ("limits.memory_bytes", limits.memory_bytes),
        ("limits.process_memory_bytes", limits.process_memory_bytes),
        ("limits.cpu_seconds", limits.cpu_seconds),
        ("limits.wall_seconds", limits.wall_seconds),
        ("limits.processes", limits.processes),
        ("limits.file_size_bytes", limits.file_size_bytes),
        ("limits.open_files", limits.open_files),
        ("limits.disk_bytes", limits.disk_bytes),
        ("limits.tmp_bytes", limits.tmp_bytes),
    ]
}

fn real_paths(option: &str, paths: Option<&[String]>) -> Result<Option<Value>> {
    let Some(paths) = paths else { return Ok(None) };
    let real = paths.iter().map(|path| {
        let real = Path::new(path).canonicalize();
        let real = real.with_context(|| format!("{}: {path} cannot be used", named(option)))?;
        Ok(real.display().to_string())
    });
    Ok(Some(Value::List(real.collect::<Result<_>>()?)))
}
