//! Commands that live on between calls: each is attended to, and its books are closed at its end.

use std::sync::Arc;

use ringfence_jail::Io;
use ringfence_policy::Permit;

use super::Engine;
use super::account::Account;
use super::aftermath::{Books, Closed};
use crate::error::CallError;
use crate::event::Event;
use crate::execution::{Execution, Running};
use crate::output::{Transcript, TranscriptLimits};
use crate::registry::{Attended, Charge, End, Epilogue, Layout, Lost, TaskId};

/// Output that is looked at for what the fence refused; the rest is in what calls fetch.
const LOOKED_AT: usize = 64 * 1024;

impl Engine {
    /// Starts what is permitted and is to live on.
    pub(super) async fn start(
        &self,
        account: &Account,
        permit: Permit,
        io: Io,
    ) -> Result<(Running, Books), CallError> {
        let books = self.books(account, &permit, None);
        let process = self.launch(account, permit, io).await?;
        let limits = TranscriptLimits {
            buffer_bytes: LOOKED_AT.min(self.buffer_bytes()),
            ..self.transcript_limits()
        };
        let call = account.call();
        let transcript = Transcript::new(call.id.0.clone(), limits);
        let running = Running::new(process, transcript, call.clock.clone())?;
        Ok((running, books))
    }

    /// Keeps a running command as a background task, if there is room for it.
    pub(super) fn keep_running(
        &self,
        running: Running,
        books: Books,
        command: String,
        id: TaskId,
    ) -> Result<(), CallError> {
        let account = books.account.clone();
        let attended = self.attend(running, books, Layout::Apart);
        self.registry.add_task(id, attended, command)?;
        account.goes_on();
        Ok(())
    }

    /// Attends to a command that lives on.
    pub(super) fn attend(&self, running: Running, books: Books, layout: Layout) -> Attended {
        Attended::start(
            Charge::Command {
                running: Box::new(running),
                drain: self.config.output.drain,
                epilogue: self.epilogue(books),
            },
            layout,
            self.buffer_bytes(),
        )
    }

    /// What is done once a kept command has ended.
    fn epilogue(&self, books: Books) -> Epilogue {
        let desk = Arc::clone(&self.desk);
        Box::new(move |ended: Result<Execution, Lost>| {
            let end = match ended {
                // A log that cannot be written refuses the next call.
                Ok(mut execution) => {
                    let closed = books.close(&mut execution);
                    kept_end(execution, closed)
                }
                Err(lost) => {
                    books.lost();
                    End::lost(lost.after)
                }
            };
            desk.tell(&Event::Ended {
                call: books.account.call().id.clone(),
                exit_code: end.exit_code.unwrap_or_default(),
            });
            end
        })
    }
}

fn kept_end(execution: Execution, closed: Closed) -> End {
    End {
        ending: execution.ending,
        exit_code: Some(execution.exit_code()),
        duration: execution.duration,
        findings: closed.findings,
        file: execution.output.file,
        left_running: execution.exit.left_running,
        task: closed.task,
    }
}
