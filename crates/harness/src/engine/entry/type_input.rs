//! Typing into a running command, and waiting for what it says to that.

use std::time::Duration;

use ringfence_jail::TerminalSize;
use ringfence_policy::action::{Action, TypeInput};
use tokio::time::Instant;

use crate::audit::Outcome;
use crate::engine::account::End;
use crate::engine::door::CallAnnouncement;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::event::Event;
use crate::registry::{InputError, KeptCommand, ProcessId, Since, Until};

/// What is done at the keyboard of a running command.
#[derive(Default)]
pub(crate) struct Keys {
    /// What is typed.
    pub(crate) text: String,
    /// Whether its input is ended afterwards.
    pub(crate) closes: bool,
    /// The new size of its terminal.
    pub(crate) size: Option<TerminalSize>,
}

impl Keys {
    /// Whether they change nothing.
    fn are_idle(&self) -> bool {
        self.text.is_empty() && !self.closes && self.size.is_none()
    }
}

impl Engine {
    /// Types into a process, and waits. A call that only waits touches nothing, and needs no permit.
    pub(crate) async fn type_input(
        &self,
        call: &Call,
        tool: &str,
        (id, kept): (&ProcessId, &KeptCommand),
        keys: Keys,
        (until, deadline): (&Until, Instant),
    ) -> Result<(), CallError> {
        // What was printed before the keys were pressed is no answer to them.
        let since = if keys.are_idle() {
            Since::default()
        } else {
            kept.since_now(&keys.text)
        };
        let waited = async {
            tokio::select! {
                () = kept.wait(until, &since, deadline) => {}
                // The command is not the call's: it lives on.
                () = call.cancel.cancelled() => {}
            }
            kept.end().and_then(|end| end.exit_code)
        };
        if keys.are_idle() {
            let begin = Event::Begin {
                call: call.id.clone(),
                tool: tool.to_owned(),
                command: format!("wait for {id}"),
                cwd: self.ground.cwd.clone(),
                parent: call.parent.clone(),
                turn: call.turn.clone(),
            };
            let announced = CallAnnouncement::of(&self.desk, call, &begin);
            let exit_code = waited.await;
            announced.end(exit_code);
            return Ok(());
        }
        let action = Action::TypeInput(TypeInput {
            tool: tool.to_owned(),
            process: id.to_string(),
            command: self.registry.process_command(id),
            is_hidden: kept.hides_input(),
            text: keys.text.clone(),
            closes: keys.closes,
        });
        self.act(call, action, |permit, account| async move {
            drop(permit);
            let typed = type_in(kept, &keys, deadline).await;
            typed.map_err(|reason| CallError::NotTyped {
                id: id.clone(),
                reason: reason.to_string(),
            })?;
            account.close(&End::new(Outcome::Ok))?;
            account.tells(waited.await);
            Ok(())
        })
        .await
    }
}

/// Types, unless the command has ended: then its end is what the call is told.
async fn type_in(kept: &KeptCommand, keys: &Keys, deadline: Instant) -> Result<(), InputError> {
    // A call that waits for nothing still gets the time to type.
    const TO_TYPE: Duration = Duration::from_secs(1);
    let deadline = deadline.max(Instant::now() + TO_TYPE);
    if let Some(size) = keys.size {
        kept.resize(size).await?;
    }
    let typed = async {
        if !keys.text.is_empty() {
            kept.write(keys.text.as_bytes(), deadline).await?;
        }
        if keys.closes {
            kept.close(deadline).await?;
        }
        Ok(())
    };
    match typed.await {
        Err(InputError::Closed | InputError::Failed(_)) if kept.ends_soon().await => Ok(()),
        result => result,
    }
}
