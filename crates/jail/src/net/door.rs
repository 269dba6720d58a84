//! The door: what a client inside says first, and what is done about it.

use std::sync::Arc;
use std::time::Duration;

use ringfence_policy::action::Connect;
use ringfence_policy::host::{Host, Protocol};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use super::gate::{Gate, Refusal, Traffic, Wanted};
use super::http::{self, Begun, HeadError, Next, Passage, Reader, Request};
use super::socks::{self, Answer, Asked};
use super::target::{Target, TargetError};
use super::tls::{self, Terminator};
use super::tunnel::{self, Side};
use super::upstream::{self, Failure};

/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_mins(1);

type ClientReader = Reader<OwnedReadHalf>;

/// Serves one connection to its end.
pub(super) async fn serve(client: TcpStream, gate: Arc<dyn Gate>) {
    let _ = client.set_nodelay(true);
    let (reader, writer) = client.into_split();
    let mut reader = Reader::new(reader);
    let first = match timeout(PATIENCE, reader.some()).await {
        Ok(Ok([first, ..])) => *first,
        _ => return,
    };
    if first == socks::VERSION {
        by_socks(reader, writer, gate.as_ref()).await;
    } else {
        by_http(reader, writer, gate.as_ref()).await;
    }
}

async fn by_socks(mut reader: ClientReader, mut writer: OwnedWriteHalf, gate: &dyn Gate) {
    let Ok(Ok(asked)) = timeout(PATIENCE, socks::listen(&mut reader, &mut writer)).await else {
        return;
    };
    let answer = match asked {
        Asked::Connect(target) => match open_tunnel(&target, gate).await {
            Ok(tunnel) => {
                if socks::answer(&mut writer, Answer::Succeeded).await.is_ok() {
                    tunnel.serve(reader, writer, gate).await;
                }
                return;
            }
            Err(Failure::Refused(refusal)) => {
                gate.refused(&refusal);
                Answer::NotAllowed
            }
            Err(Failure::Unreachable(_)) => Answer::HostUnreachable,
        },
        Asked::Odd(error) => {
            gate.refused(&odd("a SOCKS request", &error));
            Answer::NotAllowed
        }
        Asked::NotOffered(answer) => answer,
    };
    let _ = socks::answer(&mut writer, answer).await;
    let _ = writer.shutdown().await;
}

async fn by_http(mut reader: ClientReader, mut writer: OwnedWriteHalf, gate: &dyn Gate) {
    loop {
        let Some(request) = next_request(&mut reader, &mut writer, gate).await else {
            return;
        };
        if request.method == "CONNECT" {
            return by_connect(&request, reader, writer, gate).await;
        }
        let (target, path) = match Target::of_request(&request.uri) {
            Ok(found) => found,
            Err(error) => {
                let refusal = odd(&request.uri, &error);
                gate.refused(&refusal);
                let _ = http::refuse(&mut writer, 400, &refusal).await;
                return;
            }
        };
        let wanted = Wanted::Request {
            host: target.host.clone(),
            port: target.port,
        };
        match forward(
            &request,
            &path,
            &target,
            wanted,
            &mut reader,
            &mut writer,
            gate,
        )
        .await
        {
            Next::Request => {}
            Next::End => return,
        }
    }
}

