//! Which denials are a reason to ask whether a command may run again: those that it failed for, as far as can be told. Something
//! that it tried in passing, such as a look for updates, is none.

use ringfence_policy::judge::Denied;

use super::message::NO_NETWORK;
use super::{Denial, DenialKind};

/// As many lines at the end of the output may say why a command failed.
const LAST_LINES: usize = 40;

/// What lines are about that tell of something in passing.
const IN_PASSING: &[&str] = &[
    "update",
    "latest version",
    "new version",
    "newer version",
    "notice",
    "telemetry",
    "analytics",
    "version check",
];

/// What lines say that tell of a connection that was not made.
const OF_THE_NETWORK: &[&str] = &[
    "connect",
    "resolve",
    "network",
    "unreachable",
    "proxy",
    "fetch failed",
    "fetch error",
    "getaddrinfo",
    "timed out",
    "enotfound",
    "name resolution",
    "unable to access",
    "socket",
    "403",
    // What pip says where it has found no index.
    "no matching distribution",
];

/// What to ask about, in a command that failed; nothing in most.
pub(crate) fn to_ask_about(denials: &[Denial], output: &str) -> Denied {
    let ripe = denials.iter().filter(|denial| is_ripe(denial, output));
    let mut ripe: Vec<&Denial> = ripe.collect();
    let is_light = |denial: &&Denial| denial.grant.as_ref().is_some_and(|it| !it.is_grave());
    // Secrets and sockets are asked about by themselves, and only once nothing else is missing: many programs look for a file
    // with passwords before they do anything, and do without.
    if ripe.iter().any(is_light) {
        ripe.retain(is_light);
    }
    Denied {
        lines: ripe.iter().map(|denial| denial.line()).collect(),
        grants: ripe.iter().filter_map(|it| it.grant.clone()).collect(),
        needs_outside: !ripe.is_empty(),
    }
}

fn is_ripe(denial: &Denial, output: &str) -> bool {
    match denial.kind {
        DenialKind::Write | DenialKind::Read | DenialKind::SystemCall => true,
        // It was judged, and asked about if it could be, unless something is left to offer.
        DenialKind::Host => denial.grant.is_some() && is_told(denial, output),
        DenialKind::Network | DenialKind::Socket => is_told(denial, output),
        // What was put back was done already.
        DenialKind::GitSetup => false,
    }
}

/// Whether the end of the output tells of it, or nothing else says why the command failed.
fn is_told(denial: &Denial, output: &str) -> bool {
    if output.trim().is_empty() {
        return true;
    }
    let name = denial.subject.rsplit_once(':');
    let name = name.map_or(denial.subject.as_str(), |(name, _)| name);
    let name = name.to_lowercase();
    let tells = |line: &str| {
        let line = line.to_lowercase();
        let of_it = line.contains(&name)
            || NO_NETWORK.iter().any(|words| line.contains(words))
            || OF_THE_NETWORK.iter().any(|words| line.contains(words));
        of_it && !IN_PASSING.iter().any(|words| line.contains(words))
    };
    output.lines().rev().take(LAST_LINES).any(tells)
}
