//! A turn that comes in as server-sent events.

use super::error::ReadError;
use super::raw::Object;
use super::sse::{EventStream, ServerEvent};
use super::turn::{Turn, TurnEvent};
use super::{ApiError, Provider, anthropic_messages, openai_chat, openai_responses};

/// The most bytes of an answer that are taken in.
pub const LONGEST_ANSWER: usize = 64 << 20;

/// A turn that is coming in.
pub struct Reader {
    events: EventStream,
    assembly: Box<dyn Assembly>,
    bytes: usize,
    failed: Option<ReadError>,
}

/// What a provider's events are put together in.
pub(super) trait Assembly: Send {
    /// Takes in the data of an event.
    fn take(&mut self, event: &Object, told: &mut Vec<TurnEvent>) -> Result<(), ReadError>;

    /// Takes in data that is not JSON, which one API ends with.
    fn take_word(&mut self, _word: &str, _told: &mut Vec<TurnEvent>) {}

    /// Whether nothing is missing.
    fn is_done(&self) -> bool;

    /// The turn, or what is missing.
    fn finish(self: Box<Self>) -> Result<Turn, ReadError>;
}

impl Reader {
    pub(super) fn new(provider: Provider) -> Self {
        Self {
            events: EventStream::new(),
            assembly: match provider {
                Provider::OpenAiResponses => Box::new(openai_responses::Stream::default()),
                Provider::OpenAiChat => Box::new(openai_chat::Stream::default()),
                Provider::AnthropicMessages => Box::new(anthropic_messages::Stream::default()),
            },
            bytes: 0,
            failed: None,
        }
    }

    /// Takes in a piece, and gives what becomes known by it. After an error nothing more is taken in.
    pub fn feed(&mut self, piece: &[u8]) -> Result<Vec<TurnEvent>, ReadError> {
        self.bytes = self.bytes.saturating_add(piece.len());
        if self.bytes > LONGEST_ANSWER {
            self.failed.get_or_insert(ReadError::TooLong {
                most: LONGEST_ANSWER,
            });
        }
        let mut told = Vec::new();
        for event in self.events.feed(piece) {
            self.take_into(&event, &mut told)?;
        }
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => Ok(told),
        }
    }

    /// Takes in an event that somebody else took out of the stream.
    pub fn take(&mut self, event: &ServerEvent) -> Result<Vec<TurnEvent>, ReadError> {
        let mut told = Vec::new();
        self.take_into(event, &mut told)?;
        Ok(told)
    }

    /// Whether the turn is whole, so that whatever may follow is of no interest.
    pub fn is_done(&self) -> bool {
        self.assembly.is_done()
    }

    /// Ends the stream: the turn, or what is missing.
    pub fn finish(mut self) -> Result<Turn, ReadError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        // A last event may lack the empty line behind it; one that was cut in its middle is not JSON.
        if let Some(last) = std::mem::take(&mut self.events).finish()
            && !self.assembly.is_done()
        {
            match self.take_into(&last, &mut Vec::new()) {
                Err(ReadError::NotJson { .. }) | Ok(()) => self.failed = None,
                Err(error) => return Err(error),
            }
        }
        self.assembly.finish()
    }

    fn take_into(
        &mut self,
        event: &ServerEvent,
        told: &mut Vec<TurnEvent>,
    ) -> Result<(), ReadError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if self.assembly.is_done() {
            return Ok(());
        }
        let taken = self.put(event, told);
        if let Err(error) = &taken {
            self.failed = Some(error.clone());
        }
        taken
    }

    fn put(&mut self, event: &ServerEvent, told: &mut Vec<TurnEvent>) -> Result<(), ReadError> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if !data.starts_with('{') && event.name.is_none() {
            self.assembly.take_word(data, told);
            return Ok(());
        }
        let fields = super::read_object(data.as_bytes())?;
        let is_error = event.name.as_deref() == Some("error")
            || fields.text("type").as_deref() == Some("error");
        if is_error || fields.get("error").is_some_and(|error| !error.is_null()) {
            return Err(ApiError::of_raw(&fields.to_raw()).into());
        }
        self.assembly.take(&fields, told)
    }
}