/// The next request, if there is one that can be read.
async fn next_request<R, W>(
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
            let refusal = Refusal {
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

async fn by_connect(
    request: &Request,
    reader: ClientReader,
    mut writer: OwnedWriteHalf,
    gate: &dyn Gate,
) {
    let target = match Target::parse(&request.uri, None) {
        Ok(target) => target,
        Err(error) => {
            let refusal = odd(&request.uri, &error);
            gate.refused(&refusal);
            let _ = http::refuse(&mut writer, 400, &refusal).await;
            return;
        }
    };
    match open_tunnel(&target, gate).await {
        Ok(tunnel) => {
            let agreed = b"HTTP/1.1 200 Connection established\r\n\r\n";
            if writer.write_all(agreed).await.is_ok() {
                tunnel.serve(reader, writer, gate).await;
            }
        }
        Err(failure) => answer_failure(&failure, &mut writer, gate).await,
    }
}

async fn answer_failure<W: AsyncWrite + Unpin>(failure: &Failure, writer: &mut W, gate: &dyn Gate) {
    if let Failure::Refused(refusal) = failure {
        gate.refused(refusal);
    }
    let _ = http::refuse(writer, failure.status(), failure.refusal()).await;
}

/// Passes one request on over a connection of its own.
async fn forward<R, W>(
    request: &Request,
    path: &str,
    target: &Target,
    wanted: Wanted,
    reader: &mut Reader<R>,
    writer: &mut W,
    gate: &dyn Gate,
) -> Next
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (connect, stream) = match admitted(wanted, gate).await {
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
    let passage = Passage {
        request,
        path,
        host: target.written(if clear { 80 } else { 443 }),
        added: &added,
    };
    let passed = match gate.terminator() {
        Some(terminator) if !clear => match terminator.connect(&target.host, stream).await {
            Ok(stream) => pass(&passage, (reader, writer), stream).await,
            Err(error) => Err((HeadError::Stream(error), Begun::No)),
        },
        _ => pass(&passage, (reader, writer), stream).await,
    };
    match passed {
        Ok((next, traffic)) => {
            gate.ended(&connect, traffic);
            next
        }
        Err((error, begun)) => {
            gate.ended(&connect, Traffic::default());
            if begun == Begun::No {
                let failed = Refusal {
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
    passage: &Passage<'_>,
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
    http::exchange(passage, client, (&mut reader, &mut writer)).await
}

async fn admitted(wanted: Wanted, gate: &dyn Gate) -> Result<Connect, Failure> {
    let permit = gate.admit(wanted).await.map_err(Failure::Refused)?;
    upstream::redeem(permit)
}

fn odd(written: &str, error: &TargetError) -> Refusal {
    let shown: String = written.chars().take(100).collect();
    Refusal {
        code: "bad_host",
        subject: shown.escape_debug().to_string(),
        reason: error.to_string(),
        allow: None,
    }
}

/// A connection that stands on the far side.
struct Tunnel {
    connect: Connect,
    target: Target,
    far: TcpStream,
}

/// Judges and makes the far side of a tunnel.
async fn open_tunnel(target: &Target, gate: &dyn Gate) -> Result<Tunnel, Failure> {
    let connect = admitted(
        Wanted::Tunnel {
            host: target.host.clone(),
            port: target.port,
        },
        gate,
    )
    .await?;
    let far = upstream::connect(&connect, gate).await?;
    Ok(Tunnel {
        connect,
        target: target.clone(),
        far,
    })
}

impl Tunnel {
    /// Looks at what comes first, unless anything is allowed, and carries what may be carried.
    async fn serve(self, mut reader: ClientReader, mut writer: OwnedWriteHalf, gate: &dyn Gate) {
        if self.connect.protocol == Protocol::Tcp {
            return self.carry(reader, writer, gate).await;
        }
        let first = match timeout(PATIENCE, reader.some()).await {
            Ok(Ok([first, ..])) => *first,
            _ => return,
        };
        if first != tls::HANDSHAKE {
            let Self { target, far, .. } = self;
            drop(far);
            if !may_be_http(reader.held()) {
                gate.refused(&Refusal {
                    code: "not_the_web",
                    subject: target.to_string(),
                    reason: "what the client says is neither HTTP nor TLS".to_owned(),
                    allow: Some(format!("a rule for {target} with `protocol = \"tcp\"`")),
                });
                return;
            }
            let request = |host, port| Wanted::Request { host, port };
            return requests_to(&target, request, &mut reader, &mut writer, gate).await;
        }
        if let Err(refusal) = self.check_hello(&mut reader, gate).await {
            gate.refused(&refusal);
            return;
        }
        let inside = Connect {
            protocol: Protocol::Https,
            ..self.connect.clone()
        };
        match gate.terminator() {
            Some(terminator) if !gate.headers(&inside).is_empty() => {
                let Self { target, far, .. } = self;
                drop(far);
                terminate(&target, terminator, reader, writer, gate).await;
            }
            _ => self.carry(reader, writer, gate).await,
        }
    }

    /// Whether the client speaks TLS, and to the host that it was let through for.
    async fn check_hello(&self, reader: &mut ClientReader, gate: &dyn Gate) -> Result<(), Refusal> {
        let refusal = |code, reason: String| Refusal {
            code,
            subject: self.target.to_string(),
            reason,
            allow: None,
        };
        let hello = match timeout(PATIENCE, tls::read_hello(reader)).await {
            Ok(Ok(hello)) => hello,
            Ok(Err(error)) => return Err(refusal("not_tls", error.to_string())),
            Err(_) => return Err(refusal("not_tls", "the client said nothing".to_owned())),
        };
        if let Some(name) = hello.name
            && Host::parse(&name).ok().as_ref() != Some(&self.target.host)
        {
            let shown = name.escape_debug();
            let reason = format!("the connection was for it, but TLS asks for `{shown}`");
            return Err(refusal("other_host", reason));
        }
        if self.connect.protocol != Protocol::Https {
            let wanted = Wanted::Tls {
                host: self.target.host.clone(),
                port: self.target.port,
            };
            gate.admit(wanted).await.map(drop)?;
        }
        Ok(())
    }

    async fn carry(self, reader: ClientReader, writer: OwnedWriteHalf, gate: &dyn Gate) {
        let (reader, held) = reader.into_parts();
        let inside = Side {
            reader,
            held,
            writer,
        };
        let (reader, writer) = self.far.into_split();
        let outside = Side {
            reader,
            held: Vec::new(),
            writer,
        };
        let traffic = tunnel::carry(inside, outside).await;
        gate.ended(&self.connect, traffic);
    }
}

/// Whether a request may begin like this: what is not one is refused at its first word.
fn may_be_http(bytes: &[u8]) -> bool {
    let word = bytes.split(|byte| *byte == b' ').next().unwrap_or_default();
    word.len() <= 32
        && word
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || *byte == b'-')
}

/// Ends a client's TLS here, and serves what it asks inside.
async fn terminate(
    target: &Target,
    terminator: &Terminator,
    reader: ClientReader,
    writer: OwnedWriteHalf,
    gate: &dyn Gate,
) {
    let (reader, held) = reader.into_parts();
    let whole = tokio::io::join(std::io::Cursor::new(held).chain(reader), writer);
    // A client that does not trust the session's certificates goes away by itself.
    if let Ok(Ok(stream)) = timeout(PATIENCE, terminator.accept(&target.host, whole)).await {
        let (reader, mut writer) = tokio::io::split(stream);
        let mut reader = Reader::new(reader);
        let tls = |host, port| Wanted::Tls { host, port };
        requests_to(target, tls, &mut reader, &mut writer, gate).await;
        let _ = writer.shutdown().await;
    }
}

/// Serves requests of a client that has asked for one host: they can be for no other.
async fn requests_to<R, W>(
    target: &Target,
    wanted: impl Fn(Host, u16) -> Wanted,
    reader: &mut Reader<R>,
    writer: &mut W,
    gate: &dyn Gate,
) where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    while let Some(request) = next_request(reader, writer, gate).await {
        if let Err(reason) = is_for(&request, target) {
            let refusal = Refusal {
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
