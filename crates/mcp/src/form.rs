//! A question as a form that a client shows, and what a person chose in it.

use ringfence_protocol::reveal;
use ringfence_protocol::wire::{AnswerKind, ClientAnswer, Grant, Holds, QuestionParams};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};

/// The field with the choice.
const ANSWER: &str = "answer";
/// A word for the model, which a program that answers can add. The form does not ask for it: some clients cannot send a form with
/// a text left empty.
const MESSAGE: &str = "message";
/// As much of a rule or a path is shown in a choice.
const CHOICE: usize = 120;

/// The form for a question, in words that `text` has.
pub(crate) fn form(params: &QuestionParams, text: &str) -> Result<ElicitRequestParams, String> {
    let words: Vec<String> = choices(params)
        .into_iter()
        .map(|(words, _)| words)
        .collect();
    let schema = json!({
        "type": "object",
        "properties": {
            ANSWER: {"type": "string", "title": "Your answer", "enum": words},
        },
        "required": [ANSWER],
    });
    let schema: ElicitationSchema =
        serde_json::from_value(schema).map_err(|error| error.to_string())?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: text.to_owned(),
        requested_schema: schema,
    })
}

/// What a client made of a form.
pub(crate) fn answer(params: &QuestionParams, result: Value) -> ClientAnswer {
    let no = |message: &str| ClientAnswer::No {
        message: Some(message.to_owned()),
    };
    let Ok(result) = serde_json::from_value::<ElicitResult>(result) else {
        return no("the client's answer does not fit the form");
    };
    match result.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Cancel => return no("the client closed the question without an answer"),
        _ => return ClientAnswer::No { message: None },
    }
    let content = result.content.unwrap_or_default();
    let chosen = content[ANSWER].as_str().unwrap_or_default();
    let found = choices(params)
        .into_iter()
        .find(|(words, _)| words == chosen);
    match found {
        Some((_, ClientAnswer::No { .. })) => {
            let message = content[MESSAGE].as_str().map(str::trim);
            let message = message.filter(|message| !message.is_empty());
            ClientAnswer::No {
                message: message.map(str::to_owned),
            }
        }
        Some((_, answer)) => answer,
        None => no("the form came back without a choice"),
    }
}

/// What can be chosen, in words that stand for themselves: not every client shows titles.
fn choices(params: &QuestionParams) -> Vec<(String, ClientAnswer)> {
    let mut choices = Vec::new();
    for kind in &params.answers {
        match kind {
            AnswerKind::Once => choices.push(("yes, this once".to_owned(), ClientAnswer::Once {})),
            AnswerKind::Session => {
                choices.push(("yes, for this session".to_owned(), ClientAnswer::Session {}));
            }
            AnswerKind::Rule => {
                let rules = params.proposals.iter().enumerate();
                choices.extend(rules.map(|(proposal, proposed)| {
                    let words = format!("yes, always: {}", shown(&proposed.summary));
                    (words, ClientAnswer::Rule { proposal })
                }));
            }
            AnswerKind::Grant => {
                let grants = params.grants.iter().enumerate();
                choices.extend(grants.map(|(grant, granted)| {
                    let words = format!("inside the fence, {}", shown(&in_words(granted)));
                    let holds = Holds::default();
                    (words, ClientAnswer::Grant { grant, holds })
                }));
            }
            AnswerKind::Outside => {
                let words = "yes, OUTSIDE the fence, this once".to_owned();
                choices.push((words, ClientAnswer::Outside {}));
            }
            AnswerKind::No => {
                choices.push(("no".to_owned(), ClientAnswer::No { message: None }));
            }
            AnswerKind::Abort => {
                choices.push(("no, and stop".to_owned(), ClientAnswer::Abort {}));
            }
        }
    }
    tell_apart(&mut choices);
    choices
}

/// Long words are cut: those that are alike then get a number.
fn tell_apart(choices: &mut [(String, ClientAnswer)]) {
    for at in 1..choices.len() {
        let (before, rest) = choices.split_at_mut(at);
        let (words, _) = &mut rest[0];
        let alike = before
            .iter()
            .filter(|(other, _)| other.starts_with(&**words));
        let alike = alike.count();
        if alike > 0 {
            *words = format!("{words} ({})", alike + 1);
        }
    }
}

fn in_words(grant: &Grant) -> String {
    match grant {
        Grant::Writable { path } => format!("with {path} to write"),
        Grant::Readable { path } => format!("with {path} to read"),
        Grant::Host { host } => format!("with the host {host}"),
        Grant::Socket { path } => format!("with the socket {path}"),
        Grant::Unprotected { path } => format!("with {path} to change although it is protected"),
        Grant::Network {} => "with the machine's network, whole".to_owned(),
    }
}

fn shown(text: &str) -> String {
    reveal::cut(&reveal::line(text), CHOICE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_that_are_cut_alike_are_told_apart() {
        let once = || ClientAnswer::Once {};
        let words = ["yes", "inside a…b", "inside a…b", "inside a…b", "no"];
        let mut choices = words.map(|words| (words.to_owned(), once()));
        tell_apart(&mut choices);
        let told = choices.map(|(words, _)| words);
        let expected = [
            "yes",
            "inside a…b",
            "inside a…b (2)",
            "inside a…b (3)",
            "no",
        ];
        assert_eq!(told, expected);
    }
}
