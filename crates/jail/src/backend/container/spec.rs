//! From a policy to a container: what is mounted where, what has to be held by marks for that, what
//! bounds it, and what no container can hold. Pure but for looking at which protected paths exist.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use ringfence_policy::permissions::{Limits, Network, SandboxMode, SandboxPolicy};

use crate::error::LaunchError;
use crate::mark;
use crate::plan;
use crate::warden::NOT_FOR_WRITING;
use crate::warden::protocol::{Fence, Identity, RawPath, Tmp};

use super::bundle::{Bundle, INSIDE};
use super::engine::{ContainerEngine, Found};
use super::trace::{LABEL, Trace};

/// A container, as far as the policy decides. Two policies with the same one can share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    mounts: Vec<Mount>,
    /// Protected paths that do not exist, each with the root that it is in: they need marks.
    pub(super) absent: Vec<(PathBuf, PathBuf)>,
    tmp: Tmp,
    tmp_bytes: Option<u64>,
    network: Network,
    memory_bytes: Option<u64>,
    processes: Option<u64>,
    uid: u32,
    gid: u32,
}

/// Something of the machine's that is there inside, at the same path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    path: PathBuf,
    as_what: As,
    /// Which file it is: another one in its place makes another container. A mark is like any
    /// other.
    node: (u64, u64),
}

/// What a mount does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    /// It can be written.
    Writable,
    /// It can only be read.
    ReadOnly,
    /// A folder that nobody can open is in its place.
    ShutFolder,
    /// A file that nobody can open is in its place.
    ShutFile,
}

impl Spec {
    /// The container that a policy needs for runs with this fence.
    pub(crate) fn of(
        sandbox: &SandboxPolicy,
        limits: &Limits,
        identity: &Identity,
        fence: &Fence,
    ) -> Result<Self, LaunchError> {
        let mut drawn = Drawn::default();
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in &sandbox.writable_roots {
            roots.push(plan::resolved(root)?);
        }
        roots.extend(fence.writable.iter().map(RawPath::to_path));
        roots.sort();
        roots.dedup();
        let as_what = match sandbox.mode {
            SandboxMode::ReadOnly => As::ReadOnly,
            _ => As::Writable,
        };
        for root in &roots {
            drawn.root(root, as_what)?;
        }
        if as_what == As::Writable {
            for root in &roots {
                for path in &fence.protected {
                    drawn.protect(root, &path.to_path())?;
                }
            }
        }
        for path in &fence.denied {
            drawn.deny(&path.to_path(), &roots);
        }
        let (mounts, absent) = drawn.finish()?;
        Ok(Self {
            mounts,
            absent,
            tmp: fence.tmp,
            tmp_bytes: limits.tmp_bytes,
            network: sandbox.network,
            memory_bytes: limits.memory_bytes,
            processes: limits.processes,
            uid: identity.uid,
            gid: identity.gid,
        })
    }
}

/// Mounts, and what has to be made for them.
type Drawing = (Vec<Mount>, Vec<(PathBuf, PathBuf)>);

fn node(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Mounts on their way to a spec, and what stands against it.
#[derive(Default)]
struct Drawn {
    mounts: Vec<Mount>,
    absent: Vec<(PathBuf, PathBuf)>,
    missing: Vec<String>,
}

impl Drawn {
    fn root(&mut self, root: &Path, as_what: As) -> Result<(), LaunchError> {
        let unusable = |reason| LaunchError::WritableRoot {
            path: root.display().to_string(),
            reason,
        };
        if NOT_FOR_WRITING.iter().any(|own| root == Path::new(own)) {
            return Err(unusable(std::io::ErrorKind::InvalidInput.into()));
        }
        let metadata = fs::symlink_metadata(root).map_err(unusable)?;
        self.add(root, as_what, node(&metadata));
        Ok(())
    }

    fn add(&mut self, path: &Path, as_what: As, node: (u64, u64)) {
        // Engines read a mount as a list with commas in between.
        if path.as_os_str().as_bytes().contains(&b',') {
            let path = path.display();
            self.missing
                .push(format!("{path}, whose name has a comma in it"));
        }
        if !self.mounts.iter().any(|mount| mount.path == path) {
            self.mounts.push(Mount {
                path: path.to_path_buf(),
                as_what,
                node,
            });
        }
    }

    /// Protects a path in a root: read-only at its end, and mount points, which cannot be renamed,
    /// on the way.
    fn protect(&mut self, root: &Path, path: &Path) -> Result<(), LaunchError> {
        let relative = if path.is_absolute() {
            match path.strip_prefix(root) {
                Ok(relative) => relative,
                Err(_) => return Ok(()),
            }
        } else {
            path
        };
        let names: Vec<_> = relative
            .components()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        let mut so_far = root.to_path_buf();
        for (index, name) in names.iter().enumerate() {
            so_far.push(name);
            let metadata = match fs::symlink_metadata(&so_far) {
                Ok(metadata) if !mark::is_at(&so_far) => metadata,
                _ => {
                    self.add(&so_far, As::ReadOnly, (0, 0));
                    self.absent.push((root.to_path_buf(), so_far));
                    return Ok(());
                }
            };
            if metadata.is_symlink() {
                return Err(LaunchError::ProtectedSymlink(so_far.display().to_string()));
            }
            if index + 1 < names.len() && metadata.is_dir() {
                self.add(&so_far, As::Writable, node(&metadata));
            } else {
                self.add(&so_far, As::ReadOnly, node(&metadata));
                return Ok(());
            }
        }
        Ok(())
    }

    /// Covers what may not be read. Outside the roots nothing of the machine's is there anyway.
    fn deny(&mut self, path: &Path, roots: &[PathBuf]) {
        let Ok(path) = path.canonicalize() else {
            return;
        };
        // A mark has nothing in it to be read.
        if !roots.iter().any(|root| path.starts_with(root)) || mark::is_at(&path) {
            return;
        }
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            return;
        };
        let cover = if metadata.is_dir() {
            As::ShutFolder
        } else {
            As::ShutFile
        };
        // It was protected against being made or replaced: the cover does that too.
        self.mounts.retain(|mount| mount.path != path);
        self.add(&path, cover, node(&metadata));
    }

    fn finish(mut self) -> Result<Drawing, LaunchError> {
        self.absent.sort();
        self.absent.dedup();
        if self.missing.is_empty() {
            return Ok((self.mounts, self.absent));
        }
        let missing = self.missing.into_iter();
        Err(LaunchError::CannotEnforce {
            missing: missing.map(|what| format!("container: {what}")).collect(),
        })
    }
}

