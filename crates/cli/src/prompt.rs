//! The approver at the terminal: shows what is asked, and takes a typed word for an answer.

mod dialogue;
mod editor;
mod offer;
mod second_run;

use std::sync::Arc;
use std::time::Duration;

use ringfence::approval::{AnswerFuture, Approver};
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use ringfence_protocol::question_text::Told;
use tokio::sync::Mutex;
use tokio::time::Instant;

use dialogue::Dialogue;
use editor::Typed;
use offer::{Offer, Said};

pub(crate) use offer::SessionLength;
pub(crate) use ringfence_protocol::question_text::reach;
pub(crate) use second_run::{SecondRuns, why_no_second_run};

/// So many lines that are no answer are a no.
const TRIES: usize = 5;

/// Asks whoever is at the terminal; denies at once where there is none.
#[derive(Debug)]
pub(crate) struct TerminalApprover {
    /// One question at a time.
    turn: Arc<Mutex<()>>,
    /// How long an answer is waited for.
    patience: Duration,
    session: SessionLength,
}

impl TerminalApprover {
    /// One whose answers are waited for as long as this, in a session of this kind.
    pub(crate) fn new(patience: Duration, session: SessionLength) -> Self {
        Self {
            turn: Arc::default(),
            patience,
            session,
        }
    }
}

impl Approver for TerminalApprover {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn ask<'a>(&'a self, question: &'a Question, grounds: &'a Grounds) -> AnswerFuture<'a> {
        let until = Instant::now() + self.patience;
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            let Ok(dialogue) = Dialogue::begin() else {
                return Answer::NobodyToAsk("there is no terminal".to_owned());
            };
            let told = Told::of(question, grounds);
            let offer = Offer::of(question, self.session, told.whole.is_some());
            answer(dialogue, &told, &offer, until).await
        })
    }
}

/// Asks until there is an answer, and for a while only.
async fn answer(mut dialogue: Dialogue, told: &Told, offer: &Offer, until: Instant) -> Answer {
    let left = until.saturating_duration_since(Instant::now());
    dialogue.show(&format!("\n{}\n{}", told.text, offer.listing(left)));
    let mut tries = 0;
    let mut seen_whole = false;
    while tries < TRIES {
        let line = match dialogue.line().await {
            Typed::Line(line) => line,
            Typed::Interrupt => return Answer::Abort,
            Typed::Refused => return Answer::Denied { message: None },
            Typed::Pasted | Typed::Unfinished => {
                tries += 1;
                dialogue.show(&format!("A paste is no answer. {}", offer.expected()));
                continue;
            }
        };
        match (offer.read(&line), &told.whole) {
            // What is kept is kept for all of it.
            (Said::Answer(answer), Some(whole)) if is_kept(&answer) && !seen_whole => {
                seen_whole = true;
                dialogue.show(whole);
                dialogue.show("That is all of it. Type the word again if it shall be kept.");
            }
            (Said::Answer(answer), _) => return answer,
            (Said::Help, _) => dialogue.show(&offer.help()),
            (Said::ShowAll, Some(whole)) => {
                seen_whole = true;
                dialogue.show(whole);
            }
            _ => {
                tries += 1;
                dialogue.show(&offer.expected());
            }
        }
    }
    let message = format!("{TRIES} lines were typed that are no answer");
    dialogue.show(&format!("{message}: that is a no."));
    Answer::Denied {
        message: Some(message),
    }
}

/// Whether an answer holds for more than this once.
fn is_kept(answer: &Answer) -> bool {
    matches!(
        answer,
        Answer::ApprovedForSession | Answer::ApprovedWithRule(_)
    )
}
