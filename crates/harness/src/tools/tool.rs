//! What a tool is: its names, what it takes and replies, the action that it needs, and its run.
//!
//! The built-in tools are tools of this kind, and so are those that a program brings along.

use std::future::Future;

use ringfence_policy::Permit;
use ringfence_policy::action::Action;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::{Call, Engine};
use crate::error::CallError;

/// A tool that a model can call, registered with [`ToolSet::with`](super::ToolSet::with).
///
/// The schemas, the TypeScript declarations and the check of arguments follow from the types. A doc comment on a field is
/// what a model reads about it.
///
/// ```
/// use ringfence::CallError;
/// use ringfence::tools::{Invocation, Tool, ToolSet};
///
/// struct Reverse;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Text {
///     /// What to turn around.
///     text: String,
/// }
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Reversed {
///     text: String,
/// }
///
/// impl Tool for Reverse {
///     type Arguments = Text;
///     type Reply = Reversed;
///
///     fn name(&self) -> &str {
///         "reverse"
///     }
///
///     fn description(&self) -> &str {
///         "Turns a text around."
///     }
///
///     async fn run(&self, _: Invocation<'_>, asked: Text) -> Result<Reversed, CallError> {
///         Ok(Reversed { text: asked.text.chars().rev().collect() })
///     }
/// }
///
/// let tools = ToolSet::built_in().with(Reverse)?;
/// assert_eq!(tools.find("reverse").unwrap().description(), "Turns a text around.");
/// # Ok::<(), ringfence::tools::ToolNameError>(())
/// ```
pub trait Tool: Send + Sync + 'static {
    /// What it takes: an object.
    type Arguments: DeserializeOwned + JsonSchema + Send;
    /// What it replies.
    type Reply: Serialize + JsonSchema + Send;

    /// The name that it is called by.
    fn name(&self) -> &str;

    /// Other names it answers to.
    fn aliases(&self) -> &[&str] {
        &[]
    }

    /// What it does, for a model.
    fn description(&self) -> &str;

    /// The action that it takes by itself. That is judged, asked about if need be and recorded, and the tool runs only
    /// with the permit for it.
    ///
    /// None for a tool that touches nothing, and for one that has the engine act for it: a command that
    /// [`Engine::run_command`] runs goes through the same door there, and into the fence.
    fn action(&self, _arguments: &Self::Arguments) -> Result<Option<Action>, CallError> {
        Ok(None)
    }

    /// Runs it. An error is what this call comes to, and so is a panic.
    fn run(
        &self,
        at: Invocation<'_>,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<Self::Reply, CallError>> + Send;
}

/// One call of a tool.
#[non_exhaustive]
pub struct Invocation<'a> {
    /// The engine that serves it.
    pub engine: &'a Engine,
    /// The call: its id, and whether it has been cancelled.
    pub call: &'a Call,
    /// The permit for the action that the tool named.
    pub permit: Option<Permit>,
}
