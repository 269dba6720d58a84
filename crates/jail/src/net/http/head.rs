//! The heads of requests and responses.

use std::io;

use thiserror::Error;
use tokio::io::AsyncRead;

use super::body::Body;
use super::reader::Reader;

/// The longest head that is read.
pub(in crate::net) const MOST_BYTES: usize = 64 * 1024;
/// The most headers of one.
pub(in crate::net) const MOST_HEADERS: usize = 128;

/// Why a head cannot be used.
#[derive(Debug, Error)]
pub(in crate::net) enum HeadError {
    #[error("the head is not HTTP: {0}")]
    Syntax(httparse::Error),
    #[error("the head is longer than 64 KiB")]
    TooLong,
    #[error("the length of the body is given twice, or in a way that can be read in two")]
    Length,
    #[error(transparent)]
    Stream(#[from] io::Error),
}

/// Name and value of a header.
type Field = (String, Vec<u8>);

/// The head of a request.
#[derive(Debug)]
pub(in crate::net) struct Request {
    pub(in crate::net) method: String,
    pub(in crate::net) uri: String,
    /// The version is 1 and this.
    pub(super) minor: u8,
    pub(super) fields: Vec<Field>,
}

/// The head of a response.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) reason: String,
    pub(super) minor: u8,
    pub(super) fields: Vec<Field>,
}

/// Headers that are between two neighbours and not for the host behind.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "proxy-connection",
    "proxy-authorization",
    "proxy-authenticate",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "content-length",
    "upgrade",
];

/// Reads the head of the next request; nothing if the stream ends before it begins.
pub(in crate::net) async fn read_request<R: AsyncRead + Unpin>(
    reader: &mut Reader<R>,
) -> Result<Option<Request>, HeadError> {
    loop {
        if !reader.held().is_empty() {
            let mut space = [httparse::EMPTY_HEADER; MOST_HEADERS];
            let mut parsed = httparse::Request::new(&mut space);
            if let httparse::Status::Complete(length) =
                parsed.parse(reader.held()).map_err(HeadError::Syntax)?
            {
                let request = Request {
                    method: parsed.method.unwrap_or_default().to_owned(),
                    uri: parsed.path.unwrap_or_default().to_owned(),
                    minor: parsed.version.unwrap_or_default(),
                    fields: fields(parsed.headers),
                };
                reader.consume(length);
                return Ok(Some(request));
            }
        }
        if !grow(reader).await? {
            return if reader.held().is_empty() {
                Ok(None)
            } else {
                Err(HeadError::Stream(io::ErrorKind::UnexpectedEof.into()))
            };
        }
    }
}

/// Reads the head of a response.
pub(super) async fn read_response<R: AsyncRead + Unpin>(
    reader: &mut Reader<R>,
) -> Result<Response, HeadError> {
    loop {
        if !reader.held().is_empty() {
            let mut space = [httparse::EMPTY_HEADER; MOST_HEADERS];
            let mut parsed = httparse::Response::new(&mut space);
            if let httparse::Status::Complete(length) =
                parsed.parse(reader.held()).map_err(HeadError::Syntax)?
            {
                let response = Response {
                    status: parsed.code.unwrap_or_default(),
                    reason: parsed.reason.unwrap_or_default().to_owned(),
                    minor: parsed.version.unwrap_or_default(),
                    fields: fields(parsed.headers),
                };
                reader.consume(length);
                return Ok(response);
            }
        }
        if !grow(reader).await? {
            return Err(HeadError::Stream(io::ErrorKind::UnexpectedEof.into()));
        }
    }
}

/// Whether there was more to read.
async fn grow<R: AsyncRead + Unpin>(reader: &mut Reader<R>) -> Result<bool, HeadError> {
    if reader.held().len() > MOST_BYTES {
        return Err(HeadError::TooLong);
    }
    Ok(reader.more().await? > 0)
}

