//! Where telemetry goes: as configured, and as the standard variables say, which a front end hands over.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use ringfence_jail::net::{Url, UrlError};
use thiserror::Error;

/// Where telemetry goes, and how. What is shown to the collector is not printed.
#[derive(Clone)]
pub struct Settings {
    pub(super) traces: Option<Url>,
    pub(super) metrics: Option<Url>,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) resource: Vec<(String, String)>,
    /// How long the collector has for one request.
    pub(super) timeout: Duration,
    /// How long a finished span waits for others.
    pub(super) span_delay: Duration,
    /// How often metrics are sent.
    pub(super) metric_interval: Duration,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("traces", &self.traces)
            .field("metrics", &self.metrics)
            .finish_non_exhaustive()
    }
}

/// Why nothing can be exported.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// No address.
    #[error("{name} is no address of a collector: {reason}")]
    Url {
        /// The setting or variable.
        name: String,
        /// What is wrong with it.
        reason: UrlError,
    },
    /// No headers. What is in there is not told.
    #[error("{name} cannot be read: write key=value, with commas between several")]
    Headers {
        /// The variable.
        name: &'static str,
    },
    /// Another protocol.
    #[error(
        "{name} asks for `{protocol}`, and only `http/protobuf` is spoken here (port 4318 of most collectors)"
    )]
    Protocol {
        /// The variable.
        name: &'static str,
        /// What it asks for.
        protocol: String,
    },
    /// No number.
    #[error("{name} is no time in milliseconds")]
    Time {
        /// The variable.
        name: &'static str,
    },
}

impl SettingsError {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Url { .. } => "telemetry_endpoint",
            Self::Headers { .. } => "telemetry_headers",
            Self::Protocol { .. } => "telemetry_protocol",
            Self::Time { .. } => "telemetry_time",
        }
    }
}

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";

impl Settings {
    /// What an address and the standard variables come to; nothing if nothing is to be exported. An address that is
    /// configured goes before the variables'.
    pub fn find(
        configured: Option<&str>,
        variables: &BTreeMap<String, String>,
    ) -> Result<Option<Self>, SettingsError> {
        let variable = |name: &str| {
            let value = variables.get(name).map(|value| value.trim());
            value.filter(|value| !value.is_empty())
        };
        if variable("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let signal = |path: &str, own: &'static str, exporter: &str| {
            if variable(exporter).is_some_and(|exporter| exporter == "none") {
                return Ok(None);
            }
            let (name, address) = match (configured, variable(own), variable(ENDPOINT)) {
                (Some(base), ..) => ("telemetry.endpoint", below(base, path)),
                (None, Some(whole), _) => (own, whole.to_owned()),
                (None, None, Some(base)) => (ENDPOINT, below(base, path)),
                (None, None, None) => return Ok(None),
            };
            let url = Url::parse(&address).map_err(|reason| SettingsError::Url {
                name: name.to_owned(),
                reason,
            })?;
            Ok(Some(url))
        };
        let traces = signal(
            "v1/traces",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "OTEL_TRACES_EXPORTER",
        )?;
        let metrics = signal(
            "v1/metrics",
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
            "OTEL_METRICS_EXPORTER",
        )?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        if let Some(protocol) =
            variable(PROTOCOL).filter(|it| *it != "http/protobuf" && configured.is_none())
        {
            return Err(SettingsError::Protocol {
                name: PROTOCOL,
                protocol: protocol.to_owned(),
            });
        }
        let time = |name: &'static str, otherwise: u64| match variable(name) {
            None => Ok(Duration::from_millis(otherwise)),
            Some(text) => {
                let parsed = text.parse().map(Duration::from_millis);
                parsed.map_err(|_| SettingsError::Time { name })
            }
        };
        Ok(Some(Self {
            traces,
            metrics,
            headers: headers(variable(HEADERS))?,
            resource: resource(
                variable("OTEL_SERVICE_NAME"),
                variable("OTEL_RESOURCE_ATTRIBUTES"),
            ),
            timeout: time("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000)?,
            span_delay: time("OTEL_BSP_SCHEDULE_DELAY", 5_000)?,
            metric_interval: time("OTEL_METRIC_EXPORT_INTERVAL", 60_000)?,
        }))
    }

    /// Where it goes, for people.
    pub fn place(&self) -> String {
        let url = self.traces.as_ref().or(self.metrics.as_ref());
        url.map(Url::authority).unwrap_or_default()
    }
}

fn below(base: &str, path: &str) -> String {
    format!("{}/{path}", base.trim_end_matches('/'))
}

/// Pairs with commas between them, percent-encoded as in a `baggage` header.
fn pairs(text: &str) -> impl Iterator<Item = Option<(String, String)>> {
    let written = text.split(',').map(str::trim);
    let written = written.filter(|pair| !pair.is_empty());
    written.map(|pair| {
        let (key, value) = pair.split_once('=')?;
        Some((decoded(key.trim())?, decoded(value.trim())?))
    })
}

