//! Whether the policy denies something about a path, and what would allow it.

use std::path::{Path, PathBuf};

use ringfence_policy::NarrowGrant;
use ringfence_policy::permissions::{GIT_SETUP, SandboxMode, SandboxPolicy};

use super::could::Wish;
use super::{Denial, DenialKind, Evidence, Scene};

/// What is known of a refusal besides its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The fence has seen a write refused.
    Seen,
    /// It says that the file system is read-only, which the fence makes it.
    ReadOnly,
    /// It says that permission is denied, which mostly the machine itself says.
    NoPermission,
    /// It says that something is in use, as what is pinned in place is.
    Busy,
    /// It says that something is not permitted, which the fence never says of a path.
    NotPermitted,
}

/// The denial of a path, if the policy denies something about it that the user could do otherwise.
pub(super) fn judge_path(scene: &Scene<'_>, path: &Path, told: Told) -> Option<Denial> {
    let sandbox = scene.sandbox;
    if let Some(denied) = sandbox.denied_read_around(path) {
        let by_the_fence = matches!(told, Told::NoPermission | Told::Seen);
        return (by_the_fence && (scene.could)(path, Wish::Read)).then(|| no_reading(path, denied));
    }
    let roots = sandbox.effective_writable_roots();
    let Some(root) = roots.iter().find(|root| path.starts_with(root)) else {
        return outside(scene, path, told);
    };
    if told == Told::NotPermitted {
        return None;
    }
    if let Some(denial) = no_repository(sandbox, root, path) {
        return Some(denial);
    }
    protected(sandbox, root, path)
}

fn no_reading(path: &Path, denied: &Path) -> Denial {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    // What a link leads to has to be asked for by its own name.
    let grant = (real == path).then_some(NarrowGrant::Readable { path: real });
    Denial {
        kind: DenialKind::Read,
        subject: path.display().to_string(),
        reason: format!("{} is kept from commands", denied.display()),
        allow: format!(
            "--allow-read {0}, or `sandbox.allowed_reads = [\"{0}\"]`, unless a rule denies it",
            path.display()
        ),
        evidence: Evidence::Output,
        grant,
    }
}

/// A write outside the writable roots.
fn outside(scene: &Scene<'_>, path: &Path, told: Told) -> Option<Denial> {
    let of_the_fence = ["/dev", "/proc", "/sys"];
    let by_the_fence = match told {
        Told::Seen | Told::ReadOnly => true,
        // Only where there are no mounts does a rule of the kernel's say it.
        Told::NoPermission => !scene.by_mounts,
        Told::Busy | Told::NotPermitted => false,
    };
    if !by_the_fence
        || of_the_fence.iter().any(|own| path.starts_with(own))
        || !(scene.could)(path, Wish::Write)
    {
        return None;
    }
    let folder = folder_of(path);
    let name = folder.display();
    let reason = match scene.sandbox.mode {
        SandboxMode::ReadOnly => "the policy is read-only".to_owned(),
        _ => "it is outside the workspace and the writable roots".to_owned(),
    };
    let allow = match scene.sandbox.mode {
        SandboxMode::ReadOnly => "--sandbox workspace-write".to_owned(),
        _ => format!("--writable {name}, or `sandbox.writable_roots = [\"{name}\"]`"),
    };
    Some(Denial {
        kind: DenialKind::Write,
        subject: path.display().to_string(),
        reason,
        allow,
        evidence: Evidence::Output,
        grant: Some(NarrowGrant::Writable { path: folder }),
    })
}

/// The folder that would have to be writable: the one that is there, with every link in it followed.
fn folder_of(path: &Path) -> PathBuf {
    let mut folders = path.ancestors().skip(usize::from(!path.is_dir()));
    let there = folders.find(|folder| folder.is_dir());
    let there = there.unwrap_or(Path::new("/"));
    there.canonicalize().unwrap_or_else(|_| there.to_path_buf())
}

/// A write of what is protected in a root.
fn protected(sandbox: &SandboxPolicy, root: &Path, path: &Path) -> Option<Denial> {
    let mut all = sandbox.protected_paths.iter().chain(&sandbox.watched_paths);
    let listed = all.find(|protected| {
        let whole = root.join(protected);
        path.starts_with(&whole)
            || whole.starts_with(path) && path != root
            || is_in_a_repository_below(path, root, protected)
    });
    let of_git = || git_setup(path, root);
    let protected = listed.cloned().or_else(of_git)?;
    // Git's set-up belongs together, and is protected whatever the list says of a part.
    let grant = listed.filter(|listed| !listed.starts_with(".git"));
    Some(Denial {
        kind: DenialKind::Write,
        subject: path.display().to_string(),
        reason: format!(
            "{} is protected: it can run code outside the fence",
            protected.display()
        ),
        allow: format!(
            "`sandbox.unprotected_paths = [\"{}\"]`",
            protected.display()
        ),
        evidence: Evidence::Output,
        grant: grant.map(|path| NarrowGrant::Unprotected { path: path.clone() }),
    })
}

/// What of a repository's set-up, at the top or further down, a path is in.
fn git_setup(path: &Path, root: &Path) -> Option<PathBuf> {
    let mut names = GIT_SETUP.iter().map(|name| Path::new(".git").join(name));
    names.find(|name| is_in_a_repository_below(path, root, name))
}

/// What `git init` meets: where there is no repository, none can be made inside.
fn no_repository(sandbox: &SandboxPolicy, root: &Path, path: &Path) -> Option<Denial> {
    let git = root.join(".git");
    if !path.starts_with(&git) || git.join("HEAD").exists() {
        return None;
    }
    let names: Vec<String> = sandbox
        .protected_paths
        .iter()
        .filter(|protected| protected.starts_with(".git"))
        .map(|protected| format!("\"{}\"", protected.display()))
        .collect();
    (!names.is_empty()).then(|| Denial {
        kind: DenialKind::Write,
        subject: path.display().to_string(),
        reason:
            ".git is protected where there is no repository yet: one that a command makes can run \
                 code outside the fence"
                .to_owned(),
        allow: format!(
            "run `git init` in {} yourself, outside the fence; or \
             `sandbox.unprotected_paths = [{}]`",
            root.display(),
            names.join(", ")
        ),
        evidence: Evidence::Output,
        grant: None,
    })
}

/// Whether a path is the same in a repository further down, or in a submodule's git folder, as a
/// protected path is in the root's own.
fn is_in_a_repository_below(path: &Path, root: &Path, protected: &Path) -> bool {
    let (Ok(below), Ok(inner)) = (path.strip_prefix(root), protected.strip_prefix(".git")) else {
        return false;
    };
    let mut rest = below.components();
    let in_git = rest.any(|component| component.as_os_str() == ".git");
    in_git
        && !inner.as_os_str().is_empty()
        && std::iter::successors(Some(rest.as_path()), |path| {
            let mut components = path.components();
            components.next().map(|_| components.as_path())
        })
        .any(|tail| tail.starts_with(inner))
}