/// The arguments that start the container.
pub(super) fn arguments(
    spec: &Spec,
    found: &Found,
    image: &str,
    bundle: &Bundle,
    trace: &Trace,
) -> Vec<OsString> {
    let mut list = Arguments(Vec::new());
    list.words([
        "run",
        "--detach",
        "--rm",
        "--pull=never",
        "--name",
        trace.name(),
    ]);
    list.words(["--label", LABEL, "--log-driver=none", "--no-healthcheck"]);
    list.words(["--stop-signal=KILL", "--workdir=/", "--ipc=private"]);
    list.words(["--cap-drop=all", "--security-opt=no-new-privileges"]);
    // Without it an SELinux machine would want the user's files relabelled.
    list.words(["--security-opt=label=disable", "--read-only"]);
    list.word(format!("--user={}:{}", spec.uid, spec.gid));
    if found.engine == ContainerEngine::Podman {
        list.words(["--read-only-tmpfs=false", "--http-proxy=false"]);
        list.words(["--image-volume=ignore"]);
    }
    if found.is_rootless() {
        list.words(["--userns=keep-id"]);
    }
    list.words([match spec.network {
        Network::Full => "--network=host",
        Network::Off | Network::AllowList => "--network=none",
    }]);
    list.bounds(spec, found.engine);
    for (path, name) in &bundle.files {
        list.bind(path, &Path::new(INSIDE).join(name), true);
    }
    list.bind(&trace.socket(), &Path::new(INSIDE).join("line"), true);
    for mount in &spec.mounts {
        match mount.as_what {
            As::Writable => list.bind(&mount.path, &mount.path, false),
            As::ReadOnly => list.bind(&mount.path, &mount.path, true),
            As::ShutFolder => list.bind(&trace.shut_folder(), &mount.path, true),
            As::ShutFile => list.bind(&trace.shut_file(), &mount.path, true),
        }
    }
    let (entry, rest) = bundle.command.split_at(1);
    list.word(format!("--entrypoint={}", entry[0]));
    list.words([image]);
    list.words(rest.iter().map(String::as_str));
    let line = format!("{INSIDE}/line");
    list.words([crate::WARDEN_ARGUMENT, &line]);
    list.0
}

/// The warden, and stages: they are in the container too.
const OWN_PROCESSES: u64 = 4;

struct Arguments(Vec<OsString>);

impl Arguments {
    fn word(&mut self, word: impl Into<OsString>) {
        self.0.push(word.into());
    }

