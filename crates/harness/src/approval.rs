//! Who is asked. The library never prompts: a front end hands it an [`Approver`].

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use ringfence_policy::NarrowGrant;
use ringfence_policy::settle::Answer;
use ringfence_policy::verdict::{Grounds, Question, QuestionKind};

use crate::engine::Call;

/// An answer that is still awaited.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// An answer, and who gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// The name of the approver.
    pub by: &'static str,
}

/// Somebody who answers questions.
///
/// One that has no opinion answers [`Answer::NobodyToAsk`] with a word why: the next of a
/// [`Chain`] is asked then, and where there is none it is a no.
pub trait Approver: Send + Sync {
    /// Who this is, for the audit log.
    fn name(&self) -> &'static str;

    /// Answers a question. The engine puts a limit on the time that this takes.
    fn ask<'a>(&'a self, question: &'a Question, grounds: &'a Grounds) -> AnswerFuture<'a>;

    /// Answers a question and says who did, which matters where one approver stands for several.
    fn answer<'a>(
        &'a self,
        question: &'a Question,
        grounds: &'a Grounds,
    ) -> Pin<Box<dyn Future<Output = Answered> + Send + 'a>> {
        Box::pin(async move {
            Answered {
                answer: self.ask(question, grounds).await,
                by: self.name(),
            }
        })
    }

    /// The same for one who cares which call asks.
    fn answer_call<'a>(
        &'a self,
        _call: &'a Call,
        question: &'a Question,
        grounds: &'a Grounds,
    ) -> Pin<Box<dyn Future<Output = Answered> + Send + 'a>> {
        self.answer(question, grounds)
    }
}

/// Several approvers: each is asked where those before could ask nobody. They share the time that
/// a question has.
#[derive(Clone, Default)]
pub struct Chain(Vec<Arc<dyn Approver>>);

impl Chain {
    /// A chain of these, the first first.
    pub fn of(approvers: Vec<Arc<dyn Approver>>) -> Self {
        Self(approvers)
    }

    /// The same with another at its end.
    #[must_use]
    pub fn then(mut self, approver: impl Approver + 'static) -> Self {
        self.0.push(Arc::new(approver));
        self
    }

    /// The answer of the first who could ask somebody.
    async fn first<'a, F>(&'a self, ask: impl Fn(&'a Arc<dyn Approver>) -> F) -> Answered
    where
        F: Future<Output = Answered>,
    {
        let mut nobody = Answered {
            answer: Answer::NobodyToAsk("there is no approver".to_owned()),
            by: self.name(),
        };
        for approver in &self.0 {
            let answered = ask(approver).await;
            if !matches!(answered.answer, Answer::NobodyToAsk(_)) {
                return answered;
            }
            nobody = answered;
        }
        nobody
    }
}

impl Approver for Chain {
    fn name(&self) -> &'static str {
        "chain"
    }

    fn ask<'a>(&'a self, question: &'a Question, grounds: &'a Grounds) -> AnswerFuture<'a> {
        Box::pin(async move { self.answer(question, grounds).await.answer })
    }

    fn answer<'a>(
        &'a self,
        question: &'a Question,
        grounds: &'a Grounds,
    ) -> Pin<Box<dyn Future<Output = Answered> + Send + 'a>> {
        Box::pin(self.first(move |approver| approver.answer(question, grounds)))
    }

    fn answer_call<'a>(
        &'a self,
        call: &'a Call,
        question: &'a Question,
        grounds: &'a Grounds,
    ) -> Pin<Box<dyn Future<Output = Answered> + Send + 'a>> {
        Box::pin(self.first(move |approver| approver.answer_call(call, question, grounds)))
    }
}

/// An approver that follows a script instead of asking anybody.
#[derive(Debug, Clone)]
pub enum Scripted {
    /// Says yes to everything that stays inside the fence.
    ApproveAll,
    /// Says yes to everything, and lets commands leave the fence.
    ApproveAllUnfenced,
    /// Says no to everything, with a word why.
    DenyAll {
        /// The word.
        message: String,
    },
    /// Says yes to commands that contain one of these words, and no to the rest.
    ApproveContaining(Vec<String>),
}

impl Approver for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn ask<'a>(&'a self, question: &'a Question, _: &'a Grounds) -> AnswerFuture<'a> {
        let deny = |message: &str| Answer::Denied {
            message: Some(message.to_owned()),
        };
        let answer = match self {
            Self::ApproveAll if leaves(question) => deny(STAYS_INSIDE),
            Self::ApproveAll if question.grants().iter().any(NarrowGrant::is_grave) => {
                deny(WORTH_MORE)
            }
            Self::ApproveAll | Self::ApproveAllUnfenced => Answer::Approved,
            Self::DenyAll { message } => deny(message),
            Self::ApproveContaining(words) => {
                let subject = crate::engine::subject(question.action());
                if words.iter().any(|word| subject.contains(word)) {
                    Answer::Approved
                } else {
                    deny("the script does not approve it")
                }
            }
        };
        Box::pin(std::future::ready(answer))
    }
}

/// Why a yes to everything is none to some grants.
const WORTH_MORE: &str = "everything is approved but what is worth more than the command: secrets, the machine's sockets, \
                          what is protected, the whole network; a flag or a setting grants it";

/// Why a yes to everything is none to leaving the fence.
const STAYS_INSIDE: &str = "everything is approved inside the fence, and this would leave it; \
                            `--approve all,unfenced` approves that too";

/// Whether a yes would let something leave the fence that is there.
fn leaves(question: &Question) -> bool {
    matches!(
        question.kind(),
        QuestionKind::LeaveFence | QuestionKind::RetryUnfenced { .. }
    )
}
