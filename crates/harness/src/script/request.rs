//! A script that somebody wants run, and the items that come of it.

use std::time::Duration;

use ringfence_dialect::{Item, Language, ScriptToolCall, ScriptToolCallOutput};

use crate::config::{ScriptConfig, ScriptMode};

/// A script and how to run it.
#[derive(Debug, Clone)]
pub struct ScriptRequest {
    /// The body of an async function.
    pub source: String,
    /// What it is written in.
    pub language: Language,
    /// Whether it runs, as this turn says.
    pub mode: Option<ScriptMode>,
    /// The most time that it may take, within the configured limit.
    pub timeout: Option<Duration>,
    /// Where it comes from.
    pub conversation: Conversation,
    /// The id that its items share; made up if absent.
    pub call_id: Option<String>,
}

/// Where a script comes from, as it is told in `context`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// The conversation.
    pub conversation_id: String,
    /// The turn in it.
    pub turn_id: String,
    /// Whose API the model is reached by.
    pub provider: String,
    /// The model.
    pub model: String,
}

/// What came of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptRun {
    /// The script, with how far it came.
    pub call: ScriptToolCall,
    /// What it returned, or why it failed.
    pub output: ScriptToolCallOutput,
}

impl ScriptRequest {
    /// A TypeScript script that is run as the configuration says.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            language: Language::Ts,
            mode: None,
            timeout: None,
            conversation: Conversation::default(),
            call_id: None,
        }
    }

    /// Whether it runs: the turn decides before the provider, and the provider before the rest.
    pub fn mode(&self, config: &ScriptConfig) -> ScriptMode {
        let named = &self.conversation.provider;
        let listed = |list: &[String]| list.iter().any(|name| name.eq_ignore_ascii_case(named));
        if let Some(mode) = self.mode {
            mode
        } else if listed(&config.disabled_providers) {
            ScriptMode::Disabled
        } else if listed(&config.dry_run_providers) {
            ScriptMode::DryRun
        } else if listed(&config.enabled_providers) {
            ScriptMode::Enabled
        } else {
            config.mode
        }
    }
}

impl ScriptRun {
    /// The two items, in their order.
    pub fn into_items(self) -> [Item; 2] {
        [
            Item::ScriptToolCall(self.call),
            Item::ScriptToolCallOutput(Box::new(self.output)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn the_turn_decides_before_the_provider_and_the_provider_before_the_rest() {
        use ScriptMode::{Disabled, DryRun, Enabled};
        let mut config = Config::default().script;
        config.enabled_providers = vec!["good".to_owned(), "odd".to_owned()];
        config.dry_run_providers = vec!["new".to_owned(), "odd".to_owned()];
        config.disabled_providers = vec!["bad".to_owned()];
        for (global, provider, turn, expected) in [
            (Disabled, "", None, Disabled),
            (Enabled, "", None, Enabled),
            (Enabled, "bad", None, Disabled),
            (Enabled, "Bad", None, Disabled),
            (Disabled, "GOOD", None, Enabled),
            (Disabled, "good", None, Enabled),
            (Disabled, "new", None, DryRun),
            (Disabled, "odd", None, DryRun),
            (Disabled, "bad", Some(Enabled), Enabled),
            (Enabled, "good", Some(DryRun), DryRun),
        ] {
            config.mode = global;
            let mut request = ScriptRequest::new("");
            request.mode = turn;
            provider.clone_into(&mut request.conversation.provider);
            assert_eq!(
                request.mode(&config),
                expected,
                "{global:?} {provider} {turn:?}"
            );
        }
    }
}
