//! `[caches]`: where package managers keep what they download.

use crate::config::declare::{settings, words};

settings! {
    /// Where package managers keep what they download.
    pub struct CachesConfig in "caches" {
        /// For whom caches are kept. `session` forgets them at its end; `user` lets all your workspaces share one, and what a command of one puts there is used by builds of the others.
        keep: Keeping = word("workspace"), Later;
        /// How much all caches may take up together. What has not been used for the longest time goes when it is more.
        max_bytes: u64 = number(0, 5 << 30), Higher;
    }
}

words! {
    /// For whom caches are kept.
    pub enum Keeping {
        /// There are none.
        Off = "off",
        /// For the session.
        Session = "session",
        /// For the workspace.
        Workspace = "workspace",
        /// For all workspaces of a user.
        User = "user",
    }
}
