//! Metrics and traces of this program: one listener for all engines that it opens, made when the first of them wants it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ringfence::audit::Redactor;
use ringfence::config::{CommandsTold, Config, OutputTold};
use ringfence::event::Listener;
use ringfence_telemetry::otlp::{Exporter, Settings};
use ringfence_telemetry::{Detail, Telemetry};

use crate::own_secrets::OwnSecrets;
use crate::paint;

/// What this program measures with.
struct Measuring {
    telemetry: Arc<Telemetry>,
    /// Nothing if it is measured for a page alone.
    exporter: Option<(Exporter, Duration)>,
}

static MEASURING: OnceLock<Option<Measuring>> = OnceLock::new();
/// What a page is written from, where a server has one.
static FOR_PAGE: OnceLock<()> = OnceLock::new();

/// The listener of an engine that is about to be opened, if anything is measured.
pub(crate) fn listener(
    config: &Config,
    environment: &BTreeMap<String, String>,
    secrets: &OwnSecrets,
) -> Option<Arc<dyn Listener>> {
    let measuring = MEASURING.get_or_init(|| begin(config, environment, secrets));
    let telemetry = Arc::clone(&measuring.as_ref()?.telemetry);
    Some(telemetry)
}

/// Writes the page for Prometheus, where there is to be one. It has to be asked for before an engine is opened.
pub(crate) fn page(config: &Config) -> Option<Arc<dyn Fn() -> String + Send + Sync>> {
    if !config.telemetry.prometheus {
        return None;
    }
    FOR_PAGE.get_or_init(|| ());
    Some(Arc::new(|| {
        let measuring = MEASURING.get().and_then(Option::as_ref);
        measuring.map_or_else(String::new, |measuring| measuring.telemetry.page())
    }))
}

fn begin(
    config: &Config,
    environment: &BTreeMap<String, String>,
    secrets: &OwnSecrets,
) -> Option<Measuring> {
    let exporter = match exporter(config, environment, secrets) {
        Ok(exporter) => exporter,
        Err(why) => {
            paint::remark(&format!("metrics and traces are not exported: {why}"));
            None
        }
    };
    let telemetry = match &exporter {
        Some(exporter) => Arc::clone(exporter.telemetry()),
        None if FOR_PAGE.get().is_some() => Arc::new(Telemetry::new()),
        None => return None,
    };
    let flush = config.telemetry.flush_timeout;
    Some(Measuring {
        telemetry,
        exporter: exporter.map(|exporter| (exporter, flush)),
    })
}

fn exporter(
    config: &Config,
    environment: &BTreeMap<String, String>,
    secrets: &OwnSecrets,
) -> Result<Option<Exporter>, String> {
    let settings = &config.telemetry;
    let endpoint = Some(settings.endpoint.as_str()).filter(|endpoint| *endpoint != "none");
    let found = Settings::find(endpoint, environment).map_err(|error| error.to_string())?;
    let Some(found) = found else { return Ok(None) };
    let detail = Detail {
        commands: settings.commands == CommandsTold::Text,
        output: settings.output == OutputTold::Preview,
    };
    let variables = environment.iter();
    let variables = variables.map(|(name, value)| (name.as_str(), value.as_str()));
    let redactor = Redactor::knowing_secrets_of(variables, secrets.values(environment));
    let started = Exporter::start(found, detail, redactor);
    started.map(Some).map_err(|error| error.to_string())
}

/// Sends what there is, and says what could not be delivered.
pub(crate) fn finish() {
    let measuring = MEASURING.get().and_then(Option::as_ref);
    let Some((exporter, within)) = measuring.and_then(|it| it.exporter.as_ref()) else {
        return;
    };
    if let Err(undelivered) = exporter.finish(*within) {
        paint::remark(&format!(
            "metrics and traces were not delivered to {}: {}",
            undelivered.place, undelivered.why
        ));
    }
}
