//! Searching for files by name: the harness looks, as the user that fenced commands run as.

use ringfence_policy::action::{Action, SearchFiles};

use super::HARNESS;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::search::{Found, Query};

impl Engine {
    /// Looks for files by name.
    pub(crate) async fn search_files(
        &self,
        call: &Call,
        query: Query,
        limit: usize,
    ) -> Result<Vec<Found>, CallError> {
        let root = self.ground.cwd.canonicalize()?;
        let action = Action::SearchFiles(SearchFiles { root: root.clone() });
        self.act(call, action, |permit, account| async move {
            let (_, confinement) = permit.redeem();
            account.runs_in(HARNESS);
            self.look(call, &root, &confinement, query, limit).await
        })
        .await
    }
}
