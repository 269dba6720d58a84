//! The approver at the terminal: shows what is asked, and takes a typed word for an answer.

mod again;
mod editor;
mod offer;
mod question;
mod sitting;

use std::sync::Arc;
use std::time::Duration;

use ringfence::approval::{Approver, Awaited};
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use tokio::sync::Mutex;
use tokio::time::Instant;

use editor::Typed;
use offer::{Offer, Said};
use question::Told;
use sitting::Sitting;

pub(crate) use again::{SecondRuns, why_no_second_run};
pub(crate) use offer::Session;
pub(crate) use question::reach;

/// So many lines that are no answer are a no.
const TRIES: usize = 5;

/// Asks whoever is at the terminal; denies at once where there is none.
#[derive(Debug)]
pub(crate) struct TerminalApprover {
    /// One question at a time.
    turn: Arc<Mutex<()>>,
    /// How long an answer is waited for.
    patience: Duration,
    session: Session,
}

impl TerminalApprover {
    /// One whose answers are waited for as long as this, in a session of this kind.
    pub(crate) fn new(patience: Duration, session: Session) -> Self {
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

    fn ask<'a>(&'a self, question: &'a Question, grounds: &'a Grounds) -> Awaited<'a> {
        let until = Instant::now() + self.patience;
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            let Ok(sitting) = Sitting::begin() else {
                return Answer::NobodyToAsk("there is no terminal".to_owned());
            };
            let told = Told::of(question, grounds);
            let offer = Offer::of(question, self.session, told.whole.is_some());
            answer(sitting, &told, &offer, until).await
        })
    }
}

/// Asks until there is an answer, and for a while only.
async fn answer(mut sitting: Sitting, told: &Told, offer: &Offer, until: Instant) -> Answer {
    let left = until.saturating_duration_since(Instant::now());
    sitting.show(&format!("\n{}\n{}", told.text, offer.listing(left)));
    let mut tries = 0;
    while tries < TRIES {
        let line = match sitting.line().await {
            Typed::Line(line) => line,
            Typed::Interrupt => return Answer::Abort,
            Typed::Refused => return Answer::Denied { message: None },
            Typed::Pasted | Typed::Unfinished => {
                tries += 1;
                sitting.show(&format!("A paste is no answer. {}", offer.expected()));
                continue;
            }
        };
        match (offer.read(&line), &told.whole) {
            (Said::Answer(answer), _) => return answer,
            (Said::Help, _) => sitting.show(&offer.help()),
            (Said::ShowAll, Some(whole)) => sitting.show(whole),
            _ => {
                tries += 1;
                sitting.show(&offer.expected());
            }
        }
    }
    let message = format!("{TRIES} lines were typed that are no answer");
    sitting.show(&format!("{message}: that is a no."));
    Answer::Denied {
        message: Some(message),
    }
}
