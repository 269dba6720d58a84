//! A conversation between the program and a fake model.

use std::process::Command;

use ringfence_testkit::model::{Answer, Api, FakeModel, Request, Script};
use serde_json::Value;

use crate::program::{Place, Ran};

/// A key that must be seen nowhere.
pub(crate) const KEY: &str = "sk-planted-0d4a7e21b9";

/// Whether answers come as events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Streamed,
    Whole,
}

/// Every API, in both ways.
pub(crate) fn every() -> impl Iterator<Item = (Api, Way)> {
    Api::ALL
        .into_iter()
        .flat_map(|api| [(api, Way::Streamed), (api, Way::Whole)])
}

/// The program, ready to ask a fake model.
pub(crate) struct Talk {
    pub(crate) place: Place,
    pub(crate) model: FakeModel,
    pub(crate) api: Api,
    way: Way,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Came {
    pub(crate) ran: Ran,
    /// The lines, as JSON.
    pub(crate) events: Vec<Value>,
    pub(crate) requests: Vec<Request>,
}

impl Talk {
    /// With a model that answers like this, in pieces of a few characters, and settings.
    pub(crate) fn new(api: Api, way: Way, answers: Vec<Answer>, settings: &str) -> Self {
        let place = Place::new();
        let folder = place.home().join(".config/ringfence");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), settings).unwrap();
        let answers = answers.into_iter().map(|answer| Answer {
            piece: answer.piece.or(Some(5)),
            chunk: answer.chunk.or(Some(11)),
            ..answer
        });
        Self {
            place,
            model: FakeModel::start(Script::of(answers)).unwrap(),
            api,
            way,
        }
    }

    /// The program with arguments behind those that lead to the model.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let provider = match self.api {
            Api::Responses => "openai",
            Api::Chat => "openai-chat",
            Api::Messages => "anthropic",
        };
        let mut all = vec!["agent", "--provider", provider, "--model", "m"];
        if self.way == Way::Whole {
            all.push("--no-stream");
        }
        all.extend(arguments);
        let mut command = self.place.ringfence(&all);
        command
            .env("OPENAI_BASE_URL", format!("{}/v1", self.model.url()))
            .env("ANTHROPIC_BASE_URL", self.model.url())
            .env("OPENAI_API_KEY", KEY)
            .env("ANTHROPIC_API_KEY", KEY);
        command
    }

    /// Runs it with its events as JSON.
    pub(crate) fn run(&self, arguments: &[&str]) -> Came {
        let mut all = vec!["--json"];
        all.extend(arguments);
        let ran = Ran::of(&self.command(&all).output().unwrap());
        let lines = ran.stdout.lines();
        Came {
            events: lines
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
            requests: self.model.requests(),
            ran,
        }
    }
}

impl Came {
    /// The items of all turns, without what differs from run to run.
    pub(crate) fn items(&self) -> Vec<Value> {
        let turns = self
            .events
            .iter()
            .filter(|event| event["type"] == "turn_ended");
        let items = turns.flat_map(|turn| turn["items"].as_array().unwrap().clone());
        items
            .map(|mut item| {
                if let Some(fields) = item.as_object_mut() {
                    for changing in ["id", "call_id", "metadata"] {
                        fields.remove(changing);
                    }
                }
                if let Some(error) = item.get_mut("error").and_then(Value::as_object_mut) {
                    error.remove("metadata");
                }
                item
            })
            .collect()
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        let kind = |item: &Value| item["type"].as_str().unwrap().to_owned();
        self.items().iter().map(kind).collect()
    }

    /// How it ended.
    pub(crate) fn result(&self) -> &Value {
        let last = self.events.last();
        let last = last.filter(|event| event["type"] == "result");
        last.unwrap_or_else(|| panic!("{:?}", self.ran))
    }
}
