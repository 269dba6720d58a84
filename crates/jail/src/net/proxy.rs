//! The proxy: what a client inside says first, HTTP or SOCKS, and what is done about it.

use std::sync::Arc;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::time::timeout;

use super::gate::{ConnectionRefusal, ConnectionRequest, Gate};
use super::http::{self, Next, Reader, Request};
use super::requests::{self, PATIENCE};
use super::socks::{self, Answer, Asked};
use super::target::{Target, TargetError};
use super::tunnel::{ClientReader, Tunnel};
use super::upstream::Failure;

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
        Asked::Connect(target) => match Tunnel::open(&target, gate).await {
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
        let Some(request) = requests::next(&mut reader, &mut writer, gate).await else {
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
        let wanted = ConnectionRequest::Request {
            host: target.host.clone(),
            port: target.port,
        };
        match requests::forward(
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
    match Tunnel::open(&target, gate).await {
        Ok(tunnel) => {
            let agreed = b"HTTP/1.1 200 Connection established\r\n\r\n";
            if writer.write_all(agreed).await.is_ok() {
                tunnel.serve(reader, writer, gate).await;
            }
        }
        Err(failure) => requests::answer_failure(&failure, &mut writer, gate).await,
    }
}

fn odd(written: &str, error: &TargetError) -> ConnectionRefusal {
    let shown: String = written.chars().take(100).collect();
    ConnectionRefusal {
        code: "bad_host",
        subject: shown.escape_debug().to_string(),
        reason: error.to_string(),
        allow: None,
    }
}
