//! `[telemetry]`: metrics and traces. Headers for a collector are secrets, and stand in no setting: `OTEL_EXPORTER_OTLP_HEADERS` has them.

use std::time::Duration;

use crate::config::declare::{settings, words};

settings! {
    /// Metrics and traces. A project sets none of it: it could send away what is done here.
    pub struct TelemetryConfig in "telemetry" {
        /// The collector that metrics and traces are sent to (OTLP over HTTP), such as `http://127.0.0.1:4318`; `none` leaves that to `OTEL_EXPORTER_OTLP_ENDPOINT`.
        endpoint: String = text("none"), Always;
        /// Whether servers (`gateway`, `mcp --http`) have a page for Prometheus at `/metrics`.
        prometheus: bool = switch(true), Always;
        /// How spans tell a command: by its hash, or by its text besides, with secrets taken out.
        commands: CommandsTold = word("hash"), Always;
        /// Whether they tell the first 2,048 bytes and 50 lines of its output.
        output: OutputTold = word("none"), Always;
        /// How long the end of the program waits for the collector.
        flush_timeout["flush_timeout_ms"]: Duration = millis(0, 1_000), Always;
    }
}

words! {
    /// How spans tell a command.
    pub enum CommandsTold {
        /// By its hash.
        Hash = "hash",
        /// By its text too.
        Text = "text",
    }
}

words! {
    /// What spans tell of output.
    pub enum OutputTold {
        /// Nothing.
        None = "none",
        /// Its beginning.
        Preview = "preview",
    }
}
