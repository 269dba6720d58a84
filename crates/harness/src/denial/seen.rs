//! What the fence has seen itself refuse, as denials.

use std::path::Path;

use ringfence_jail::Refusal;
use ringfence_policy::permissions::Network;

use super::{Denial, DenialKind, Evidence, Scene, judge_path};

/// The denials that refusals amount to.
pub(super) fn denials(scene: &Scene<'_>, refused: &[Refusal]) -> Vec<Denial> {
    refused
        .iter()
        .filter_map(|refusal| denial(scene, refusal))
        .collect()
}

fn denial(scene: &Scene<'_>, refusal: &Refusal) -> Option<Denial> {
    match refusal {
        Refusal::Connect { address } => {
            let what = if address.ends_with(":53") {
                format!("looking up a name at {address}")
            } else {
                format!("connecting to {address}")
            };
            Some(network(scene, what))
        }
        Refusal::Socket => Some(network(scene, "a socket for the network".to_owned())),
        Refusal::UnixSocket { path } => Some(Denial {
            kind: DenialKind::Socket,
            subject: path.clone(),
            reason: "it is the machine's, nobody in this session listens there".to_owned(),
            allow: format!("--allow-socket {path}, or `sandbox.unix_sockets = [\"{path}\"]`"),
            evidence: Evidence::Seen,
        }),
        Refusal::Write { path } => {
            let denial = judge_path(scene.sandbox, Path::new(path))?;
            Some(Denial {
                evidence: Evidence::Seen,
                ..denial
            })
        }
    }
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
    }
}

#[cfg(test)]
mod tests {
    use ringfence_policy::permissions::SandboxPolicy;

    use super::*;

    #[test]
    fn what_was_seen_is_told_whatever_the_output_says() {
        let sandbox = SandboxPolicy::workspace_write("/work/p");
        let scene = Scene {
            sandbox: &sandbox,
            cwd: Path::new("/work/p"),
            exit_code: 0,
        };
        let refused = [
            Refusal::Write {
                path: "/srv/x".to_owned(),
            },
            Refusal::Connect {
                address: "192.0.2.1:443".to_owned(),
            },
            Refusal::UnixSocket {
                path: "/srv/daemon.sock".to_owned(),
            },
        ];
        let found = super::super::find(&scene, &refused, "all is well");
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
        let scene = Scene {
            sandbox: &sandbox,
            cwd: Path::new("/work/p"),
            exit_code: 1,
        };
        let refused = [Refusal::Write {
            path: "/srv/x".to_owned(),
        }];
        let output = "touch: cannot touch '/srv/x': Read-only file system";
        let found = super::super::find(&scene, &refused, output);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].evidence, Evidence::Seen);
    }
}
