//! What the user could do without the fence. A file that is closed to them anyway was not refused by it.

use std::path::Path;

use rustix::fs::{Access, access};

use crate::file_user::FileUser;

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Read,
    Write,
}

/// Whether the machine itself lets this user do it.
pub(crate) fn could(user: &FileUser, path: &Path, wish: Wish) -> bool {
    // Who cannot be asked for is not blamed on the fence.
    user.act_now(|| match wish {
        Wish::Read => access(path, Access::READ_OK).is_ok(),
        Wish::Write => may_write(path),
    })
    .unwrap_or(false)
}

/// Whether something can be changed or made at a path, or taken away there.
fn may_write(path: &Path) -> bool {
    let writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    let there = path.ancestors().find(|path| path.exists());
    match there {
        Some(there) if there == path => writable(path) || path.parent().is_some_and(writable),
        Some(above) => above.is_dir() && writable(above),
        None => false,
    }
}
