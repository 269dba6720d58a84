//! `[agent]`: how far a loop with a model goes.

use std::time::Duration;

#[cfg(feature = "scripts")]
use crate::agent::AgentLimits;
use crate::config::declare::settings;

settings! {
    /// How far a loop with a model goes.
    pub struct AgentConfig in "agent" {
        /// Turns of the model.
        max_turns: u64 = number(1, 50), Higher;
        /// The time that it may take, questions to a person not counted.
        timeout["timeout_ms"]: Duration = millis(1, 1_800_000), Higher;
        /// Tokens, read and written; as many as it takes unless given.
        max_tokens: Option<u64> = limit(1, None), Higher;
        /// Failures in a row: requests that came to nothing, and turns in which nothing succeeded.
        max_failures: u64 = number(1, 3), Higher;
        /// Calls of one turn that run side by side.
        max_concurrent_calls: u64 = number(1, 4), Higher;
        /// What the results of one turn may come to, in characters.
        max_turn_output_chars: u64 = number(1_000, 100_000), Higher;
    }
}

#[cfg(feature = "scripts")]
impl AgentConfig {
    /// As the loop takes them.
    pub fn limits(&self) -> AgentLimits {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        AgentLimits {
            max_turns: small(self.max_turns),
            timeout: self.timeout,
            max_tokens: self.max_tokens,
            max_failures: small(self.max_failures),
            max_concurrent_calls: size(self.max_concurrent_calls),
            max_turn_output_chars: size(self.max_turn_output_chars),
        }
    }
}
