//! The client as somebody who answers questions.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence::Call;
use ringfence::approval::{AnswerFuture, Answered, Approver};
use ringfence::policy::action::Action;
use ringfence::policy::judge::ApprovalKey;
use ringfence::policy::permit::Confinement;
use ringfence::policy::settle::{self, Answer};
use ringfence::policy::verdict::{self, Grounds, Question};
use serde_json::{Value, json};

use crate::events::millis;
use crate::link::Link;
use crate::rpc;
use crate::wire::{
    AnswerKind, ClientAnswer, Grant, Holds, Proposed, QuestionKind, QuestionParams, Reach,
    ScriptLine, Withdrawn, WithdrawnParams,
};

/// How many requests of the client may be open when it is asked another question.
const MOST_OPEN: usize = 1024;

/// The client's name as an approver.
pub(crate) const CLIENT: &str = "client";

/// The client as an approver.
pub(crate) struct ClientApprover {
    link: Arc<Link>,
    patience: Arc<std::sync::OnceLock<Duration>>,
}

impl ClientApprover {
    /// The patience is that of the engine, which is there only once this is.
    pub(crate) fn new(link: &Arc<Link>, patience: Arc<std::sync::OnceLock<Duration>>) -> Self {
        Self {
            link: Arc::clone(link),
            patience,
        }
    }

    async fn put(&self, call: Option<&Call>, question: &Question, grounds: &Grounds) -> Answer {
        let nobody = |why: &str| Answer::NobodyToAsk(why.to_owned());
        let asks = self
            .link
            .capabilities
            .get()
            .is_some_and(|client| client.questions);
        if !asks {
            return nobody("the client does not answer questions");
        }
        if self.link.outbox.is_full() || self.link.requests.count() >= MOST_OPEN {
            return nobody("the client does not answer what it was asked before");
        }
        let patience = self.patience.get().copied().unwrap_or_default();
        let id = call
            .and_then(|call| self.link.id_of(call))
            .unwrap_or_default();
        let params = params(id, question, grounds, patience);
        let turn = call.and_then(|call| self.link.calls.turn_of(&call.id));
        let withdraw = self.withdrawal(call.cloned(), patience);
        if let Some(turn) = &turn {
            turn.give_up();
        }
        let outbox = &self.link.outbox;
        let mut asked = self
            .link
            .requests
            .ask(outbox, "question", &params, withdraw);
        let answered = asked.answer().await;
        if let Some(turn) = &turn {
            turn.go_on();
        }
        let read = match answered {
            Ok(result) => understood(result, question, &params.answers),
            Err(error) => Err(error.message),
        };
        read.unwrap_or_else(|why| {
            self.link.unexpected(json!(asked.id()), &why);
            Answer::Denied {
                message: Some(format!("the client's answer is none: {why}")),
            }
        })
    }

    /// Tells the client that it need not answer any more, and why.
    fn withdrawal(
        &self,
        call: Option<Call>,
        patience: Duration,
    ) -> impl FnOnce(String) + Send + 'static {
        let outbox = self.link.outbox.clone();
        let asked = Instant::now();
        move |request| {
            let cancelled = call.is_some_and(|call| call.cancel.is_cancelled());
            let reason = if cancelled {
                Withdrawn::Cancelled
            } else if asked.elapsed() >= patience {
                Withdrawn::TimedOut
            } else {
                Withdrawn::Ended
            };
            let params = WithdrawnParams { request, reason };
            outbox.send(&rpc::notification("question_withdrawn", &params));
        }
    }
}

impl Approver for ClientApprover {
    fn name(&self) -> &'static str {
        CLIENT
    }

    fn ask<'a>(&'a self, question: &'a Question, grounds: &'a Grounds) -> AnswerFuture<'a> {
        Box::pin(self.put(None, question, grounds))
    }

    fn answer_call<'a>(
        &'a self,
        call: &'a Call,
        question: &'a Question,
        grounds: &'a Grounds,
    ) -> Pin<Box<dyn Future<Output = Answered> + Send + 'a>> {
        Box::pin(async move {
            Answered {
                answer: self.put(Some(call), question, grounds).await,
                by: self.name(),
            }
        })
    }
}

