//! Questions about hosts that somebody is thinking about: whoever wants the same host meanwhile
//! waits for the same answer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

/// Those who wait for an answer: yes, or why not.
type Waiting<No> = watch::Receiver<Option<Result<(), No>>>;

/// The questions that are out, by what they are about.
#[derive(Debug)]
pub(crate) struct Pending<No> {
    out: Mutex<HashMap<String, Waiting<No>>>,
}

impl<No> Default for Pending<No> {
    fn default() -> Self {
        Self {
            out: Mutex::default(),
        }
    }
}

/// What to do about a question.
pub(crate) enum Turn<'a, No> {
    /// Ask it.
    Ask(Asking<'a, No>),
    /// Somebody did meanwhile.
    Answered(Result<(), No>),
}

/// The one who asks. Goes away with the answer, or without one if asking was given up.
pub(crate) struct Asking<'a, No> {
    pending: &'a Pending<No>,
    about: String,
    answer: watch::Sender<Option<Result<(), No>>>,
}

impl<No: Clone> Pending<No> {
    /// Waits for the answer to a question that is out, or takes the turn to ask.
    pub(crate) async fn turn(&self, about: &str) -> Turn<'_, No> {
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

impl<No> Asking<'_, No> {
    /// Passes the answer on to everybody who waits.
    pub(crate) fn settle(self, answered: Result<(), No>) {
        self.answer.send_replace(Some(answered));
    }
}

impl<No> Drop for Asking<'_, No> {
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
        let pending = Pending::<String>::default();
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
        let pending = Pending::<String>::default();
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
