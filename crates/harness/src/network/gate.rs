//! The gate of one run: every connection that it wants is judged, asked about and recorded at the
//! desk, like a command.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ringfence_jail::net::{
    Admission, Bounds, ConnectionRefusal, ConnectionRequest, Gate, Header, Terminator, Traffic,
};
use ringfence_policy::action::{Action, Connect};
use ringfence_policy::host::{Host, Protocol};
use ringfence_policy::judge::{ApprovalKey, SessionApprovals, how_to_allow, protocol_of_tunnel};
use ringfence_policy::permissions::{Network, SandboxPolicy};
use ringfence_policy::verdict::{Judgement, Refusal, RefusalCode};
use ringfence_policy::{Permit, Verdict};

use super::pending::Turn;
use super::session::SessionNetwork;
use crate::audit::{self, CallId};
use crate::engine::{Call, Passage};

/// An answer: yes, or why not.
type Answered = Result<(), ConnectionRefusal>;

/// The gate of one run.
pub(crate) struct RunGate {
    session: Arc<SessionNetwork>,
    call: Call,
    tool: String,
    sandbox: SandboxPolicy,
    run: Mutex<Run>,
}

/// What is known of a run by now.
#[derive(Default)]
struct Run {
    /// What was approved for this run: a yes to a host is not a yes to its first connection only.
    approved: SessionApprovals,
    /// What was not: a client that tries again does not make somebody say it again.
    declined: BTreeMap<String, ConnectionRefusal>,
    /// Connections on record, by what they are.
    open: BTreeMap<String, OnRecord>,
    /// Verdicts on record that were no.
    denied: BTreeSet<String>,
    recorded: u64,
}

/// A host that the run has reached.
struct OnRecord {
    call: CallId,
    passage: Passage,
    since: Instant,
    connections: u64,
    traffic: Traffic,
}

/// A connection in one line, which tells it from others.
fn about(connect: &Connect) -> String {
    format!("{}:{} ({})", connect.host, connect.port, connect.protocol)
}

impl RunGate {
    pub(super) fn new(
        session: Arc<SessionNetwork>,
        call: &Call,
        tool: &str,
        sandbox: &SandboxPolicy,
    ) -> Self {
        Self {
            session,
            call: call.clone(),
            tool: tool.to_owned(),
            sandbox: sandbox.clone(),
            run: Mutex::default(),
        }
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn judge(&self, connect: &Connect) -> Judgement {
        let approved = self.run().approved.clone();
        self.session
            .desk
            .check_in(Action::Connect(connect.clone()), &self.sandbox, &approved)
    }

    /// What is wanted, in the form in which it is judged.
    fn connect(&self, wanted: ConnectionRequest) -> Connect {
        let (host, port, protocol) = match wanted {
            ConnectionRequest::Request { host, port } => (host, port, Protocol::Http),
            ConnectionRequest::Tls { host, port } => (host, port, Protocol::Https),
            ConnectionRequest::Tunnel { host, port } => {
                let protocol = self.protocol_of_tunnel(&host, port);
                (host, port, protocol)
            }
        };
        Connect {
            tool: self.tool.clone(),
            host,
            port,
            protocol,
        }
    }

    fn protocol_of_tunnel(&self, host: &Host, port: u16) -> Protocol {
        let approved = self.run().approved.clone();
        self.session
            .desk
            .on_premises(&self.sandbox, &approved, |bench| {
                protocol_of_tunnel(&self.tool, host, port, bench)
            })
    }

    async fn decide(&self, connect: Connect) -> Result<Permit, ConnectionRefusal> {
        let judged = self.judge(&connect);
        let Verdict::Ask(_) = &judged.verdict else {
            return self.conclude(&connect, judged);
        };
        let about = about(&connect);
        if self.session.desk.sandbox.network == Network::Off {
            let reason = "the network is off, but for what a rule grants to the command";
            return Err(self.refusal(&connect, reason.to_owned(), None));
        }
        if let Some(declined) = self.run().declined.get(&about) {
            return Err(declined.clone());
        }
        match self.session.pending.turn(&about).await {
            Turn::Answered(answered) => self.learn(&connect, &about, answered)?,
            Turn::Ask(asking) => {
                let answered = self.ask(&connect).await;
                asking.settle(answered.clone());
                self.learn(&connect, &about, answered)?;
            }
        }
        let judged = self.judge(&connect);
        self.conclude(&connect, judged)
    }

    /// Puts the question that a connection is. Its own judgement is made anew: what was remembered
    /// meanwhile counts.
    async fn ask(&self, connect: &Connect) -> Answered {
        let Judgement { verdict, grounds } = self.judge(connect);
        let question = match verdict {
            Verdict::Allow(_) => return Ok(()),
            Verdict::Refuse(refused) => return Err(self.refused_by(connect, refused)),
            Verdict::Ask(question) => question,
        };
        let key = ApprovalKey::of(&question);
        let call = self.next_call();
        let asked = self.session.desk.ask_to_pass(&call, question, &grounds);
        match asked.await {
            Ok(Ok(passage)) => {
                let mut run = self.run();
                if let Some(key) = key {
                    run.approved.insert(key);
                }
                run.open
                    .insert(about(connect), OnRecord::new(call.id, passage));
                Ok(())
            }
            Ok(Err(refused)) => {
                self.run().denied.insert(about(connect));
                if refused.code == RefusalCode::Aborted {
                    self.call.cancel.cancel();
                }
                Err(self.refused_by(connect, refused))
            }
            Err(error) => Err(self.refusal(connect, error.to_string(), None)),
        }
    }

    /// Takes an answer to heart, whoever asked for it.
    fn learn(
        &self,
        connect: &Connect,
        about: &str,
        answered: Answered,
    ) -> Result<(), ConnectionRefusal> {
        let mut run = self.run();
        match answered {
            Ok(()) => {
                drop(run);
                if let Verdict::Ask(question) = self.judge(connect).verdict
                    && let Some(key) = ApprovalKey::of(&question)
                {
                    self.run().approved.insert(key);
                }
                Ok(())
            }
            Err(refusal) => {
                run.declined.insert(about.to_owned(), refusal.clone());
                Err(refusal)
            }
        }
    }

    /// Records a verdict that needs no question, the first time.
    fn conclude(&self, connect: &Connect, judged: Judgement) -> Result<Permit, ConnectionRefusal> {
        let about = about(connect);
        let known = {
            let run = self.run();
            run.open.contains_key(&about) || run.denied.contains(&about)
        };
        let call = (!known).then(|| self.next_call());
        let passed = match &call {
            Some(call) => self.session.desk.pass(call, connect, &judged),
            None => Ok(None),
        };
        let passage = passed.map_err(|error| self.refusal(connect, error.to_string(), None))?;
        match judged.verdict {
            Verdict::Allow(permit) => {
                if let (Some(call), Some(passage)) = (call, passage) {
                    let open = OnRecord::new(call.id, passage);
                    self.run().open.insert(about, open);
                }
                Ok(permit)
            }
            Verdict::Refuse(refused) => {
                self.run().denied.insert(about);
                Err(self.refused_by(connect, refused))
            }
            Verdict::Ask(question) => {
                Err(self.refusal(connect, question.because().to_owned(), None))
            }
        }
    }

    fn next_call(&self) -> Call {
        let mut run = self.run();
        run.recorded += 1;
        Call {
            id: CallId(format!("{}.{}", self.call.id, run.recorded)),
            parent: Some(self.call.id.clone()),
            ..self.call.clone()
        }
    }

    fn refused_by(&self, connect: &Connect, refused: Refusal) -> ConnectionRefusal {
        let mut refusal = self.refusal(connect, refused.reason, refused.hint);
        refusal.code = refused.code.name();
        refusal
    }

    #[allow(
        clippy::unused_self,
        reason = "the subject is told the same way everywhere"
    )]
    fn refusal(
        &self,
        connect: &Connect,
        reason: String,
        allow: Option<String>,
    ) -> ConnectionRefusal {
        ConnectionRefusal {
            code: RefusalCode::ApprovalNotPossible.name(),
            subject: format!("{}:{}", connect.host, connect.port),
            reason,
            allow: allow.or_else(|| Some(how_to_allow(connect))),
        }
    }
}

