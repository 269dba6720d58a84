//! Bodies: carried along, exactly as long as they are.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::reader::Reader;

/// How long a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Body {
    /// This many bytes.
    Length(u64),
    /// In chunks, each with its length.
    Chunked,
    /// Until the stream ends.
    UntilTheEnd,
}

/// The longest line in front of a chunk.
const LINE: usize = 1024;
/// The most that may follow the last chunk.
const TRAILERS: usize = 64 * 1024;

/// Carries a body from one side to the other. Gives how many bytes it had.
pub(super) async fn carry<R, W>(body: Body, from: &mut Reader<R>, to: &mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    match body {
        Body::Length(length) => {
            carry_exactly(length, from, to).await?;
            to.flush().await?;
            Ok(length)
        }
        Body::Chunked => carry_chunks(from, to).await,
        Body::UntilTheEnd => {
            let mut total = 0;
            loop {
                let length = from.some().await?.len();
                if length == 0 {
                    to.flush().await?;
                    return Ok(total);
                }
                to.write_all(from.held()).await?;
                from.consume(length);
                total += length as u64;
            }
        }
    }
}

async fn carry_exactly<R, W>(length: u64, from: &mut Reader<R>, to: &mut W) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut left = length;
    while left > 0 {
        let there = from.some().await?;
        if there.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let count = there.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        to.write_all(&there[..count]).await?;
        from.consume(count);
        left -= count as u64;
    }
    Ok(())
}

/// Chunks are written anew: their extensions and what follows the last one stay behind.
async fn carry_chunks<R, W>(from: &mut Reader<R>, to: &mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut total = 0_u64;
    loop {
        let length = chunk_length(&line(from, LINE).await?)?;
        if length == 0 {
            break;
        }
        to.write_all(format!("{length:x}\r\n").as_bytes()).await?;
        carry_exactly(length, from, to).await?;
        if from.exactly(2).await? != b"\r\n" {
            return Err(malformed());
        }
        to.write_all(b"\r\n").await?;
        total = total.saturating_add(length);
    }
    let mut trailers = 0;
    loop {
        let trailer = line(from, LINE).await?;
        trailers += trailer.len();
        if trailers > TRAILERS {
            return Err(malformed());
        }
        if trailer.is_empty() {
            break;
        }
    }
    to.write_all(b"0\r\n\r\n").await?;
    to.flush().await?;
    Ok(total)
}

fn chunk_length(line: &[u8]) -> io::Result<u64> {
    let digits = line.split(|b| *b == b';').next().unwrap_or_default();
    let digits = digits.trim_ascii_end();
    let plain = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).map_err(|_| malformed())?;
    match u64::from_str_radix(text, 16) {
        Ok(length) if plain => Ok(length),
        _ => Err(malformed()),
    }
}

/// A line, without its end.
async fn line<R: AsyncRead + Unpin>(from: &mut Reader<R>, most: usize) -> io::Result<Vec<u8>> {
    loop {
        if let Some(end) = from.held().windows(2).position(|pair| pair == b"\r\n") {
            let line = from.held()[..end].to_vec();
            from.consume(end + 2);
            // One reader's line is another's two.
            if line.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
                return Err(malformed());
            }
            return Ok(line);
        }
        if from.held().len() > most || from.more().await? == 0 {
            return Err(malformed());
        }
    }
}

fn malformed() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "a body that is not what it says",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn nothing_behind_a_body_goes_along() {
        for (body, text, expected, rest) in [
            (Body::Length(3), "abcGET", Some("abc"), "GET"),
            (Body::Length(0), "GET", Some(""), "GET"),
            (Body::Length(4), "abc", None, ""),
            (
                Body::Chunked,
                "3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\nGET",
                Some("3\r\nabc\r\n0\r\n\r\n"),
                "GET",
            ),
            (Body::Chunked, "00\r\n\r\nGET", Some("0\r\n\r\n"), "GET"),
            (Body::Chunked, "3\r\nabcd\r\n0\r\n\r\n", None, ""),
            (Body::Chunked, "3\nabc\n0\n\n", None, ""),
            (Body::Chunked, "-1\r\n", None, ""),
            (Body::Chunked, "0x3\r\nabc\r\n", None, ""),
            (Body::Chunked, "ffffffffffffffff\r\n", None, ""),
            (Body::Chunked, "\r\nabc", None, ""),
            (Body::UntilTheEnd, "abcGET", Some("abcGET"), ""),
        ] {
            let mut from = Reader::new(text.as_bytes());
            let mut to = Vec::new();
            let carried = carry(body, &mut from, &mut to).await;
            assert_eq!(carried.is_ok(), expected.is_some(), "{text:?}");
            if let Some(expected) = expected {
                assert_eq!(String::from_utf8(to).unwrap(), expected, "{text:?}");
                let (unread, held) = from.into_parts();
                assert_eq!([&held, unread].concat(), rest.as_bytes(), "{text:?}");
            }
        }
    }
}
