//! The key of an audit log: made once, read by every harness of the same user.
//!
//! Each log file gets a key of its own, derived from its name, so that neither a line nor a head
//! of one file means anything in another.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::digest::Digest;
use super::log::AuditError;

/// The secret that all log files of one state directory share.
pub(super) struct MasterKey([u8; 32]);

impl MasterKey {
    /// Reads the key, and makes it first where there is none.
    pub(super) fn open_or_make(path: &Path) -> Result<Self, AuditError> {
        match Self::open(path) {
            Err(AuditError::Key { source, .. }) if source.kind() == ErrorKind::NotFound => {
                make(path)?;
                Self::open(path)
            }
            other => other,
        }
    }

    /// Reads the key. One that others can read vouches for nothing and is refused.
    pub(super) fn open(path: &Path) -> Result<Self, AuditError> {
        let failed = |source| AuditError::Key {
            path: path.to_owned(),
            source,
        };
        let mut file = File::open(path).map_err(failed)?;
        let mode = file.metadata().map_err(failed)?.mode();
        if mode & 0o077 != 0 {
            let (path, mode) = (path.to_owned(), mode & 0o777);
            return Err(AuditError::Exposed {
                path,
                mode,
                want: 0o600,
            });
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let key = Digest::from_hex(text.trim_end()).ok_or_else(|| AuditError::BadKey {
            path: path.to_owned(),
        })?;
        Ok(Self(key.0))
    }

    /// The key for one log file.
    pub(super) fn for_file(&self, log_name: &str) -> FileKey {
        let mut mac = hmac(&self.0);
        mac.update(b"ringfence audit file 1\0");
        mac.update(log_name.as_bytes());
        FileKey(hmac(&mac.finalize().into_bytes()))
    }
}

/// Several harnesses may start at once: each writes a key of its own aside, and the first `link`
/// wins. Nobody ever sees half a key.
fn make(path: &Path) -> Result<(), AuditError> {
    let failed = |source| AuditError::Key {
        path: path.to_owned(),
        source,
    };
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| failed(error.into()))?;
    let mut nonce = [0; 4];
    getrandom::fill(&mut nonce).map_err(|error| failed(error.into()))?;
    let aside = path.with_extension(format!("key.{:08x}", u32::from_ne_bytes(nonce)));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&aside)
        .map_err(failed)?;
    let written = writeln!(file, "{}", Digest(key)).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&aside, path));
    fs::remove_file(&aside).map_err(failed)?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed(error)),
        _ => Ok(()),
    }
}

/// The key of one log file, ready to be used many times.
#[derive(Clone)]
pub(super) struct FileKey(Hmac<Sha256>);

/// What a code vouches for, so that a code over one thing never passes for another.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    Line,
    Head,
    /// The head of the register.
    Register,
    /// An entry of it.
    Entry,
}

impl FileKey {
    /// The code over these bytes.
    pub(super) fn sign(&self, purpose: Purpose, bytes: &[u8]) -> Digest {
        Digest(self.mac(purpose, bytes).finalize().into_bytes().into())
    }

    /// Whether this is the code over these bytes (compared in constant time).
    pub(super) fn vouches(&self, purpose: Purpose, bytes: &[u8], code: Digest) -> bool {
        self.mac(purpose, bytes).verify_slice(&code.0).is_ok()
    }

    fn mac(&self, purpose: Purpose, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(match purpose {
            Purpose::Line => b"line\0",
            Purpose::Head => b"head\0",
            Purpose::Register => b"list\0",
            Purpose::Entry => b"item\0",
        });
        mac.update(bytes);
        mac
    }
}

fn hmac(key: &[u8]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}
