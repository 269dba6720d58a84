//! SOCKS 5: names are looked up by us, and connecting is all that is offered.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use ringfence_policy::host::Host;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::http::Reader;
use super::target::{Target, TargetError};

/// The first byte of every message.
pub(super) const VERSION: u8 = 5;

/// The answers of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Answer {
    Succeeded = 0,
    NotAllowed = 2,
    HostUnreachable = 4,
    CommandNotSupported = 7,
    AddressNotSupported = 8,
}

/// What a client asks for.
#[derive(Debug)]
pub(super) enum Asked {
    /// A connection.
    Connect(Target),
    /// A connection to something that is no host.
    Odd(TargetError),
    /// Something that is not offered: to be connected to, or UDP.
    NotOffered(Answer),
}

const CONNECT: u8 = 1;
const NO_AUTHENTICATION: u8 = 0;
const PASSWORD: u8 = 2;
const NOTHING_ACCEPTABLE: u8 = 0xff;

/// Greets a client and hears what it wants.
pub(super) async fn listen<R, W>(reader: &mut Reader<R>, writer: &mut W) -> io::Result<Asked>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let [version, count] = take(reader).await?;
    if version != VERSION {
        return Err(not_socks());
    }
    let methods = reader.exactly(usize::from(count)).await?;
    if methods.contains(&NO_AUTHENTICATION) {
        writer.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    } else if methods.contains(&PASSWORD) {
        // Whoever insists may say any name: the socket itself tells which run this is.
        writer.write_all(&[VERSION, PASSWORD]).await?;
        let [_, length] = take(reader).await?;
        reader.exactly(usize::from(length)).await?;
        let [length] = take(reader).await?;
        reader.exactly(usize::from(length)).await?;
        writer.write_all(&[1, 0]).await?;
    } else {
        writer.write_all(&[VERSION, NOTHING_ACCEPTABLE]).await?;
        return Err(not_socks());
    }
    let [version, command, _, kind] = take(reader).await?;
    if version != VERSION {
        return Err(not_socks());
    }
    let host = match kind {
        1 => {
            let octets: [u8; 4] = take(reader).await?;
            Ok(Host::Address(Ipv4Addr::from(octets).into()))
        }
        3 => {
            let [length] = take(reader).await?;
            let name = reader.exactly(usize::from(length)).await?;
            // What is not text is no host either: it becomes one that is refused by name.
            Host::parse(&String::from_utf8_lossy(&name))
        }
        4 => {
            let octets: [u8; 16] = take(reader).await?;
            let address = std::net::IpAddr::V6(Ipv6Addr::from(octets));
            Ok(Host::Address(address.to_canonical()))
        }
        _ => return Ok(Asked::NotOffered(Answer::AddressNotSupported)),
    };
    let port = u16::from_be_bytes(take(reader).await?);
    if command != CONNECT {
        return Ok(Asked::NotOffered(Answer::CommandNotSupported));
    }
    Ok(match host {
        Ok(_) if port == 0 => Asked::Odd(TargetError::Port),
        Ok(host) => Asked::Connect(Target { host, port }),
        Err(error) => Asked::Odd(error.into()),
    })
}

/// Answers.
pub(super) async fn answer(
    writer: &mut (impl AsyncWrite + Unpin),
    answer: Answer,
) -> io::Result<()> {
    let reply = [VERSION, answer as u8, 0, 1, 0, 0, 0, 0, 0, 0];
    writer.write_all(&reply).await?;
    writer.flush().await
}

async fn take<const N: usize, R: AsyncRead + Unpin>(reader: &mut Reader<R>) -> io::Result<[u8; N]> {
    let bytes = reader.exactly(N).await?;
    <[u8; N]>::try_from(bytes).map_err(|_| not_socks())
}

fn not_socks() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "this is not SOCKS 5")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn heard(bytes: &[u8]) -> (String, Vec<u8>) {
        let mut said = Vec::new();
        let asked = listen(&mut Reader::new(bytes), &mut said).await;
        let shown = match asked {
            Ok(Asked::Connect(target)) => target.to_string(),
            Ok(Asked::Odd(error)) => error.to_string(),
            Ok(Asked::NotOffered(answer)) => format!("{answer:?}"),
            Err(error) => error.to_string(),
        };
        (shown, said)
    }

    #[tokio::test(flavor = "current_thread")]
    async fn requests() {
        let name = |name: &[u8], port: u16| {
            let length = u8::try_from(name.len()).unwrap();
            let port = port.to_be_bytes();
            [&[5, 1, 0, 5, 1, 0, 3, length], name, &port].concat()
        };
        for (bytes, expected) in [
            (name(b"Example.com.", 443), "example.com:443"),
            (name(b"127.1", 80), "127.0.0.1:80"),
            (
                name(b"allowed.com\0.evil.com", 80),
                "the host contains a control character",
            ),
            (
                name(b"\xff\xfe", 80),
                "the host is not ASCII; write it in its xn-- form",
            ),
            (name(b"", 80), "the host is empty"),
            (
                name(b"example.com", 0),
                "the port is no number from 1 to 65535",
            ),
            (vec![5, 1, 0, 5, 1, 0, 1, 10, 0, 0, 1, 0, 80], "10.0.0.1:80"),
            (
                [
                    &[5, 1, 0, 5, 1, 0, 4][..],
                    &[0; 10],
                    &[255, 255, 127, 0, 0, 1],
                    &[0, 80],
                ]
                .concat(),
                "127.0.0.1:80",
            ),
            (
                vec![5, 1, 0, 5, 3, 0, 1, 10, 0, 0, 1, 0, 80],
                "CommandNotSupported",
            ),
            (
                vec![5, 1, 0, 5, 2, 0, 1, 10, 0, 0, 1, 0, 80],
                "CommandNotSupported",
            ),
            (vec![5, 1, 0, 5, 1, 0, 9, 0, 0], "AddressNotSupported"),
            (vec![5, 1, 1], "this is not SOCKS 5"),
            (
                vec![
                    5, 2, 2, 1, 1, 1, b'u', 1, b'p', 5, 1, 0, 1, 1, 2, 3, 4, 0, 80,
                ],
                "1.2.3.4:80",
            ),
        ] {
            assert_eq!(heard(&bytes).await.0, expected, "{bytes:?}");
        }
        assert_eq!(heard(&[5, 1, 1]).await.1, [5, 0xff]);
    }
}
