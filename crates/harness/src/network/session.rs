//! What the runs of a session share of the network: who answers about hosts, what is added, whom to trust.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ringfence_jail::net::{
    Bounds, Closed, ConnectionRefusal, Gate, Header, Terminator, TerminatorError, Trust, TrustError,
};
use ringfence_policy::action::{Action, Connect};
use ringfence_policy::permissions::Network;
use ringfence_policy::permit::Confinement;
use ringfence_policy::rule::HostPattern;
use ringfence_policy::verdict::{Refusal, RefusalCode};
use ringfence_policy::{NarrowGrant, Permit};

use super::gate::RunGate;
use super::inject::Injections;
use super::mask::Mask;
use super::pending::Pending;
use crate::audit::CallId;
use crate::config::NetworkConfig;
use crate::denial::{Denial, DenialKind, Evidence};
use crate::engine::{Call, Desk};

/// What the runs of a session share.
pub(crate) struct SessionNetwork {
    pub(super) desk: Arc<Desk>,
    pub(super) injections: Injections,
    pub(super) terminator: Option<Terminator>,
    pub(super) bounds: Bounds,
    pub(super) pending: Pending<ConnectionRefusal>,
    /// Questions about hosts of requests.
    pub(crate) requests: Pending<Refusal>,
    /// Whom requests trust: found out when one goes inside TLS.
    trust: OnceLock<Result<Arc<Trust>, Arc<TrustError>>>,
    certificates: Option<PathBuf>,
    /// What was refused to the commands of calls that are under way.
    refusals: Arc<Mutex<ByCall>>,
}

type ByCall = BTreeMap<CallId, Vec<ConnectionRefusal>>;

/// What the proxy refused to the command of one call.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionRefusals {
    all: Arc<Mutex<ByCall>>,
    call: CallId,
}

impl ConnectionRefusals {
    /// Everything so far, which is told once.
    pub(crate) fn take(&self) -> Vec<Denial> {
        let taken = self.lock().remove(&self.call).unwrap_or_default();
        taken.iter().map(denial).collect()
    }

    pub(super) fn add(&self, refusal: &ConnectionRefusal) {
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
        environment: &BTreeMap<String, String>,
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
            requests: Pending::default(),
            trust: OnceLock::new(),
            certificates: certificates(environment).map(Path::to_path_buf),
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
    pub(crate) fn refusals_of(&self, call: &Call) -> ConnectionRefusals {
        ConnectionRefusals {
            all: Arc::clone(&self.refusals),
            call: call.id.clone(),
        }
    }

    /// The headers that are added to a request of the harness's own, and what to take out of its answer.
    pub(crate) fn added_to(&self, connect: &Connect) -> (Vec<Header>, Mask) {
        self.injections.for_request(connect)
    }

    /// Whom requests trust.
    pub(crate) fn trust(&self) -> Result<Arc<Trust>, Arc<TrustError>> {
        let load = || {
            Trust::load(self.certificates.as_deref())
                .map(Arc::new)
                .map_err(Arc::new)
        };
        self.trust.get_or_init(load).clone()
    }

    /// How long a host may take to answer a connection.
    pub(crate) fn connect_timeout(&self) -> Duration {
        self.bounds.connect
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
    Terminator::new(certificates(environment)).map(Some)
}

/// The file with certificates to trust, where it is not the machine's.
fn certificates(environment: &BTreeMap<String, String>) -> Option<&Path> {
    environment.get("SSL_CERT_FILE").map(Path::new)
}

/// A refusal of the proxy's as what the fence refused a command.
fn denial(refusal: &ConnectionRefusal) -> Denial {
    Denial {
        kind: DenialKind::Host,
        subject: refusal.subject.clone(),
        reason: refusal.reason.clone(),
        allow: refusal.allow.clone().unwrap_or_else(|| {
            let host = &refusal.subject;
            format!("--allow-host {host}, or `network.allow = [\"{host}\"]`")
        }),
        evidence: Evidence::Seen,
        grant: grant(refusal),
    }
}

/// What would let a connection through that nobody could be asked about: what somebody or a rule said no to is not offered again.
fn grant(refusal: &ConnectionRefusal) -> Option<NarrowGrant> {
    if refusal.code != RefusalCode::ApprovalNotPossible.name() {
        return None;
    }
    let mut host = HostPattern::parse(&refusal.subject).ok()?;
    host.ports.retain(|port| !matches!(port, 80 | 443));
    Some(NarrowGrant::Host { host })
}
