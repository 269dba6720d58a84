//! One request of a client's, and the rounds with the provider that it takes.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Request as HttpRequest, Response, StatusCode};
use ringfence::config::ScriptMode;
use ringfence::dialect::provider::{EventStream, Feedback, History, Provider, Raw, Request, Turn};
use ringfence::respond;
use ringfence::script::Conversation;
use ringfence::{Cancel, identifier};
use ringfence_model::{Answer, ModelError};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, timeout_at};

use crate::door;
use crate::gateway::Gateway;
use crate::headers;
use crate::instructions;
use crate::outflow::Outflow;
use crate::refusal::Refusal;
use crate::scripts::{self, Ran};
use crate::splice::{self, Splice};
use crate::whole::Whole;

/// The header in which a request says whether its scripts run.
const MODE: &str = "x-ringfence-mode";

/// How often a client that waits hears that there still is somebody.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// As much of an error of the provider's is handed on.
const MOST_OF_ERROR: usize = 1 << 20;

/// Answers a request.
pub(crate) async fn serve(
    gateway: Arc<Gateway>,
    request: HttpRequest<Incoming>,
) -> Result<Response<Outflow>, Infallible> {
    let provider = provider_of(request.uri().path());
    let answered = answer(gateway, request, provider).await;
    Ok(answered.unwrap_or_else(|refusal| refusal.answer(provider)))
}

/// The API that is asked for by a path.
fn provider_of(path: &str) -> Option<Provider> {
    let bare = |path: &str| path.strip_prefix("/v1").unwrap_or(path).to_owned();
    let asked = bare(path.trim_end_matches('/'));
    Provider::ALL
        .into_iter()
        .find(|provider| bare(provider.path()) == asked)
}

async fn answer(
    gateway: Arc<Gateway>,
    request: HttpRequest<Incoming>,
    provider: Option<Provider>,
) -> Result<Response<Outflow>, Refusal> {
    door::admit(&request, gateway.token.as_ref())?;
    if let Some(page) = gateway
        .metrics
        .as_ref()
        .filter(|_| asks_for_metrics(&request))
    {
        return Ok(metrics(page()));
    }
    let place = Arc::clone(&gateway.places)
        .try_acquire_owned()
        .map_err(|_| {
            Refusal::new(
                429,
                "rate_limit_error",
                format!(
                    "{} requests are being answered already",
                    gateway.limits.requests
                ),
            )
        })?;
    let deadline = Instant::now() + gateway.limits.time;
    let (head, body) = request.into_parts();
    let body = read(body, gateway.limits.body_bytes, deadline).await?;
    let whole_path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let resource = whole_path.to_owned();
    let Some(provider) = provider.filter(|_| head.method == hyper::Method::POST) else {
        return pass_on(&gateway, &head, &resource, body).await;
    };
    let mode = mode_of(&head.headers)?;
    let mut asked = Request::read(provider, &body)
        .map_err(|error| Refusal::new(400, "invalid_request_error", error.to_string()))?;
    gateway.successors.follow(&mut asked);
    let conversation = Conversation {
        conversation_id: identifier::random("conv"),
        provider: provider_word(provider).to_owned(),
        model: asked.model(),
        ..Conversation::default()
    };
    let mode = effective(&gateway, mode, &conversation, &asked);
    if mode != ScriptMode::Disabled && !gateway.instructions.is_empty() {
        instructions::add(&mut asked, &gateway.instructions);
    }
    let upstream = gateway.upstream(provider);
    let onward = headers::onward(&head.headers, upstream.credentials());
    let client = upstream.client().clone();
    let sent = client.pass(head.method.clone(), &resource, &onward, asked.body());
    let first = timeout_at(deadline, sent)
        .await
        .map_err(|_| out_of_time(&gateway))??;
    if !first.is_success() {
        return hand_on(&gateway, provider, first).await;
    }
    let rounds = Rounds {
        gateway,
        provider,
        asked,
        resource,
        onward,
        mode,
        conversation,
        deadline,
        round: 1,
        first_id: None,
        _place: place,
    };
    if first.is_stream() {
        Ok(rounds.stream(first))
    } else {
        rounds.whole(first).await
    }
}

