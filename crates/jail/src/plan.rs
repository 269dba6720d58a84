//! From a policy to a plan that a stage can carry out, and whether this machine can do so.

use std::io;
use std::path::{Path, PathBuf};

use ringfence_policy::permissions::{
    ControlGroups, Limits, Network, SandboxMode, SandboxPolicy, TmpPolicy,
};
use ringfence_policy::sensitive::path::{Base, Writing, kept};

use crate::error::LaunchError;
use crate::git::Known;
use crate::real_paths::RealPaths;
use crate::warden::protocol::{Fence, Groups, RawPath, RunLimits, Sockets, Tmp, World};

/// The world that a policy needs.
pub(crate) fn world(sandbox: &SandboxPolicy, limits: &Limits) -> World {
    World::Namespaces {
        own_network: sandbox.network != Network::Full,
        tmp_bytes: limits.tmp_bytes,
        groups: groups(limits),
    }
}

/// The bare machine, for commands with these limits.
pub(crate) fn machine(limits: &Limits) -> World {
    World::Machine {
        groups: groups(limits),
    }
}

fn groups(limits: &Limits) -> Groups {
    if limits.control_groups == ControlGroups::Off {
        return Groups::default();
    }
    let (memory, cpu_time) = (limits.memory_bytes.is_some(), limits.cpu_time.is_some());
    Groups {
        processes: limits.processes.is_some() || memory || cpu_time,
        memory,
        cpu_time,
    }
}

/// The same, made by `bwrap`.
pub(crate) fn bubblewrap_world(bwrap: &Path, sandbox: &SandboxPolicy, limits: &Limits) -> World {
    World::Bubblewrap {
        bwrap: RawPath::from(bwrap),
        own_network: sandbox.network != Network::Full,
        tmp_bytes: limits.tmp_bytes,
        groups: groups(limits),
    }
}

/// The fence of a run in namespaces, as far as the policy alone says it.
pub(crate) fn fence(sandbox: &SandboxPolicy) -> Result<Fence, LaunchError> {
    let sockets = match sandbox.network {
        Network::Off | Network::AllowList => Sockets::InNamespace,
        Network::Full => Sockets::InMachineNetwork,
    };
    let tmp = match (sandbox.tmp, sandbox.mode) {
        (TmpPolicy::Private, SandboxMode::ReadOnly) => Tmp::SessionReadOnly,
        (TmpPolicy::Private, _) => Tmp::Session,
        (TmpPolicy::Host, _) => Tmp::Machine,
    };
    let mut fence = assemble(sandbox, tmp, sockets)?;
    let out_of_sight = |path: &&RawPath| tmp != Tmp::Machine && path.to_path().starts_with("/tmp");
    let in_tmp = fence.unix_sockets.iter().filter(out_of_sight);
    fence.sockets_in_tmp = in_tmp.cloned().collect();
    if tmp != Tmp::Machine {
        show_in_tmp(sandbox, &mut fence)?;
    }
    Ok(fence)
}

/// What is protected in a root's own `.git` is protected in those further down as well.
pub(crate) fn in_git_folders<'k>(
    sandbox: &SandboxPolicy,
    known: impl Iterator<Item = &'k Known>,
) -> Vec<RawPath> {
    let folders: Vec<PathBuf> = known.filter_map(Known::git_folder).collect();
    let inner = sandbox
        .protected_paths
        .iter()
        .filter_map(|path| path.strip_prefix(".git").ok())
        .filter(|inner| !inner.as_os_str().is_empty());
    inner
        .flat_map(|inner| folders.iter().map(move |folder| tidy(&folder.join(inner))))
        .collect()
}

/// The fence of a run on the bare machine, by Landlock and seccomp alone.
pub(crate) fn degraded_fence(sandbox: &SandboxPolicy) -> Result<Fence, LaunchError> {
    let sockets = match sandbox.network {
        Network::Off | Network::AllowList => Sockets::LocalOnly,
        Network::Full => Sockets::InMachineNetwork,
    };
    assemble(sandbox, Tmp::Machine, sockets)
}

