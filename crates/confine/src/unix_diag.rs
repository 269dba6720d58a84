//! The kernel's own list of unix sockets that are listened on, with the files that name them.
//!
//! The list is that of the calling process's network namespace: who is on it made its socket there.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// A socket that is listened on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listening {
    /// See [`connect::cookie`](crate::connect::cookie).
    pub cookie: u64,
    /// The device of the file that names it: major and minor number.
    pub device: (u32, u32),
    /// The number of that file, as far as 32 bits go.
    pub inode: u32,
}

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const DONE: u16 = 3;
const ERROR: u16 = 2;
const REQUEST_DUMP: u16 = 0x301;
const STATE_LISTEN: u32 = 1 << 10;
const SHOW_FILE: u32 = 2;
/// The attribute that holds the file: its number and its device.
const FILE: u16 = 1;
const HEADER: usize = 16;
const MESSAGE: usize = 16;

/// Every socket that is listened on and has a file.
pub fn listening() -> io::Result<Vec<Listening>> {
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(rustix::net::netlink::SOCK_DIAG),
    )?;
    rustix::net::send(&socket, &request(), SendFlags::empty())?;
    let mut found = Vec::new();
    while read(&socket, &mut found)? {}
    Ok(found)
}

fn request() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + 24);
    bytes.extend(40u32.to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    // The family, and padding.
    bytes.extend([1, 0, 0, 0]);
    bytes.extend(STATE_LISTEN.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend(SHOW_FILE.to_ne_bytes());
    bytes.extend([0xff; 8]);
    bytes
}

/// Reads a piece of the list. Whether there is more.
fn read(socket: &OwnedFd, found: &mut Vec<Listening>) -> io::Result<bool> {
    let mut buffer = vec![0; 64 * 1024];
    let (length, _) = rustix::net::recv(socket, &mut buffer[..], RecvFlags::empty())?;
    let mut rest = &buffer[..length];
    while rest.len() >= HEADER {
        let size = usize::try_from(number(rest, 0)).unwrap_or(0);
        if size < HEADER || size > rest.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let (message, after) = rest.split_at(size.next_multiple_of(4).min(rest.len()));
        match u16::from_ne_bytes([message[4], message[5]]) {
            DONE => return Ok(false),
            ERROR => {
                let error = number(message, HEADER).cast_signed();
                return Err(io::Error::from_raw_os_error(-error));
            }
            _ => found.extend(socket_in(&message[HEADER..size])),
        }
        rest = after;
    }
    Ok(true)
}

fn socket_in(message: &[u8]) -> Option<Listening> {
    let cookie = u64::from(number(message, 8)) | u64::from(number(message, 12)) << 32;
    let mut attributes = message.get(MESSAGE..)?;
    while attributes.len() >= 4 {
        let size = usize::from(u16::from_ne_bytes([attributes[0], attributes[1]]));
        let kind = u16::from_ne_bytes([attributes[2], attributes[3]]);
        if size < 4 {
            return None;
        }
        if kind == FILE && size >= 12 && attributes.len() >= 12 {
            // The kernel's own form of a device number.
            let device = number(attributes, 8);
            return Some(Listening {
                cookie,
                device: (device >> 20, device & 0xf_ffff),
                inode: number(attributes, 4),
            });
        }
        attributes = attributes.get(size.next_multiple_of(4)..)?;
    }
    None
}

/// The number at a place, 0 if there is none.
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_socket_is_listed_by_its_file_wherever_that_is_moved() {
        let folder = std::env::temp_dir().join(format!("unix-diag-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (made, moved) = (folder.join("made"), folder.join("moved"));
        let listener = UnixListener::bind(&made).unwrap();
        std::fs::rename(&made, &moved).unwrap();
        let file = std::fs::metadata(&moved).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let cookie = crate::connect::cookie(&listener).unwrap();
        let known = listening().unwrap();
        let known = known.iter().find(|known| known.cookie == cookie).unwrap();
        let device = (libc::major(file.dev()), libc::minor(file.dev()));
        assert_eq!(u64::from(known.inode), file.ino());
        assert_eq!(known.device, device);
        drop(listener);
        let gone = listening().unwrap();
        assert!(gone.iter().all(|known| known.cookie != cookie));
    }
}
