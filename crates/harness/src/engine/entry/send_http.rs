//! Sending an HTTP request: asked about by its host like a connection, sent by the jail, and followed to where
//! answers lead. Every step is an action of its own and goes through the door; those that an answer leads to
//! are children of the call.

use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use ringfence_jail::net::{self, ConnectionRefusal, Response, SendError, Way};
use ringfence_policy::action::{Action, SendHttp};
use ringfence_policy::judge::{ApprovalKey, judge_address};
use ringfence_policy::verdict::{Judgement, Refusal, RefusalCode};
use ringfence_policy::{Permit, Verdict};
use tokio::time::Instant;

use super::HARNESS;
use crate::audit::{CallId, HttpEnded};
use crate::engine::account::Account;
use crate::engine::desk::Desk;
use crate::engine::door::Passage;
use crate::engine::record::Decided;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::http::{Arrival, HttpError, Journey};
use crate::network::{HostAnswers, Mask, Pending, Turn};

impl Engine {
    /// Sends a request, and goes on to where its answer leads.
    pub(crate) fn send_http<'a>(
        &'a self,
        call: &'a Call,
        journey: Journey,
    ) -> BoxFuture<'a, Result<Arrival, CallError>> {
        Box::pin(async move {
            let action = Action::SendHttp(journey.action());
            let step = step_of(call, &journey);
            let passage = Passage::begin(&self.desk, &step, &action);
            let account = passage.account().clone();
            let requests = &self.network.requests;
            let answers = journey.answers.clone();
            let permitted =
                self.desk
                    .permit_request(&account, journey.action(), requests, &answers);
            Box::pin(
                self.run_if_permitted(passage, permitted, |permit, account| async move {
                    account.runs_in(HARNESS);
                    self.take_step(call, permit, journey, &account).await
                }),
            )
            .await
        })
    }

    async fn take_step(
        &self,
        call: &Call,
        permit: Permit,
        mut journey: Journey,
        account: &Account,
    ) -> Result<Arrival, CallError> {
        let (answer, mask) = self.exchange(call, permit, &mut journey, account).await?;
        let most = self.config.http.max_redirects;
        let Some(location) = answer.location().filter(|_| most > 0) else {
            let mut arrival = Arrival::of(&answer, &mask, journey.most_bytes);
            arrival.url = (journey.redirects > 0).then(|| journey.request.url.to_string());
            return Ok(arrival);
        };
        let from = journey.place();
        if journey.redirects >= most {
            return Err(HttpError::TooManyRedirects { from, most }.into());
        }
        if mask.cover(location) != location {
            return Err(HttpError::secret_in_redirect(from).into());
        }
        let url = journey.target(location)?;
        let next = journey.redirected(answer.status, url);
        let to = next.place();
        let arrived = self.send_http(call, next).await;
        arrived.map_err(|error| match error {
            // Whoever stops everything stops everything.
            CallError::Refused(refusal) if refusal.code != RefusalCode::Aborted => {
                let refusal = Box::new(refusal);
                HttpError::RedirectRefused { from, to, refusal }.into()
            }
            other => other,
        })
    }

    /// Sends one request. Its time is taken off what is left of the journey's.
    async fn exchange(
        &self,
        call: &Call,
        permit: Permit,
        journey: &mut Journey,
        account: &Account,
    ) -> Result<(Response, Mask), CallError> {
        let connect = journey.action().connection();
        let (added, mask) = self.network.added_to(&connect);
        let refused = Mutex::new(None);
        let (sandbox, approved) = (&self.desk.sandbox, journey.answers.approved());
        let admit = |address| {
            let judged = self.desk.on_premises(sandbox, &approved, |premises| {
                judge_address(&connect, address, premises)
            });
            judged.map_err(|refusal| {
                let told = connection_refusal(&journey.place(), &refusal);
                *refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
                told
            })
        };
        let way = Way {
            admit: &admit,
            added: &added,
            trust: &|| self.network.trust(),
            connect: self.network.connect_timeout(),
            whole: journey.left,
            most_bytes: journey.most_bytes + mask.margin(),
            reads_redirects: self.config.http.max_redirects == 0,
        };
        let began = Instant::now();
        let (answer, traffic) = tokio::select! {
            sent = net::send(permit, journey.request.clone(), &way) => sent,
            () = call.cancel.cancelled() => return Err(CallError::Cancelled),
        };
        account.exchanged(HttpEnded {
            status: answer.as_ref().ok().map(|answer| answer.status),
            sent_bytes: traffic.sent,
            received_bytes: traffic.received,
        });
        let refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
        let answer = answer.map_err(|error| match (error, refused) {
            (SendError::Refused(_), Some(refusal)) => CallError::Refused(refusal),
            (error, _) => HttpError::from(error).into(),
        })?;
        journey.left = journey.left.saturating_sub(began.elapsed());
        Ok((answer, mask))
    }
}

