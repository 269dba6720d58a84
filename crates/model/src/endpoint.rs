//! Where an API is, and how a request shows its key there.

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use ringfence_jail::net::{Url, UrlError};

use crate::error::ModelError;
use crate::secret::Secret;

/// The header that a key is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyHeader {
    /// `authorization: Bearer …`
    Bearer,
    /// `x-api-key: …`, as Anthropic has it
    XApiKey,
}

/// A place where an API is served, and the key that is shown there.
#[derive(Debug, Clone)]
pub struct Endpoint {
    base: Url,
    key: Option<(KeyHeader, Secret)>,
}

impl Endpoint {
    /// The endpoint below an address, such as `https://api.example/v1`.
    pub fn new(base: &str) -> Result<Self, ModelError> {
        let base = base.trim().trim_end_matches('/');
        let unusable = |reason: UrlError| ModelError::BaseUrl {
            // An address may hold a password, which is why it would be refused.
            reason: reason.to_string(),
        };
        Ok(Self {
            base: Url::parse(base).map_err(unusable)?,
            key: None,
        })
    }

    /// With a key.
    pub fn with_key(mut self, header: KeyHeader, key: Option<Secret>) -> Self {
        self.key = key.map(|key| (header, key));
        self
    }

    /// Where it is, for people. A query may be a secret and is left out.
    pub fn place(&self) -> String {
        self.base.authority()
    }

    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// The path of a resource, such as `/v1/messages`. People write base URLs as the SDKs want them: `OpenAI`'s
    /// with the version in it, Anthropic's without. Both are understood, and so is the whole address.
    pub(crate) fn path(&self, resource: &str) -> String {
        let (path, query) = split(self.base.path());
        let (resource, own) = split(resource);
        let path = path.trim_end_matches('/');
        let bare = resource.strip_prefix("/v1").unwrap_or(resource);
        let has_version =
            path.ends_with("/v1") || !path.is_empty() && !bare.starts_with("/messages");
        let mut whole = if path.ends_with(bare) {
            path.to_owned()
        } else if has_version {
            format!("{path}{bare}")
        } else {
            format!("{path}{resource}")
        };
        let queries: Vec<&str> = query.into_iter().chain(own).collect();
        if !queries.is_empty() {
            whole.push('?');
            whole.push_str(&queries.join("&"));
        }
        whole
    }

    /// Adds the key to a request's headers, in the place of any other.
    pub(crate) fn authorise(&self, headers: &mut HeaderMap) -> Result<(), ModelError> {
        let Some((header, key)) = &self.key else {
            return Ok(());
        };
        let (name, word) = match header {
            KeyHeader::Bearer => (HeaderName::from_static("authorization"), "Bearer "),
            KeyHeader::XApiKey => (HeaderName::from_static("x-api-key"), ""),
        };
        let value: HeaderValue = key.header(word).ok_or(ModelError::Key)?;
        headers.insert(name, value);
        Ok(())
    }

    /// A text without the key.
    pub fn mask(&self, text: &str) -> String {
        match &self.key {
            Some((_, key)) => key.mask(text),
            None => text.to_owned(),
        }
    }
}

fn split(path: &str) -> (&str, Option<&str>) {
    path.split_once('?')
        .map_or((path, None), |(path, query)| (path, Some(query)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_found_below_an_address() {
        for (base, resource, expected) in [
            ("http://a.example", "/v1/messages", "/v1/messages"),
            (
                "http://a.example/v1",
                "/v1/messages?beta=true",
                "/v1/messages?beta=true",
            ),
            (
                "http://a.example/anthropic",
                "/v1/messages",
                "/anthropic/v1/messages",
            ),
            ("http://a.example/v1/", "/v1/responses", "/v1/responses"),
            (
                "http://a.example/",
                "/v1/chat/completions",
                "/v1/chat/completions",
            ),
            (
                "http://a.example/v1beta/openai",
                "/v1/responses",
                "/v1beta/openai/responses",
            ),
            (
                "http://a.example/v1/responses",
                "/v1/responses",
                "/v1/responses",
            ),
            (
                "http://a.example/x?v=2",
                "/v1/models?a=1",
                "/x/models?v=2&a=1",
            ),
        ] {
            let endpoint = Endpoint::new(base).unwrap();
            assert_eq!(endpoint.path(resource), expected, "{base} {resource}");
        }
        for base in ["a.example", "ftp://a.example", "http://u:p@a.example"] {
            let error = Endpoint::new(base).unwrap_err().to_string();
            assert!(!error.contains("u:p"), "{error}");
        }
    }
}
