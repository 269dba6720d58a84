//! A tool that acts by itself, through the same door as any action: judged, asked about, put on record before and after.

use std::time::Instant;

use ringfence_policy::action::Action;

use super::registered::contained;
use super::tool::{Invocation, Tool};
use crate::engine::{Announced, Call, Engine, subject};
use crate::error::CallError;
use crate::event::Event;

/// Runs a tool with the permit for its action.
pub(super) async fn run<T: Tool>(
    tool: &T,
    engine: &Engine,
    call: &Call,
    action: Action,
    arguments: T::Arguments,
) -> Result<T::Reply, CallError> {
    let started = Instant::now();
    let _announced = Announced::of(
        &engine.desk,
        call,
        &Event::Begin {
            call: call.id.clone(),
            tool: tool.name().to_owned(),
            command: subject(&action),
            cwd: engine.ground.cwd.clone(),
        },
    );
    let permit = engine.desk.permit(call, action).await?;
    let at = Invocation {
        engine,
        call,
        permit: Some(permit),
    };
    let result = contained(tool.name(), tool.run(at, arguments)).await;
    let code = result.as_ref().map_or_else(CallError::code, |_| "ok");
    engine
        .desk
        .record_outcome(call, Err((code, started.elapsed())))?;
    result
}
