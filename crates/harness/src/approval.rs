//! Who is asked. The library never prompts: a front end hands it an [`Approver`].

use std::future::Future;
use std::pin::Pin;

use ringfence_policy::settle::Answer;
use ringfence_policy::verdict::{Grounds, Question};

/// An answer that is still awaited.
pub type Awaited<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Somebody who answers questions.
pub trait Approver: Send + Sync {
    /// Who this is, for the audit log.
    fn name(&self) -> &'static str;

    /// Answers a question. The engine puts a limit on the time that this takes.
    fn ask<'a>(&'a self, question: &'a Question, grounds: &'a Grounds) -> Awaited<'a>;
}

/// An approver that follows a script instead of asking anybody.
#[derive(Debug, Clone)]
pub enum Scripted {
    /// Says yes to everything.
    ApproveAll,
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

    fn ask<'a>(&'a self, question: &'a Question, _: &'a Grounds) -> Awaited<'a> {
        let deny = |message: &str| Answer::Denied {
            message: Some(message.to_owned()),
        };
        let answer = match self {
            Self::ApproveAll => Answer::Approved,
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
