//! Where this program's own secrets are: keys of models and tokens of servers, in variables and files that no command gets to
//! see, whatever the configuration says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ringfence::EngineBuilder;
use ringfence::config::ModelConfig;

/// Variables and files of this program's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OwnSecrets {
    variables: Vec<String>,
    files: Vec<PathBuf>,
}

impl OwnSecrets {
    /// The keys of models. (Their files are kept from commands by every engine that is configured with them.)
    pub(crate) fn of_models(model: &ModelConfig) -> Self {
        Self {
            variables: vec![
                model.openai_key_env.clone(),
                model.anthropic_key_env.clone(),
            ],
            files: Vec::new(),
        }
    }

    /// And a variable.
    pub(crate) fn with_variable(mut self, name: &str) -> Self {
        self.variables.push(name.to_owned());
        self
    }

    /// And a file.
    pub(crate) fn with_file(mut self, file: &Path) -> Result<Self> {
        let absolute = std::path::absolute(file);
        let absolute = absolute.with_context(|| format!("{} cannot be used", file.display()))?;
        self.files.push(absolute);
        Ok(self)
    }

    /// What the variables hold, for whoever takes secrets out of a text.
    #[cfg_attr(
        not(feature = "telemetry"),
        expect(dead_code, reason = "only exports ask")
    )]
    pub(crate) fn values<'a>(
        &'a self,
        environment: &'a BTreeMap<String, String>,
    ) -> impl Iterator<Item = &'a str> {
        let values = self
            .variables
            .iter()
            .filter_map(|name| environment.get(name));
        values.map(|value| value.trim())
    }

    /// Has an engine keep them from commands.
    pub(crate) fn kept_by(&self, mut builder: EngineBuilder) -> EngineBuilder {
        for name in &self.variables {
            builder = builder.secret_variable(name);
        }
        for file in &self.files {
            builder = builder.private(file);
        }
        builder
    }
}
