//! Whether a folder can be a workspace at all, told before anything is made of it.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Result, bail};

/// Looks at the folder that is named, or at the current one.
pub(crate) fn check(named: Option<&Path>) -> Result<()> {
    if named.is_none_or(Path::is_relative) && std::env::current_dir().is_err() {
        bail!("the current folder is gone or cannot be reached; go to one that is there with `cd`");
    }
    let folder = named.unwrap_or(Path::new("."));
    match std::fs::read_dir(folder).map_err(|error| error.kind()) {
        Err(ErrorKind::NotADirectory) => bail!(
            "the workspace {} is not a folder; name the folder that it is in",
            folder.display()
        ),
        Err(ErrorKind::PermissionDenied) => {
            bail!("the workspace {} may not be read by you", folder.display())
        }
        // Whatever else there is to say is said where it is used.
        _ => Ok(()),
    }
}
