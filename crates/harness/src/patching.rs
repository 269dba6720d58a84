//! Patches through the same door as any action: placed, judged, put on record, and applied by the
//! harness itself as the user that fenced commands run as.

use std::path::Path;
use std::time::Instant;

use ringfence_policy::action::Action;

use crate::audit;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::event::Event;
use crate::owner::Owner;
use crate::patch::{self, Applied, Atlas, Became, Located, PatchError, Recovered, Workplace};

impl Engine {
    /// Applies a patch, all of it or nothing.
    pub(crate) async fn apply_patch(&self, call: &Call, text: &str) -> Result<Applied, CallError> {
        let started = Instant::now();
        let journals = self.journals.clone().ok_or(PatchError::NoJournal)?;
        let (recovered, located) = self.read_patch(&journals, text.to_owned()).await?;
        self.record_recovered(recovered)?;
        let located = located?;
        let action = Action::ApplyPatch(located.action());
        self.desk.tell(&Event::Begin {
            call: call.id.clone(),
            tool: "apply_patch".to_owned(),
            command: crate::engine::subject(&action),
            cwd: self.ground.cwd.clone(),
        });
        let result = async {
            let permit = self.desk.permit(call, action).await?;
            let workplace = Workplace {
                journals,
                owner: self.owner(),
                most_file_bytes: self.config.files.max_file_bytes,
                call: call.id.clone(),
                session: self.desk.session.clone(),
            };
            let result = patch::apply(permit, located, workplace).await;
            let code = result.as_ref().map_or_else(PatchError::code, |_| "ok");
            self.desk
                .record_outcome(call, Err((code, started.elapsed())))?;
            Ok(result?)
        }
        .await;
        self.desk.tell(&Event::End {
            call: call.id.clone(),
            exit_code: None,
            duration: started.elapsed(),
        });
        result
    }

    /// Looks after patches that were cut off, and finds the places of this one, beside other calls.
    async fn read_patch(
        &self,
        journals: &Path,
        text: String,
    ) -> Result<(Vec<Recovered>, Result<Located, PatchError>), CallError> {
        let (sandbox, cwd) = (self.desk.sandbox.clone(), self.ground.cwd.clone());
        let guarded = self.jail.guarded(&sandbox);
        let most_bytes = self.config.files.max_patch_bytes;
        let journals = journals.to_path_buf();
        let work = tokio::task::spawn_blocking(move || {
            let recovered = patch::recover(&journals)?;
            let atlas = Atlas::of(&sandbox, &cwd, guarded);
            Ok::<_, PatchError>((recovered, patch::locate(&text, most_bytes, &atlas)))
        });
        let done = work.await;
        Ok(done.map_err(|error| PatchError::Journal(std::io::Error::other(error)))??)
    }

    /// The user that fenced commands run as.
    pub(crate) fn owner(&self) -> Owner {
        let (uid, gid, groups) = self.jail.identity();
        Owner {
            uid,
            gid,
            groups: groups.map(<[u32]>::to_vec),
        }
    }

    /// Looks after patches that were cut off when a harness was killed. What cannot be looked after
    /// now is tried again, and reported, by the next patch.
    pub(crate) fn recover_patches(&self) -> Result<(), CallError> {
        match self.journals.as_deref().map(patch::recover) {
            Some(Ok(recovered)) => self.record_recovered(recovered),
            Some(Err(_)) | None => Ok(()),
        }
    }

    fn record_recovered(&self, recovered: Vec<Recovered>) -> Result<(), CallError> {
        for patch in recovered {
            let (code, text) = match patch.became {
                Became::Whole => ("ok", "is whole"),
                Became::Undone => ("patch_undone", "has been undone"),
            };
            self.desk.record(|| {
                audit::Record::Outcome(audit::Outcome {
                    call: patch.call.clone(),
                    session: patch.session,
                    exit_code: None,
                    duration_ms: 0,
                    timed_out: false,
                    denied_by_sandbox: false,
                    stdout_bytes: 0,
                    stderr_bytes: 0,
                    error: Some(code.to_owned()),
                    mended: Vec::new(),
                })
            })?;
            self.desk.tell(&Event::Notice {
                call: patch.call,
                text: format!("a patch that was cut off {text}"),
            });
        }
        Ok(())
    }
}