fn asks_for_metrics<B>(request: &HttpRequest<B>) -> bool {
    request.method() == hyper::Method::GET && request.uri().path() == "/metrics"
}

fn metrics(page: String) -> Response<Outflow> {
    let mut answer = Response::new(Outflow::whole(page));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// Whose scripts these are, in the words of the configuration.
fn provider_word(provider: Provider) -> &'static str {
    match provider {
        Provider::AnthropicMessages => "anthropic",
        Provider::OpenAiResponses | Provider::OpenAiChat => "openai",
    }
}

/// Whether scripts run: the request decides before the provider, and the provider before the rest. A request for
/// several answers at once has nobody who could go on with each.
fn effective(
    gateway: &Gateway,
    mode: Option<ScriptMode>,
    conversation: &Conversation,
    asked: &Request,
) -> ScriptMode {
    if asked.fields.number("n").is_some_and(|many| many > 1) {
        return ScriptMode::Disabled;
    }
    gateway.engine.script_mode(&respond::Turn {
        conversation: conversation.clone(),
        mode,
        id: None,
    })
}

fn mode_of(headers: &HeaderMap) -> Result<Option<ScriptMode>, Refusal> {
    let Some(value) = headers.get(MODE) else {
        return Ok(None);
    };
    match value.to_str().unwrap_or_default() {
        "disabled" => Ok(Some(ScriptMode::Disabled)),
        "dry-run" => Ok(Some(ScriptMode::DryRun)),
        "enabled" => Ok(Some(ScriptMode::Enabled)),
        _ => Err(Refusal::new(
            400,
            "invalid_request_error",
            format!("`{MODE}` is disabled, dry-run or enabled"),
        )),
    }
}

/// Takes in a body.
async fn read(mut body: Incoming, most: usize, deadline: Instant) -> Result<Vec<u8>, Refusal> {
    let too_long = || {
        let message = format!("the request is longer than {most} bytes");
        Refusal::new(413, "request_too_large", message)
    };
    if body.size_hint().lower() > most as u64 {
        return Err(too_long());
    }
    let mut taken = Vec::new();
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
        let frame = timeout_at(deadline, frame).await;
        let broken = || Refusal::new(400, "invalid_request_error", "the request breaks off");
        let Some(frame) = frame.map_err(|_| broken())? else {
            return Ok(taken);
        };
        if let Ok(data) = frame.map_err(|_| broken())?.into_data() {
            taken.extend_from_slice(&data);
            if taken.len() > most {
                return Err(too_long());
            }
        }
    }
}

/// Hands on what is none of our business: lists of models, counts of tokens, files.
async fn pass_on(
    gateway: &Gateway,
    head: &hyper::http::request::Parts,
    resource: &str,
    body: Vec<u8>,
) -> Result<Response<Outflow>, Refusal> {
    let is_anthropics =
        head.headers.contains_key("anthropic-version") || resource.contains("/messages");
    let provider = if is_anthropics {
        Provider::AnthropicMessages
    } else {
        Provider::OpenAiResponses
    };
    let upstream = gateway.upstream(provider);
    let onward = headers::onward(&head.headers, upstream.credentials());
    let sent = upstream
        .client()
        .pass(head.method.clone(), resource, &onward, body);
    hand_on(gateway, provider, sent.await?).await
}

/// Hands an answer on. An error is read first: it may repeat the key that it was sent.
async fn hand_on(
    gateway: &Gateway,
    provider: Provider,
    mut answer: Answer,
) -> Result<Response<Outflow>, Refusal> {
    let mut handed = Response::new(Outflow::Whole(None));
    *handed.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
    *handed.headers_mut() = headers::back(&answer.headers);
    if answer.is_success() {
        *handed.body_mut() = Outflow::passing(answer);
        return Ok(handed);
    }
    let mut body = Vec::new();
    while let Some(piece) = answer.next().await? {
        body.extend_from_slice(&piece);
        if body.len() > MOST_OF_ERROR {
            break;
        }
    }
    let endpoint = gateway.upstream(provider).client().endpoint();
    let text = endpoint.mask(&String::from_utf8_lossy(&body));
    *handed.body_mut() = Outflow::whole(text);
    Ok(handed)
}

