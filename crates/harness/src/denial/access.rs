//! What the fence has seen itself refuse, as denials.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ringfence_jail::DeniedAccess;
use ringfence_policy::NarrowGrant;
use ringfence_policy::host::AddressClass;
use ringfence_policy::permissions::Network;

use super::path::{Told, judge_path};
use super::{Denial, DenialKind, Evidence, Scene};

/// The denials that refusals amount to.
pub(super) fn denials(scene: &Scene<'_>, denied: &[DeniedAccess]) -> Vec<Denial> {
    denied
        .iter()
        .filter_map(|access| denial(scene, access))
        .collect()
}

fn denial(scene: &Scene<'_>, access: &DeniedAccess) -> Option<Denial> {
    match access {
        DeniedAccess::Connect { address } => {
            let what = if address.ends_with(":53") {
                format!("looking up a name at {address}")
            } else {
                format!("connecting to {address}")
            };
            let mut denial = network(scene, what);
            // Addresses of the machine's own networks are reached by those who name them, and by nobody else.
            let is_lookup = address.ends_with(":53");
            let address = address.parse::<SocketAddr>();
            let is_ordinary =
                address.is_ok_and(|address| AddressClass::of(address.ip()).is_ordinary());
            denial.grant = denial.grant.filter(|_| is_ordinary || is_lookup);
            Some(denial)
        }
        DeniedAccess::Socket => Some(network(scene, "a socket for the network".to_owned())),
        DeniedAccess::UnixSocket { path } => Some(Denial {
            kind: DenialKind::Socket,
            subject: path.clone(),
            reason: "it is the machine's, nobody in this session listens there".to_owned(),
            allow: format!("--allow-socket {path}, or `sandbox.unix_sockets = [\"{path}\"]`"),
            evidence: Evidence::Seen,
            grant: real(path).map(|path| NarrowGrant::Socket { path }),
        }),
        DeniedAccess::Write { path } => {
            let denial = judge_path(scene, Path::new(path), Told::Seen)?;
            Some(Denial {
                evidence: Evidence::Seen,
                ..denial
            })
        }
    }
}

/// The path if it is the one of what is there, and not of a link to it.
fn real(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let real = path.canonicalize().ok()?;
    (real == path).then_some(real)
}

fn network(scene: &Scene<'_>, subject: String) -> Denial {
    let (reason, allow) = match scene.sandbox.network {
        Network::AllowList => (
            "only connections through the proxy leave the fence",
            "have the program use the proxy that HTTP_PROXY, HTTPS_PROXY and ALL_PROXY name",
        ),
        Network::Off | Network::Full => (
            "the network is off inside the fence",
            "--network full, or `sandbox.network` in the configuration",
        ),
    };
    Denial {
        kind: DenialKind::Network,
        subject,
        reason: reason.to_owned(),
        allow: allow.to_owned(),
        evidence: Evidence::Seen,
        grant: Some(NarrowGrant::Network),
    }
}

#[cfg(test)]
mod tests {
    use ringfence_policy::permissions::SandboxPolicy;

    use super::*;

    #[test]
    fn what_was_seen_is_told_whatever_the_output_says() {
        let sandbox = SandboxPolicy::workspace_write("/work/p");
        let scene = Scene::of_test(&sandbox, 0);
        let denied = [
            DeniedAccess::Write {
                path: "/srv/x".to_owned(),
            },
            DeniedAccess::Connect {
                address: "192.0.2.1:443".to_owned(),
            },
            DeniedAccess::UnixSocket {
                path: "/srv/daemon.sock".to_owned(),
            },
        ];
        let found = super::super::find(&scene, &denied, "all is well");
        let lines: Vec<_> = found.iter().map(Denial::line).collect();
        assert_eq!(
            lines,
            [
                "writing /srv/x: it is outside the workspace and the writable roots",
                "connecting to 192.0.2.1:443: the network is off inside the fence",
                "connecting to /srv/daemon.sock: it is the machine's, nobody in this session listens there",
            ]
        );
        assert!(found.iter().all(|denial| denial.evidence == Evidence::Seen));
        assert!(found.iter().all(|denial| !denial.allow.is_empty()));
    }

    #[test]
    fn what_was_seen_and_told_is_told_once() {
        let sandbox = SandboxPolicy::workspace_write("/work/p");
        let scene = Scene::of_test(&sandbox, 1);
        let denied = [DeniedAccess::Write {
            path: "/srv/x".to_owned(),
        }];
        let output = "touch: cannot touch '/srv/x': Read-only file system";
        let found = super::super::find(&scene, &denied, output);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].evidence, Evidence::Seen);
    }
}
