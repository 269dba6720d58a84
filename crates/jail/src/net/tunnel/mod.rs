//! A tunnel: a connection to one host whose bytes are the client's own affair, as far as they are
//! what they were let through for.

mod relay;

use ringfence_policy::action::Connect;
use ringfence_policy::host::{Host, Protocol};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use super::gate::{ConnectionRefusal, ConnectionRequest, Gate};
use super::http::Reader;
use super::requests::{self, PATIENCE};
use super::target::Target;
use super::tls::{self, Terminator};
use super::upstream::{self, Failure};
use relay::Side;

pub(super) type ClientReader = Reader<OwnedReadHalf>;

/// A connection that stands on the far side.
pub(super) struct Tunnel {
    connect: Connect,
    target: Target,
    far: TcpStream,
}

impl Tunnel {
    /// Judges and makes the far side of a tunnel.
    pub(super) async fn open(target: &Target, gate: &dyn Gate) -> Result<Self, Failure> {
        let connect = upstream::admitted(
            ConnectionRequest::Tunnel {
                host: target.host.clone(),
                port: target.port,
            },
            gate,
        )
        .await?;
        let far = upstream::connect(&connect, gate).await?;
        Ok(Self {
            connect,
            target: target.clone(),
            far,
        })
    }

    /// Looks at what comes first, unless anything is allowed, and carries what may be carried.
    pub(super) async fn serve(
        self,
        mut reader: ClientReader,
        mut writer: OwnedWriteHalf,
        gate: &dyn Gate,
    ) {
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
                gate.refused(&ConnectionRefusal {
                    code: "not_the_web",
                    subject: target.to_string(),
                    reason: "what the client says is neither HTTP nor TLS".to_owned(),
                    allow: Some(format!("a rule for {target} with `protocol = \"tcp\"`")),
                });
                return;
            }
            let request = |host, port| ConnectionRequest::Request { host, port };
            return requests::serve_one_host(&target, request, &mut reader, &mut writer, gate)
                .await;
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
    async fn check_hello(
        &self,
        reader: &mut ClientReader,
        gate: &dyn Gate,
    ) -> Result<(), ConnectionRefusal> {
        let refusal = |code, reason: String| ConnectionRefusal {
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
            let wanted = ConnectionRequest::Tls {
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
        let traffic = relay::carry(inside, outside).await;
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
        let tls = |host, port| ConnectionRequest::Tls { host, port };
        requests::serve_one_host(target, tls, &mut reader, &mut writer, gate).await;
        let _ = writer.shutdown().await;
    }
}
