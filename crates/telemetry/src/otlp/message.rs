//! Spans and metrics as the messages of OTLP. The numbers are those of its published definitions.

use std::time::{SystemTime, UNIX_EPOCH};

use super::protobuf::Message;
use crate::names::{Kind, METRICS, Metric};
use crate::registry::{Series, Value, Values};
use crate::span::{Attribute, Span};

/// Who tells, in each message.
pub(super) type Resource = [(String, String)];

/// `SPAN_KIND_INTERNAL`
const INTERNAL: u64 = 1;
/// `STATUS_CODE_ERROR`
const ERROR: u64 = 2;
/// `AGGREGATION_TEMPORALITY_CUMULATIVE`
const CUMULATIVE: u64 = 2;

/// An `ExportTraceServiceRequest`.
pub(super) fn spans(resource: &Resource, spans: &[Span]) -> Vec<u8> {
    let scope = Message::default()
        .message(1, &scope())
        .messages(2, spans.iter().map(span));
    let whole = Message::default()
        .message(1, &of_resource(resource))
        .message(2, &scope);
    Message::default().message(1, &whole).into_bytes()
}

/// An `ExportMetricsServiceRequest`.
pub(super) fn metrics(resource: &Resource, all: &[Series], since: SystemTime) -> Vec<u8> {
    let times = (nanos(since), nanos(SystemTime::now()));
    let told = METRICS.iter().zip(all);
    let told = told.filter(|(_, series)| !series.is_empty());
    let scope = Message::default()
        .message(1, &scope())
        .messages(2, told.map(|(metric, series)| one(metric, series, times)));
    let whole = Message::default()
        .message(1, &of_resource(resource))
        .message(2, &scope);
    Message::default().message(1, &whole).into_bytes()
}

fn span(span: &Span) -> Message {
    let mut message = Message::default().bytes(1, &span.trace).bytes(2, &span.id);
    if let Some(parent) = &span.parent {
        message = message.bytes(4, parent);
    }
    message = message
        .text(5, span.name)
        .number(6, INTERNAL)
        .fixed(7, nanos(span.start))
        .fixed(8, nanos(span.end))
        .messages(
            9,
            span.attributes.iter().map(|(key, value)| pair(key, value)),
        );
    match &span.error {
        Some(error) => message.message(15, &Message::default().text(2, error).number(3, ERROR)),
        None => message,
    }
}

fn one(metric: &Metric, series: &Series, times: (u64, u64)) -> Message {
    let points = series
        .iter()
        .map(|(labels, value)| point(metric, labels, value, times));
    let data = Message::default().messages(1, points);
    let message = Message::default()
        .text(1, metric.name)
        .text(2, metric.doc)
        .text(3, metric.unit);
    match metric.kind {
        Kind::Gauge => message.message(5, &data),
        Kind::Counter => message.message(7, &data.number(2, CUMULATIVE).number(3, 1)),
        Kind::Histogram(_) => message.message(9, &data.number(2, CUMULATIVE)),
    }
}

fn point(metric: &Metric, labels: &Values, value: &Value, (since, now): (u64, u64)) -> Message {
    let message = Message::default().fixed(2, since).fixed(3, now);
    let labels = metric.labels.iter().zip(labels);
    let labels = labels.map(|(name, value)| pair(name, &Attribute::Text(value.clone())));
    match value {
        Value::Count(count) => message.fixed(6, *count).messages(7, labels),
        Value::Level(level) => message.fixed(6, level.cast_unsigned()).messages(7, labels),
        Value::Spread(spread) => message
            .fixed(4, spread.count())
            .real(5, spread.sum)
            .packed(6, spread.counts.iter().copied())
            .packed(7, spread.bounds.iter().map(|bound| bound.to_bits()))
            .messages(9, labels),
    }
}

fn of_resource(resource: &Resource) -> Message {
    let pairs = resource
        .iter()
        .map(|(key, value)| pair(key, &Attribute::Text(value.clone())));
    Message::default().messages(1, pairs)
}

fn scope() -> Message {
    Message::default()
        .text(1, "ringfence")
        .text(2, env!("CARGO_PKG_VERSION"))
}

fn pair(key: &str, value: &Attribute) -> Message {
    let any = Message::default();
    let any = match value {
        Attribute::Text(text) => any.text(1, text),
        Attribute::Number(number) => any.number(3, number.cast_unsigned()),
        Attribute::Real(number) => any.real(4, *number),
    };
    Message::default().text(1, key).message(2, &any)
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
