//! Whom commands run as.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ringfence_confine::account;

use crate::error::LaunchError;
use crate::warden::protocol::Identity;

/// Whom fenced commands run as: the user of the harness, or the workspace's owner if that is root.
pub(crate) fn identity(workspace: &Path) -> Result<Identity, LaunchError> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    if !uid.is_root() {
        return Ok(Identity {
            uid: uid.as_raw(),
            gid: gid.as_raw(),
            groups: None,
        });
    }
    let owner = std::fs::metadata(workspace).map_err(|reason| LaunchError::Path {
        path: workspace.to_path_buf(),
        reason,
    })?;
    if owner.uid() == 0 {
        return Ok(Identity {
            uid: 0,
            gid: gid.as_raw(),
            groups: None,
        });
    }
    Ok(match account::by_uid(owner.uid()) {
        Some(account) => Identity {
            uid: account.uid,
            gid: account.gid,
            groups: Some(account::groups_of(&account)),
        },
        None => Identity {
            uid: owner.uid(),
            gid: owner.gid(),
            groups: Some(vec![owner.gid()]),
        },
    })
}
