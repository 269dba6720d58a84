//! `[http]`: requests that the harness sends for scripts and models.

use std::time::Duration;

use crate::config::declare::settings;

settings! {
    /// Requests that the harness sends for scripts and models.
    pub struct HttpConfig in "http" {
        /// How long a request may take, with everything that it is redirected to, unless the call says.
        timeout["timeout_ms"]: Duration = millis(1, 30_000), Higher;
        /// The longest that a call may ask for.
        max_timeout["max_timeout_ms"]: Duration = millis(1, 120_000), Higher;
        /// How many bytes of a body are returned, unless the call says.
        body_bytes: u64 = number(0, 262_144), Higher;
        /// The most bytes of a body that a call may ask for.
        max_body_bytes: u64 = number(0, 4_194_304), Higher;
        /// The longest body that a request may have.
        max_request_bytes: u64 = number(0, 1_048_576), Higher;
        /// How many redirects are followed; with 0 the first one is the answer.
        max_redirects: u64 = number(0, 5), Higher;
    }
}
