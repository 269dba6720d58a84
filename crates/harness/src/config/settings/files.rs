//! `[files]`: files that the harness itself changes and looks for.

use crate::config::declare::settings;

settings! {
    /// Files that the harness itself changes and looks for.
    pub struct FilesConfig in "files" {
        /// Size of a patch.
        max_patch_bytes: u64 = number(1, 8 << 20), Higher;
        /// Size of a file that a patch changes.
        max_file_bytes: u64 = number(1, 64 << 20), Higher;
        /// Results of `file_search` when the call names no limit.
        search_limit: u64 = number(1, 100), Higher;
        /// Files that `file_search` looks at.
        search_max_files: u64 = number(1, 2_000_000), Higher;
    }
}
