//! `[model]`: where models are, and how they are asked. No key is in here: a setting names the place of one.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::declare::settings;

settings! {
    /// Where models are, and how they are asked. A project sets none of it: it could lead a key elsewhere.
    pub struct ModelConfig in "model" {
        /// Whose API `ringfence agent` speaks: `anthropic`, `openai`, `openai-chat`, or a URL of a server that speaks Chat Completions.
        provider: String = text("anthropic"), Always;
        /// The model that `ringfence agent` asks for, unless the call says.
        name: String = text("none"), Always;
        /// Where OpenAI's API is, or another server that speaks it.
        openai_url: String = text("https://api.openai.com/v1"), Always;
        /// Where Anthropic's API is, or another server that speaks it.
        anthropic_url: String = text("https://api.anthropic.com"), Always;
        /// The variable that has the key for `openai_url`.
        openai_key_env: String = text("OPENAI_API_KEY"), Always;
        /// The variable that has the key for `anthropic_url`.
        anthropic_key_env: String = text("ANTHROPIC_API_KEY"), Always;
        /// A file with the key for `openai_url`, for want of the variable.
        openai_key_file: Option<PathBuf> = path(), Always;
        /// A file with the key for `anthropic_url`, for want of the variable.
        anthropic_key_file: Option<PathBuf> = path(), Always;
        /// How often a request is tried again that was answered with 429, 529 or 5xx, or not at all.
        max_retries: u64 = number(0, 4), Higher;
        /// The longest that a server may ask to be left alone (`retry-after`).
        max_retry_after["max_retry_after_ms"]: Duration = millis(0, 120_000), Higher;
        /// How long a model may take to begin its answer.
        answer_timeout["answer_timeout_ms"]: Duration = millis(1, 600_000), Higher;
        /// How long it may be silent in the middle of it.
        silence_timeout["silence_timeout_ms"]: Duration = millis(1, 300_000), Higher;
        /// The most that a model may write in one turn, in tokens.
        max_output_tokens: u64 = number(1, 16_384), Higher;
    }
}