fn out_of_time(gateway: &Gateway) -> Refusal {
    let seconds = gateway.limits.time.as_secs();
    let message = format!("there was no whole answer within {seconds} s");
    Refusal::new(504, "timeout_error", message)
}

/// The rounds that one answer takes.
struct Rounds {
    gateway: Arc<Gateway>,
    provider: Provider,
    asked: Request,
    resource: String,
    onward: HeaderMap,
    mode: ScriptMode,
    conversation: Conversation,
    deadline: Instant,
    round: u32,
    first_id: Option<String>,
    _place: OwnedSemaphorePermit,
}

/// What comes after a round.
enum Next {
    /// Another one, which has begun.
    Round(Box<Answer>),
    /// Nothing.
    End,
}

/// The client is gone.
struct Gone;

impl Rounds {
    fn head(&self, first: &Answer) -> Response<Outflow> {
        let mut answer = Response::new(Outflow::Whole(None));
        *answer.headers_mut() = headers::back(&first.headers);
        let mode = match self.mode {
            ScriptMode::Disabled => "disabled",
            ScriptMode::DryRun => "dry-run",
            ScriptMode::Enabled => "enabled",
        };
        answer
            .headers_mut()
            .insert(MODE, HeaderValue::from_static(mode));
        answer
    }

    /// Answers with a stream.
    fn stream(mut self, first: Answer) -> Response<Outflow> {
        let mut answer = self.head(&first);
        let (send, body) = Outflow::pieces();
        *answer.body_mut() = body;
        tokio::spawn(async move {
            let mut splice = splice::of(self.provider);
            let deadline = self.deadline;
            let cancel = Cancel::new();
            let work = timeout_at(deadline, self.follow(first, &mut *splice, &send, &cancel));
            let failed = tokio::select! {
                done = work => match done {
                    Ok(Ok(())) => None,
                    Ok(Err(refusal)) => Some(refusal),
                    Err(_) => Some(out_of_time(&self.gateway)),
                },
                () = send.closed() => None,
            };
            cancel.cancel();
            if let Some(refusal) = failed {
                let mut out = String::new();
                splice.fail(&refusal.message, &mut out);
                // The client may be gone, and then nobody needs it.
                let _ = send.send(Bytes::from(out)).await;
            }
        });
        answer
    }

    async fn follow(
        &mut self,
        mut answer: Answer,
        splice: &mut dyn Splice,
        send: &mpsc::Sender<Bytes>,
        cancel: &Cancel,
    ) -> Result<(), Refusal> {
        loop {
            let turn = self.forward(answer, splice, send).await?;
            let ran = self.run(&turn, cancel, Some(send)).await?;
            let mut out = String::new();
            if !ran.text.is_empty() {
                splice.insert(&ran.text, &mut out);
                if say(send, std::mem::take(&mut out)).await.is_err() {
                    return Ok(());
                }
            }
            match self.next(&turn, ran.feedback).await? {
                Next::Round(next) => {
                    splice.next_round();
                    answer = *next;
                }
                Next::End => {
                    splice.finish(&mut out);
                    let _ = say(send, out).await;
                    return Ok(());
                }
            }
        }
    }

    /// Hands a round's events to the client as they come, and reads them.
    async fn forward(
        &self,
        mut answer: Answer,
        splice: &mut dyn Splice,
        send: &mpsc::Sender<Bytes>,
    ) -> Result<Turn, Refusal> {
        let unreadable = |error: ringfence::dialect::provider::ReadError| {
            Refusal::new(502, error.code(), error.to_string())
        };
        let mut reader = self.provider.reader();
        let mut events = EventStream::new();
        while let Some(piece) = answer.next().await? {
            let mut out = String::new();
            for event in events.feed(&piece) {
                // An error is the client's to read, as it came.
                reader.take(&event).map_err(unreadable)?;
                splice.take(event, &mut out);
            }
            if !out.is_empty() && say(send, out).await.is_err() {
                break;
            }
        }
        reader.finish().map_err(unreadable)
    }

