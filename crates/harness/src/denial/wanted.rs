//! The hosts that a command wanted, where the fence has seen a lookup and no name: programs say which host they could not
//! find. What they say only decides which line is offered, not what is allowed.

use ringfence_policy::NarrowGrant;
use ringfence_policy::action::Connect;
use ringfence_policy::host::{Host, Protocol};
use ringfence_policy::judge::how_to_allow;
use ringfence_policy::permissions::Network;
use ringfence_policy::preset::Preset;
use ringfence_policy::propose::host_pattern;
use ringfence_policy::rule::Hosts;

use super::{Denial, DenialKind, Evidence, Scene};

/// What programs say right before the name that they could not look up.
const BEFORE_A_NAME: &[&str] = &[
    "could not resolve host: ",
    "could not resolve host '",
    "unable to resolve host address ‘",
    "unable to resolve host ",
    "getaddrinfo enotfound ",
    "getaddrinfo eai_again ",
    "failed to lookup address information for ",
    "dial tcp: lookup ",
    "unknown host ",
    "unknownhostexception: ",
    "host='",
    "cannot resolve ",
    "looking in indexes: https://",
    "looking in indexes: http://",
];

/// The most hosts that are named.
const MOST: usize = 4;

/// Puts the hosts that the output names in the place of refusals that name none.
pub(super) fn name_hosts(scene: &Scene<'_>, found: &mut Vec<Denial>, output: &str) {
    let is_vague = |denial: &Denial| {
        denial.kind == DenialKind::Network && !denial.subject.starts_with("connecting to ")
    };
    let mut of_the_network = found.iter().filter(|it| it.kind == DenialKind::Network);
    if scene.sandbox.network != Network::Off || of_the_network.next().is_none() {
        return;
    }
    let mut wanted = hosts(output);
    if wanted.is_empty() {
        wanted = of_urls(scene.command);
    }
    if wanted.is_empty() {
        wanted = of_package_managers(scene.command);
    }
    if wanted.is_empty() {
        return;
    }
    let seen = found
        .iter()
        .any(|it| it.kind == DenialKind::Network && it.evidence == Evidence::Seen);
    found.retain(|denial| !is_vague(denial));
    found.extend(wanted.into_iter().map(|connect| Denial {
        kind: DenialKind::Network,
        grant: Some(NarrowGrant::Host {
            host: host_pattern(&connect),
        }),
        subject: format!("{}:{}", connect.host, connect.port),
        reason: "the network is off inside the fence".to_owned(),
        allow: how_to_allow(&connect),
        evidence: if seen {
            Evidence::Seen
        } else {
            Evidence::Output
        },
    }));
}

/// The hosts that a text names as wanted: those of package managers wherever they stand, others where a program says that it
/// could not find them.
fn hosts(output: &str) -> Vec<Connect> {
    let mut wanted: Vec<Connect> = Vec::new();
    for line in output.lines() {
        let line = line.to_lowercase();
        let after = BEFORE_A_NAME.iter().filter_map(|before| {
            let at = line.find(before)?;
            line.get(at + before.len()..)
        });
        let of_urls = line.split("://").skip(1);
        let known = of_urls.filter(|rest| {
            let host = name(rest).and_then(|name| Host::parse(name).ok());
            host.is_some_and(|host| Preset::that_reaches(&host, 443, Protocol::Https).is_some())
        });
        for text in after.chain(known) {
            let found = name(text).and_then(|name| Host::parse(name).ok());
            let Some(host @ Host::Name(_)) = found else {
                continue;
            };
            add(&mut wanted, host, 443, Protocol::Https);
        }
    }
    wanted
}

fn add(wanted: &mut Vec<Connect>, host: Host, port: u16, protocol: Protocol) {
    if wanted.len() < MOST && !wanted.iter().any(|known| known.host == host) {
        wanted.push(Connect {
            tool: String::new(),
            host,
            port,
            protocol,
        });
    }
}

