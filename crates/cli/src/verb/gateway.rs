//! `ringfence gateway`: the APIs of models, with the scripts in their answers run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use ringfence::Cancel;
use ringfence::config::Config;
use ringfence_gateway::{Gateway, Limits, Token, Upstream, Upstreams};
use serde_json::json;

use super::run::FirstInterrupt;
use super::script;
use crate::arguments::Common;
use crate::model_place::{ModelPlace, SdkVariables, Wanted};
use crate::opening::{self, Caller};
use crate::own_secrets::OwnSecrets;
use crate::{paint, telemetry, workspace};

/// Arguments of `gateway`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence gateway
  OPENAI_BASE_URL=http://127.0.0.1:8787/v1 some-agent
  ANTHROPIC_BASE_URL=http://127.0.0.1:8787 some-agent
  ringfence gateway --openai-url http://localhost:11434/v1
  GATEWAY_TOKEN=… ringfence gateway --listen 0.0.0.0:8787 --token-env GATEWAY_TOKEN

Clients speak OpenAI's Responses or Chat Completions, or Anthropic's Messages, streamed or whole, and get scripts by
changing their base URL. Scripts that come back are run in the fence, in this folder; what came of them goes to
the model and into the answer. Calls of the client's own tools are handed to it and not run here. A request may
say `x-ringfence-mode: disabled`, `dry-run` or `enabled`. Questions are asked on this terminal. See docs/gateway.md.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Where to listen; 127.0.0.1:8787 unless configured. Port 0 is any that is free
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The variable that has the token which clients have to show, as their API key
    #[arg(long, value_name = "NAME")]
    token_env: Option<String>,
    /// A file with the token which clients have to show, as their API key
    #[arg(long, value_name = "PATH", conflicts_with = "token_env")]
    token_file: Option<PathBuf>,
    /// Where OpenAI's API is, or another server that speaks it
    #[arg(long, value_name = "URL")]
    openai_url: Option<String>,
    /// Where Anthropic's API is, or another server that speaks it
    #[arg(long, value_name = "URL")]
    anthropic_url: Option<String>,
}

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    let common = &arguments.common;
    workspace::check(common.cwd.as_deref())?;
    let (mut config, environment) = opening::settings(common)?;
    if let Some(url) = &arguments.openai_url {
        config.model.openai_url.clone_from(url);
    }
    if let Some(url) = &arguments.anthropic_url {
        config.model.anthropic_url.clone_from(url);
    }
    let upstream = |name| -> Result<Upstream> {
        let wanted = Wanted {
            name,
            url: None,
            key_env: None,
        };
        let place = ModelPlace::find(wanted, &config, &environment, SdkVariables::Ignored)?;
        Ok(if place.has_key {
            Upstream::with_own_key(place.client)
        } else {
            Upstream::with_key_of_clients(place.client)
        })
    };
    let upstreams = Upstreams {
        openai: upstream("openai")?,
        anthropic: upstream("anthropic")?,
    };
    let token = token(&arguments, &environment)?;
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let settings = &config.gateway;
    let limits = Limits {
        body_bytes: size(settings.max_body_bytes),
        rounds: u32::try_from(settings.max_rounds).unwrap_or(u32::MAX),
        time: settings.timeout,
        requests: size(settings.max_requests),
    };
    let sink = if common.json {
        ringfence::event::nowhere()
    } else {
        script::live()
    };
    let secrets = secrets(&arguments, &config)?;
    let page = telemetry::page(&config);
    let engine = opening::open_keeping(common, Caller::Model, sink, &secrets)?;
    let mut gateway = Gateway::new(Arc::new(engine), upstreams, token, limits)?;
    if let Some(page) = page {
        gateway = gateway.with_metrics(page);
    }
    let gateway = Arc::new(gateway);
    let address = arguments.listen.as_ref().unwrap_or(&settings.listen);
    let listener = gateway.listen(address).await?;
    let url = format!("http://{}", listener.local_addr()?);
    if common.json {
        paint::line(&json!({"url": url}).to_string());
    } else {
        paint::line(&format!("listening at {url}"));
        paint::aside(&format!(
            "OPENAI_BASE_URL={url}/v1 ANTHROPIC_BASE_URL={url}"
        ));
    }
    let cancel = Cancel::new();
    tokio::select! {
        served = gateway.serve(listener) => match served? {},
        never = super::run::stop_on_signal(&cancel, FirstInterrupt::Ends) => { never?; },
        () = cancel.cancelled() => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// The token that clients have to show, if one was named.
fn token(arguments: &Arguments, environment: &BTreeMap<String, String>) -> Result<Option<Token>> {
    let (named, text) = match (&arguments.token_env, &arguments.token_file) {
        (Some(name), _) => (name.clone(), environment.get(name).cloned()),
        (None, Some(file)) => {
            let named = file.display().to_string();
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("the token in {named} cannot be read"))?;
            (named, Some(text))
        }
        (None, None) => return Ok(None),
    };
    let token = text.and_then(|text| Token::new(&text));
    let token =
        token.with_context(|| format!("{named} holds no token of 16 characters or more"))?;
    Ok(Some(token))
}

/// What commands do not get to see.
fn secrets(arguments: &Arguments, config: &Config) -> Result<OwnSecrets> {
    let mut secrets = OwnSecrets::of_models(&config.model);
    if let Some(name) = &arguments.token_env {
        secrets = secrets.with_variable(name);
    }
    match &arguments.token_file {
        Some(file) => secrets.with_file(file),
        None => Ok(secrets),
    }
}
