//! Questions about hosts that somebody is thinking about: whoever wants the same host meanwhile
//! waits for the same answer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ringfence_jail::net::Refusal;
use tokio::sync::watch;

/// An answer: yes, or why not.
pub(super) type Answered = Result<(), Refusal>;

/// The questions that are out, by what they are about.
#[derive(Debug, Default)]
pub(super) struct Pending {
    out: Mutex<HashMap<String, watch::Receiver<Option<Answered>>>>,
}

/// What to do about a question.
pub(super) enum Turn<'a> {
    /// Ask it.
    Ask(Asking<'a>),
    /// Somebody did meanwhile.
    Answered(Answered),
}

/// The one who asks. Goes away with the answer, or without one if asking was given up.
pub(super) struct Asking<'a> {
    pending: &'a Pending,
    about: String,
    answer: watch::Sender<Option<Answered>>,
}

impl Pending {
    /// Waits for the answer to a question that is out, or takes the turn to ask.
    pub(super) async fn turn(&self, about: &str) -> Turn<'_> {
        loop {
            let mut waiting = {
                let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(waiting) = out.get(about) else {
                    let (answer, waiting) = watch::channel(None);
                    out.insert(about.to_owned(), waiting);
                    return Turn::Ask(Asking {
                        pending: self,
                        about: about.to_owned(),
                        answer,
                    });
                };
                waiting.clone()
            };
            let answered = waiting.wait_for(Option::is_some).await;
            if let Ok(Some(answered)) = answered.as_deref() {
                return Turn::Answered(answered.clone());
            }
            // Whoever asked was cut off before the answer came: ask again.
        }
    }
}

impl Asking<'_> {
    /// Passes the answer on to everybody who waits.
    pub(super) fn settle(self, answered: Answered) {
        self.answer.send_replace(Some(answered));
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut out = self
            .pending
            .out
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        out.remove(&self.about);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn those_who_wait_get_the_answer_and_those_who_come_later_ask() {
        let pending = Pending::default();
        let Turn::Ask(asking) = pending.turn("a").await else {
            panic!("nobody asked before");
        };
        let settle = async {
            tokio::task::yield_now().await;
            asking.settle(Ok(()));
        };
        let (first, second, ()) = tokio::join!(pending.turn("a"), pending.turn("a"), settle);
        for turn in [first, second] {
            assert!(matches!(turn, Turn::Answered(Ok(()))));
        }
        assert!(matches!(pending.turn("a").await, Turn::Ask(_)));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_question_that_was_given_up_is_asked_by_the_next() {
        let pending = Pending::default();
        let Turn::Ask(asking) = pending.turn("a").await else {
            panic!("nobody asked before");
        };
        let give_up = async {
            tokio::task::yield_now().await;
            drop(asking);
        };
        let (turn, ()) = tokio::join!(pending.turn("a"), give_up);
        assert!(matches!(turn, Turn::Ask(_)));
    }
}
