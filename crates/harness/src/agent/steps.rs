//! The execution of a turn's steps: in order, side by side where the provider says so, each in the journal before and after.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::{StreamExt, TryStreamExt, stream};
use ringfence_dialect::message::Segment;
use ringfence_dialect::provider::{
    CallOutput, CallResult, Content, Feedback, ShellOutput, StructuredCall, ToolTable,
};
use ringfence_dialect::{FunctionCallOutput, Item};
use serde_json::{Value, json};

use super::editor::{Edit, EditKind};
use super::entry::Outcome;
use super::event::{AgentEvent, AgentListener};
use super::journal::{Journal, JournalError};
use super::native::{Wanted, wanted};
use super::plan::{Plan, Step, call_item};
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::execution::Cancel;
use crate::respond::{Heard, Turn as ScriptTurn};

/// What steps are executed with.
pub(super) struct Steps<'a> {
    pub(super) engine: &'a Engine,
    pub(super) tools: &'a ToolTable,
    pub(super) journal: Mutex<&'a mut Journal>,
    pub(super) listener: &'a dyn AgentListener,
    pub(super) cancel: &'a Cancel,
    /// Where scripts come from.
    pub(super) turn: ScriptTurn,
    pub(super) at_once: usize,
}

impl<'a> Steps<'a> {
    /// Executes what has no outcome yet.
    pub(super) async fn execute(&self, plan: &Plan, settled: &[bool]) -> Result<(), JournalError> {
        for group in plan.groups() {
            let rest = group.into_iter().filter(|step| !settled[*step]);
            let all = stream::iter(rest).map(|step| self.execute_one(step, &plan.steps[step]));
            all.buffer_unordered(self.at_once.max(1))
                .try_collect::<()>()
                .await?;
        }
        Ok(())
    }

    async fn execute_one(&self, number: usize, step: &Step) -> Result<(), JournalError> {
        let outcome = if self.cancel.is_cancelled() {
            not_run(step, "it was not run: the turn was stopped before it began")
        } else {
            self.journal().intent(number)?;
            match step {
                Step::Call(call) => self.call(number, call).await,
                Step::Script(segment) => self.script(number, segment).await,
            }
        };
        for feedback in &outcome.feedback {
            self.listener.hear(&AgentEvent::StepEnded {
                step: number,
                feedback,
            });
        }
        self.journal().outcome(number, outcome)
    }

