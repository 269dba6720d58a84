//! How the model is asked for its next turn: again where its answer broke off, and not for ever.

use std::time::Duration;

use futures_util::StreamExt;
use ringfence_dialect::provider::{RequestOptions, Turn, Usage};
use tokio::time::sleep;

use super::budget;
use super::event::AgentEvent;
use super::journal::JournalError;
use super::limits::Ended;
use super::model::{ModelAnswer, ModelClient, ModelRequest};
use super::options::AgentError;
use super::run::{Agent, or_stopped};
use super::tally::Tally;
use crate::execution::Cancel;

/// What came of a request.
enum Asked {
    Turn(Box<Turn>),
    Failed(AgentError),
    Ended(Ended),
}

impl<C: ModelClient> Agent<'_, C> {
    /// Asks for the next turn, again if that may help.
    pub(super) async fn ask_until_answered(
        &mut self,
        tally: &mut Tally,
        cancel: &Cancel,
    ) -> Result<Option<Ended>, AgentError> {
        loop {
            self.compact(tally.last)?;
            let error = match self.ask(tally, cancel).await {
                Asked::Turn(turn) => {
                    tally.take(&turn);
                    self.listener.hear(&AgentEvent::Read(&turn));
                    self.journal.turn(*turn)?;
                    return Ok(None);
                }
                Asked::Ended(ended) => return Ok(Some(ended)),
                Asked::Failed(error) => error,
            };
            let tries_again = error.is_transient() && !tally.fail(error.to_string());
            self.listener.hear(&AgentEvent::Failed {
                code: error.code(),
                message: error.to_string(),
                tries_again,
            });
            if error.is_too_long() {
                return Ok(Some(Ended::ContextFull));
            }
            if !tries_again {
                return Err(error);
            }
            // The client has waited as long as the server wanted; this is for connections that break.
            let pause = sleep(Duration::from_millis(100) * tally.failures.pow(2));
            if let Err(ended) = or_stopped(pause, cancel, tally.deadline).await {
                return Ok(Some(ended));
            }
        }
    }

    async fn ask(&self, tally: &Tally, cancel: &Cancel) -> Asked {
        self.listener.hear(&AgentEvent::Asked {
            turn: tally.turns + 1,
        });
        let options = &self.options.request;
        let words = budget::in_words(self.options.limits.max_turn_output_chars);
        let options = RequestOptions {
            instructions: Some(match &options.instructions {
                Some(instructions) => format!("{instructions}\n\n{words}"),
                None => words,
            }),
            ..options.clone()
        };
        let request = ModelRequest {
            provider: self.journal.provider(),
            body: self
                .journal
                .history()
                .request(&options, &self.options.tools)
                .body(),
            stream: options.stream,
        };
        let answered = async {
            let answer = self.client.send(request).await?;
            self.read(answer).await
        };
        match or_stopped(answered, cancel, tally.deadline).await {
            Ok(Ok(turn)) => Asked::Turn(Box::new(turn)),
            Ok(Err(error)) => Asked::Failed(error),
            Err(ended) => Asked::Ended(ended),
        }
    }

    async fn read(&self, answer: ModelAnswer) -> Result<Turn, AgentError> {
        let provider = self.journal.provider();
        let mut pieces = match answer {
            ModelAnswer::Whole(body) => return Ok(provider.read(&body)?),
            ModelAnswer::Stream(pieces) => pieces,
        };
        let mut reader = provider.reader();
        while !reader.is_done()
            && let Some(piece) = pieces.next().await
        {
            for event in reader.feed(&piece?)? {
                self.listener.hear(&AgentEvent::Piece(&event));
            }
        }
        Ok(reader.finish()?)
    }

    fn compact(&mut self, last: Usage) -> Result<(), JournalError> {
        let shorter = self
            .options
            .compaction
            .as_ref()
            .and_then(|compact| compact(self.journal.history(), last));
        if let Some(items) = shorter {
            self.journal.replace(items)?;
            self.listener.hear(&AgentEvent::Compacted);
        }
        Ok(())
    }
}
