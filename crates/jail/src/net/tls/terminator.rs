//! Where TLS ends: it is a host towards a client, and a client towards the host.

use std::io;
use std::path::Path;

use ringfence_policy::host::Host;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, client, server};

use super::authority::{Authority, AuthorityError};
use super::trust::{Trust, TrustError};

/// Ends TLS on both sides.
#[derive(Debug)]
pub struct Terminator {
    authority: Authority,
    trust: Trust,
}

impl Terminator {
    /// Makes one with an authority of its own. Hosts are trusted by the machine's certificates, or
    /// by those in a file.
    pub fn new(trusted: Option<&Path>) -> Result<Self, TerminatorError> {
        Ok(Self {
            authority: Authority::new()?,
            trust: Trust::load(trusted)?,
        })
    }

    /// What commands are to trust, as PEM: what the machine does, and the session's authority.
    pub fn bundle(&self) -> Vec<u8> {
        let own = self.authority.certificate().as_bytes();
        [self.trust.pem(), b"\n", own].concat()
    }

    /// Is a host to a client.
    pub(in crate::net) async fn accept<S>(
        &self,
        host: &Host,
        stream: S,
    ) -> io::Result<server::TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let config = self.authority.impersonate(host).map_err(io::Error::other)?;
        TlsAcceptor::from(config).accept(stream).await
    }

    /// Is a client to a host, whose certificate has to be right.
    pub(in crate::net) async fn connect(
        &self,
        host: &Host,
        stream: TcpStream,
    ) -> io::Result<client::TlsStream<TcpStream>> {
        self.trust.connect(host, stream).await
    }
}

/// Why TLS cannot be ended here.
#[derive(Debug, thiserror::Error)]
pub enum TerminatorError {
    /// A certificate could not be made.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The hosts' own certificates cannot be checked.
    #[error(transparent)]
    Trust(#[from] TrustError),
}