fn fields(parsed: &[httparse::Header<'_>]) -> Vec<Field> {
    parsed
        .iter()
        .map(|header| (header.name.to_owned(), header.value.to_vec()))
        .collect()
}

/// The values of a header, each trimmed, split at commas.
fn values<'h>(fields: &'h [Field], name: &'h str) -> impl Iterator<Item = String> + 'h {
    fields
        .iter()
        .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
        .flat_map(|(_, value)| {
            String::from_utf8_lossy(value)
                .split(',')
                .map(|part| part.trim().to_ascii_lowercase())
                .collect::<Vec<_>>()
        })
}

/// The body that headers announce: none of them means nothing here.
fn announced(fields: &[Field]) -> Result<Option<Body>, HeadError> {
    let codings: Vec<String> = values(fields, "transfer-encoding").collect();
    let lengths: Vec<String> = values(fields, "content-length").collect();
    match (codings.as_slice(), lengths.as_slice()) {
        ([], []) => Ok(None),
        ([only], []) if only == "chunked" => Ok(Some(Body::Chunked)),
        ([], [first, others @ ..]) => {
            let digits = !first.is_empty() && first.bytes().all(|b| b.is_ascii_digit());
            let length = first.parse().ok().filter(|_| digits);
            match length {
                Some(length) if others.iter().all(|other| other == first) => {
                    Ok(Some(Body::Length(length)))
                }
                _ => Err(HeadError::Length),
            }
        }
        _ => Err(HeadError::Length),
    }
}

impl Request {
    /// Its body.
    pub(in crate::net) fn body(&self) -> Result<Body, HeadError> {
        match announced(&self.fields)? {
            Some(Body::Chunked) if self.minor == 0 => Err(HeadError::Length),
            announced => Ok(announced.unwrap_or(Body::Length(0))),
        }
    }

    /// Whether the client expects to send another one on the same connection.
    pub(super) fn keeps_alive(&self) -> bool {
        let closes = ["connection", "proxy-connection"]
            .into_iter()
            .any(|name| values(&self.fields, name).any(|token| token == "close"));
        self.minor == 1 && !closes
    }

    /// The hosts that it names in its headers.
    pub(in crate::net) fn hosts(&self) -> Vec<String> {
        self.fields
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
            .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
            .collect()
    }

    /// The headers that go on to the host, without those of ours.
    pub(super) fn passed_on(&self) -> impl Iterator<Item = &Field> {
        let named: Vec<String> = values(&self.fields, "connection").collect();
        self.fields.iter().filter(move |(name, _)| {
            let name = name.to_ascii_lowercase();
            name != "host" && !HOP_BY_HOP.contains(&name.as_str()) && !named.contains(&name)
        })
    }
}

impl Response {
    /// Its body, given what it answers.
    pub(super) fn body(&self, method: &str) -> Result<Body, HeadError> {
        if method == "HEAD" || matches!(self.status, 100..=199 | 204 | 304) {
            return Ok(Body::Length(0));
        }
        Ok(announced(&self.fields)?.unwrap_or(Body::UntilTheEnd))
    }

    /// The headers that go on to the client, without those of ours.
    pub(super) fn passed_on(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            !HOP_BY_HOP.contains(&name.as_str())
        })
    }

    /// The length that is announced, where there is no body to it.
    pub(super) fn announced_length(&self) -> Option<u64> {
        match announced(&self.fields) {
            Ok(Some(Body::Length(length))) => Some(length),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &str) -> Result<Option<Request>, HeadError> {
        read_request(&mut Reader::new(text.as_bytes())).await
    }

    #[tokio::test(flavor = "current_thread")]
    async fn bodies_have_one_length() {
        for (headers, expected) in [
            ("", Some(Body::Length(0))),
            ("Content-Length: 5\r\n", Some(Body::Length(5))),
            (
                "Content-Length: 5\r\nContent-Length: 5\r\n",
                Some(Body::Length(5)),
            ),
            ("Transfer-Encoding: Chunked\r\n", Some(Body::Chunked)),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", None),
            ("Content-Length: 5, 6\r\n", None),
            ("Content-Length: +5\r\n", None),
            ("Content-Length: -1\r\n", None),
            ("Content-Length: 0x5\r\n", None),
            ("Content-Length: 99999999999999999999\r\n", None),
            ("Content-Length:\r\n", None),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", None),
            ("Transfer-Encoding: gzip, chunked\r\n", None),
            (
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                None,
            ),
            ("Transfer-Encoding: xchunked\r\n", None),
        ] {
            let text = format!("POST http://a/ HTTP/1.1\r\n{headers}\r\n");
            let request = read(&text).await.unwrap().unwrap();
            assert_eq!(request.body().ok(), expected, "{headers:?}");
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn what_two_readers_would_read_differently_is_refused() {
        for text in [
            "GET / HTTP/1.1\r\nHost : evil\r\n\r\n",
            "GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
            "GET / HTTP/1.1\r\n\x00: b\r\n\r\n",
            "GET  / HTTP/2\r\n\r\n",
            "GET / HTTP/1.1\r\nA\rB: c\r\n\r\n",
        ] {
            assert!(read(text).await.is_err(), "{text:?}");
        }
        let long = format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(MOST_BYTES * 2));
        assert!(matches!(read(&long).await, Err(HeadError::TooLong)));
        assert!(read("").await.unwrap().is_none());
        assert!(read("GET / HT").await.is_err());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn what_is_between_neighbours_stays_there() {
        let text = "GET http://a/ HTTP/1.1\r\nHost: evil\r\nA: b\r\nX-Drop: c\r\n\
                    Connection: x-drop, close\r\nProxy-Authorization: Basic x\r\nUpgrade: h2c\r\n\r\n";
        let request = read(text).await.unwrap().unwrap();
        let passed: Vec<_> = request.passed_on().map(|(name, _)| name.as_str()).collect();
        assert_eq!(passed, ["A"]);
        assert!(!request.keeps_alive());
    }
}
