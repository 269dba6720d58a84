//! What package managers are told in the environment of a command: where their caches are, and not to try
//! again what is refused.

use std::collections::BTreeMap;
use std::fs;

use ringfence_policy::permissions::{Network, SandboxMode, SandboxPolicy, TmpPolicy};
use ringfence_policy::preset::{Caches, Place, Preset, TABLE, When};

/// Adds it. What the command's environment says already was said on purpose, and stays; options are put behind it.
pub(super) fn add(sandbox: &SandboxPolicy, environment: &mut BTreeMap<String, String>) {
    if let Some(caches) = sandbox
        .caches
        .as_ref()
        .filter(|it| can_be_written(it, sandbox))
    {
        for variable in &caches.variables {
            let is_set = match variable.when {
                When::Always => true,
                When::OnceUsed => {
                    reaches(sandbox, variable.preset) || has_something(caches, variable.preset)
                }
            };
            if is_set {
                let known = environment.entry(variable.name.to_owned());
                let is_options = variable.value.starts_with('-');
                known
                    .and_modify(|said| {
                        if is_options {
                            said.push(' ');
                            said.push_str(&variable.value);
                        }
                    })
                    .or_insert_with(|| variable.value.clone());
            }
        }
    }
    for preset in TABLE.iter().filter(|preset| !reaches(sandbox, preset)) {
        for (name, value) in preset.hurried {
            let known = environment.entry((*name).to_owned());
            known.or_insert_with(|| (*value).to_owned());
        }
    }
}

/// Whether a package manager may download in this run.
fn reaches(sandbox: &SandboxPolicy, preset: &'static Preset) -> bool {
    let named = || sandbox.presets.contains(&preset);
    match sandbox.network {
        Network::Off => false,
        Network::AllowList => named(),
        Network::Full => true,
    }
}

fn can_be_written(caches: &Caches, sandbox: &SandboxPolicy) -> bool {
    let in_place = match caches.place {
        Place::Kept(_) => true,
        // The machine's `/tmp` is everybody's.
        Place::Session(_) => sandbox.tmp == TmpPolicy::Private,
    };
    sandbox.mode == SandboxMode::WorkspaceWrite && in_place
}

/// Whether a tool has kept anything. A session's own `/tmp` cannot be seen from here.
fn has_something(caches: &Caches, preset: &Preset) -> bool {
    // What was linked into it does not count.
    let is_own = |entry: fs::DirEntry| !preset.links.iter().any(|link| entry.file_name() == *link);
    match &caches.place {
        Place::Kept(_) => fs::read_dir(caches.of(preset))
            .is_ok_and(|entries| entries.filter_map(Result::ok).any(is_own)),
        Place::Session(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(folder: &std::path::Path) -> SandboxPolicy {
        let place = Place::Kept(folder.to_path_buf());
        SandboxPolicy {
            caches: Some(Caches::at(place, None, &BTreeMap::new()).into()),
            ..SandboxPolicy::workspace_write("/work")
        }
    }

    fn told(sandbox: &SandboxPolicy, name: &str) -> Option<String> {
        let said = [
            ("PIP_CACHE_DIR", "/mine"),
            ("GOFLAGS", "-mod=vendor"),
            ("GOPROXY", "https://proxy.test"),
        ];
        let said = said.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut environment = BTreeMap::from(said);
        add(sandbox, &mut environment);
        environment.remove(name)
    }

    #[test]
    fn what_is_told_depends_on_what_can_be_reached() {
        let folder = tempfile::tempdir().unwrap();
        let npm = folder.path().join("npm").display().to_string();
        let cargo = folder.path().join("cargo").display().to_string();
        let off = policy(folder.path());
        let listed = |names: &[&str]| SandboxPolicy {
            network: Network::AllowList,
            presets: names.iter().filter_map(|name| Preset::of(name)).collect(),
            ..off.clone()
        };
        let full = SandboxPolicy {
            network: Network::Full,
            ..off.clone()
        };
        let read_only = SandboxPolicy {
            mode: SandboxMode::ReadOnly,
            ..off.clone()
        };
        for (what, sandbox, name, expected) in [
            ("off", &off, "npm_config_cache", Some(npm.as_str())),
            ("off", &off, "npm_config_fetch_retries", Some("0")),
            ("off", &off, "CARGO_HOME", None),
            ("off", &off, "PIP_CACHE_DIR", Some("/mine")),
            ("off", &off, "GOPROXY", Some("https://proxy.test")),
            ("off", &off, "GOFLAGS", Some("-mod=vendor -buildvcs=false")),
            ("npm", &listed(&["npm"]), "npm_config_fetch_retries", None),
            ("npm", &listed(&["npm"]), "CARGO_NET_RETRY", Some("0")),
            ("npm", &listed(&["npm"]), "CARGO_HOME", None),
            (
                "cargo",
                &listed(&["cargo"]),
                "CARGO_HOME",
                Some(cargo.as_str()),
            ),
            ("cargo", &listed(&["cargo"]), "CARGO_NET_RETRY", None),
            ("full", &full, "CARGO_HOME", Some(cargo.as_str())),
            ("full", &full, "PIP_RETRIES", None),
            // Nothing can be written there, and the time is as precious.
            ("read-only", &read_only, "npm_config_cache", None),
            ("read-only", &read_only, "PIP_RETRIES", Some("0")),
        ] {
            assert_eq!(told(sandbox, name).as_deref(), expected, "{what}: {name}");
        }
    }

    #[test]
    fn a_cache_that_was_used_is_used_again_without_a_network() {
        let folder = tempfile::tempdir().unwrap();
        let sandbox = policy(folder.path());
        fs::create_dir(folder.path().join("cargo")).unwrap();
        fs::write(folder.path().join("cargo/config.toml"), "").unwrap();
        assert_eq!(told(&sandbox, "CARGO_HOME"), None, "a link alone is no use");
        fs::create_dir(folder.path().join("cargo/registry")).unwrap();
        assert!(told(&sandbox, "CARGO_HOME").is_some());
    }
}
