//! From the settings of the sandbox to its policy: what is set, on top of what is built in.

use std::path::{Path, PathBuf};

use ringfence_policy::permissions::SandboxPolicy;
use ringfence_policy::sensitive::path::{Base, Writing, denied, kept, protected_in_roots};

use super::sandbox::SandboxConfig;

impl SandboxConfig {
    /// The policy for commands in this workspace, with all defaults in place.
    pub fn policy(&self, workspace: &Path, home: Option<&Path>) -> SandboxPolicy {
        let in_home = |names: &mut dyn Iterator<Item = &str>| -> Vec<PathBuf> {
            home.map(|home| names.map(|name| home.join(name)).collect())
                .unwrap_or_default()
        };
        let mut writable_roots = vec![workspace.to_owned()];
        add_new(&mut writable_roots, &self.writable_roots);
        let mut denied_reads = in_home(&mut denied(Base::Home));
        denied_reads.extend(denied(Base::System).map(PathBuf::from));
        denied_reads.retain(|path| !self.allowed_reads.contains(path));
        // A part of a folder that stays denied, unless that is what the user denies.
        let below = |path: &&PathBuf, all: &[PathBuf]| all.iter().any(|it| path.starts_with(it));
        let allowed = self.allowed_reads.iter();
        let granted_reads = allowed
            .filter(|path| below(path, &denied_reads) && !below(path, &self.denied_reads))
            .cloned()
            .collect();
        add_new(&mut denied_reads, &self.denied_reads);
        let mut protected_paths: Vec<PathBuf> = protected_in_roots().map(PathBuf::from).collect();
        protected_paths.extend(in_home(&mut kept(Base::Home, Writing::Protected)));
        protected_paths.retain(|path| !self.unprotected_paths.contains(path));
        add_new(&mut protected_paths, &self.protected_paths);
        let in_roots = kept(Base::Root, Writing::Watched).map(PathBuf::from);
        let mut watched_paths: Vec<PathBuf> = in_roots.collect();
        watched_paths.extend(in_home(&mut kept(Base::Home, Writing::Watched)));
        let is_lifted = |path: &PathBuf| {
            let in_roots = writable_roots.iter().map(|root| root.join(path));
            let lifted = |path: &PathBuf| self.unprotected_paths.contains(path);
            lifted(path) || in_roots.into_iter().any(|path| lifted(&path))
        };
        watched_paths.retain(|path| !is_lifted(path));
        SandboxPolicy {
            mode: self.mode,
            writable_roots,
            denied_reads,
            granted_reads,
            protected_paths,
            watched_paths,
            network: self.network,
            granted_hosts: Vec::new(),
            granted_paths: Vec::new(),
            presets: Vec::new(),
            caches: None,
            unix_sockets: self.unix_sockets.clone(),
            tmp: self.tmp,
            lookout: self.lookout,
        }
    }

    /// What may be read although it holds secrets as a rule: what the user says, but for what stays denied.
    pub(crate) fn readable(&self, policy: &SandboxPolicy) -> Vec<PathBuf> {
        let denied = |path: &&PathBuf| policy.denied_read_around(path).is_some();
        let allowed = self.allowed_reads.iter();
        allowed.filter(|path| !denied(path)).cloned().collect()
    }
}

fn add_new(to: &mut Vec<PathBuf>, from: &[PathBuf]) {
    for path in from {
        if !to.contains(path) {
            to.push(path.clone());
        }
    }
}
