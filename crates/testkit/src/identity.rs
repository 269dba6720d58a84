//! Whom tests run as: root, and an ordinary user that they make.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use ringfence_confine::account::{self, Account};

/// The login name of the ordinary user.
pub const USER: &str = "ringfence-test";

/// Whether this process is root.
pub fn is_root() -> bool {
    #[allow(unsafe_code)]
    // SAFETY: geteuid takes nothing and cannot fail.
    unsafe {
        libc::geteuid() == 0
    }
}

/// The ordinary user, made if need be. Needs root.
pub fn ordinary_user() -> Result<Account, String> {
    if let Some(account) = find() {
        return Ok(account);
    }
    // Several tests may try at once, not all of them in one PID namespace, where the locks of `useradd` are
    // of no use: whoever comes second finds it made.
    let lock =
        File::create("/var/tmp/ringfence-test-user.lock").map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if let Some(account) = find() {
        return Ok(account);
    }
    let made = Command::new("useradd")
        .args(["--create-home", "--shell", "/bin/bash", USER])
        .output()
        .map_err(|error| format!("useradd: {error}"))?;
    find().ok_or_else(|| {
        format!(
            "useradd made no {USER}: {}",
            String::from_utf8_lossy(&made.stderr)
        )
    })
}

fn find() -> Option<Account> {
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = passwd
        .lines()
        .find(|line| line.split(':').next() == Some(USER))?;
    let account = account::by_uid(line.split(':').nth(2)?.parse().ok()?)?;
    // The home comes after the entry, and is given away last.
    let home = std::fs::metadata(&account.home).ok()?;
    (home.uid() == account.uid).then_some(account)
}
