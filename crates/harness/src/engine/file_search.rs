//! Searches for files: what is looked through, and what is not shown.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use ringfence_policy::permit::Confinement;
use ringfence_policy::rule::{Access, Decision};
use ringfence_policy::ruleset::RuleSet;

use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::search::{self, Found, Query, Terrain};

impl Engine {
    /// Looks for files by name, where the harness may look.
    pub(crate) async fn look(
        &self,
        call: &Call,
        root: &Path,
        confinement: &Confinement,
        query: Query,
        limit: usize,
    ) -> Result<Vec<Found>, CallError> {
        let stop = StopsWhenDropped::default();
        let terrain = Terrain {
            root: root.to_path_buf(),
            denied: Arc::new(denied_below(root, confinement)),
            most_files: usize::try_from(self.config.files.search_max_files).unwrap_or(usize::MAX),
            stop: Arc::clone(&stop.0),
        };
        let hidden = self.hidden_by_rules();
        let catalogue = self.catalogue.clone();
        let (found, is_cut_off) = self
            .owner()
            .act(move || {
                let index = catalogue.names(&terrain);
                let may_show = |name: &str| !hidden.hides(&terrain.root.join(name));
                let found = search::best(&index.files, &query, limit, &may_show);
                (found, index.is_cut_off)
            })
            .await?;
        if is_cut_off {
            let most = self.config.files.search_max_files;
            let text = format!(
                "there are more than {most} files (`files.search_max_files`); some were not looked at"
            );
            self.desk.notice(call, text);
        }
        Ok(found)
    }

    fn hidden_by_rules(&self) -> HiddenByRules {
        let rules = self.desk.rules.read();
        HiddenByRules {
            rules: rules.unwrap_or_else(PoisonError::into_inner).clone(),
            ground: self.ground.clone(),
        }
    }
}

/// Files that rules say may not be read.
struct HiddenByRules {
    rules: RuleSet,
    ground: ringfence_policy::Ground,
}

impl HiddenByRules {
    fn hides(&self, path: &Path) -> bool {
        let rule = self
            .rules
            .decide_path(path, Access::Read, &self.ground, "file_search");
        rule.is_some_and(|rule| rule.decision == Decision::Deny)
    }
}

/// What may not be read below a folder, without links.
fn denied_below(root: &Path, confinement: &Confinement) -> HashSet<std::path::PathBuf> {
    let Confinement::Fenced { sandbox, .. } = confinement else {
        return HashSet::new();
    };
    let real = sandbox
        .denied_reads
        .iter()
        .filter_map(|path| path.canonicalize().ok());
    real.filter(|path| path.starts_with(root)).collect()
}

/// Ends a walk whose result nobody waits for any more.
#[derive(Default)]
struct StopsWhenDropped(Arc<AtomicBool>);

impl Drop for StopsWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
