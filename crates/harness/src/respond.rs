//! A whole message of a model: scripts are found in it and run one after the other, and everything
//! said and thought around them is kept in order, as items.
//!
//! The message may come in pieces. A script runs as soon as its block is closed.

use ringfence_dialect::message::{
    Detector, Rejection, RejectionKind, Script, Segment, SegmentKind, SourceLimits, detect_at,
};
use ringfence_dialect::{
    ErrorCode, Item, Language, Message, OutputMetadata, Phase, Reasoning, Said, ScriptError,
    ScriptStatus, ScriptToolCall, ScriptToolCallOutput,
};

use crate::config::ScriptMode;
use crate::engine::{Call, Engine, TurnAnnouncement};
use crate::error::CallError;
use crate::event::{Event, TurnId};
use crate::execution::Cancel;
use crate::script::{Conversation, ScriptRequest, ScriptRun};

/// The turn that a message belongs to.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// Where it comes from.
    pub conversation: Conversation,
    /// Whether its scripts run, if that is not left to the provider's and the general setting.
    pub mode: Option<ScriptMode>,
    /// The turn that was begun for it; the message is one of its own where there is none.
    pub id: Option<TurnId>,
}

/// Something that comes of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// A piece of text, as it comes. A message item with all of it follows when it is whole.
    Text(String),
    /// An item.
    Item(Item),
}

/// Who hears of what comes of a message.
pub type Listening<'s> = &'s mut (dyn FnMut(Heard) + Send);

/// Works through a message.
pub struct Responder<'e> {
    engine: &'e Engine,
    turn: Turn,
    /// The turn, where the message is one of its own.
    _own: Option<TurnAnnouncement>,
    cancel: Cancel,
    detector: Detector,
    /// Text whose item has not been told yet: it may go on.
    text: Text,
}

impl Engine {
    /// Begins with a message. Cancelling stops the script that runs, and those after it.
    pub fn responder(&self, mut turn: Turn, cancel: Cancel) -> Responder<'_> {
        let own = turn.id.is_none().then(|| self.begin_turn());
        if let Some(own) = &own {
            turn.id = Some(own.id().clone());
        }
        Responder {
            engine: self,
            turn,
            _own: own,
            cancel,
            detector: Detector::new(SourceLimits {
                max_source_bytes: self.config.script.limits.max_source_bytes,
            }),
            text: Text::default(),
        }
    }

    /// Whether the scripts of a turn run: the turn decides before the provider, and the provider before the rest.
    pub fn script_mode(&self, turn: &Turn) -> ScriptMode {
        let request = ScriptRequest {
            mode: turn.mode,
            conversation: turn.conversation.clone(),
            ..ScriptRequest::new(String::new())
        };
        request.mode(&self.config.script)
    }

    /// What a prompt says about scripts here. Nothing where the configuration exposes what there is not.
    pub fn script_prompt(&self) -> String {
        let config = &self.config.script;
        let Ok(seen) = crate::script::exposed(&config.expose, &self.tools) else {
            return String::new();
        };
        let seen: Vec<_> = seen.iter().map(crate::script::Exposed::declared).collect();
        crate::declarations::prompt(&seen, &config.limits)
    }

    /// Works through a whole message.
    pub async fn respond(
        &self,
        turn: Turn,
        cancel: Cancel,
        message: &[u8],
    ) -> Result<Vec<Item>, CallError> {
        let mut items = Vec::new();
        let mut told = |heard| {
            if let Heard::Item(item) = heard {
                items.push(item);
            }
        };
        let mut responder = self.responder(turn, cancel);
        responder.feed(message, &mut told).await?;
        responder.finish(&mut told).await?;
        Ok(items)
    }
}