impl OnRecord {
    fn new(call: CallId, passage: Passage) -> Self {
        Self {
            call,
            passage,
            since: Instant::now(),
            connections: 0,
            traffic: Traffic::default(),
        }
    }
}

impl Gate for RunGate {
    fn admit(&self, wanted: ConnectionRequest) -> Admission<'_> {
        let connect = self.connect(wanted);
        Box::pin(self.decide(connect))
    }

    fn admit_address(&self, connect: &Connect, address: IpAddr) -> Result<(), ConnectionRefusal> {
        let approved = self.run().approved.clone();
        let judged = self
            .session
            .desk
            .on_premises(&self.sandbox, &approved, |bench| {
                ringfence_policy::judge::judge_address(connect, address, bench)
            });
        judged.map_err(|refused| self.refused_by(connect, refused))
    }

    fn headers(&self, connect: &Connect) -> Vec<Header> {
        self.session.injections.for_connection(connect)
    }

    fn terminator(&self) -> Option<&Terminator> {
        self.session.terminator.as_ref()
    }

    fn refused(&self, refusal: &ConnectionRefusal) {
        self.session.refusals_of(&self.call).add(refusal);
    }

    fn ended(&self, connect: &Connect, traffic: Traffic) {
        if let Some(open) = self.run().open.get_mut(&about(connect)) {
            open.connections += 1;
            open.traffic.sent += traffic.sent;
            open.traffic.received += traffic.received;
        }
    }

    fn bounds(&self) -> Bounds {
        self.session.bounds
    }
}

impl Drop for RunGate {
    /// The last connection has ended with the run: what came of each host goes on record.
    fn drop(&mut self) {
        let run = self.run.get_mut().unwrap_or_else(PoisonError::into_inner);
        for open in std::mem::take(&mut run.open).into_values() {
            let session = self.session.desk.session.clone();
            let _ = self.session.desk.record(|| {
                audit::Record::ConnectionEnded(audit::ConnectionEnded {
                    call: open.call,
                    session,
                    connections: open.connections,
                    sent_bytes: open.traffic.sent,
                    received_bytes: open.traffic.received,
                    duration_ms: u64::try_from(open.since.elapsed().as_millis())
                        .unwrap_or(u64::MAX),
                })
            });
            let _ = open.passage.over();
        }
    }
}
