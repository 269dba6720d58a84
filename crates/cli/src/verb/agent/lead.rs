//! How the model is reached: as the flags say, else as the conversation was begun, else as the configuration says.

use ringfence::config::ModelConfig;
use ringfence::dialect::provider::{Object, Raw};

use super::Arguments;
use crate::model_place::Wanted;

/// What leads to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lead {
    provider: String,
    /// Where the API was when the conversation began, if that still counts.
    url: Option<String>,
    key_env: Option<String>,
    pub(super) model: Option<String>,
}

impl Lead {
    /// What leads to the model of a conversation, which may have been begun before. Whoever names the provider names the place.
    pub(super) fn find(
        arguments: &Arguments,
        config: &ModelConfig,
        begun: Option<&Object>,
    ) -> Self {
        let kept = |name: &str| begun.and_then(|begun| begun.text(name));
        let kept_place = |name: &str| kept(name).filter(|_| arguments.provider.is_none());
        let named = arguments.provider.clone();
        let configured = (config.name != "none").then(|| config.name.clone());
        Self {
            provider: named
                .or_else(|| kept("provider"))
                .unwrap_or_else(|| config.provider.clone()),
            url: kept_place("url"),
            key_env: arguments.key_env.clone().or_else(|| kept_place("key_env")),
            model: arguments
                .model
                .clone()
                .or_else(|| kept("model"))
                .or(configured),
        }
    }

    /// What is asked for by it.
    pub(super) fn wanted(&self) -> Wanted<'_> {
        Wanted {
            name: &self.provider,
            url: self.url.as_deref(),
            key_env: self.key_env.as_deref(),
        }
    }

    /// What a conversation is to know when it is gone on with. No key is in it.
    pub(super) fn note(&self, url: &str) -> Object {
        let text = |text: &Option<String>| text.as_deref().map(Raw::string);
        Object::default()
            .with("provider", Some(Raw::string(&self.provider)))
            .with("url", Some(Raw::string(url)))
            .with("key_env", text(&self.key_env))
            .with("model", text(&self.model))
    }
}
