//! A tool as the engine holds it, whatever its types: JSON in, JSON out, and nothing that goes wrong in it gets further
//! than its call.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;

use super::tool::{Invocation, Tool};
use super::{arguments, own_action};
use crate::engine::{Call, Engine};
use crate::error::CallError;

/// A reply that is still awaited.
type ReplyFuture<'a> = Pin<Box<dyn Future<Output = Result<Value, CallError>> + Send + 'a>>;

/// A tool of a [`ToolSet`](super::ToolSet).
#[derive(Clone)]
pub struct RegisteredTool(Arc<dyn AnyTool>);

/// A tool without its types.
trait AnyTool: Send + Sync {
    fn name(&self) -> &str;
    fn aliases(&self) -> &[&str];
    fn description(&self) -> &str;
    fn schema(&self) -> Value;
    fn output_schema(&self) -> Value;
    fn call<'a>(&'a self, engine: &'a Engine, call: &'a Call, arguments: Value) -> ReplyFuture<'a>;
}

impl RegisteredTool {
    pub(super) fn new(tool: impl Tool) -> Self {
        Self(Arc::new(tool))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Other names it answers to.
    pub fn aliases(&self) -> &[&str] {
        self.0.aliases()
    }

    /// All its names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name()).chain(self.aliases().iter().copied())
    }

    /// What it does, for a model.
    pub fn description(&self) -> &str {
        self.0.description()
    }

    /// The JSON schema of its arguments.
    pub fn schema(&self) -> Value {
        self.0.schema()
    }

    /// The JSON schema of its reply.
    pub fn output_schema(&self) -> Value {
        self.0.output_schema()
    }

    /// Calls it.
    pub(crate) async fn call(
        &self,
        engine: &Engine,
        call: &Call,
        arguments: Value,
    ) -> Result<Value, CallError> {
        let called = async { self.0.call(engine, call, arguments).await };
        contained(self.name(), called).await
    }
}

impl fmt::Debug for RegisteredTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RegisteredTool").field(&self.name()).finish()
    }
}

impl<T: Tool> AnyTool for T {
    fn name(&self) -> &str {
        Tool::name(self)
    }

    fn aliases(&self) -> &[&str] {
        Tool::aliases(self)
    }

    fn description(&self) -> &str {
        Tool::description(self)
    }

    fn schema(&self) -> Value {
        arguments::schema::<T::Arguments>()
    }

    fn output_schema(&self) -> Value {
        super::reply::schema::<T::Reply>()
    }

    fn call<'a>(&'a self, engine: &'a Engine, call: &'a Call, arguments: Value) -> ReplyFuture<'a> {
        Box::pin(async move {
            let arguments: T::Arguments = arguments::read(Tool::name(self), arguments)?;
            let reply = if let Some(action) = self.action(&arguments)? {
                own_action::run(self, engine, call, action, arguments).await?
            } else {
                let at = Invocation {
                    engine,
                    call,
                    permit: None,
                };
                self.run(at, arguments).await?
            };
            serde_json::to_value(reply).map_err(CallError::failed)
        })
    }
}

/// A panic is what the call comes to, and nobody else's.
pub(super) async fn contained<R>(
    tool: &str,
    called: impl Future<Output = Result<R, CallError>>,
) -> Result<R, CallError> {
    // What a tool keeps to itself is its own to put right; the engine's locks survive a panic.
    let ended = AssertUnwindSafe(called).catch_unwind().await;
    ended.unwrap_or_else(|panic| {
        Err(CallError::ToolPanicked {
            tool: tool.to_owned(),
            message: in_words(panic.as_ref()),
        })
    })
}

/// What a panic said.
fn in_words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it does not say why").to_owned()
}