/// The question as the client gets it, about the call of this id.
pub fn params(
    id: Value,
    question: &Question,
    grounds: &Grounds,
    patience: Duration,
) -> QuestionParams {
    let (kind, denied) = match question.kind() {
        verdict::QuestionKind::Run => (QuestionKind::Run, Vec::new()),
        verdict::QuestionKind::LeaveFence => (QuestionKind::LeaveFence, Vec::new()),
        verdict::QuestionKind::RetryGranted { denied } => {
            (QuestionKind::RetryGranted, denied.clone())
        }
        verdict::QuestionKind::RetryUnfenced { denied } => {
            (QuestionKind::RetryUnfenced, denied.clone())
        }
    };
    let command = match question.action() {
        Action::RunCommand(command) => Some(command),
        _ => None,
    };
    let proposals: Vec<Proposed> = question
        .proposals()
        .iter()
        .map(|proposal| Proposed {
            summary: proposal.summary(),
            rule: proposal.to_toml(),
        })
        .collect();
    QuestionParams {
        id,
        kind,
        tool: question.action().tool().to_owned(),
        command: ringfence::subject(question.action()),
        cwd: command.map(|command| command.cwd.display().to_string()),
        reason: question.because().to_owned(),
        class: grounds.class,
        reasons: grounds.reasons.clone(),
        facts: grounds.facts.as_ref().map(|facts| json!(facts)),
        rule: grounds.rule.clone(),
        denied,
        description: command.and_then(|command| command.description.clone()),
        justification: command.and_then(|command| command.justification.clone()),
        script: grounds.script.as_ref().map(|at| ScriptLine {
            line: at.line,
            text: at.text.clone(),
        }),
        reach: reach(question.if_approved()),
        answers: answers(question),
        proposals,
        grants: question.grants().iter().map(Grant::from).collect(),
        timeout_ms: millis(patience),
    }
}

/// The answers that count for a question.
fn answers(question: &Question) -> Vec<AnswerKind> {
    let mut answers = vec![AnswerKind::Once];
    if ApprovalKey::of(question).is_some() {
        answers.push(AnswerKind::Session);
    }
    if !question.proposals().is_empty() {
        answers.push(AnswerKind::Rule);
    }
    if !question.grants().is_empty() {
        answers.push(AnswerKind::Grant);
    }
    if question.offers_outside() {
        answers.push(AnswerKind::Outside);
    }
    answers.extend([AnswerKind::No, AnswerKind::Abort]);
    answers
}

fn reach(confinement: &Confinement) -> Reach {
    match confinement {
        Confinement::Unfenced { .. } => Reach {
            fenced: false,
            writable: Vec::new(),
            network: "full".to_owned(),
        },
        Confinement::Fenced { sandbox, .. } => Reach {
            fenced: true,
            writable: sandbox
                .effective_writable_roots()
                .iter()
                .map(|root| root.display().to_string())
                .collect(),
            network: sandbox.network.to_string(),
        },
    }
}

fn understood(
    result: Value,
    question: &Question,
    offered: &[AnswerKind],
) -> Result<Answer, String> {
    let answer = serde_json::from_value::<ClientAnswer>(result);
    read(
        answer.map_err(|error| error.to_string())?,
        question,
        offered,
    )
}

/// What a client's answer means; what is wrong with it otherwise.
pub fn read(
    answer: ClientAnswer,
    question: &Question,
    offered: &[AnswerKind],
) -> Result<Answer, String> {
    let is_offered = |kind| {
        let offers = offered.contains(&kind);
        offers
            .then_some(())
            .ok_or_else(|| format!("{kind:?} is not among `answers`"))
    };
    match answer {
        ClientAnswer::Once {} => Ok(Answer::Approved),
        ClientAnswer::Session {} => {
            is_offered(AnswerKind::Session).map(|()| Answer::ApprovedForSession)
        }
        ClientAnswer::Rule { proposal } => {
            is_offered(AnswerKind::Rule)?;
            let chosen = question.proposals().get(proposal);
            let chosen = chosen.ok_or_else(|| format!("there is no proposal {proposal}"))?;
            Ok(Answer::ApprovedWithRule(chosen.to_toml()))
        }
        ClientAnswer::Grant { grant, holds } => {
            is_offered(AnswerKind::Grant)?;
            if grant >= question.grants().len() {
                return Err(format!("there is no grant {grant}"));
            }
            let holds = match holds {
                Holds::Once => settle::Holds::Once,
                Holds::Session => {
                    is_offered(AnswerKind::Session)?;
                    settle::Holds::Session
                }
                Holds::Rule => {
                    is_offered(AnswerKind::Rule)?;
                    settle::Holds::Rule
                }
            };
            Ok(Answer::Granted { grant, holds })
        }
        ClientAnswer::Outside {} => is_offered(AnswerKind::Outside).map(|()| Answer::Outside),
        ClientAnswer::No { message } => Ok(Answer::Denied { message }),
        ClientAnswer::Abort {} => Ok(Answer::Abort),
    }
}