fn assemble(sandbox: &SandboxPolicy, tmp: Tmp, sockets: Sockets) -> Result<Fence, LaunchError> {
    // Each root as it was given, and with every link in it followed.
    let mut roots = Vec::new();
    for root in sandbox.effective_writable_roots() {
        roots.push((root.clone(), place_of(root, sandbox)?));
    }
    if tmp == Tmp::Machine && sandbox.mode == SandboxMode::WorkspaceWrite {
        roots.push((PathBuf::from("/tmp"), resolved(Path::new("/tmp"))?));
    }
    // What may not be read may not be made either: a key of somebody else's in a folder for keys
    // that does not exist yet is as bad as reading one.
    let denied = denied_reads(sandbox);
    let in_roots = denied.iter().filter_map(|path| in_a_root(path, &roots));
    let (when_there, always): (Vec<_>, Vec<_>) = sandbox.protected_paths.iter().partition(|path| {
        kept(Base::Root, Writing::ProtectedWhenThere).any(|name| *path == Path::new(name))
    });
    let there = roots
        .iter()
        .flat_map(|(_, root)| when_there.iter().map(move |path| root.join(path)))
        // A link, or a file, has nothing in it that counts.
        .filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_dir()));
    let protected = always.into_iter().map(|path| {
        let moved = path
            .is_absolute()
            .then(|| in_a_root(path, &roots))
            .flatten();
        moved.unwrap_or_else(|| path.clone())
    });
    let cache = sandbox.writable_cache().map(resolved).transpose()?;
    // It is put over everything else, and would uncover what is denied there.
    let mut real = RealPaths::default();
    let cache = cache.filter(|folder| {
        let mut denied = denied.iter();
        !denied.any(|path| path.starts_with(folder) || real.of(path).starts_with(folder))
    });
    let mut unix_sockets = Vec::new();
    for path in &sandbox.unix_sockets {
        unix_sockets.push(RawPath::from(place_of(path, sandbox)?.as_path()));
    }
    Ok(Fence {
        protected: protected
            .chain(in_roots)
            .chain(there)
            .map(|path| tidy(&path))
            .collect(),
        writable: roots
            .iter()
            .map(|(_, root)| RawPath::from(root.as_path()))
            .collect(),
        cache: cache.map(|folder| RawPath::from(folder.as_path())),
        denied: denied.iter().map(|path| tidy(path)).collect(),
        tmp,
        sockets,
        lookout: sandbox.lookout,
        unix_sockets,
        sockets_in_tmp: Vec::new(),
        seen_in_tmp: Vec::new(),
        ways_in_tmp: Vec::new(),
    })
}

/// What a private `/tmp` has to show of roots below the machine's: one that is only read, itself; around one that is written, a way
/// that cannot be written, since a file beside it would be lost with the session. Their neighbours stay out of sight.
fn show_in_tmp(sandbox: &SandboxPolicy, fence: &mut Fence) -> Result<(), LaunchError> {
    for root in &sandbox.writable_roots {
        let root = resolved(root)?;
        let Ok(below) = root.strip_prefix("/tmp") else {
            continue;
        };
        let mut names = below.components();
        let Some(first) = names.next() else { continue };
        if sandbox.mode == SandboxMode::ReadOnly {
            fence.seen_in_tmp.push(RawPath::from(root.as_path()));
            continue;
        }
        let way = Path::new("/tmp").join(first);
        // Places of other kinds are made there when the view is.
        let others = fence.sockets_in_tmp.iter().chain(&fence.cache);
        let has_others = others
            .into_iter()
            .any(|path| path.to_path().starts_with(&way));
        let way = RawPath::from(way.as_path());
        let is_way = names.next().is_some() && root.is_dir() && !has_others;
        if is_way && !fence.ways_in_tmp.contains(&way) {
            fence.ways_in_tmp.push(way);
        }
    }
    Ok(())
}

/// As many names are held instead of the one of a folder around something granted.
const MOST_INSTEAD: usize = 512;

/// What cannot be read. In the place of a folder around something that is granted stands everything else in it; what comes into
/// being there later is not on the list of what can be read. A folder that cannot be looked through stays denied.
fn denied_reads(sandbox: &SandboxPolicy) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for denied in &sandbox.denied_reads {
        let granted = sandbox.granted_reads.iter();
        let granted: Vec<&PathBuf> = granted.filter(|path| path.starts_with(denied)).collect();
        let mut instead = Vec::new();
        if granted.is_empty() || !but_for(denied, &granted, &mut instead) {
            instead = vec![denied.clone()];
        }
        all.extend(instead);
    }
    all
}