    fn journal(&self) -> MutexGuard<'_, &'a mut Journal> {
        // Nothing panics while it is held.
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn script(&self, number: usize, segment: &Segment) -> Outcome {
        self.listener.hear(&AgentEvent::StepBegan {
            step: number,
            tool: "run_script",
            call: None,
        });
        let mut items = Vec::new();
        let mut told = |heard| {
            if let Heard::Item(item) = heard {
                items.push(item);
            }
        };
        let mut responder = self
            .engine
            .responder(self.turn.clone(), self.cancel.clone());
        let mut ended = responder.take(vec![segment.clone()], &mut told).await;
        if ended.is_ok() {
            ended = responder.finish(&mut told).await;
        }
        let mut feedback: Vec<Feedback> = items.iter().filter_map(feedback_of).collect();
        if let Err(error) = ended
            && feedback.is_empty()
        {
            feedback.push(Feedback::Note(format!(
                "[the script was not run to its end: {error}]"
            )));
        }
        Outcome { feedback, items }
    }

    async fn call(&self, number: usize, call: &StructuredCall) -> Outcome {
        let made = Call {
            cancel: self.cancel.clone(),
            turn: self.turn.id.clone(),
            ..self.engine.new_call()
        };
        self.listener.hear(&AgentEvent::StepBegan {
            step: number,
            tool: &call.name,
            call: Some(&made.id),
        });
        let result = match wanted(call, self.tools) {
            Wanted::Tool { name, arguments } => {
                result_of(call, self.engine.call_as(&made, &name, arguments).await)
            }
            Wanted::Lines {
                commands,
                timeout_ms,
                max_output_length,
            } => {
                self.lines(call, &made, &commands, timeout_ms, max_output_length)
                    .await
            }
            Wanted::Edit(edit) => self.edit(call, &made, &edit).await,
            Wanted::Answer(text) => CallResult::text(call, text),
            Wanted::Wrong(why) => CallResult::error(call, why),
        };
        call_outcome(call, result)
    }

    /// Lines of a shell, one after the other. One that is refused ends them.
    async fn lines(
        &self,
        call: &StructuredCall,
        made: &Call,
        commands: &[String],
        timeout_ms: Option<u64>,
        max_output_length: Option<u64>,
    ) -> CallResult {
        let mut outputs = Vec::new();
        for (number, command) in commands.iter().enumerate() {
            let mut arguments = json!({ "command": command });
            if let Some(timeout) = timeout_ms {
                arguments["timeout"] = timeout.into();
            }
            let made = if number == 0 {
                made.clone()
            } else {
                self.engine.child_call(made)
            };
            let made = Call {
                cancel: self.cancel.clone(),
                ..made
            };
            match self.engine.call_as(&made, "bash", arguments).await {
                Ok(reply) => outputs.push(shell_output(&reply)),
                Err(error) => {
                    outputs.push(ShellOutput {
                        stdout: String::new(),
                        stderr: error.to_string(),
                        exit_code: Some(1),
                    });
                    break;
                }
            }
        }
        CallResult::of(
            call,
            CallOutput::Shell {
                outputs,
                max_output_length,
            },
        )
    }

    async fn edit(&self, call: &StructuredCall, made: &Call, edit: &Edit) -> CallResult {
        let read = match self.engine.call_as(made, "shell", edit.reading()).await {
            Ok(reply) => reply,
            Err(error) => return result_of(call, Err(error)),
        };
        let text = whole_output(&read);
        let before = (read["exit_code"] == 0).then_some(text.as_str());
        if let EditKind::View { .. } = edit.kind {
            return match before {
                Some(text) => CallResult::text(call, edit.shown(text)),
                None => {
                    CallResult::error(call, read["stderr"]["text"].as_str().unwrap_or_default())
                }
            };
        }
        let patch = match edit.patch(before) {
            Ok(patch) => patch,
            Err(why) => return CallResult::error(call, why),
        };
        let next = Call {
            cancel: self.cancel.clone(),
            ..self.engine.child_call(made)
        };
        result_of(
            call,
            self.engine
                .call_as(&next, "apply_patch", json!({ "patch": patch }))
                .await,
        )
    }
}

/// What a command printed, from its file where the reply has only a part of it.
fn whole_output(reply: &Value) -> String {
    let file = reply["raw_output_path"].as_str();
    let whole = file.and_then(|path| std::fs::read_to_string(path).ok());
    whole.unwrap_or_else(|| {
        reply["stdout"]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    })
}

fn shell_output(reply: &Value) -> ShellOutput {
    let text = |name: &str| reply[name].as_str().unwrap_or_default().to_owned();
    let code = reply["exitCode"]
        .as_i64()
        .and_then(|code| i32::try_from(code).ok());
    let timed_out = reply["interrupted"] == true && code == Some(124);
    ShellOutput {
        stdout: text("stdout"),
        stderr: text("stderr"),
        exit_code: if timed_out { None } else { code.or(Some(0)) },
    }
}

/// What is told of a reply: its images as images, and everything else as JSON.
fn result_of(call: &StructuredCall, reply: Result<Value, CallError>) -> CallResult {
    let mut reply = match reply {
        Ok(reply) => reply,
        Err(error) => return CallResult::error(call, error.to_json().to_string()),
    };
    let mut images = Vec::new();
    for name in ["structured_content", "structuredContent"] {
        let blocks = reply.get_mut(name).and_then(Value::as_array_mut);
        for block in blocks.into_iter().flatten() {
            images.extend(take_image(block));
        }
    }
    let mut content = vec![Content::Text(reply.to_string())];
    content.append(&mut images);
    CallResult::of(call, CallOutput::Content(content))
}

fn take_image(block: &mut Value) -> Option<Content> {
    if block["type"] != "image" {
        return None;
    }
    let media_type = block["mimeType"].as_str()?.to_owned();
    let data = block.as_object_mut()?.shift_remove("data")?;
    Some(Content::Image {
        media_type,
        base64: data.as_str()?.to_owned(),
    })
}

fn feedback_of(item: &Item) -> Option<Feedback> {
    match item {
        Item::ScriptToolCallOutput(output) => Some(Feedback::Script(output.clone())),
        Item::Message(message) => Some(Feedback::Note(message.text())),
        _ => None,
    }
}

/// What came of a call, with its items.
pub(super) fn call_outcome(call: &StructuredCall, result: CallResult) -> Outcome {
    let output = Item::FunctionCallOutput(FunctionCallOutput {
        call_id: result.call_id.clone(),
        output: result.output.text(),
        is_error: result.is_error,
    });
    Outcome {
        items: vec![call_item(call), output],
        feedback: vec![Feedback::Result(result)],
    }
}

/// What is told of a step that is not executed.
pub(super) fn not_run(step: &Step, why: &str) -> Outcome {
    match step {
        Step::Call(call) => call_outcome(call, CallResult::error(call, why)),
        Step::Script(_) => Outcome {
            feedback: vec![Feedback::Note(format!("[a script of yours: {why}]"))],
            items: Vec::new(),
        },
    }
}

/// Whether something came of a step.
pub(super) fn succeeded(outcome: &Outcome) -> bool {
    outcome.feedback.iter().any(|feedback| match feedback {
        Feedback::Result(result) => !result.is_error,
        Feedback::Script(output) => output.error.is_none(),
        Feedback::Note(_) => false,
    })
}
