//! The loop: a model is asked, its turn is executed, it is told what came of it, and so on until it is done or a limit is
//! reached.
//!
//! - [`ModelClient`]: how a model is reached
//! - [`Agent`]: the loop; [`AgentLimits`]: how far it goes; [`AgentReport`]: what came of it; `tally`: what it has come to so far
//! - [`Journal`]: the file that a conversation is kept in, from which it goes on after a crash; `entry`: what is in it, `record`:
//!   what that amounts to
//! - `plan`: the steps of a turn, in order; `steps`: their execution; `native` and `editor`: calls in a provider's own forms;
//!   `budget`: how much of the results the model is told; `changes` and `diff`: the files that a turn changed
//! - [`AgentEvent`]: what happens
//!
//! **Invariant:** nothing of an answer is executed before all of it has come. **Invariant:** a step is in the journal before it
//! begins and after it has ended; one whose end is not there is never begun again.

mod asking;
mod budget;
mod changes;
mod diff;
mod editor;
mod entry;
mod event;
mod executing;
mod journal;
mod limits;
mod model;
mod native;
mod options;
mod plan;
mod record;
mod run;
mod settled;
mod steps;
mod tally;

use ringfence_dialect::provider::{Provider, Raw, ToolDefinition, ToolTable};

pub use changes::{FileDiff, FileDiffKind};
pub use event::{AgentEvent, AgentListener};
pub use journal::{Journal, JournalError};
pub use limits::{AgentLimits, AgentReport, Ended};
pub use model::{ModelAnswer, ModelClient, ModelRequest, ModelStream, SendError};
pub use options::{AgentError, AgentOptions, Compaction};
pub use run::Agent;

use crate::engine::Engine;

impl Engine {
    /// The tools of the engine that a model is to see, in a provider's form, and tools of the provider's own
    /// (`{"type":"bash_20250124","name":"bash"}`), whose calls are served by those of the engine.
    pub fn tool_table(
        &self,
        provider: Provider,
        is_seen: impl Fn(&str) -> bool,
        own: impl IntoIterator<Item = Raw>,
    ) -> ToolTable {
        let seen = self.tools.iter().filter(|tool| is_seen(tool.name()));
        let definitions = seen.map(|tool| ToolDefinition {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
            strict: false,
        });
        ToolTable::new(provider, definitions, own)
    }
}
