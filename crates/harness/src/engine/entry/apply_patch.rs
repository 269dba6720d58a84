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
            Ok(patch::apply(permit, located, workplace).await?)
        })
        .await
    }
}
