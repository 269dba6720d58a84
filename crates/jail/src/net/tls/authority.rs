//! A certificate authority of a session's own. Commands trust it; its key never leaves the
//! harness and goes with the session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use ringfence_policy::host::Host;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use thiserror::Error;

/// Why a certificate could not be made.
#[derive(Debug, Error)]
#[error("a certificate could not be made: {0}")]
pub struct AuthorityError(String);

impl From<rcgen::Error> for AuthorityError {
    fn from(error: rcgen::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<rustls::Error> for AuthorityError {
    fn from(error: rustls::Error) -> Self {
        Self(error.to_string())
    }
}

/// The most hosts whose certificates are kept.
const MOST: usize = 256;

/// A certificate authority.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
    made: Mutex<HashMap<Host, Arc<ServerConfig>>>,
}

impl Authority {
    /// Makes one.
    pub fn new() -> Result<Self, AuthorityError> {
        let mut params = CertificateParams::new(Vec::new())?;
        let name = "Ringfence session";
        params.distinguished_name.push(DnType::CommonName, name);
        // It signs certificates of hosts and no further authorities.
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.pem();
        Ok(Self {
            issuer: Issuer::new(params, key),
            certificate,
            made: Mutex::default(),
        })
    }

    /// Its certificate, as PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// How to be a host.
    pub(super) fn impersonate(&self, host: &Host) -> Result<Arc<ServerConfig>, AuthorityError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = made.get(host) {
            return Ok(Arc::clone(config));
        }
        if made.len() >= MOST {
            made.clear();
        }
        let config = Arc::new(self.issue(host)?);
        made.insert(host.clone(), Arc::clone(&config));
        Ok(config)
    }

    fn issue(&self, host: &Host) -> Result<ServerConfig, AuthorityError> {
        let mut params = CertificateParams::new(vec![host.to_string()])?;
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        // Requests are read one by one, as HTTP/1 has them.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Authority")
    }
}
