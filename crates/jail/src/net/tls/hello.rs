//! The first message of a client: whether it is TLS at all, and which host it names.

use std::io;

use thiserror::Error;
use tokio::io::AsyncRead;

use crate::net::http::Reader;

/// What a client's first message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::net) struct Hello {
    /// The host that it names, as it is written there.
    pub(in crate::net) name: Option<String>,
}

/// Why a message is not the first of TLS.
#[derive(Debug, Error)]
pub(in crate::net) enum HelloError {
    #[error("what the client says is not TLS")]
    NotTls,
    #[error(transparent)]
    Stream(#[from] io::Error),
}

/// The first byte of TLS.
pub(in crate::net) const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
/// No client says more than this before it hears something.
const MOST: usize = 64 * 1024;

/// Reads the message without using it up.
pub(in crate::net) async fn read_hello<R: AsyncRead + Unpin>(
    reader: &mut Reader<R>,
) -> Result<Hello, HelloError> {
    loop {
        match parse(reader.held()) {
            Some(Ok(hello)) => return Ok(hello),
            Some(Err(error)) => return Err(error),
            None if reader.held().len() > MOST => return Err(HelloError::NotTls),
            None => {
                if reader.more().await? == 0 {
                    return Err(HelloError::NotTls);
                }
            }
        }
    }
}

/// Reads the message; nothing if there is more to come.
fn parse(bytes: &[u8]) -> Option<Result<Hello, HelloError>> {
    let not_tls = Some(Err(HelloError::NotTls));
    let mut records = Bytes(bytes);
    let mut message = Vec::new();
    // A message may be spread over several records.
    loop {
        let [kind] = records.array()?;
        if kind != HANDSHAKE {
            return not_tls;
        }
        let [major, _] = records.array()?;
        if major != 3 {
            return not_tls;
        }
        let length = u16::from_be_bytes(records.array()?);
        if length == 0 || length > 16384 {
            return not_tls;
        }
        message.extend_from_slice(records.take(usize::from(length))?);
        if message[0] != CLIENT_HELLO {
            return not_tls;
        }
        if message.len() >= 4 {
            let length = u32::from_be_bytes([0, message[1], message[2], message[3]]) as usize;
            if length > MOST {
                return not_tls;
            }
            if message.len() >= 4 + length {
                return Some(client_hello(&message[4..4 + length]).ok_or(HelloError::NotTls));
            }
        }
    }
}

fn client_hello(message: &[u8]) -> Option<Hello> {
    let mut rest = Bytes(message);
    rest.take(2 + 32)?;
    let session = rest.array::<1>()?[0];
    rest.take(usize::from(session))?;
    let ciphers = u16::from_be_bytes(rest.array()?);
    rest.take(usize::from(ciphers))?;
    let compressions = rest.array::<1>()?[0];
    rest.take(usize::from(compressions))?;
    if rest.0.is_empty() {
        return Some(Hello { name: None });
    }
    let length = u16::from_be_bytes(rest.array()?);
    let mut extensions = Bytes(rest.take(usize::from(length))?);
    let mut name = None;
    while !extensions.0.is_empty() {
        let kind = u16::from_be_bytes(extensions.array()?);
        let length = u16::from_be_bytes(extensions.array()?);
        let body = extensions.take(usize::from(length))?;
        if kind == SERVER_NAME {
            // Two names would be read differently by two readers.
            if name.is_some() {
                return None;
            }
            name = Some(server_name(body)?);
        }
    }
    Some(Hello { name })
}

fn server_name(body: &[u8]) -> Option<String> {
    let mut list = Bytes(body);
    let length = u16::from_be_bytes(list.array()?);
    let mut entries = Bytes(list.take(usize::from(length))?);
    let [kind] = entries.array()?;
    let length = u16::from_be_bytes(entries.array()?);
    let name = entries.take(usize::from(length))?;
    if kind != 0 || !entries.0.is_empty() || !list.0.is_empty() {
        return None;
    }
    String::from_utf8(name.to_vec()).ok()
}

/// Bytes that are used up from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(extensions: &[u8]) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.extend([0, 0, 2, 0x13, 0x01, 1, 0]);
        body.extend(u16::try_from(extensions.len()).unwrap().to_be_bytes());
        body.extend(extensions);
        let length = u16::try_from(body.len()).unwrap().to_be_bytes();
        let message = [&[1, 0, length[0], length[1]], &body[..]].concat();
        let length = u16::try_from(message.len()).unwrap().to_be_bytes();
        [&[22, 3, 1, length[0], length[1]], &message[..]].concat()
    }

    fn sni(name: &[u8]) -> Vec<u8> {
        let length = u16::try_from(name.len()).unwrap();
        [
            &[0, 0][..],
            &(length + 5).to_be_bytes(),
            &(length + 3).to_be_bytes(),
            &[0],
            &length.to_be_bytes(),
            name,
        ]
        .concat()
    }

    fn shown(bytes: &[u8]) -> String {
        match parse(bytes) {
            None => "more".to_owned(),
            Some(Err(_)) => "not TLS".to_owned(),
            Some(Ok(Hello { name: None })) => "no name".to_owned(),
            Some(Ok(Hello { name: Some(name) })) => name,
        }
    }

    #[test]
    fn names() {
        let named = hello(&[&[0, 23, 0, 0][..], &sni(b"example.com")].concat());
        let twice = hello(&[sni(b"a.com"), sni(b"b.com")].concat());
        let unnamed = hello(&[0, 23, 0, 0]);
        for (bytes, expected) in [
            (named.clone(), "example.com"),
            (unnamed, "no name"),
            (twice, "not TLS"),
            (hello(&[0, 0, 0, 9]), "not TLS"),
            (b"GET / HTTP/1.1\r\n".to_vec(), "not TLS"),
            (b"SSH-2.0-x\r\n".to_vec(), "not TLS"),
            (vec![], "more"),
            (vec![22, 3, 1, 0, 0], "not TLS"),
            (vec![22, 3, 1, 0, 1, 2], "not TLS"),
        ] {
            assert_eq!(shown(&bytes), expected, "{bytes:?}");
        }
        for cut in 0..named.len() {
            assert_eq!(shown(&named[..cut]), "more", "{cut}");
        }
        // In records of one byte each.
        let split: Vec<u8> = named[5..]
            .iter()
            .flat_map(|byte| [22, 3, 1, 0, 1, *byte])
            .collect();
        assert_eq!(shown(&split), "example.com");
    }
}
