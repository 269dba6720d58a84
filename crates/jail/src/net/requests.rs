//! The requests of a client, read one by one; each is judged and passed on over a connection of its
//! own.

use std::time::Duration;

use ringfence_policy::host::{Host, Protocol};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::gate::{ConnectionRefusal, ConnectionRequest, Gate, Traffic};
use super::http::{self, Begun, ForwardedRequest, HeadError, Next, Reader, Request};
use super::target::Target;
use super::upstream::{self, Failure};

/// How long a client may take to say what it wants.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// The next request, if there is one that can be read.
pub(super) async fn next<R, W>(
    reader: &mut Reader<R>,
    writer: &mut W,
    gate: &dyn Gate,
) -> Option<Request>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let read = timeout(PATIENCE, http::read_request(reader)).await.ok()?;
    let checked = read.and_then(|request| match request {
        Some(request) => request.body().map(|_| Some(request)),
        None => Ok(None),
    });
    match checked {
        Ok(request) => request,
        Err(HeadError::Stream(_)) => None,
        Err(error) => {
            let refusal = ConnectionRefusal {
                code: "bad_request",
                subject: "a request".to_owned(),
                reason: error.to_string(),
                allow: None,
            };
            gate.refused(&refusal);
            let _ = http::refuse(writer, 400, &refusal).await;
            None
        }
    }
}

/// Passes one request on over a connection of its own.
pub(super) async fn forward<R, W>(
    request: &Request,
    path: &str,
    target: &Target,
    wanted: ConnectionRequest,
    reader: &mut Reader<R>,
    writer: &mut W,
    gate: &dyn Gate,
) -> Next
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (connect, stream) = match upstream::admitted(wanted, gate).await {
        Ok(connect) => match upstream::connect(&connect, gate).await {
            Ok(stream) => (connect, stream),
            Err(failure) => {
                answer_failure(&failure, writer, gate).await;
                return Next::End;
            }
        },
        Err(failure) => {
            answer_failure(&failure, writer, gate).await;
            return Next::End;
        }
    };
    let added = gate.headers(&connect);
    let clear = connect.protocol != Protocol::Https;
    let forwarded = ForwardedRequest {
        request,
        path,
        host: target.written(if clear { 80 } else { 443 }),
        added: &added,
    };
    let passed = match gate.terminator() {
        Some(terminator) if !clear => match terminator.connect(&target.host, stream).await {
            Ok(stream) => pass(&forwarded, (reader, writer), stream).await,
            Err(error) => Err((HeadError::Stream(error), Begun::No)),
        },
        _ => pass(&forwarded, (reader, writer), stream).await,
    };
    match passed {
        Ok((next, traffic)) => {
            gate.ended(&connect, traffic);
            next
        }
        Err((error, begun)) => {
            gate.ended(&connect, Traffic::default());
            if begun == Begun::No {
                let failed = ConnectionRefusal {
                    code: "bad_response",
                    subject: target.to_string(),
                    reason: format!("the host's answer cannot be passed on: {error}"),
                    allow: None,
                };
                let _ = http::refuse(writer, 502, &failed).await;
            }
            Next::End
        }
    }
}

/// Passes a request on over a stream, and its response back.
async fn pass<R, W, S>(
    forwarded: &ForwardedRequest<'_>,
    client: (&mut Reader<R>, &mut W),
    stream: S,
) -> Result<(Next, Traffic), (HeadError, Begun)>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    S: AsyncRead + AsyncWrite,
{
    let (reader, mut writer) = tokio::io::split(stream);
    let mut reader = Reader::new(reader);
    http::exchange(forwarded, client, (&mut reader, &mut writer)).await
}

/// Serves requests of a client that has asked for one host: they can be for no other.
pub(super) async fn serve_one_host<R, W>(
    target: &Target,
    wanted: impl Fn(Host, u16) -> ConnectionRequest,
    reader: &mut Reader<R>,
    writer: &mut W,
    gate: &dyn Gate,
) where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    while let Some(request) = next(reader, writer, gate).await {
        if let Err(reason) = is_for(&request, target) {
            let refusal = ConnectionRefusal {
                code: "other_host",
                subject: target.to_string(),
                reason,
                allow: None,
            };
            gate.refused(&refusal);
            let _ = http::refuse(writer, 421, &refusal).await;
            return;
        }
        let uri = request.uri.clone();
        let wanted = wanted(target.host.clone(), target.port);
        match forward(&request, &uri, target, wanted, reader, writer, gate).await {
            Next::Request => {}
            Next::End => return,
        }
    }
}

/// Whether a request is for this host and nothing behind it.
fn is_for(request: &Request, target: &Target) -> Result<(), String> {
    let plain = request.uri.starts_with('/') || request.uri == "*";
    if request.method == "CONNECT" || !plain {
        return Err("a request to a proxy behind the host is not passed on".to_owned());
    }
    let [named] = &request.hosts()[..] else {
        return Err("the request must name one host".to_owned());
    };
    match Target::parse(named, Some(target.port)) {
        Ok(named) if named == *target => Ok(()),
        _ => Err(format!(
            "the connection was for it, but the request is for `{}`",
            named.escape_debug()
        )),
    }
}

/// Tells a client why it gets no answer.
pub(super) async fn answer_failure<W: AsyncWrite + Unpin>(
    failure: &Failure,
    writer: &mut W,
    gate: &dyn Gate,
) {
    if let Failure::Refused(refusal) = failure {
        gate.refused(refusal);
    }
    let _ = http::refuse(writer, failure.status(), failure.refusal()).await;
}
