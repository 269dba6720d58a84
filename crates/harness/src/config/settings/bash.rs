//! `[bash]`: the `bash` tool.

use std::path::PathBuf;
use std::time::Duration;

use ringfence_policy::rule::Layer;
use ringfence_policy::ruleset::RuleSet;

use crate::config::declare::{settings, words};
use crate::rules::RulesFileError;

settings! {
    /// The `bash` tool.
    pub struct BashConfig in "bash" {
        /// Time-out of `bash` when the call names none.
        default_timeout["default_timeout_ms"]: Duration = millis(1, 120_000), Higher;
        /// The longest time-out that a call of `bash` may name.
        max_timeout["max_timeout_ms"]: Duration = millis(1, 600_000), Higher;
        /// Characters of output in a reply; the whole goes to a file.
        max_output_chars: u64 = number(1, 30_000), Higher;
        /// Background tasks of a session at once.
        max_background_tasks: u64 = number(0, 10), Higher;
        /// How long an ended task's output is kept.
        task_retention["task_retention_hours"]: Duration = hours(0, 1), Higher;
        /// Ended tasks that are kept at most.
        max_ended_tasks: u64 = number(0, 64), Higher;
        /// What happens to a command that takes too long.
        on_timeout: OnTimeout = word("kill"), Later;
        /// The folder that `bash` runs in when the call names none; the workspace unless set.
        working_directory: Option<PathBuf> = path(), Always;
        /// Commands that run without a question, by the words that they begin with.
        allowed_commands: Vec<String> = names(), Each;
        /// Texts that no command may contain.
        blocked_commands: Vec<String> = names(), Never;
        /// Regular expressions that no command may match.
        blocked_patterns: Vec<String> = names(), Never;
        /// Paths that patches and redirections may write without a question.
        allowed_paths: Vec<String> = names(), Each;
        /// Paths that may be neither read nor written.
        blocked_paths: Vec<String> = names(), Never;
    }
}

words! {
    /// What happens to a command that takes too long.
    pub enum OnTimeout {
        /// It is killed.
        Kill = "kill",
        /// It becomes a background task.
        Background = "background",
    }
}

impl BashConfig {
    /// The rules that the lists stand for.
    pub(crate) fn rules(&self) -> Result<RuleSet, RulesFileError> {
        let lists = [
            ("allowed-commands", &self.allowed_commands),
            ("blocked-commands", &self.blocked_commands),
            ("blocked-patterns", &self.blocked_patterns),
            ("allowed-paths", &self.allowed_paths),
            ("blocked-paths", &self.blocked_paths),
        ];
        let mut all = RuleSet::default();
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            let items: Vec<toml::Value> = list.iter().map(|item| item.as_str().into()).collect();
            let text = format!("{name} = {}", toml::Value::Array(items));
            let from = format!("bash.{}", name.replace('-', "_"));
            all.extend(RuleSet::parse(Layer::User, &from, &text)?);
        }
        Ok(all)
    }
}
