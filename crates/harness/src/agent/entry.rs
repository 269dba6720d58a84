//! An entry of a journal, and how it is written.

use ringfence_dialect::Item;
use ringfence_dialect::provider::{Feedback, Object, Provider, Raw, Turn};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::changes::FileDiff;

/// Something that happened in a conversation.
#[derive(Debug)]
pub(super) enum Entry {
    /// It began. What stands in `note` is the program's own.
    Began {
        provider: Provider,
        id: String,
        note: Object,
    },
    /// The user said something.
    Said { items: Vec<Raw> },
    /// The model had its turn.
    Turn { turn: Box<Turn> },
    /// A step of the turn is about to be executed.
    Intent { step: usize },
    /// It was.
    Outcome { step: usize, outcome: Outcome },
    /// The model is told what came of its turn, which ends it.
    Told {
        items: Vec<Raw>,
        changes: Vec<FileDiff>,
    },
    /// The history was replaced by another.
    Replaced { items: Vec<Raw> },
}

/// What came of a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Outcome {
    /// What the model is told.
    pub(super) feedback: Vec<Feedback>,
    /// What was done, as items.
    pub(super) items: Vec<Item>,
}

impl Entry {
    pub(super) fn to_object(&self) -> Object {
        let named = |name: &str| Object::default().with("entry", Some(Raw::string(name)));
        let items = |object: Object, items: &[Raw]| object.with("items", Some(Raw::array(items)));
        match self {
            Self::Began { provider, id, note } => named("began")
                .with("provider", Some(Raw::string(provider.name())))
                .with("id", Some(Raw::string(id)))
                .with("note", Some(note.to_raw())),
            Self::Said { items: said } => items(named("said"), said),
            Self::Turn { turn } => named("turn").with("response", Some(turn.response.to_raw())),
            Self::Intent { step } => named("intent").with("step", written(step)),
            Self::Outcome { step, outcome } => named("outcome")
                .with("step", written(step))
                .with("feedback", written(&outcome.feedback))
                .with("items", written(&outcome.items)),
            Self::Told {
                items: told,
                changes,
            } => items(named("told"), told).with("changes", written(changes)),
            Self::Replaced { items: new } => items(named("replaced"), new),
        }
    }

    /// Reads an entry, of a conversation by this API once that is known; or says what is wrong with it.
    pub(super) fn of_object(object: &Object, provider: Option<Provider>) -> Result<Self, String> {
        let items = || {
            object
                .elements("items")
                .ok_or("there are no `items`".to_owned())
        };
        let kind = object.text("entry").unwrap_or_default();
        Ok(match kind.as_str() {
            "began" => {
                let name = object.text("provider").unwrap_or_default();
                let provider =
                    Provider::of_name(&name).ok_or(format!("there is no API `{name}`"))?;
                Self::Began {
                    provider,
                    id: object.text("id").unwrap_or_default(),
                    note: object.object("note").unwrap_or_default(),
                }
            }
            "said" => Self::Said { items: items()? },
            "turn" => {
                let response = object.get("response").map(Raw::text).unwrap_or_default();
                let provider = provider.ok_or("the API is not known")?;
                let turn = provider
                    .read(response.as_bytes())
                    .map_err(|error| error.to_string())?;
                Self::Turn {
                    turn: Box::new(turn),
                }
            }
            "intent" => Self::Intent {
                step: field(object, "step")?,
            },
            "outcome" => Self::Outcome {
                step: field(object, "step")?,
                outcome: Outcome {
                    feedback: field(object, "feedback")?,
                    items: field(object, "items")?,
                },
            },
            "told" => Self::Told {
                items: items()?,
                changes: field(object, "changes")?,
            },
            "replaced" => Self::Replaced { items: items()? },
            other => return Err(format!("`{other}` is no entry")),
        })
    }
}

fn written(value: &impl Serialize) -> Option<Raw> {
    serde_json::to_value(value)
        .ok()
        .map(|value| Raw::of(&value))
}

fn field<T: DeserializeOwned>(object: &Object, name: &str) -> Result<T, String> {
    let text = object
        .get(name)
        .ok_or(format!("there is no `{name}`"))?
        .text();
    serde_json::from_str(text).map_err(|error| format!("`{name}`: {error}"))
}
