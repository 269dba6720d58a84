//! A request that watches over a call until its end, or until a question has to go back to the client.

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use ringfence::Latch;
use ringfence_protocol::wire::ClientAnswer;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CancelledNotificationParam, ContentBlock, ElicitRequest, ErrorData,
    InputRequest, InputRequests, InputRequiredResult, ProgressNotificationParam, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use serde_json::{Value, json};

use crate::approver::{Pending, Said};
use crate::catalogue;
use crate::flight::{Flight, Remark};
use crate::form;
use crate::manner::Manner;
use crate::parked::{Binding, Parked, Waiting};
use crate::refusal;
use crate::reply;

/// What a client that cannot be asked is told.
const NO_FORMS: &str = "this client declares no way to ask its user (elicitation)";

/// One request that watches.
pub(crate) struct Watch<'a> {
    pub(crate) parked: &'a Parked,
    pub(crate) binding: Binding,
    pub(crate) context: RequestContext<RoleServer>,
}

impl Watch<'_> {
    /// Watches over a call.
    pub(crate) async fn over(self, mut flight: Flight) -> Result<CallToolResponse, ErrorData> {
        let manner = Manner::of(&self.context);
        let token = self.context.meta.get_progress_token();
        let over = Latch::new();
        let mut asked = FuturesUnordered::new();
        let (mut stopped, mut last) = (false, 0.0);
        let result = loop {
            tokio::select! {
                biased;
                result = &mut flight.ended => break result,
                Some((pending, answer)) = asked.next() => settle(&mut flight, pending, answer),
                Some(pending) = flight.questions.recv() => match manner {
                    Manner::Elicitation => {
                        asked.push(elicit(self.context.peer.clone(), pending, over.clone()));
                    }
                    Manner::InputRequired => return self.park(flight, pending),
                    Manner::Nobody => {
                        flight.not_approved.push(pending.params);
                        let _ = pending.answer.send(Said::Nobody(NO_FORMS));
                    }
                },
                Some(Remark { seconds, text }) = flight.progress.recv() => {
                    if let Some(token) = token.clone().filter(|_| seconds > last) {
                        last = seconds;
                        let told = ProgressNotificationParam::new(token, seconds).with_message(text);
                        // A client that has gone cancels the call by that.
                        let _ = self.context.peer.notify_progress(told).await;
                    }
                }
                () = self.context.ct.cancelled(), if !stopped => {
                    stopped = true;
                    flight.call.cancel.cancel();
                }
            }
        };
        // Questions end with the call.
        over.set();
        while asked.next().await.is_some() {}
        let broke_off = || ringfence::CallError::failed("the call broke off without a result");
        let result = result.unwrap_or_else(|_| Err(broke_off()));
        Ok(ended(&flight, result))
    }

    /// Keeps the call until the client comes back with answers, and asks for them.
    fn park(self, mut flight: Flight, first: Pending) -> Result<CallToolResponse, ErrorData> {
        let mut asked = vec![("q1".to_owned(), first)];
        while let Ok(another) = flight.questions.try_recv() {
            asked.push((format!("q{}", asked.len() + 1), another));
        }
        let mut requests = InputRequests::new();
        for (name, pending) in &asked {
            let form = form::form(&pending.params, &pending.text)
                .map_err(|error| ErrorData::internal_error(error, None))?;
            requests.insert(
                name.clone(),
                InputRequest::Elicitation(ElicitRequest::new(form)),
            );
        }
        let waiting = Waiting::new(flight, asked, self.binding);
        let handle = self.parked.park(waiting);
        let handle = handle.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(InputRequiredResult::new(Some(requests), Some(handle)).into())
    }
}

/// Hands on an answer, and remembers what was not approved.
pub(crate) fn settle(flight: &mut Flight, pending: Pending, answer: Option<ClientAnswer>) {
    let approved = !matches!(
        answer,
        None | Some(ClientAnswer::No { .. } | ClientAnswer::Abort {})
    );
    if !approved {
        flight.not_approved.push(pending.params);
    }
    let said = answer.map_or(
        Said::Nobody("the client did not take the question"),
        Said::Answer,
    );
    // One that nobody waits for any more is over.
    let _ = pending.answer.send(said);
}

/// Asks the client by a request of ours. It is withdrawn when nobody wants the answer any more.
async fn elicit(
    peer: Peer<RoleServer>,
    mut pending: Pending,
    over: Latch,
) -> (Pending, Option<ClientAnswer>) {
    let Ok(form) = form::form(&pending.params, &pending.text) else {
        return (pending, None);
    };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let options = PeerRequestOptions::no_options();
    let Ok(sent) = peer.send_request_with_option(request, options).await else {
        return (pending, None);
    };
    let id = sent.id.clone();
    let response = tokio::select! {
        response = sent.await_response() => response,
        () = pending.answer.closed() => return (withdrawn(&peer, pending, id).await, None),
        () = over.wait() => return (withdrawn(&peer, pending, id).await, None),
    };
    let answer = response.ok().map(|result| {
        let result = serde_json::to_value(result).unwrap_or_default();
        form::answer(&pending.params, result)
    });
    (pending, answer)
}

async fn withdrawn(
    peer: &Peer<RoleServer>,
    pending: Pending,
    id: rmcp::model::RequestId,
) -> Pending {
    let reason = "the question is over".to_owned();
    let cancelled = CancelledNotificationParam::new(Some(id), Some(reason));
    let _ = peer.notify_cancelled(cancelled).await;
    pending
}

/// The result of a call that has ended.
fn ended(flight: &Flight, result: Result<Value, ringfence::CallError>) -> CallToolResponse {
    let session = &flight.session;
    let reply = match result {
        Ok(reply) => reply,
        Err(error) => return refusal::result(&error, &flight.not_approved).into(),
    };
    let output = session.outputs.named_in(&reply);
    match session.engine.tools().find(&flight.tool) {
        Ok(tool) => {
            let structured = catalogue::structured(tool, reply.clone());
            let mut result = reply::result(&reply, structured, output);
            if !flight.not_approved.is_empty() {
                let ways = refusal::what_a_person_can_do(&flight.not_approved);
                result.content.push(ContentBlock::text(ways));
            }
            result.into()
        }
        // It was there when the call began.
        Err(error) => refusal::failed(error.to_string(), json!({ "code": error.code() })).into(),
    }
}