/// The call that a step is: the first is the call itself.
fn step_of(call: &Call, journey: &Journey) -> Call {
    if journey.redirects == 0 {
        return call.clone();
    }
    Call {
        id: CallId(format!("{}.{}", call.id, journey.redirects)),
        parent: Some(call.id.clone()),
        ..call.clone()
    }
}

fn connection_refusal(place: &str, refusal: &Refusal) -> ConnectionRefusal {
    ConnectionRefusal {
        code: refusal.code.name(),
        subject: place.to_owned(),
        reason: refusal.reason.clone(),
        allow: refusal.hint.clone(),
    }
}

/// What a question about a request is about.
fn about(request: &SendHttp) -> String {
    format!("{}:{} ({})", request.host, request.port, request.protocol)
}

impl Desk {
    /// Judges a request, with what was answered about its host before. Whoever wants the same host while
    /// somebody thinks waits for the same answer.
    async fn permit_request(
        &self,
        account: &Account,
        request: SendHttp,
        requests: &Pending<Refusal>,
        answers: &HostAnswers,
    ) -> Result<Permit, CallError> {
        let judge = || {
            let action = Action::SendHttp(request.clone());
            self.check_in(action, &self.sandbox, &answers.approved())
        };
        let judged = judge();
        let Verdict::Ask(question) = &judged.verdict else {
            return conclude(account, judged);
        };
        let (key, about) = (ApprovalKey::of(question), about(&request));
        if let Some(refusal) = answers.declined(&about) {
            account.intend(Decided::refused(&refusal, &judged.grounds))?;
            return Err(CallError::Refused(refusal));
        }
        let turn = {
            let call = account.call();
            let _waiting = call.clock.pause();
            let _parked = call.call_site.as_deref().map(|site| site.clock.pause());
            tokio::select! {
                turn = requests.turn(&about) => turn,
                () = call.cancel.cancelled() => return Err(CallError::Cancelled),
            }
        };
        let learn = |answered: &Result<(), Refusal>| match (answered, key) {
            (Ok(()), Some(key)) => answers.approve(key),
            (Ok(()), None) => {}
            (Err(refusal), _) => answers.decline(&about, refusal.clone()),
        };
        let asking = match turn {
            Turn::Answered(answered) => {
                learn(&answered);
                if let Err(refusal) = answered {
                    account.intend(Decided::refused(&refusal, &judged.grounds))?;
                    return Err(CallError::Refused(refusal));
                }
                return conclude(account, judge());
            }
            Turn::Ask(asking) => asking,
        };
        // What was remembered meanwhile counts.
        let Judgement { verdict, grounds } = judge();
        let Verdict::Ask(question) = verdict else {
            return conclude(account, Judgement { verdict, grounds });
        };
        let settled = self.ask(account, question, &grounds).await?;
        let answered = settled.as_ref().map(|_| ()).map_err(Refusal::clone);
        learn(&answered);
        asking.settle(answered);
        settled.map_err(CallError::Refused)
    }
}

/// Puts a verdict on record that needs no question.
fn conclude(account: &Account, judged: Judgement) -> Result<Permit, CallError> {
    let Judgement { verdict, grounds } = judged;
    let refusal = match verdict {
        Verdict::Allow(permit) => {
            account.intend(Decided::by_policy(&permit, &grounds))?;
            return Ok(permit);
        }
        Verdict::Refuse(refusal) => refusal,
        // A yes that holds for once was somebody else's.
        Verdict::Ask(question) => {
            Refusal::new(RefusalCode::ApprovalNotPossible, question.because())
                .of_class(grounds.class)
        }
    };
    account.intend(Decided::refused(&refusal, &grounds))?;
    Err(CallError::Refused(refusal))
}
