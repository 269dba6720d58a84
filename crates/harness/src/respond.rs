//! A whole message of a model: scripts are found in it and run one after the other, and everything
//! said and thought around them is kept in order, as items.
//!
//! The message may come in pieces. A script runs as soon as its block is closed.

use ringfence_dialect::message::{
    Detector, Rejection, RejectionKind, Script, Segment, SegmentKind, SourceLimits,
};
use ringfence_dialect::{
    ErrorCode, Item, Language, Message, OutputMetadata, Phase, Reasoning, ScriptError,
    ScriptStatus, ScriptToolCall, ScriptToolCallOutput,
};

use crate::config::ScriptMode;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::execution::Cancel;
use crate::script::{Conversation, ScriptRequest};

/// The turn that a message belongs to.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// Where it comes from.
    pub conversation: Conversation,
    /// Whether its scripts run, if that is not left to the provider's and the general setting.
    pub mode: Option<ScriptMode>,
}

/// Who hears of items as they come about.
pub type ItemSink<'s> = &'s mut (dyn FnMut(Item) + Send);

/// Works through a message.
pub struct Responder<'e> {
    engine: &'e Engine,
    turn: Turn,
    cancel: Cancel,
    detector: Detector,
    /// Text that has not been told yet: it may go on.
    text: Vec<u8>,
}

impl Engine {
    /// Begins with a message. Cancelling stops the script that runs, and those after it.
    pub fn responder(&self, turn: Turn, cancel: Cancel) -> Responder<'_> {
        Responder {
            engine: self,
            turn,
            cancel,
            detector: Detector::new(SourceLimits {
                max_source_bytes: self.config.script.limits.max_source_bytes,
            }),
            text: Vec::new(),
        }
    }

    /// Works through a whole message.
    pub async fn respond(
        &self,
        turn: Turn,
        cancel: Cancel,
        message: &[u8],
    ) -> Result<Vec<Item>, CallError> {
        let mut items = Vec::new();
        let mut told = |item| items.push(item);
        let mut responder = self.responder(turn, cancel);
        responder.feed(message, &mut told).await?;
        responder.finish(&mut told).await?;
        Ok(items)
    }
}

impl Responder<'_> {
    /// Takes in a piece of the message, and runs what has become whole by it.
    pub async fn feed(&mut self, piece: &[u8], told: ItemSink<'_>) -> Result<(), CallError> {
        let segments = self.detector.feed(piece);
        self.take(segments, told).await
    }

    /// Ends the message.
    pub async fn finish(mut self, told: ItemSink<'_>) -> Result<(), CallError> {
        let nothing = Detector::new(SourceLimits::default());
        let segments = std::mem::replace(&mut self.detector, nothing).finish();
        self.take(segments, told).await?;
        self.tell_text(told);
        Ok(())
    }

    async fn take(&mut self, segments: Vec<Segment>, told: ItemSink<'_>) -> Result<(), CallError> {
        for segment in segments {
            if segment.kind == SegmentKind::Text {
                self.text.extend(segment.raw);
                continue;
            }
            self.tell_text(told);
            match segment.kind {
                SegmentKind::Text => {}
                SegmentKind::Thinking(thought) => told(Item::Reasoning(Reasoning::of(thought))),
                SegmentKind::Script(script) => self.run(script, told).await?,
                SegmentKind::Rejected(rejection) => {
                    self.reject(&segment.raw, &rejection, told);
                }
            }
        }
        Ok(())
    }

    fn tell_text(&mut self, told: ItemSink<'_>) {
        if !self.text.is_empty() {
            let text = String::from_utf8_lossy(&std::mem::take(&mut self.text)).into_owned();
            told(Item::Message(Message::assistant(text)));
        }
    }

    async fn run(&self, script: Script, told: ItemSink<'_>) -> Result<(), CallError> {
        let line = script.source_at.line;
        let request = ScriptRequest {
            language: script.language,
            mode: self.turn.mode,
            conversation: self.turn.conversation.clone(),
            ..ScriptRequest::new(script.source)
        };
        if request.mode(&self.engine.config.script) == ScriptMode::Disabled {
            told(not_run(&format!(
                "the script at line {line} was not run: scripts are disabled (`script.mode`)"
            )));
            return Ok(());
        }
        let call = Call {
            cancel: self.cancel.clone(),
            ..self.engine.new_call()
        };
        let (language, source) = (request.language, request.source.clone());
        match self.engine.run_script(&call, request).await {
            Ok(mut run) => {
                // Lines of an error are the script's own; this is where it begins in the message.
                if let Some(error) = &mut run.output.error {
                    error.metadata.insert("messageLine".to_owned(), line.into());
                }
                run.into_items().into_iter().for_each(told);
                Ok(())
            }
            Err(CallError::Cancelled) => Err(CallError::Cancelled),
            Err(error) => {
                let code = match &error {
                    CallError::Denied(_) => ErrorCode::ApprovalDeniedError,
                    _ => ErrorCode::HarnessInternalError,
                };
                let error = ScriptError::new(code, Phase::Parsing, error.to_string())
                    .with("messageLine", line);
                failed(language, source, error).into_iter().for_each(told);
                Ok(())
            }
        }
    }

    /// Tells of a block that cannot be a script, where the model will see it.
    fn reject(&self, raw: &[u8], rejection: &Rejection, told: ItemSink<'_>) {
        let source = String::from_utf8_lossy(raw).into_owned();
        let request = ScriptRequest {
            mode: self.turn.mode,
            conversation: self.turn.conversation.clone(),
            ..ScriptRequest::new(String::new())
        };
        let is_disabled = request.mode(&self.engine.config.script) == ScriptMode::Disabled;
        let is_block = !matches!(
            rejection.kind,
            RejectionKind::Unopened | RejectionKind::UnclosedThinking
        );
        if is_disabled && is_block {
            let at = rejection.at;
            told(not_run(&format!(
                "the block at {at} was not run: scripts are disabled (`script.mode`)"
            )));
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
            .for_each(told);
    }
}

/// What stands in the place of a script that is not run.
fn not_run(why: &str) -> Item {
    Item::Message(Message::assistant(format!("[{why}]")))
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
        metadata: OutputMetadata::default(),
    };
    [
        Item::ScriptToolCall(call),
        Item::ScriptToolCallOutput(Box::new(output)),
    ]
}
