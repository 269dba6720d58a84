//! Applying a patch: the harness changes the files, as the user that fenced commands run as.

use ringfence_policy::action::Action;

use super::HARNESS;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::patch::{self, Applied, PatchError, Workplace};

impl Engine {
    /// Applies a patch, all of it or nothing. Its places are found first: they are what is judged.
    pub(crate) async fn apply_patch(&self, call: &Call, text: &str) -> Result<Applied, CallError> {
        let journals = self.journals.clone().ok_or(PatchError::NoJournal)?;
        let located = self.place_patch(&journals, text.to_owned()).await?;
        let action = Action::ApplyPatch(located.action());
        let workplace = Workplace {
            journals,
            owner: self.owner(),
            most_file_bytes: self.config.files.max_file_bytes,
            call: call.id.clone(),
            session: self.desk.session.clone(),
        };
        self.act(call, action, |permit, account| async move {
            account.runs_in(HARNESS);
            // One that has begun is carried to its end and put on record by itself: whoever waits for it
            // may go away, and the next patch would take it for one that was cut off.
            let work = tokio::spawn(async move {
                let applied = patch::apply(permit, located, workplace).await;
                let applied = applied.map_err(CallError::from);
                account.conclude(&applied)?;
                applied
            });
            work.await
                .map_err(|error| PatchError::Journal(std::io::Error::other(error)))?
        })
        .await
    }
}
