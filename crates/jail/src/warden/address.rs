//! Addresses as those name them who want to be connected, copied from their memory once.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use ringfence_confine::notify::{self, Notification};

/// The longest address that the kernel takes.
const LONGEST: usize = 128;

/// What somebody wants to be connected to.
#[derive(Debug)]
pub(super) enum Destination {
    /// A socket in the file system.
    Path(PathBuf),
    /// Anything else, as the kernel reads it.
    Other(Vec<u8>),
}

/// What a `connect` names, copied from its caller's memory.
pub(super) fn destination(call: &Notification) -> io::Result<Destination> {
    let invalid = || io::Error::from_raw_os_error(libc::EINVAL);
    #[allow(clippy::cast_possible_truncation, reason = "it is an `int`")]
    let length = usize::try_from(call.arguments[2] as i32).map_err(|_| invalid())?;
    if length > LONGEST {
        return Err(invalid());
    }
    let mut address = vec![0; length];
    if length > 0 && notify::read_memory(call.thread, call.arguments[1], &mut address)? < length {
        return Err(io::Error::from_raw_os_error(libc::EFAULT));
    }
    Ok(Destination::from(address))
}

impl From<Vec<u8>> for Destination {
    fn from(address: Vec<u8>) -> Self {
        let unix = u16::try_from(libc::AF_UNIX).unwrap_or_default();
        match address.split_first_chunk::<2>() {
            // Longer ones are refused by the kernel without a look at the path.
            Some((family, [first, ..]))
                if u16::from_ne_bytes(*family) == unix && *first != 0 && address.len() <= 110 =>
            {
                let path = address[2..].split(|byte| *byte == 0).next();
                Self::Path(PathBuf::from(std::ffi::OsStr::from_bytes(
                    path.unwrap_or_default(),
                )))
            }
            _ => Self::Other(address),
        }
    }
}

/// An address of the internet.
pub(super) fn internet(raw: &[u8]) -> Option<SocketAddr> {
    let family = i32::from(u16::from_ne_bytes(raw.get(..2)?.try_into().ok()?));
    let port = u16::from_be_bytes(raw.get(2..4)?.try_into().ok()?);
    let address: IpAddr = match family {
        libc::AF_INET => {
            let bytes: [u8; 4] = raw.get(4..8)?.try_into().ok()?;
            Ipv4Addr::from(bytes).into()
        }
        libc::AF_INET6 => {
            let bytes: [u8; 16] = raw.get(8..24)?.try_into().ok()?;
            Ipv6Addr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn addresses_are_told_apart_as_the_kernel_does() {
        let unix = |path: &[u8]| [&[1, 0], path].concat();
        for (address, path) in [
            (unix(b"/run/x\0"), Some("/run/x")),
            (unix(b"relative"), Some("relative")),
            (unix(b"/cut\0off"), Some("/cut")),
            (unix(b"\0abstract"), None),
            (unix(b""), None),
            (vec![2, 0, 0, 80, 127, 0, 0, 1], None),
            (vec![1], None),
            (vec![], None),
            (unix(&[b'x'; 109]), None),
        ] {
            let found = match Destination::from(address.clone()) {
                Destination::Path(path) => Some(path),
                Destination::Other(same) => {
                    assert_eq!(same, address);
                    None
                }
            };
            assert_eq!(found.as_deref(), path.map(Path::new), "{address:?}");
        }
    }
}
