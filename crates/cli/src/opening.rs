//! From flags, files and the environment to an open engine.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use ringfence::Engine;
use ringfence::approval::{Approver, Scripted};
use ringfence::config::{Config, FlagValue, ScriptMode};
use ringfence::event::{self, Listener};
use ringfence::jail::{Launches, WardenProgram};
use ringfence_protocol::Parts;

use crate::arguments::{Approve, Common};
use crate::flags::flag_values;
use crate::locations::Locations;
use crate::own_secrets::OwnSecrets;
use crate::paint;
use crate::prompt::{SecondRuns, SessionLength, TerminalApprover};
use crate::telemetry;

/// Who runs commands here: how many there will be, and how soon the first. What may run does not
/// depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A person, who typed the command.
    Person,
    /// A model.
    Model,
    /// A model, with one call and no other.
    OneCall,
}

/// Whether what happens is put on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recorded {
    Yes,
    /// Nothing will happen.
    No,
}

/// What the flags, the files and the environment come to.
pub(crate) fn settings(common: &Common) -> Result<(Config, BTreeMap<String, String>)> {
    let locations = Locations::find(common.cwd.as_deref())?;
    let resolved = locations.resolve(flag_values(common)?)?;
    Ok((Config::from(&resolved), locations.environment))
}

/// Opens an engine.
pub(crate) fn open(common: &Common, caller: Caller, listener: Arc<dyn Listener>) -> Result<Engine> {
    open_keeping(common, caller, listener, &OwnSecrets::default())
}

/// Opens an engine whose commands do not get to see these secrets.
pub(crate) fn open_keeping(
    common: &Common,
    caller: Caller,
    listener: Arc<dyn Listener>,
    secrets: &OwnSecrets,
) -> Result<Engine> {
    open_with(common, caller, listener, Recorded::Yes, secrets)
}

/// Opens an engine that only looks: nothing is run or recorded.
pub(crate) fn open_to_look(common: &Common) -> Result<Engine> {
    let secrets = OwnSecrets::default();
    open_with(
        common,
        Caller::Model,
        event::nowhere(),
        Recorded::No,
        &secrets,
    )
}

/// Opens an engine for a client that answers questions itself, unless a flag says who does.
pub(crate) fn open_for_client(
    common: &Common,
    workspace: Option<&Path>,
    options: Vec<FlagValue>,
    parts: Parts,
    secrets: &OwnSecrets,
) -> Result<Engine> {
    let mut flags = flag_values(common)?;
    flags.extend(options);
    assemble(Assembly {
        cwd: workspace.or(common.cwd.as_deref()),
        flags,
        caller: Caller::Model,
        approver: Box::new(|patience| match common.approve {
            Approve::Ask => parts.approver,
            said => approver(said, patience, Caller::Model),
        }),
        listener: parts.listener,
        recorded: Recorded::Yes,
        secrets,
    })
}

fn open_with(
    common: &Common,
    caller: Caller,
    listener: Arc<dyn Listener>,
    recorded: Recorded,
    secrets: &OwnSecrets,
) -> Result<Engine> {
    assemble(Assembly {
        cwd: common.cwd.as_deref(),
        flags: flag_values(common)?,
        caller,
        approver: Box::new(|patience| approver(common.approve, patience, caller)),
        listener,
        recorded,
        secrets,
    })
}

/// What an engine is put together from, besides the machine's files.
struct Assembly<'a> {
    cwd: Option<&'a Path>,
    flags: Vec<FlagValue>,
    caller: Caller,
    /// Who is asked, given how long a question waits.
    approver: Box<dyn FnOnce(Duration) -> Arc<dyn Approver> + 'a>,
    listener: Arc<dyn Listener>,
    recorded: Recorded,
    /// What commands do not get to see.
    secrets: &'a OwnSecrets,
}

fn assemble(assembly: Assembly<'_>) -> Result<Engine> {
    let Assembly {
        cwd,
        flags,
        caller,
        approver,
        listener,
        recorded,
        secrets,
    } = assembly;
    // First, while there is little to copy; it gets ready while the rest is read.
    let warden = match (caller, recorded) {
        (Caller::Person, Recorded::Yes) => WardenProgram::fork_now(),
        _ => WardenProgram::ThisProgram,
    };
    let locations = Locations::find(cwd)?;
    let resolved = locations.resolve(flags)?;
    for refused in &resolved.refused {
        paint::remark(&refused.to_string());
    }
    let mut config = Config::from(&resolved);
    // Whoever starts this program is a person: scripts run unless they said otherwise.
    if resolved.is_default("script.mode") {
        config.script.mode = ScriptMode::Enabled;
    }
    let approver = approver(config.approval.timeout);
    let measured = match recorded {
        Recorded::Yes => telemetry::listener(&config, &locations.environment, secrets),
        Recorded::No => None,
    };
    let mut builder = Engine::builder(&locations.workspace)
        .rules(locations.rules()?)
        // A person's verb runs one command; a model's call may run many.
        .launches(match caller {
            Caller::Person => Launches::One,
            Caller::Model | Caller::OneCall => Launches::Many,
        })
        .shared_approver(approver)
        .shared_listener(listener)
        .warden(warden)
        .front("cli");
    if let Some(measured) = measured {
        builder = builder.shared_listener(measured);
    }
    if caller == Caller::OneCall {
        builder = builder.for_one_call();
    }
    if recorded == Recorded::No {
        builder = builder.to_look();
    } else if config.audit.enabled {
        // There has to be a place for it.
        locations.audit_folders(&config)?;
    }
    builder = secrets.kept_by(builder.config(config));
    if let Some(file) = locations.user_rules() {
        builder = builder.rules_file(file);
    }
    if let Some(folder) = locations.config_home {
        builder = builder.private(folder);
    }
    if let Some(folder) = locations.state_home {
        builder = builder.state(folder);
    }
    if let Some(folder) = locations.cache_home {
        // Whoever knows no name in it finds none.
        let name = ringfence::identifier::random("out");
        builder = builder
            .outputs(folder.join("outputs-by-name").join(name))
            .caches(folder.join("caches"));
    }
    Ok(builder.environment(locations.environment).open()?)
}

fn approver(approve: Approve, patience: Duration, caller: Caller) -> Arc<dyn Approver> {
    let session = match caller {
        Caller::Person => SessionLength::OneCommand,
        Caller::Model | Caller::OneCall => SessionLength::ManyCalls,
    };
    let asks: Arc<dyn Approver> = match approve {
        Approve::All => Arc::new(Scripted::ApproveAll),
        Approve::AllUnfenced => Arc::new(Scripted::ApproveAllUnfenced),
        Approve::None => Arc::new(Scripted::DenyAll {
            message: "--approve none says no to everything".into(),
        }),
        Approve::Ask => Arc::new(TerminalApprover::new(patience, session)),
    };
    match caller {
        // The command reads what we were given to read.
        Caller::Person => Arc::new(SecondRuns::asking(asks)),
        Caller::Model | Caller::OneCall => asks,
    }
}
