//! A gateway in front of a fake model.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use ringfence_testkit::model::{FakeModel, Script};

use crate::program::Place;

/// A running gateway.
pub(crate) struct Serving {
    place: Place,
    pub(crate) model: FakeModel,
    pub(crate) url: String,
    child: Child,
}

impl Serving {
    pub(crate) fn start(script: Script, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_set(script, "", arguments, variables)
    }

    /// One with settings.
    pub(crate) fn start_set(
        script: Script,
        settings: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let place = Place::new();
        let folder = place.home().join(".config/ringfence");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), settings).unwrap();
        let model = FakeModel::start(script).unwrap();
        let openai = format!("{}/v1", model.url());
        let upstream = model.url();
        let mut all = vec!["gateway", "--json", "--approve", "none"];
        all.extend(["--openai-url", &openai, "--anthropic-url", &upstream]);
        all.extend(["--listen", "127.0.0.1:0"]);
        all.extend(arguments);
        let mut child = place
            .ringfence(&all)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.as_mut().unwrap());
        said.read_line(&mut line).unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).unwrap();
        Self {
            url: said["url"].as_str().unwrap().to_owned(),
            place,
            model,
            child,
        }
    }
}

impl Serving {
    /// Whether a script has made the file that it makes.
    pub(crate) fn made(&self) -> bool {
        crate::program::exists(&self.place.work().join("made"))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has to end anyway.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
