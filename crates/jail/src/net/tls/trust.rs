//! Whom to trust: the certificates that the machine trusts, or those in a file that was named. They
//! are always checked; there is no way to ask for less.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence_policy::host::Host;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client};

/// Where systems keep the certificates that they trust.
const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Whom to trust as a client.
#[derive(Debug)]
pub struct Trust {
    connector: Arc<ClientConfig>,
    /// The certificates, as PEM.
    pem: Vec<u8>,
}

/// Why nobody can be trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
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
    /// The library cannot do what it is asked for.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

impl Trust {
    /// Trusts the machine's certificates, or those in a file.
    pub fn load(trusted: Option<&Path>) -> Result<Self, TrustError> {
        let path = match trusted {
            Some(path) => path.to_path_buf(),
            None => BUNDLES
                .iter()
                .map(PathBuf::from)
                .find(|path| path.is_file())
                .ok_or(TrustError::NoBundle)?,
        };
        let unusable = |reason| TrustError::Bundle {
            path: path.clone(),
            reason,
        };
        let pem = std::fs::read(&path).map_err(unusable)?;
        let mut roots = RootCertStore::empty();
        let certificates = CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok);
        let (added, _) = roots.add_parsable_certificates(certificates);
        if added == 0 {
            return Err(unusable(io::Error::other("it holds no certificate")));
        }
        let mut connector = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        connector.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            connector: Arc::new(connector),
            pem,
        })
    }

    /// The certificates, as PEM.
    pub(super) fn pem(&self) -> &[u8] {
        &self.pem
    }

    /// Is a client to a host, whose certificate has to be right.
    pub async fn connect(
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
