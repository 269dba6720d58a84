//! The network of a session: which hosts its commands reach, and what is added on the way.
//!
//! The jail's proxy asks about every connection (`gate`); the desk answers as it does for
//! commands. What is added to requests stands in the configuration and is read from the harness's
//! environment (`inject`). Which rules there are besides those of the rules files comes from the
//! configuration too.

mod gate;
mod inject;
mod pending;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringfence_jail::net::{Bounds, Closed, Gate, Refusal, Terminator, TerminatorError};
use ringfence_policy::Permit;
use ringfence_policy::action::Action;
use ringfence_policy::permissions::Network;
use ringfence_policy::permit::Confinement;
use ringfence_policy::rule::{Decision, Grant, HostPattern, Layer, Rule, Selector, Source};

use crate::audit::CallId;
use crate::config::NetworkConfig;
use crate::denial::{Denial, DenialKind, Evidence};
use crate::engine::{Call, Desk};
use gate::RunGate;
pub use inject::InjectError;
pub(crate) use inject::Injections;
use pending::Pending;

/// What the runs of a session share.
pub(crate) struct SessionNetwork {
    desk: Arc<Desk>,
    injections: Injections,
    terminator: Option<Terminator>,
    bounds: Bounds,
    pending: Pending,
    /// What was refused to the commands of calls that are under way.
    refusals: Arc<Mutex<ByCall>>,
}

type ByCall = BTreeMap<CallId, Vec<Refusal>>;

/// What the proxy refused to the command of one call.
#[derive(Debug, Clone)]
pub(crate) struct Refusals {
    all: Arc<Mutex<ByCall>>,
    call: CallId,
}

impl Refusals {
    /// Everything so far, which is told once.
    pub(crate) fn take(&self) -> Vec<Denial> {
        let taken = self.lock().remove(&self.call).unwrap_or_default();
        taken.iter().map(denial).collect()
    }

    fn add(&self, refusal: &Refusal) {
        let mut all = self.lock();
        let own = all.entry(self.call.clone()).or_default();
        if own.len() < MOST && !own.contains(refusal) {
            own.push(refusal.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, ByCall> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The most refusals that are told of one call.
const MOST: usize = 16;

impl SessionNetwork {
    pub(crate) fn new(
        desk: Arc<Desk>,
        config: &NetworkConfig,
        injections: Injections,
        terminator: Option<Terminator>,
    ) -> Self {
        Self {
            desk,
            injections,
            terminator,
            bounds: Bounds {
                connections: usize::try_from(config.max_connections).unwrap_or(usize::MAX),
                connect: config.connect_timeout,
            },
            pending: Pending::default(),
            refusals: Arc::default(),
        }
    }

    /// Who decides about the connections of a permitted command.
    pub(crate) fn gate(self: &Arc<Self>, call: &Call, permit: &Permit) -> Arc<dyn Gate> {
        let Action::RunCommand(command) = permit.action() else {
            return Arc::new(Closed);
        };
        match permit.confinement() {
            Confinement::Fenced { sandbox, .. } if sandbox.network == Network::AllowList => {
                Arc::new(RunGate::new(Arc::clone(self), call, &command.tool, sandbox))
            }
            _ => Arc::new(Closed),
        }
    }

    /// What a call's command will have been refused.
    pub(crate) fn refusals_of(&self, call: &Call) -> Refusals {
        Refusals {
            all: Arc::clone(&self.refusals),
            call: call.id.clone(),
        }
    }

    /// Whether a variable is kept from commands, since a header is made from it.
    pub(crate) fn keeps(&self, variable: &str) -> bool {
        self.injections.uses(variable)
    }
}

/// Who ends TLS, where that is switched on.
pub(crate) fn terminator(
    config: &NetworkConfig,
    environment: &BTreeMap<String, String>,
) -> Result<Option<Terminator>, TerminatorError> {
    if !config.terminate_tls {
        return Ok(None);
    }
    let trusted = environment.get("SSL_CERT_FILE").map(Path::new);
    Terminator::new(trusted).map(Some)
}

/// The rules that the configuration's lists of hosts stand for.
pub(crate) fn rules_of(config: &NetworkConfig) -> Vec<Rule> {
    let lists = [
        (&config.allow, Decision::Allow, "network.allow"),
        (&config.deny, Decision::Deny, "network.deny"),
    ];
    let mut rules = Vec::new();
    for (hosts, decision, key) in lists {
        // The configuration has made sure that each can be read.
        let patterns = hosts
            .iter()
            .filter_map(|host| HostPattern::parse(host).ok());
        rules.extend(patterns.enumerate().map(|(index, pattern)| Rule {
            selector: Selector::Host(pattern),
            tools: Vec::new(),
            decision,
            grant: Grant::default(),
            reason: None,
            source: Source {
                layer: Layer::User,
                file: key.to_owned(),
                line: index + 1,
            },
            matches: Vec::new(),
            not_matches: Vec::new(),
        }));
    }
    rules
}

/// A refusal of the proxy's as what the fence refused a command.
fn denial(refusal: &Refusal) -> Denial {
    Denial {
        kind: DenialKind::Host,
        subject: refusal.subject.clone(),
        reason: refusal.reason.clone(),
        allow: refusal.allow.clone().unwrap_or_else(|| {
            let host = &refusal.subject;
            format!("--allow-host {host}, or `network.allow = [\"{host}\"]`")
        }),
        evidence: Evidence::Seen,
    }
}