    /// Answers with a whole.
    async fn whole(mut self, first: Answer) -> Result<Response<Outflow>, Refusal> {
        let mut handed = self.head(&first);
        let deadline = self.deadline;
        let joined = timeout_at(deadline, self.join(first)).await;
        let body = joined.map_err(|_| out_of_time(&self.gateway))??;
        *handed.body_mut() = Outflow::whole(body);
        let kind = HeaderValue::from_static("application/json");
        handed.headers_mut().insert(CONTENT_TYPE, kind);
        Ok(handed)
    }

    async fn join(&mut self, mut answer: Answer) -> Result<Vec<u8>, Refusal> {
        let mut whole = Whole::new(self.provider);
        let cancel = Cancel::new();
        let mut is_first = true;
        loop {
            let body = answer.whole().await?;
            let turn = match self.provider.read(&body) {
                Ok(turn) => turn,
                // What cannot be read is the client's to make something of.
                Err(_) if is_first => return Ok(body),
                Err(error) => return Err(Refusal::new(502, error.code(), error.to_string())),
            };
            let ran = self.run(&turn, &cancel, None).await?;
            if is_first && ran.text.is_empty() {
                return Ok(body);
            }
            if !ran.text.is_empty() {
                whole.insert(&ran.text);
            }
            whole.add(&turn.response);
            match self.next(&turn, ran.feedback).await? {
                Next::Round(next) => answer = *next,
                Next::End => return Ok(whole.finish(turn.response).into_bytes()),
            }
            is_first = false;
        }
    }

    /// Runs a turn's scripts. A client that waits is told now and then that there is somebody.
    async fn run(
        &mut self,
        turn: &Turn,
        cancel: &Cancel,
        waits: Option<&mpsc::Sender<Bytes>>,
    ) -> Result<Ran, Refusal> {
        if !scripts::may_have_scripts(turn) {
            return Ok(Ran::default());
        }
        self.conversation.turn_id = identifier::random("turn");
        let engine = Arc::clone(&self.gateway.engine);
        let mut running = std::pin::pin!(scripts::run(
            &engine,
            turn,
            Some(self.mode),
            &self.conversation,
            cancel
        ));
        let ran = loop {
            tokio::select! {
                ran = &mut running => break ran,
                () = tokio::time::sleep(KEEP_ALIVE), if waits.is_some() => {
                    if let Some(send) = waits {
                        let _ = say(send, ": ringfence runs a script\n\n".to_owned()).await;
                    }
                }
            }
        };
        ran.map_err(|error| Refusal::new(500, error.code(), error.to_string()))
    }

    /// Goes on with what came of the scripts, unless there is something for the client to do first.
    async fn next(&mut self, turn: &Turn, feedback: Vec<Feedback>) -> Result<Next, Refusal> {
        let first_id = self.first_id.get_or_insert_with(|| turn.id.clone());
        if self.round > 1 && self.provider == Provider::OpenAiResponses {
            self.gateway.successors.remember(first_id, &turn.id);
        }
        let is_clients = turn.calls().next().is_some();
        if feedback.is_empty() || is_clients || self.round >= self.gateway.limits.rounds {
            return Ok(Next::End);
        }
        self.round += 1;
        let mut history = self.asked.history.clone();
        history.extend(self.remembered(turn));
        history.append_feedback(&feedback);
        self.asked.history = history;
        let client = self.gateway.upstream(self.provider).client();
        let sent = client.send(&self.resource, &self.onward, self.asked.body());
        let answer: Result<Answer, ModelError> = sent.await;
        Ok(Next::Round(Box::new(answer?)))
    }

    /// A turn as the provider takes it back. One that keeps nothing does not know its own thoughts by their ids.
    fn remembered(&self, turn: &Turn) -> Vec<Raw> {
        let forgets = self
            .asked
            .fields
            .get("store")
            .is_some_and(|store| store.text() == "false");
        let is_lost = |item: &Raw| {
            let item = item.object().unwrap_or_default();
            item.text("type").as_deref() == Some("reasoning")
                && item.text("encrypted_content").is_none()
        };
        let mut history = History::new(self.provider);
        history.append(turn);
        let items = history.items().iter();
        items
            .filter(|item| !(forgets && is_lost(item)))
            .cloned()
            .collect()
    }
}

async fn say(send: &mpsc::Sender<Bytes>, text: String) -> Result<(), Gone> {
    send.send(Bytes::from(text)).await.map_err(|_| Gone)
}