    fn words<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.0.extend(words.into_iter().map(OsString::from));
    }

    fn bounds(&mut self, spec: &Spec, engine: ContainerEngine) {
        if let Some(bytes) = spec.memory_bytes {
            self.word(format!("--memory={bytes}b"));
        }
        if let Some(processes) = spec.processes {
            let all = processes.saturating_add(OWN_PROCESSES);
            self.word(format!("--pids-limit={all}"));
        }
        if spec.tmp != Tmp::Machine {
            let way = if spec.tmp == Tmp::SessionReadOnly {
                "ro"
            } else {
                "rw"
            };
            let size = spec
                .tmp_bytes
                .map(|bytes| format!(",size={bytes}"))
                .unwrap_or_default();
            // Podman would copy what the image has there.
            let fresh = match engine {
                ContainerEngine::Podman => ",notmpcopyup",
                ContainerEngine::Docker => "",
            };
            self.word(format!(
                "--tmpfs=/tmp:{way},exec,nosuid,nodev,mode=1777{size}{fresh}"
            ));
        }
    }

    fn bind(&mut self, from: &Path, to: &Path, read_only: bool) {
        let mut mount = OsString::from("--mount=type=bind,source=");
        mount.push(from);
        mount.push(",destination=");
        mount.push(to);
        if read_only {
            // A mount below it would stay writable.
            mount.push(",readonly,bind-nonrecursive");
        }
        self.0.push(mount);
    }
}

#[cfg(test)]
#[allow(
    clippy::needless_raw_string_hashes,
    reason = "expect-test writes them so"
)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// The arguments for a small policy, but for what differs from machine to machine.
    fn shown(spec: &Spec, engine: ContainerEngine) -> String {
        let trace = Trace::make().unwrap();
        let bundle = Bundle {
            files: vec![("/bin/ringfence".into(), "program".to_owned())],
            command: vec![format!("{INSIDE}/program")],
        };
        let list = arguments(spec, &Found::of(engine), "image:1", &bundle, &trace);
        trace.remove_folder();
        let words = list.iter().map(|word| word.to_string_lossy());
        let lines: Vec<_> = words
            .map(|word| word.replace(trace.name(), "NAME"))
            .filter(|word| word != "--userns=keep-id")
            .collect();
        lines.join("\n")
    }

    #[test]
    fn a_container_is_given_nothing_that_the_policy_does_not_name() {
        let mount = |path: &str, as_what| Mount {
            path: path.into(),
            as_what,
            node: (0, 0),
        };
        let spec = Spec {
            mounts: vec![
                mount("/work", As::Writable),
                mount("/work/.git/hooks", As::ReadOnly),
                mount("/work/.ssh", As::ShutFolder),
                mount("/work/.netrc", As::ShutFile),
            ],
            absent: Vec::new(),
            tmp: Tmp::Session,
            tmp_bytes: Some(4096),
            network: Network::Off,
            memory_bytes: Some(1 << 20),
            processes: Some(64),
            uid: 1000,
            gid: 100,
        };
        expect![[r#"
            run
            --detach
            --rm
            --pull=never
            --name
            NAME
            --label
            io.ringfence.session
            --log-driver=none
            --no-healthcheck
            --stop-signal=KILL
            --workdir=/
            --ipc=private
            --cap-drop=all
            --security-opt=no-new-privileges
            --security-opt=label=disable
            --read-only
            --user=1000:100
            --read-only-tmpfs=false
            --http-proxy=false
            --image-volume=ignore
            --network=none
            --memory=1048576b
            --pids-limit=68
            --tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777,size=4096,notmpcopyup
            --mount=type=bind,source=/bin/ringfence,destination=/.ringfence/program,readonly,bind-nonrecursive
            --mount=type=bind,source=/tmp/NAME/line,destination=/.ringfence/line,readonly,bind-nonrecursive
            --mount=type=bind,source=/work,destination=/work
            --mount=type=bind,source=/work/.git/hooks,destination=/work/.git/hooks,readonly,bind-nonrecursive
            --mount=type=bind,source=/tmp/NAME/shut,destination=/work/.ssh,readonly,bind-nonrecursive
            --mount=type=bind,source=/tmp/NAME/shut-file,destination=/work/.netrc,readonly,bind-nonrecursive
            --entrypoint=/.ringfence/program
            image:1
            __warden
            /.ringfence/line"#]].assert_eq(&shown(&spec, ContainerEngine::Podman));
        let free = Spec {
            mounts: Vec::new(),
            tmp: Tmp::SessionReadOnly,
            tmp_bytes: None,
            network: Network::Full,
            memory_bytes: None,
            processes: None,
            ..spec
        };
        expect![[r#"
            run
            --detach
            --rm
            --pull=never
            --name
            NAME
            --label
            io.ringfence.session
            --log-driver=none
            --no-healthcheck
            --stop-signal=KILL
            --workdir=/
            --ipc=private
            --cap-drop=all
            --security-opt=no-new-privileges
            --security-opt=label=disable
            --read-only
            --user=1000:100
            --network=host
            --tmpfs=/tmp:ro,exec,nosuid,nodev,mode=1777
            --mount=type=bind,source=/bin/ringfence,destination=/.ringfence/program,readonly,bind-nonrecursive
            --mount=type=bind,source=/tmp/NAME/line,destination=/.ringfence/line,readonly,bind-nonrecursive
            --entrypoint=/.ringfence/program
            image:1
            __warden
            /.ringfence/line"#]].assert_eq(&shown(&free, ContainerEngine::Docker));
    }
}
