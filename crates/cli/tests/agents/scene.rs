//! One agent in a home of its own, with a model that says what a test wants.

use std::fs;
use std::path::Path;
use std::process::Command;

use ringfence_testkit::model::script::When;
use ringfence_testkit::model::{Answer, FakeModel, Part, Request, Script};
use serde_json::Value;

use crate::agent::{Agent, OwnShell, Use};
use crate::program::{Place, Ran};

pub(crate) struct Scene {
    pub(crate) place: Place,
    pub(crate) model: FakeModel,
    agent: Agent,
    shell: OwnShell,
}

impl Scene {
    /// An agent whose configuration `mcp install` has added to. The model says these things, one in each turn.
    pub(crate) fn new(agent: Agent, shell: OwnShell, turns: Vec<Part>, flags: &[&str]) -> Self {
        let place = Place::new();
        let answers = turns.into_iter().map(|part| Answer {
            // Some ask for a title besides, without tools.
            when: When {
                tools: Some(true),
                ..When::default()
            },
            ..Answer::of([part])
        });
        let mut script = Script::of(answers);
        script.otherwise = Some(Answer::of([Part::text("nothing else")]));
        let model = FakeModel::start(script).unwrap();
        let (file, text) = agent.settings(&place, &model.url(), shell);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let mut install = vec!["mcp", "install", agent.name(), "--write", "--"];
        install.extend(flags);
        let installed = place.output(&install);
        assert_eq!(installed.code, Some(0), "{installed:?}");
        Self {
            place,
            model,
            agent,
            shell,
        }
    }

    pub(crate) fn command(&self, used: Use) -> Option<Command> {
        let url = self.model.url();
        self.agent.command(&self.place, &url, self.shell, used)
    }

    /// Runs it to its end; nothing if it is not installed.
    pub(crate) fn run(&self) -> Option<Ran> {
        let mut command = self.command(Use::ByItself)?;
        Some(Ran::of(&command.output().unwrap()))
    }

    /// What the model was asked, without titles.
    pub(crate) fn asked(&self) -> Vec<Request> {
        let mut all = self.model.requests();
        all.retain(|request| !tools(&request.json()).is_empty());
        all
    }

    /// The audit log in words.
    pub(crate) fn log(&self) -> String {
        self.place.output(&["audit", "show"]).stdout
    }
}

/// The names of the tools that a request offers, in whichever form.
pub(crate) fn tools(request: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut names = Vec::new();
    for tool in list(&request["tools"]) {
        let declared = list(&tool["functionDeclarations"]);
        let named = [&tool["name"], &tool["function"]["name"]];
        let all = named
            .into_iter()
            .chain(declared.iter().map(|one| &one["name"]));
        names.extend(all.filter_map(Value::as_str).map(str::to_owned));
    }
    names
}

/// A file of the user's.
pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
