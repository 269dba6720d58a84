//! `[gateway]`: how much clients of `ringfence gateway` may ask for.

use std::time::Duration;

use crate::config::declare::settings;

settings! {
    /// How much clients of `ringfence gateway` may ask for.
    pub struct GatewayConfig in "gateway" {
        /// Where it listens. Another place than this machine's loopback needs a token.
        listen: String = text("127.0.0.1:8787"), Always;
        /// The longest request, in bytes.
        max_body_bytes: u64 = number(1, 33_554_432), Higher;
        /// How often the provider is asked for one answer.
        max_rounds: u64 = number(1, 16), Higher;
        /// How long an answer may take, scripts and questions included.
        timeout["timeout_ms"]: Duration = millis(1, 1_800_000), Higher;
        /// How many requests are answered at once.
        max_requests: u64 = number(1, 16), Higher;
    }
}
