//! Patches before they are judged: their places, and those that were cut off.

use std::path::Path;

use crate::audit::{self, Outcome};
use crate::engine::Engine;
use crate::error::CallError;
use crate::event::Event;
use crate::file_user::FileUser;
use crate::patch::{self, Atlas, Became, Located, PatchError, Recovered};

impl Engine {
    /// Finds the places of a patch, after looking after those that were cut off.
    pub(crate) async fn place_patch(
        &self,
        journals: &Path,
        text: String,
    ) -> Result<Located, CallError> {
        let (recovered, located) = self.read_patch(journals, text).await?;
        self.record_recovered(recovered)?;
        Ok(located?)
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
    pub(crate) fn owner(&self) -> FileUser {
        let (uid, gid, groups) = self.jail.identity();
        FileUser {
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
            let (outcome, error, text) = match patch.became {
                Became::Whole => (Outcome::Ok, None, "is whole"),
                Became::Undone => (Outcome::Failed, Some("patch_undone"), "has been undone"),
            };
            self.desk.record(|| {
                audit::Record::Outcome(audit::CallEnded {
                    error: error.map(str::to_owned),
                    ..audit::CallEnded::new(patch.call.clone(), patch.session, outcome)
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
