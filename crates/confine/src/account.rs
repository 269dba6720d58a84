//! Accounts of the machine, as the system's own databases know them.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The login name.
    pub name: String,
    /// The user id.
    pub uid: u32,
    /// The primary group.
    pub gid: u32,
    /// The home folder.
    pub home: PathBuf,
    /// The login shell.
    pub shell: PathBuf,
}

/// The user id that this process acts as.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The account of a user id, if there is one.
pub fn by_uid(uid: u32) -> Option<Account> {
    let mut buffer = vec![0; 16 * 1024];
    let mut found = std::ptr::null_mut();
    // SAFETY: `passwd` is plain data for which zero is valid; all out-parameters outlive the call,
    // and the strings it points to live in `buffer`, which is read before it goes.
    unsafe {
        let mut entry: libc::passwd = std::mem::zeroed();
        let result = libc::getpwuid_r(
            uid,
            &raw mut entry,
            buffer.as_mut_ptr(),
            buffer.len(),
            &raw mut found,
        );
        if result != 0 || found.is_null() {
            return None;
        }
        let path = |text: *const libc::c_char| {
            PathBuf::from(OsStr::from_bytes(CStr::from_ptr(text).to_bytes()))
        };
        Some(Account {
            name: CStr::from_ptr(entry.pw_name).to_string_lossy().into_owned(),
            uid: entry.pw_uid,
            gid: entry.pw_gid,
            home: path(entry.pw_dir),
            shell: path(entry.pw_shell),
        })
    }
}

/// Every group that an account is in.
pub fn groups_of(account: &Account) -> Vec<u32> {
    let Ok(name) = CString::new(account.name.as_str()) else {
        return vec![account.gid];
    };
    let mut groups = vec![0; 64];
    loop {
        let mut count = libc::c_int::try_from(groups.len()).unwrap_or(libc::c_int::MAX);
        // SAFETY: `groups` has room for `count` ids, and the name is a C string.
        let result = unsafe {
            libc::getgrouplist(
                name.as_ptr(),
                account.gid,
                groups.as_mut_ptr(),
                &raw mut count,
            )
        };
        let count = usize::try_from(count).unwrap_or(0);
        if result >= 0 {
            groups.truncate(count);
            return groups;
        }
        if count <= groups.len() || count > 65_536 {
            return vec![account.gid];
        }
        groups.resize(count, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_an_account_everywhere() {
        let root = by_uid(0).unwrap();
        assert_eq!((root.name.as_str(), root.uid, root.gid), ("root", 0, 0));
        assert!(groups_of(&root).contains(&0));
        assert_eq!(by_uid(4_294_967_000), None);
    }
}
