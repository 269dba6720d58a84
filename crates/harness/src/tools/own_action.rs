//! A tool that acts by itself, through the same door as any action: judged, asked about, put on record before and after.

use ringfence_policy::action::Action;

use super::registered_tool::contained;
use super::tool::{Invocation, Tool};
use crate::engine::{Call, Engine, Passage};
use crate::error::CallError;

/// Runs a tool with the permit for its action.
pub(super) async fn run<T: Tool>(
    tool: &T,
    engine: &Engine,
    call: &Call,
    action: Action,
    arguments: T::Arguments,
) -> Result<T::Reply, CallError> {
    let run = |permit, _| {
        let at = Invocation {
            engine,
            call,
            permit: Some(permit),
        };
        contained(tool.name(), tool.run(at, arguments))
    };
    let passage = Passage::begin_for(&engine.desk, call, tool.name(), &action);
    engine.judge_and_run(passage, action, run).await
}
