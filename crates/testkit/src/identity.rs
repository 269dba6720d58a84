//! Whom tests run as: root, and an ordinary user that they make.

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
    // Several tests may try at once: whoever comes second finds it made.
    let made = Command::new("useradd")
        .args(["--create-home", "--shell", "/bin/bash", USER])
        .output()
        .map_err(|error| format!("useradd: {error}"))?;
    for _ in 0..200 {
        if let Some(account) = find() {
            return Ok(account);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Err(format!(
        "useradd made no {USER}: {}",
        String::from_utf8_lossy(&made.stderr)
    ))
}

fn find() -> Option<Account> {
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = passwd
        .lines()
        .find(|line| line.split(':').next() == Some(USER))?;
    account::by_uid(line.split(':').nth(2)?.parse().ok()?)
}
