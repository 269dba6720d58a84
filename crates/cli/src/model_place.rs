//! From settings and the environment to a client of a model's API. Keys are read here and nowhere else, and go into a
//! `Secret` at once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use ringfence::config::{Config, ModelConfig};
use ringfence::dialect::provider::Provider;
use ringfence_model::client::Patient;
use ringfence_model::{Client, Endpoint, KeyHeader, Limits, Options, Retries, Secret, Waiting};

use crate::paint;

/// The version of Anthropic's API that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A model's API, and where it is.
pub(crate) struct ModelPlace {
    /// The API.
    pub(crate) provider: Provider,
    /// In the words of the configuration: `anthropic` or `openai`.
    pub(crate) word: &'static str,
    /// Where it is.
    pub(crate) url: String,
    /// A client of it.
    pub(crate) client: Client,
    /// The headers that it wants.
    pub(crate) headers: HeaderMap,
    /// Whether there is a key.
    pub(crate) has_key: bool,
}

/// The place that somebody asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// `anthropic`, `openai`, `openai-chat`, or the URL of a server that speaks Chat Completions, as most of them do.
    pub(crate) name: &'a str,
    /// Where its API is, if that is settled.
    pub(crate) url: Option<&'a str>,
    /// The variable that has the key, if it is not the configured one.
    pub(crate) key_env: Option<&'a str>,
}

/// Which variables of the SDKs say where an API is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SdkVariables {
    /// They count, where the configuration says nothing.
    Count,
    /// They do not: they lead clients to this very program.
    Ignored,
}

impl ModelPlace {
    /// The place that somebody asks for.
    pub(crate) fn find(
        wanted: Wanted<'_>,
        config: &Config,
        environment: &BTreeMap<String, String>,
        sdk: SdkVariables,
    ) -> Result<Self> {
        let Wanted { name, key_env, .. } = wanted;
        let model = &config.model;
        let default = Config::default().model;
        let from_sdk = |set: &str, usual: &str, variable: &str| {
            let other = environment
                .get(variable)
                .filter(|url| !url.trim().is_empty());
            match other {
                Some(url) if sdk == SdkVariables::Count && set == usual => url.clone(),
                _ => set.to_owned(),
            }
        };
        let openai = || from_sdk(&model.openai_url, &default.openai_url, "OPENAI_BASE_URL");
        let anthropic = || {
            let (set, usual) = (&model.anthropic_url, &default.anthropic_url);
            from_sdk(set, usual, "ANTHROPIC_BASE_URL")
        };
        let (provider, url) = match name {
            "anthropic" | "anthropic-messages" => (Provider::AnthropicMessages, anthropic()),
            "openai" | "openai-responses" => (Provider::OpenAiResponses, openai()),
            "openai-chat" => (Provider::OpenAiChat, openai()),
            url if url.contains("://") => (Provider::OpenAiChat, url.to_owned()),
            _ => bail!(
                "`{name}` is no provider: name anthropic, openai, openai-chat, or the URL of a server that speaks Chat \
                 Completions, such as http://localhost:11434/v1"
            ),
        };
        let url = wanted.url.map_or(url, str::to_owned);
        // A key is for the place that it was given for, and for no other.
        let is_known = !name.contains("://") || name == model.openai_url;
        let key = match provider {
            _ if key_env.is_some() => key(key_env.unwrap_or_default(), None, environment)?,
            _ if !is_known => None,
            Provider::AnthropicMessages => key(
                &model.anthropic_key_env,
                model.anthropic_key_file.as_deref(),
                environment,
            )?,
            _ => key(
                &model.openai_key_env,
                model.openai_key_file.as_deref(),
                environment,
            )?,
        };
        let has_key = key.is_some();
        let header = match provider {
            Provider::AnthropicMessages => KeyHeader::XApiKey,
            _ => KeyHeader::Bearer,
        };
        let endpoint = Endpoint::new(&url)?.with_key(header, key);
        let trusted = environment.get("SSL_CERT_FILE").map(Into::into);
        let mut headers = HeaderMap::new();
        if provider == Provider::AnthropicMessages {
            headers.insert(
                HeaderName::from_static("anthropic-version"),
                HeaderValue::from_static(ANTHROPIC_VERSION),
            );
        }
        Ok(Self {
            provider,
            word: match provider {
                Provider::AnthropicMessages => "anthropic",
                _ => "openai",
            },
            url,
            client: Client::new(
                endpoint,
                Options {
                    trusted,
                    ..options(model)
                },
            ),
            headers,
            has_key,
        })
    }
}

/// A key: of its variable, or of its file.
fn key(
    variable: &str,
    file: Option<&Path>,
    environment: &BTreeMap<String, String>,
) -> Result<Option<Secret>> {
    if let Some(key) = environment
        .get(variable)
        .and_then(|key| Secret::new(key.as_str()))
    {
        return Ok(Some(key));
    }
    let Some(file) = file else { return Ok(None) };
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("the key in {} cannot be read", file.display()))?;
    Ok(Secret::new(text))
}

fn options(model: &ModelConfig) -> Options {
    let told: Patient = Arc::new(|waiting: &Waiting| {
        let Waiting {
            why,
            wait,
            next_try,
            most_tries,
        } = waiting;
        let seconds = wait.as_secs_f64();
        paint::remark(&format!(
            "{why}; try {next_try} of {most_tries} follows in {seconds:.1} s"
        ));
    });
    Options {
        limits: Limits {
            answer: model.answer_timeout,
            silence: model.silence_timeout,
            ..Limits::default()
        },
        retries: Retries {
            most: u32::try_from(model.max_retries).unwrap_or(u32::MAX),
            longest_asked: model.max_retry_after,
            ..Retries::default()
        },
        told: Some(told),
        trusted: None,
    }
}