fn but_for(path: &Path, granted: &[&PathBuf], instead: &mut Vec<PathBuf>) -> bool {
    if granted.iter().any(|granted| *granted == path) {
        return true;
    }
    if !granted.iter().any(|granted| granted.starts_with(path)) {
        instead.push(path.to_owned());
        return instead.len() <= MOST_INSTEAD;
    }
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let Some(entries) = is_folder.then(|| path.read_dir().ok()).flatten() else {
        return false;
    };
    let mut entries = entries.map(|entry| entry.map(|entry| entry.path()));
    entries.all(|entry| entry.is_ok_and(|entry| but_for(&entry, granted, instead)))
}

/// A path in one of the roots, by the root's resolved name; nothing for a path elsewhere.
fn in_a_root(path: &Path, roots: &[(PathBuf, PathBuf)]) -> Option<PathBuf> {
    roots.iter().find_map(|(given, root)| {
        let inside = path
            .strip_prefix(given)
            .or_else(|_| path.strip_prefix(root))
            .ok()?;
        (!inside.as_os_str().is_empty()).then(|| root.join(inside))
    })
}

/// The same path without trailing slashes and dots.
fn tidy(path: &Path) -> RawPath {
    let tidy: PathBuf = path.components().collect();
    RawPath::from(tidy.as_path())
}

/// Where a path of a policy leads. One that was granted leads nowhere else: commands that may write around it can put a link in its
/// place at any moment, and nobody has granted what that leads to. What is mounted from here on is opened without following links.
pub(crate) fn place_of(path: &Path, sandbox: &SandboxPolicy) -> Result<PathBuf, LaunchError> {
    let place = resolved(path)?;
    if place != path && sandbox.granted_paths.iter().any(|granted| granted == path) {
        return Err(LaunchError::Path {
            path: path.to_path_buf(),
            reason: io::Error::other(format!(
                "it was granted, and leads to {} now",
                place.display()
            )),
        });
    }
    Ok(place)
}

/// A path with every link in it followed.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf, LaunchError> {
    path.canonicalize().map_err(|reason| LaunchError::Path {
        path: path.to_path_buf(),
        reason,
    })
}

/// What Landlock and seccomp alone cannot give of a policy.
pub(crate) fn lost_without_namespaces(sandbox: &SandboxPolicy) -> Vec<String> {
    let mut lost = Vec::new();
    if !sandbox.denied_reads.is_empty() {
        lost.push("denied reads (keys and credentials could be read)".to_owned());
    }
    if sandbox.mode == SandboxMode::WorkspaceWrite && !sandbox.protected_paths.is_empty() {
        lost.push("protected paths (such as .git/hooks could be changed)".to_owned());
    }
    if sandbox.tmp == TmpPolicy::Private {
        lost.push("a private /tmp".to_owned());
    }
    lost.push("modes and times of files outside the writable roots".to_owned());
    lost.push("the machine's shared memory out of reach".to_owned());
    lost.push("the limit on processes, for root".to_owned());
    lost.push("the guarantee that killing a run kills everything it started".to_owned());
    lost
}

pub(crate) fn limits(limits: &Limits) -> RunLimits {
    RunLimits {
        cpu_seconds: limits.cpu_time.map(|time| time.as_secs().max(1)),
        memory_bytes: limits.memory_bytes,
        process_memory_bytes: limits.process_memory_bytes,
        processes: limits.processes,
        file_size_bytes: limits.file_size_bytes,
        open_files: limits.open_files,
        disk_bytes: limits.disk_bytes,
        wall_millis: limits
            .wall_time
            .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_was_granted_leads_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (plain, link) = (top.join("plain"), top.join("link"));
        std::fs::create_dir(&plain).unwrap();
        symlink(&plain, &link).unwrap();
        let mut sandbox = SandboxPolicy::workspace_write(&top);
        // One of the configuration's may be a link.
        assert_eq!(place_of(&link, &sandbox).unwrap(), plain);
        sandbox.granted_paths = vec![plain.clone(), link.clone()];
        assert_eq!(place_of(&plain, &sandbox).unwrap(), plain);
        let refused = place_of(&link, &sandbox).unwrap_err().to_string();
        assert!(refused.contains("leads to"), "{refused}");
    }
}
