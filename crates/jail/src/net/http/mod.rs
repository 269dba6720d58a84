//! HTTP/1 as a proxy sees it: heads that are read and written anew, bodies that are carried along
//! exactly as long as they are.
//!
//! Nothing of a request is passed on unread: a second request that hides behind the first, or a
//! head that two readers would read differently, never reaches a host.

mod body;
mod exchange;
mod head;
mod reader;

use std::fmt;

use thiserror::Error;
use tokio::io::{AsyncWrite, AsyncWriteExt};

pub(super) use exchange::{Begun, ForwardedRequest, Next, exchange};
pub(super) use head::{HeadError, MOST_BYTES, MOST_HEADERS, Request, read_request};
pub(super) use reader::Reader;

use super::gate::ConnectionRefusal;

/// A header that is added to requests. Its value is a secret, and is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    name: String,
    value: String,
}

/// Why something is not a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// It does not read `Name: value`.
    #[error("it does not read `Name: value`")]
    NoColon,
    /// The name has a character that no header has.
    #[error("its name has a character that no header's has")]
    Name,
    /// The name is one that decides how far a request reaches.
    #[error("a header of this name decides where a request ends or goes, and cannot be added")]
    Framing,
    /// The value would end the header.
    #[error("its value is empty or has a line break or another control character in it")]
    Value,
}

impl Header {
    /// Reads `Name: value`.
    pub fn parse(written: &str) -> Result<Self, HeaderError> {
        let (name, value) = written.split_once(':').ok_or(HeaderError::NoColon)?;
        match value.trim() {
            "" => Err(HeaderError::Value),
            value => Self::of(name, value),
        }
    }

    /// Makes one of a name and a value, which may be empty.
    pub fn of(name: &str, value: &str) -> Result<Self, HeaderError> {
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(token) {
            return Err(HeaderError::Name);
        }
        let own = ["host", "content-length", "transfer-encoding", "connection"];
        if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return Err(HeaderError::Framing);
        }
        let value = value.trim();
        if value.chars().any(char::is_control) {
            return Err(HeaderError::Value);
        }
        Ok(Self {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its value, for the one who sends it.
    pub(super) fn value(&self) -> &[u8] {
        self.value.as_bytes()
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: …", self.name)
    }
}

/// Answers a request with a refusal that a person can read, and with the end of the connection.
pub(super) async fn refuse(
    to: &mut (impl AsyncWrite + Unpin),
    status: u16,
    refusal: &ConnectionRefusal,
) -> std::io::Result<()> {
    let reason = match status {
        400 => "Bad Request",
        403 => "Forbidden",
        421 => "Misdirected Request",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Refused",
    };
    let body = format!("ringfence: {}: {}\n", refusal.subject, refusal.reason)
        + &refusal
            .allow
            .as_ref()
            .map(|allow| format!("to allow it: {allow}\n"))
            .unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\nX-Ringfence-Refused: {}\r\nConnection: close\r\n\r\n",
        body.len(),
        refusal.code,
    );
    to.write_all(head.as_bytes()).await?;
    to.write_all(body.as_bytes()).await?;
    to.flush().await?;
    to.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        for (written, expected) in [
            ("Authorization: Bearer abc", Ok("Authorization")),
            ("X-Key:k", Ok("X-Key")),
            ("no header", Err(HeaderError::NoColon)),
            ("Bad Name: x", Err(HeaderError::Name)),
            (": x", Err(HeaderError::Name)),
            ("X: a\r\nHost: evil", Err(HeaderError::Value)),
            ("X: ", Err(HeaderError::Value)),
            ("host: evil", Err(HeaderError::Framing)),
            ("Transfer-Encoding: chunked", Err(HeaderError::Framing)),
        ] {
            let read = Header::parse(written).map(|header| header.name().to_owned());
            assert_eq!(read, expected.map(str::to_owned), "{written:?}");
        }
        let shown = format!("{:?}", Header::parse("X: secret").unwrap());
        assert_eq!(shown, "X: …");
    }
}
