//! The client as somebody who answers questions: each is put to the line of the call that asks.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use ringfence::Call;
use ringfence::approval::{AnswerFuture, Answered, Approver};
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use ringfence_protocol::question_text::Told;
use ringfence_protocol::wire::{ClientAnswer, QuestionParams};
use ringfence_protocol::{question_params, read_answer};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::session::Lines;

/// A question that waits for its answer. Whoever asked is told if it is dropped.
#[derive(Debug)]
pub(crate) struct Pending {
    /// What is asked, for programs.
    pub(crate) params: Arc<QuestionParams>,
    /// The same in words.
    pub(crate) text: String,
    /// Where the answer goes. It is closed once nobody wants it any more.
    pub(crate) answer: oneshot::Sender<Said>,
}

/// What came of a question.
#[derive(Debug)]
pub(crate) enum Said {
    /// The client has answered.
    Answer(ClientAnswer),
    /// It cannot be asked, and why.
    Nobody(&'static str),
}

/// The approver of a session.
pub(crate) struct Asking {
    lines: Weak<Lines>,
    /// The engine's, which is there only once this is.
    patience: OnceLock<Duration>,
}

impl Asking {
    pub(crate) fn new(lines: Weak<Lines>) -> Self {
        Self {
            lines,
            patience: OnceLock::new(),
        }
    }

    /// So long a question waits.
    pub(crate) fn waits(&self, patience: Duration) {
        let _ = self.patience.set(patience);
    }

    async fn put(&self, call: &Call, question: &Question, grounds: &Grounds) -> Answer {
        let nobody = |why: &str| Answer::NobodyToAsk(why.to_owned());
        let Some(line) = self.lines.upgrade().and_then(|lines| lines.of(call)) else {
            return nobody("no call of a client's asks this");
        };
        let patience = self.patience.get().copied().unwrap_or_default();
        let params = Arc::new(question_params(Value::Null, question, grounds, patience));
        let (answer, said) = oneshot::channel();
        let pending = Pending {
            params: Arc::clone(&params),
            text: Told::of(question, grounds).text,
            answer,
        };
        if !line.ask(pending) {
            return nobody("the call that started this is over");
        }
        line.turn.give_up();
        let said = said.await;
        line.turn.go_on();
        let answer = match said {
            Ok(Said::Answer(answer)) => read_answer(answer, question, &params.answers),
            Ok(Said::Nobody(why)) => return nobody(why),
            Err(_) => return nobody("the call that started this is over"),
        };
        let none = |why| Answer::Denied {
            message: Some(format!("the client's answer is none: {why}")),
        };
        answer.unwrap_or_else(none)
    }
}

impl Approver for Asking {
    fn name(&self) -> &'static str {
        "mcp client"
    }

    fn ask<'a>(&'a self, _: &'a Question, _: &'a Grounds) -> AnswerFuture<'a> {
        let why = "no call of a client's asks this".to_owned();
        Box::pin(std::future::ready(Answer::NobodyToAsk(why)))
    }

    fn answer_call<'a>(
        &'a self,
        call: &'a Call,
        question: &'a Question,
        grounds: &'a Grounds,
    ) -> Pin<Box<dyn Future<Output = Answered> + Send + 'a>> {
        Box::pin(async move {
            Answered {
                answer: self.put(call, question, grounds).await,
                by: self.name(),
            }
        })
    }
}
