//! The folder that state is kept in where nobody named one.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use ringfence_confine::account;

use crate::error::CallError;

/// A folder of this user's below `/tmp`, which commands do not see: theirs is another one.
pub(crate) fn temporary() -> Result<PathBuf, CallError> {
    let folder = PathBuf::from(format!("/tmp/ringfence-{}", account::own_uid()));
    match private(&folder) {
        Ok(()) => Ok(folder),
        Err(reason) => Err(CallError::State {
            path: folder,
            reason,
        }),
    }
}

/// Makes a folder that is nobody else's. `/tmp` is everybody's: what is there already has to be
/// ours, and closed to others.
fn private(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let there = fs::symlink_metadata(folder)?;
    if there.is_dir() && there.uid() == account::own_uid() && there.mode() & 0o777 == 0o700 {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "it is not a folder of this user's alone",
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_others_could_have_put_there_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        assert!(private(&at("fresh")).is_ok());
        assert!(private(&at("fresh")).is_ok(), "it is ours");
        fs::create_dir(at("open")).unwrap();
        fs::set_permissions(at("open"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink(at("fresh"), at("link")).unwrap();
        fs::write(at("file"), "").unwrap();
        for name in ["open", "link", "file", "missing/below"] {
            assert!(private(&at(name)).is_err(), "{name}");
        }
    }
}
