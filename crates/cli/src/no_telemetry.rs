//! Nothing is measured: the program was built without.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringfence::config::Config;
use ringfence::event::Listener;

use crate::own_secrets::OwnSecrets;

/// No listener.
pub(crate) fn listener(
    _: &Config,
    _: &BTreeMap<String, String>,
    _: &OwnSecrets,
) -> Option<Arc<dyn Listener>> {
    None
}

/// No page.
pub(crate) fn page(_: &Config) -> Option<Arc<dyn Fn() -> String + Send + Sync>> {
    None
}

/// Nothing to send.
pub(crate) fn finish() {}
