//! Where TLS ends: it is a host towards a client, and a client towards the host.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence_policy::host::Host;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

use super::authority::{Authority, AuthorityError};

/// Where systems keep the certificates that they trust.
const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Ends TLS on both sides.
#[derive(Debug)]
pub struct Terminator {
    authority: Authority,
    connector: Arc<ClientConfig>,
    /// What the machine trusts, as PEM.
    trusted: Vec<u8>,
}

impl Terminator {
    /// Makes one with an authority of its own. Hosts are trusted by the machine's certificates, or
    /// by those in a file.
    pub fn new(trusted: Option<&Path>) -> Result<Self, TerminatorError> {
        let path = match trusted {
            Some(path) => path.to_path_buf(),
            None => BUNDLES
                .iter()
                .map(PathBuf::from)
                .find(|path| path.is_file())
                .ok_or(TerminatorError::NoBundle)?,
        };
        let unusable = |reason| TerminatorError::Bundle {
            path: path.clone(),
            reason,
        };
        let trusted = std::fs::read(&path).map_err(unusable)?;
        let mut roots = RootCertStore::empty();
        let certificates = CertificateDer::pem_slice_iter(&trusted).filter_map(Result::ok);
        let (added, _) = roots.add_parsable_certificates(certificates);
        if added == 0 {
            return Err(unusable(io::Error::other("it holds no certificate")));
        }
        let mut connector = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(AuthorityError::from)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        connector.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            authority: Authority::new()?,
            connector: Arc::new(connector),
            trusted,
        })
    }

    /// What commands are to trust, as PEM: what the machine does, and the session's authority.
    pub fn bundle(&self) -> Vec<u8> {
        let own = self.authority.certificate().as_bytes();
        [&self.trusted, &b"\n"[..], own].concat()
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
        let name = match host {
            Host::Name(name) => {
                ServerName::try_from(name.as_str().to_owned()).map_err(io::Error::other)?
            }
            Host::Address(address) => ServerName::IpAddress((*address).into()),
        };
        TlsConnector::from(Arc::clone(&self.connector))
            .connect(name, stream)
            .await
    }
}

/// Why TLS cannot be ended here.
#[derive(Debug, thiserror::Error)]
pub enum TerminatorError {
    /// A certificate could not be made.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The machine's certificates were not found.
    #[error(
        "the certificates that this machine trusts were not found; name their file in SSL_CERT_FILE"
    )]
    NoBundle,
    /// They cannot be used.
    #[error("the certificates in {} cannot be used: {reason}", path.display())]
    Bundle {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
}
