//! Who is asked, with what was said noted for the view.

use std::pin::Pin;
use std::sync::Arc;

use ringfence::Call;
use ringfence::approval::{AnswerFuture, Answered, Approver};
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use tokio::sync::Notify;

use super::view::View;
use crate::prompt::TerminalApprover;

/// The approver at the terminal, whose answers the view is told.
pub(super) struct Noted {
    asks: TerminalApprover,
    view: Arc<View>,
    /// Told when the answer is to stop.
    stop: Arc<Notify>,
}

impl Noted {
    pub(super) fn new(asks: TerminalApprover, view: Arc<View>, stop: Arc<Notify>) -> Self {
        Self { asks, view, stop }
    }
}

impl Approver for Noted {
    fn name(&self) -> &'static str {
        self.asks.name()
    }

    fn ask<'a>(&'a self, question: &'a Question, grounds: &'a Grounds) -> AnswerFuture<'a> {
        self.asks.ask(question, grounds)
    }

    fn answer_call<'a>(
        &'a self,
        call: &'a Call,
        question: &'a Question,
        grounds: &'a Grounds,
    ) -> Pin<Box<dyn Future<Output = Answered> + Send + 'a>> {
        Box::pin(async move {
            self.view.rest();
            let answered = self.asks.answer(question, grounds).await;
            let word = match &answered.answer {
                Answer::Denied { .. } | Answer::Abort => "denied by you",
                Answer::NobodyToAsk(_) => "denied: nobody was there to ask",
                Answer::TimedOut => "denied: no answer in time",
                _ => "approved by you",
            };
            self.view.answered(&call.id, word);
            if answered.answer == Answer::Abort {
                self.stop.notify_one();
            }
            answered
        })
    }
}
