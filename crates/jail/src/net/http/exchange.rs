//! One request and its response, between a client and a host.

use std::io;
use std::pin::pin;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::Header;
use super::body::{Body, carry};
use super::head::{HeadError, Request, Response, read_response};
use super::reader::Reader;
use crate::net::gate::Traffic;

/// Whether the client may go on with another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Next {
    Request,
    End,
}

/// Whether the client has heard anything of a response that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Begun {
    Yes,
    No,
}

/// How a request is passed on.
#[derive(Debug)]
pub(in crate::net) struct ForwardedRequest<'a> {
    pub(in crate::net) request: &'a Request,
    /// What the host is asked for.
    pub(in crate::net) path: &'a str,
    /// What stands in the `Host` header, whatever the client put there.
    pub(in crate::net) host: String,
    pub(in crate::net) added: &'a [Header],
}

/// Passes a request on, and its response back. The host's connection serves for this alone.
pub(in crate::net) async fn exchange<CR, CW, HR, HW>(
    forwarded: &ForwardedRequest<'_>,
    client: (&mut Reader<CR>, &mut CW),
    host: (&mut Reader<HR>, &mut HW),
) -> Result<(Next, Traffic), (HeadError, Begun)>
where
    CR: AsyncRead + Unpin,
    CW: AsyncWrite + Unpin,
    HR: AsyncRead + Unpin,
    HW: AsyncWrite + Unpin,
{
    let ((client_reader, client_writer), (host_reader, host_writer)) = (client, host);
    let unheard = |error: io::Error| (HeadError::from(error), Begun::No);
    let body = forwarded
        .request
        .body()
        .map_err(|error| (error, Begun::No))?;
    let head = request_head(forwarded, body);
    host_writer.write_all(&head).await.map_err(unheard)?;
    host_writer.flush().await.map_err(unheard)?;
    let mut traffic = Traffic {
        sent: head.len() as u64,
        received: 0,
    };
    let mut request_body = pin!(carry(body, client_reader, host_writer));
    let mut response = pin!(respond(forwarded.request, host_reader, client_writer));
    let mut sent = None;
    let answered = loop {
        tokio::select! {
            biased;
            carried = &mut request_body, if sent.is_none() => sent = Some(carried),
            answered = &mut response => break answered?,
        }
    };
    traffic.received = answered.received;
    // A body that the host did not wait for is still on its way: nothing can follow it.
    let next = match &sent {
        Some(Ok(count)) => {
            traffic.sent += count;
            answered.next
        }
        _ => Next::End,
    };
    Ok((next, traffic))
}

fn request_head(forwarded: &ForwardedRequest<'_>, body: Body) -> Vec<u8> {
    let request = forwarded.request;
    let mut head = format!(
        "{} {} HTTP/1.{}\r\nHost: {}\r\n",
        request.method, forwarded.path, request.minor, forwarded.host
    )
    .into_bytes();
    let replaced = |name: &str| {
        let added = forwarded.added.iter();
        added
            .map(Header::name)
            .any(|own| own.eq_ignore_ascii_case(name))
    };
    for (name, value) in request.passed_on().filter(|(name, _)| !replaced(name)) {
        put(&mut head, name, value);
    }
    for header in forwarded.added {
        put(&mut head, &header.name, header.value.as_bytes());
    }
    let takes_a_body = !matches!(
        request.method.as_str(),
        "GET" | "HEAD" | "DELETE" | "OPTIONS"
    );
    match body {
        Body::Length(0) if !takes_a_body => {}
        Body::Length(length) => put(&mut head, "Content-Length", length.to_string().as_bytes()),
        Body::Chunked | Body::UntilTheEnd => put(&mut head, "Transfer-Encoding", b"chunked"),
    }
    put(&mut head, "Connection", b"close");
    head.extend_from_slice(b"\r\n");
    head
}

fn put(head: &mut Vec<u8>, name: &str, value: &[u8]) {
    head.extend_from_slice(name.as_bytes());
    head.extend_from_slice(b": ");
    head.extend_from_slice(value);
    head.extend_from_slice(b"\r\n");
}

struct Answered {
    next: Next,
    received: u64,
}

async fn respond<HR, CW>(
    request: &Request,
    host: &mut Reader<HR>,
    client: &mut CW,
) -> Result<Answered, (HeadError, Begun)>
where
    HR: AsyncRead + Unpin,
    CW: AsyncWrite + Unpin,
{
    let heard = |error: io::Error| (HeadError::from(error), Begun::Yes);
    let mut received = 0;
    loop {
        let (response, body) = read_answer(request, host).await.map_err(|error| {
            let begun = if received == 0 { Begun::No } else { Begun::Yes };
            (error, begun)
        })?;
        let interim = response.status < 200;
        let next = if request.keeps_alive() && body != Body::UntilTheEnd {
            Next::Request
        } else {
            Next::End
        };
        let head = response_head(&response, body, request, next, interim);
        client.write_all(&head).await.map_err(heard)?;
        received += head.len() as u64;
        if !interim {
            received += carry(body, host, client).await.map_err(heard)?;
        }
        client.flush().await.map_err(heard)?;
        if !interim {
            return Ok(Answered { next, received });
        }
    }
}

async fn read_answer<HR: AsyncRead + Unpin>(
    request: &Request,
    host: &mut Reader<HR>,
) -> Result<(Response, Body), HeadError> {
    let response = read_response(host).await?;
    // Nobody was asked to switch to another protocol.
    if response.status == 101 {
        let unasked = io::Error::new(io::ErrorKind::InvalidData, "an unasked upgrade");
        return Err(HeadError::Stream(unasked));
    }
    let body = response.body(&request.method)?;
    Ok((response, body))
}

fn response_head(
    response: &Response,
    body: Body,
    request: &Request,
    next: Next,
    interim: bool,
) -> Vec<u8> {
    let mut head = format!(
        "HTTP/1.{} {} {}\r\n",
        response.minor, response.status, response.reason
    )
    .into_bytes();
    for (name, value) in response.passed_on() {
        put(&mut head, name, value);
    }
    if !interim {
        let empty = request.method == "HEAD" || matches!(response.status, 204 | 304);
        match body {
            Body::Length(_) if empty => {
                if let Some(length) = response.announced_length() {
                    put(&mut head, "Content-Length", length.to_string().as_bytes());
                }
            }
            Body::Length(length) => {
                put(&mut head, "Content-Length", length.to_string().as_bytes());
            }
            Body::Chunked => put(&mut head, "Transfer-Encoding", b"chunked"),
            Body::UntilTheEnd => {}
        }
        let word: &[u8] = match next {
            Next::Request => b"keep-alive",
            Next::End => b"close",
        };
        put(&mut head, "Connection", word);
    }
    head.extend_from_slice(b"\r\n");
    head
}