impl Responder<'_> {
    /// Takes in a piece of the message, and runs what has become whole by it.
    pub async fn feed(&mut self, piece: &[u8], told: Listening<'_>) -> Result<(), CallError> {
        let segments = self.detector.feed(piece);
        self.take(segments, told).await
    }

    /// Ends the message.
    pub async fn finish(mut self, told: Listening<'_>) -> Result<(), CallError> {
        let nothing = Detector::new(SourceLimits::default());
        let segments = std::mem::replace(&mut self.detector, nothing).finish();
        self.take(segments, told).await?;
        self.tell_text(told);
        Ok(())
    }

    /// Works through parts of the message.
    pub(crate) async fn take(
        &mut self,
        segments: Vec<Segment>,
        told: Listening<'_>,
    ) -> Result<(), CallError> {
        for segment in segments {
            if segment.kind == SegmentKind::Text {
                if let Some(piece) = self.text.add(&segment.raw) {
                    told(Heard::Text(piece));
                }
                continue;
            }
            self.tell_text(told);
            match segment.kind {
                SegmentKind::Text => {}
                SegmentKind::Thinking(thought) => {
                    told(Heard::Item(Item::Reasoning(Reasoning::of(thought))));
                }
                SegmentKind::Script(ref script) => self.run(&segment, script, told).await?,
                SegmentKind::Rejected(rejection) => {
                    self.reject(&segment.raw, &rejection, told);
                }
            }
        }
        Ok(())
    }

    fn tell_text(&mut self, told: Listening<'_>) {
        let (rest, whole) = std::mem::take(&mut self.text).end();
        if let Some(rest) = rest {
            told(Heard::Text(rest));
        }
        if !whole.is_empty() {
            told(Heard::Item(Item::Message(Message::assistant(whole))));
        }
    }

    async fn run(
        &mut self,
        segment: &Segment,
        script: &Script,
        told: Listening<'_>,
    ) -> Result<(), CallError> {
        let line = script.source_at.line;
        let request = ScriptRequest {
            language: script.language,
            mode: self.turn.mode,
            conversation: self.turn.conversation.clone(),
            ..ScriptRequest::new(script.source.clone())
        };
        if request.mode(&self.engine.config.script) == ScriptMode::Disabled {
            self.tell_disabled();
            tell_not_run(
                &format!(
                    "the script at line {line} was not run: scripts are disabled (`script.mode`)"
                ),
                told,
            );
            return Ok(());
        }
        let call = Call {
            cancel: self.cancel.clone(),
            turn: self.turn.id.clone(),
            ..self.engine.new_call()
        };
        let items = match self.engine.run_script(&call, request).await {
            Ok(run) if is_no_script(&run) && script.could_end.is_some() => {
                return self.split(segment, script, told).await;
            }
            Ok(mut run) => {
                // Lines of an error are the script's own; this is where it begins in the message.
                if let Some(error) = &mut run.output.error {
                    error.metadata.insert("messageLine".to_owned(), line.into());
                }
                run.into_items()
            }
            Err(CallError::Cancelled) => return Err(CallError::Cancelled),
            Err(error) => {
                let code = match &error {
                    CallError::Refused(_) => ErrorCode::ApprovalDeniedError,
                    _ => ErrorCode::HarnessInternalError,
                };
                let error = ScriptError::new(code, Phase::Parsing, error.to_string())
                    .with("messageLine", line);
                failed(script.language, script.source.clone(), error)
            }
        };
        items.into_iter().map(Heard::Item).for_each(told);
        // What was cancelled is told of, and what comes after it is not begun.
        if self.cancel.is_cancelled() {
            return Err(CallError::Cancelled);
        }
        Ok(())
    }

    /// A script that is none ended earlier: at the first mark that had been taken for a part of it.
    async fn split(
        &mut self,
        segment: &Segment,
        script: &Script,
        told: Listening<'_>,
    ) -> Result<(), CallError> {
        let (first, rest) = segment.raw.split_at(script.could_end.unwrap_or_default());
        let limits = SourceLimits {
            max_source_bytes: self.engine.config.script.limits.max_source_bytes,
        };
        let mut parts = detect_at(first, segment.at, limits);
        parts.extend(detect_at(rest, segment.at.after(first), limits));
        Box::pin(self.take(parts, told)).await
    }

    fn tell_disabled(&self) {
        self.engine.desk.tell(&Event::NotRun {
            call: self.engine.desk.session_as_call(),
            mode: ScriptMode::Disabled,
        });
    }

    /// Tells of a block that cannot be a script, where the model will see it.
    fn reject(&self, raw: &[u8], rejection: &Rejection, told: Listening<'_>) {
        let source = String::from_utf8_lossy(raw).into_owned();
        let is_disabled = self.engine.script_mode(&self.turn) == ScriptMode::Disabled;
        let is_block = !matches!(
            rejection.kind,
            RejectionKind::Unopened | RejectionKind::UnclosedThinking
        );
        if is_disabled && is_block {
            let at = rejection.at;
            self.tell_disabled();
            tell_not_run(
                &format!("the block at {at} was not run: scripts are disabled (`script.mode`)"),
                told,
            );
            return;
        }
        let error = ScriptError::new(
            ErrorCode::ScriptSyntaxError,
            Phase::Parsing,
            rejection.to_string(),
        )
        .with("line", rejection.at.line)
        .with("column", rejection.at.column)
        .with("byte", rejection.at.byte);
        failed(Language::Ts, source, error)
            .into_iter()
            .map(Heard::Item)
            .for_each(told);
    }
}

/// Whether what was run cannot be parsed.
fn is_no_script(run: &ScriptRun) -> bool {
    let code = run.output.error.as_ref().map(|error| error.code);
    code == Some(ErrorCode::ScriptSyntaxError)
}

/// Tells what stands in the place of a script that is not run.
fn tell_not_run(why: &str, told: Listening<'_>) {
    let text = format!("[{why}]");
    told(Heard::Text(text.clone()));
    told(Heard::Item(Item::Message(Message::assistant(text))));
}

/// Text of a message as it comes in: told in pieces of whole characters, and kept for its item.
#[derive(Debug, Default)]
struct Text {
    whole: String,
    /// The bytes of a character that is not whole yet.
    begun: Vec<u8>,
}

impl Text {
    /// Takes in some bytes; gives what is whole by now.
    fn add(&mut self, bytes: &[u8]) -> Option<String> {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let rest = self.begun.split_off(whole);
        let piece = std::mem::replace(&mut self.begun, rest);
        self.take(&piece)
    }

    /// Ends the text; gives the last piece, and all of it.
    fn end(mut self) -> (Option<String>, String) {
        let rest = std::mem::take(&mut self.begun);
        let rest = self.take(&rest);
        (rest, self.whole)
    }

    fn take(&mut self, bytes: &[u8]) -> Option<String> {
        let piece = String::from_utf8_lossy(bytes).into_owned();
        self.whole += &piece;
        (!piece.is_empty()).then_some(piece)
    }
}

/// The items of a script that came to nothing before it ran.
fn failed(language: Language, source: String, error: ScriptError) -> [Item; 2] {
    let id = crate::identifier::random("scr");
    let call_id = crate::identifier::random("call");
    let mut call = ScriptToolCall::pending(id.clone(), call_id.clone(), language, source);
    call.status = ScriptStatus::Error;
    let output = ScriptToolCallOutput {
        id,
        call_id,
        output_json: None,
        error: Some(error),
        summary: None,
        warnings: Vec::new(),
        said: Said::default(),
        metadata: OutputMetadata::default(),
    };
    [
        Item::ScriptToolCall(call),
        Item::ScriptToolCallOutput(Box::new(output)),
    ]
}