/// The hosts of the addresses that a command names.
fn of_urls(command: &str) -> Vec<Connect> {
    let mut wanted = Vec::new();
    for (protocol, scheme) in [(Protocol::Https, "https://"), (Protocol::Http, "http://")] {
        for rest in command.split(scheme).skip(1) {
            // A name before an `@` is a user's.
            let end = rest.find(|c: char| c == '/' || c.is_whitespace());
            let place = &rest[..end.unwrap_or(rest.len())];
            let place = place.rsplit('@').next().unwrap_or_default().to_lowercase();
            let found = name(&place);
            let Some(Ok(host @ Host::Name(_))) = found.map(Host::parse) else {
                continue;
            };
            let after = &place[found.unwrap_or_default().len()..];
            let digits: String = after
                .chars()
                .skip(1)
                .take_while(char::is_ascii_digit)
                .collect();
            let usual = if protocol == Protocol::Https { 443 } else { 80 };
            let port = if after.starts_with(':') {
                digits.parse().ok()
            } else {
                None
            };
            add(&mut wanted, host, port.unwrap_or(usual), protocol);
        }
    }
    wanted
}

/// The hosts of the package managers that a command runs, where it does not say which it wanted.
fn of_package_managers(command: &str) -> Vec<Connect> {
    let mut wanted = Vec::new();
    let words = command.split(|c: char| c.is_whitespace() || ";|&()'\"".contains(c));
    for word in words {
        let program = word.rsplit('/').next().unwrap_or(word);
        let Some(preset) = Preset::of_program(program) else {
            continue;
        };
        for pattern in preset.patterns() {
            if let Hosts::One(host @ Host::Name(_)) = pattern.host {
                add(&mut wanted, host, 443, Protocol::Https);
            }
        }
    }
    wanted
}

/// The name that a text begins with, if it is one of more than one part.
fn name(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let name = text[..end].trim_end_matches('.');
    name.contains('.').then_some(name)
}

#[cfg(test)]
mod tests {

    use ringfence_policy::permissions::SandboxPolicy;

    use super::*;

    fn offered(network: Network, output: &str) -> Vec<(String, String)> {
        let sandbox = SandboxPolicy {
            network,
            ..SandboxPolicy::workspace_write("/work/p")
        };
        let scene = Scene::of_test(&sandbox, 1);
        let mut found = vec![super::super::message::no_network()];
        name_hosts(&scene, &mut found, output);
        let told = found.into_iter();
        told.map(|denial| (denial.subject, denial.allow)).collect()
    }

    #[test]
    fn the_line_that_allows_it_is_offered() {
        for (output, host, line) in [
            (
                "npm error request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org",
                "registry.npmjs.org:443",
                "--preset npm, or --allow-host registry.npmjs.org",
            ),
            (
                "HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: /simple/tiny/ (Temporary failure in name resolution)",
                "pypi.org:443",
                "--preset pip, or --allow-host pypi.org",
            ),
            (
                "  [6] Could not resolve hostname (Could not resolve host: index.crates.io)",
                "index.crates.io:443",
                "--preset cargo, or --allow-host index.crates.io",
            ),
            (
                "main.go:2:8: Get \"https://proxy.golang.org/x/@v/v1.0.0.zip\": dial tcp: lookup proxy.golang.org on 10.0.0.1:53: network is unreachable",
                "proxy.golang.org:443",
                "--preset go, or --allow-host proxy.golang.org",
            ),
            (
                "Could not transfer artifact x from/to central (https://repo.maven.apache.org/maven2): repo.maven.apache.org: Name or service not known",
                "repo.maven.apache.org:443",
                "--preset maven, or --allow-host repo.maven.apache.org",
            ),
            // A registry of somebody's own is offered, not silently allowed.
            (
                "npm error getaddrinfo ENOTFOUND npm.corp.example",
                "npm.corp.example:443",
                "--allow-host npm.corp.example, or",
            ),
        ] {
            let told = offered(Network::Off, output);
            assert_eq!(told.len(), 1, "{output}: {told:?}");
            assert_eq!(told[0].0, host, "{output}");
            assert!(told[0].1.starts_with(line), "{output}: {told:?}");
        }
    }

    #[test]
    fn what_names_no_host_is_left_as_it_is() {
        for output in [
            "",
            "see https://docs.example.com/errors for help",
            "getaddrinfo ENOTFOUND localhost",
            "Could not resolve host: ../../etc",
            "could not resolve host: 127.0.0.1",
        ] {
            assert_eq!(
                offered(Network::Off, output)[0].0,
                "the network",
                "{output}"
            );
        }
        let elsewhere = offered(Network::AllowList, "getaddrinfo ENOTFOUND a.example");
        assert_eq!(elsewhere[0].0, "the network");
    }
}
