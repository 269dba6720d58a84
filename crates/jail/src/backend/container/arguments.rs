//! The words that start a container: a spec in the language of Docker and Podman.

use std::ffi::OsString;
use std::path::Path;

use ringfence_policy::permissions::Network;

use super::bundle::{Bundle, INSIDE};
use super::engine::{ContainerEngine, Found};
use super::spec::{As, Spec};
use super::trace::{LABEL, Trace};
use crate::warden::protocol::Tmp;

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
    use super::super::spec::Mount;
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
