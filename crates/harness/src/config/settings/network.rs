//! `[network]`: which hosts commands may reach, and what is done on the way there.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::config::declare::settings;

settings! {
    /// Which hosts commands may reach, and what is done on the way there.
    pub struct NetworkConfig in "network" {
        /// Hosts that commands may reach when `sandbox.network` is `allow-list`, such as "*.example.com" or "db.example.com:5432".
        allow: Vec<String> = hosts(), Each;
        /// Package managers whose public hosts commands may reach when `sandbox.network` is `allow-list`, such as "npm".
        presets: Vec<String> = presets(), Each;
        /// Hosts that commands may not reach, whatever allows them.
        deny: Vec<String> = hosts(), Never;
        /// A header for requests to a host, such as `"api.example.com" = "Authorization: Bearer ${API_TOKEN}"`: the variable is read here, and commands never see it.
        inject: BTreeMap<String, String> = table(), Always;
        /// Whether headers are added inside TLS too, by a certificate authority of the session's own.
        terminate_tls: bool = switch(false), When(true);
        /// Connections of one run at once.
        max_connections: u64 = number(1, 256), Higher;
        /// How long to wait for a host to answer.
        connect_timeout["connect_timeout_ms"]: Duration = millis(1, 10_000), Higher;
    }
}
