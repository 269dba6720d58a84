//! What would let a refused action happen, narrowly and inside the fence, as it crosses to programs and back.

use std::path::{Path, PathBuf};

use ringfence_policy::NarrowGrant;
use ringfence_policy::rule::{HostPattern, Hosts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that a command may do besides, inside the fence. A refusal, a denial and a question list those that would help; an
/// answer names one of them, and a call can bring them along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Grant {
    /// A folder that it may write.
    Writable {
        /// Which.
        path: String,
    },
    /// A folder or file that it may read although it is denied.
    Readable {
        /// Which.
        path: String,
    },
    /// A host that it may reach.
    Host {
        /// Its name, and its port if it is not an ordinary one.
        host: String,
    },
    /// A unix socket that it may connect to.
    Socket {
        /// Where it is.
        path: String,
    },
    /// Something protected that it may change.
    Unprotected {
        /// As `sandbox.protected_paths` names it.
        path: String,
    },
    /// The machine's network, whole.
    Network {},
}

/// A grant that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{what}` cannot be granted: {why}")]
pub struct GrantError {
    /// What was to be granted.
    pub what: String,
    /// Why not.
    pub why: String,
}

impl From<&NarrowGrant> for Grant {
    fn from(grant: &NarrowGrant) -> Self {
        let text = |path: &PathBuf| path.display().to_string();
        match grant {
            NarrowGrant::Writable { path } => Self::Writable { path: text(path) },
            NarrowGrant::Readable { path } => Self::Readable { path: text(path) },
            NarrowGrant::Socket { path } => Self::Socket { path: text(path) },
            NarrowGrant::Unprotected { path } => Self::Unprotected { path: text(path) },
            NarrowGrant::Host { host } => Self::Host {
                host: host.to_string(),
            },
            NarrowGrant::Network => Self::Network {},
        }
    }
}

impl TryFrom<&Grant> for NarrowGrant {
    type Error = GrantError;

    fn try_from(grant: &Grant) -> Result<Self, GrantError> {
        Ok(match grant {
            Grant::Writable { path } => Self::Writable { path: real(path)? },
            Grant::Readable { path } => Self::Readable { path: real(path)? },
            Grant::Socket { path } => Self::Socket { path: real(path)? },
            Grant::Unprotected { path } => Self::Unprotected {
                path: PathBuf::from(path),
            },
            Grant::Host { host } => Self::Host { host: one(host)? },
            Grant::Network {} => Self::Network,
        })
    }
}

/// A path that leads nowhere else.
fn real(path: &str) -> Result<PathBuf, GrantError> {
    let no = |why: String| GrantError {
        what: path.to_owned(),
        why,
    };
    let real = Path::new(path)
        .canonicalize()
        .map_err(|error| no(error.to_string()))?;
    if real != Path::new(path) {
        return Err(no(format!("it leads to {}", real.display())));
    }
    Ok(real)
}

fn one(host: &str) -> Result<HostPattern, GrantError> {
    let no = |why: String| GrantError {
        what: host.to_owned(),
        why,
    };
    let pattern = HostPattern::parse(host).map_err(|error| no(error.to_string()))?;
    match pattern.host {
        Hosts::One(_) => Ok(pattern),
        _ => Err(no("it is more than one host".to_owned())),
    }
}

/// Those of the paths of these grants that lead elsewhere now than when they were granted.
pub(crate) fn moved(grants: &[NarrowGrant]) -> Option<&Path> {
    let paths = grants.iter().filter_map(|grant| match grant {
        NarrowGrant::Writable { path }
        | NarrowGrant::Readable { path }
        | NarrowGrant::Socket { path } => Some(path.as_path()),
        NarrowGrant::Host { .. } | NarrowGrant::Unprotected { .. } | NarrowGrant::Network => None,
    });
    let mut paths = paths;
    paths.find(|path| path.canonicalize().is_ok_and(|real| real != *path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_crosses_as_what_policy_calls_it() {
        for (json, back) in [
            (r#"{"kind":"writable","path":"/usr"}"#, true),
            (r#"{"kind":"readable","path":"/etc/passwd"}"#, true),
            (r#"{"kind":"host","host":"a.example"}"#, true),
            (r#"{"kind":"host","host":"a.example:8443"}"#, true),
            (r#"{"kind":"unprotected","path":".vscode"}"#, true),
            (r#"{"kind":"network"}"#, true),
            (r#"{"kind":"host","host":"*.example"}"#, false),
            (r#"{"kind":"host","host":"*"}"#, false),
            (r#"{"kind":"host","host":"10.0.0.0/8"}"#, false),
            (r#"{"kind":"writable","path":"/usr/../etc"}"#, false),
            (r#"{"kind":"writable","path":"/proc/self/cwd"}"#, false),
            (r#"{"kind":"writable","path":"usr"}"#, false),
        ] {
            let grant: Grant = serde_json::from_str(json).unwrap();
            let narrow = NarrowGrant::try_from(&grant);
            assert_eq!(narrow.is_ok(), back, "{json}: {narrow:?}");
            if let Ok(narrow) = narrow {
                assert_eq!(serde_json::to_string(&narrow).unwrap(), json);
                assert_eq!(Grant::from(&narrow), grant);
            }
        }
        let unknown = r#"{"kind":"writable","path":"/usr","holds":"rule"}"#;
        assert!(serde_json::from_str::<Grant>(unknown).is_err());
    }
}