fn headers(text: Option<&str>) -> Result<Vec<(HeaderName, HeaderValue)>, SettingsError> {
    let wrong = SettingsError::Headers { name: HEADERS };
    let all = pairs(text.unwrap_or_default()).map(|pair| {
        let (key, value) = pair?;
        let name: HeaderName = key.to_ascii_lowercase().parse().ok()?;
        let mut value = HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    });
    all.collect::<Option<_>>().ok_or(wrong)
}

fn resource(service: Option<&str>, attributes: Option<&str>) -> Vec<(String, String)> {
    // What cannot be read among them is left out, as the specification of the variable has it.
    let given: BTreeMap<String, String> = pairs(attributes.unwrap_or_default()).flatten().collect();
    let service = service
        .map(str::to_owned)
        .or_else(|| given.get("service.name").cloned())
        .unwrap_or_else(|| "ringfence".to_owned());
    let mut all = BTreeMap::from([
        (
            "service.version".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
        ("process.pid".to_owned(), std::process::id().to_string()),
    ]);
    all.extend(given);
    all.insert("service.name".to_owned(), service);
    all.into_iter().collect()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            byte
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn find(
        configured: Option<&str>,
        variables: &[(&str, &str)],
    ) -> Result<Option<Settings>, SettingsError> {
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::find(configured, &variables.collect())
    }

    fn places(configured: Option<&str>, variables: &[(&str, &str)]) -> Option<(String, String)> {
        let found = find(configured, variables).unwrap()?;
        let told = |url: Option<Url>| url.map_or_else(String::new, |url| url.to_string());
        Some((told(found.traces), told(found.metrics)))
    }

    #[test]
    fn where_it_goes() {
        let both = |base: &str| Some((format!("{base}/v1/traces"), format!("{base}/v1/metrics")));
        assert_eq!(places(None, &[]), None);
        assert_eq!(
            places(None, &[(ENDPOINT, "http://c.example:4318/")]),
            both("http://c.example:4318")
        );
        assert_eq!(
            places(None, &[(ENDPOINT, "https://c.example/otlp")]),
            both("https://c.example/otlp")
        );
        assert_eq!(
            places(
                Some("http://own.example:1"),
                &[(ENDPOINT, "http://c.example:2")]
            ),
            both("http://own.example:1")
        );
        assert_eq!(
            places(
                None,
                &[(
                    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                    "http://t.example:1/in"
                )]
            ),
            Some(("http://t.example:1/in".to_owned(), String::new()))
        );
        assert_eq!(
            places(
                None,
                &[
                    (ENDPOINT, "http://c.example:2"),
                    ("OTEL_METRICS_EXPORTER", "none")
                ]
            ),
            Some(("http://c.example:2/v1/traces".to_owned(), String::new()))
        );
        assert_eq!(
            places(Some("http://c.example:2"), &[("OTEL_SDK_DISABLED", "True")]),
            None
        );
    }

    #[test]
    fn what_is_wrong_is_said_without_what_is_secret() {
        for (variables, code) in [
            (&[(ENDPOINT, "collector")][..], "telemetry_endpoint"),
            (
                &[(ENDPOINT, "http://u:hunter2@c.example")],
                "telemetry_endpoint",
            ),
            (
                &[(ENDPOINT, "http://c.example"), (HEADERS, "hunter2")],
                "telemetry_headers",
            ),
            (
                &[(ENDPOINT, "http://c.example"), (HEADERS, "a=hunter2%zz")],
                "telemetry_headers",
            ),
            (
                &[(ENDPOINT, "http://c.example"), (PROTOCOL, "grpc")],
                "telemetry_protocol",
            ),
            (
                &[
                    (ENDPOINT, "http://c.example"),
                    ("OTEL_BSP_SCHEDULE_DELAY", "soon"),
                ],
                "telemetry_time",
            ),
        ] {
            let error = find(None, variables).unwrap_err();
            assert_eq!(error.code(), code);
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn headers_and_the_resource_are_read_as_the_specification_has_them() {
        let found = find(
            Some("http://c.example"),
            &[
                (HEADERS, "api-key=se%20cret, Other = b"),
                ("OTEL_SERVICE_NAME", "agents"),
                (
                    "OTEL_RESOURCE_ATTRIBUTES",
                    "service.name=x,host.name=h,broken",
                ),
            ],
        );
        let found = found.unwrap().unwrap();
        let shown: Vec<_> = found
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        assert_eq!(shown, [("api-key", "se cret"), ("other", "b")]);
        assert!(!format!("{found:?}").contains("cret"));
        assert!(
            found
                .resource
                .contains(&("service.name".to_owned(), "agents".to_owned()))
        );
        assert!(
            found
                .resource
                .contains(&("host.name".to_owned(), "h".to_owned()))
        );
    }
}
