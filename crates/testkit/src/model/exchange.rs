//! One HTTP request read, and its answer written as the script has it, faults included.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use super::script::Answer;
use super::wire::{self, Api, Words};

/// A request that was received.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body, if it is JSON; null if not.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The API that it speaks.
    pub fn api(&self) -> Option<Api> {
        Api::at(&self.path)
    }

    /// The words that its answer is in.
    pub(super) fn words(&self) -> Option<Words> {
        Words::at(&self.path)
    }

    /// Reads one; none if the other side has nothing more to ask.
    pub(super) fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, path) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Self {
            method,
            path,
            headers,
            body: String::new(),
        };
        if request.header("expect").is_some() {
            stream
                .get_mut()
                .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let body = if request.header("transfer-encoding").is_some() {
            read_chunks(stream)?
        } else {
            let length = request
                .header("content-length")
                .and_then(|value| value.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            stream.read_exact(&mut body)?;
            body
        };
        request.body = String::from_utf8_lossy(&body).into_owned();
        Ok(Some(request))
    }
}

fn read_chunks(stream: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let digits = line.trim().split(';').next().unwrap_or_default();
        let length = usize::from_str_radix(digits, 16).map_err(io::Error::other)?;
        let begin = body.len();
        body.resize(begin + length, 0);
        stream.read_exact(&mut body[begin..])?;
        stream.read_line(&mut String::new())?;
        if length == 0 {
            return Ok(body);
        }
    }
}

/// What becomes of a connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// It serves for another request.
    Stays,
    /// It ends.
    Ends,
}

/// Writes an answer.
pub(super) fn answer(
    stream: &mut BufReader<TcpStream>,
    request: &Request,
    answer: &Answer,
    number: usize,
) -> io::Result<After> {
    std::thread::sleep(Duration::from_millis(answer.delay_ms));
    if answer.hang_up {
        return Ok(After::Ends);
    }
    let json = request.json();
    let words = request.words();
    let is_stream = words.is_some_and(|words| words.wants_stream(&json)) != answer.contrary;
    let status = answer.status.unwrap_or(200);
    let as_events = is_stream && status == 200 && answer.raw.is_none();
    let pieces = if as_events {
        frames(words, answer, &json, number)
    } else {
        vec![body(words, answer, &json, number, status)]
    };
    let kind = if as_events {
        "text/event-stream; charset=utf-8"
    } else {
        "application/json"
    };
    let mut head = format!("HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\n");
    if let Some(wait) = &answer.retry_after {
        let _ = write!(head, "retry-after: {wait}\r\n");
    }
    for (name, value) in &answer.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let out = stream.get_mut();
    out.write_all(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes())?;
    if write_body(out, &pieces, answer)? == After::Ends {
        return Ok(After::Ends);
    }
    out.write_all(b"0\r\n\r\n")?;
    Ok(After::Stays)
}

/// The body of an answer that is no stream.
fn body(
    words: Option<Words>,
    answer: &Answer,
    request: &Value,
    number: usize,
    status: u16,
) -> Vec<u8> {
    match (&answer.raw, words) {
        (Some(Value::String(text)), _) => text.clone().into_bytes(),
        (Some(value), _) => value.to_string().into_bytes(),
        (None, Some(words)) if status == 200 => wire::whole(words, answer, request, number)
            .to_string()
            .into_bytes(),
        (None, _) => wire::error(words, status, "as the script says")
            .to_string()
            .into_bytes(),
    }
}

/// The events of a stream, as they are written.
fn frames(words: Option<Words>, answer: &Answer, request: &Value, number: usize) -> Vec<Vec<u8>> {
    let events = match (&answer.events, words) {
        (Some(raw), _) => raw
            .iter()
            .map(|data| wire::Event {
                name: data["type"].as_str().map(str::to_owned),
                data: data
                    .as_str()
                    .map_or_else(|| data.to_string(), str::to_owned),
            })
            .collect(),
        (None, Some(words)) => wire::events(words, answer, request, number),
        (None, None) => Vec::new(),
    };
    let mut frames = Vec::new();
    for event in events {
        if answer.keep_alives {
            frames.push(b": keep-alive\n\n".to_vec());
            if words == Some(Words::Of(Api::Messages)) {
                frames.push(b"event: ping\ndata: {\"type\": \"ping\"}\n\n".to_vec());
            }
        }
        let name = event.name.map(|name| format!("event: {name}\n"));
        let name = name.unwrap_or_default();
        frames.push(format!("{name}data: {}\n\n", event.data).into_bytes());
    }
    frames
}

/// Writes pieces, until the byte at which the script has them end.
fn write_body(out: &mut TcpStream, pieces: &[Vec<u8>], answer: &Answer) -> io::Result<After> {
    let end = answer
        .cut_after
        .or(answer.stall_after)
        .unwrap_or(usize::MAX);
    let mut written = 0;
    for piece in pieces {
        for part in piece.chunks(answer.chunk.unwrap_or(piece.len()).max(1)) {
            let part = &part[..part.len().min(end - written)];
            if !part.is_empty() {
                // One write for each, so that none waits for the other side's word on the last one.
                let mut chunk = format!("{:x}\r\n", part.len()).into_bytes();
                chunk.extend_from_slice(part);
                chunk.extend_from_slice(b"\r\n");
                out.write_all(&chunk)?;
            }
            written += part.len();
            if written >= end {
                if answer.cut_after.is_none() {
                    wait_for_end(out);
                }
                return Ok(After::Ends);
            }
        }
        if answer.pace_ms > 0 {
            std::thread::sleep(Duration::from_millis(answer.pace_ms));
        }
    }
    Ok(After::Stays)
}

/// Says nothing more until the other side is gone.
fn wait_for_end(stream: &mut TcpStream) {
    let mut some = [0; 256];
    while matches!(stream.read(&mut some), Ok(many) if many > 0) {}
}
