//! Limits: each kind is hit by a small program and named in the reply, with its value and the
//! setting that raises it; its twin stays below the limit and is told nothing.

#![allow(clippy::unwrap_used)]

mod program;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Child;

use program::Place;
use ringfence_confine::cgroup::{Controller, GroupRoot};
use serde_json::{Value, json};

/// A limit, a program that hits it, and one that almost does.
struct Case {
    name: &'static str,
    settings: &'static [(&'static str, &'static str)],
    hits: &'static str,
    stays_below: &'static str,
    /// `limit`, `setting`, `value`, `evidence`.
    told: (&'static str, &'static str, u64, &'static str),
}

const MIB: u64 = 1 << 20;

/// Where control groups can be made.
const BY_GROUP: &[Case] = &[
    Case {
        name: "memory of the run",
        settings: &[("LIMITS_MEMORY_BYTES", "67108864")],
        // Several processes that each stay far below the limit.
        hits: "for i in 1 2 3 4; do head -c 30M /dev/zero | tail -c 30M | (sleep 0.5; wc -c) & done; \
               wait; wait -n; exit 1",
        stays_below: "head -c 16M /dev/zero | tail -c 16M | wc -c",
        told: ("memory", "limits.memory_bytes", 64 * MIB, "enforced"),
    },
    Case {
        name: "memory of one process",
        settings: &[("LIMITS_MEMORY_BYTES", "67108864")],
        hits: "python3 -c 'x = bytearray(200 << 20)'",
        stays_below: "python3 -c 'x = bytearray(20 << 20)'",
        told: ("memory", "limits.memory_bytes", 64 * MIB, "enforced"),
    },
    Case {
        name: "CPU time of children that nobody waits for",
        settings: &[("LIMITS_CPU_SECONDS", "1")],
        hits: "exec python3 -c '
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
until = time.monotonic() + 20
while time.monotonic() < until:
    if os.fork() == 0:
        while time.process_time() < 0.03: pass
        os._exit(0)
    time.sleep(0.03)
'",
        stays_below: "true",
        told: ("cpu-time", "limits.cpu_seconds", 1000, "enforced"),
    },
    Case {
        name: "processes",
        settings: &[("LIMITS_PROCESSES", "16")],
        hits: "exec sh -c 'for i in $(seq 32); do sleep 5 & done'",
        stays_below: "for i in $(seq 8); do true & done; wait",
        told: ("processes", "limits.processes", 16, "enforced"),
    },
];

/// Everywhere.
const ALWAYS: &[Case] = &[
    Case {
        name: "CPU time of the command",
        settings: &[("LIMITS_CPU_SECONDS", "1")],
        hits: "while :; do :; done",
        stays_below: "for i in 1 2 3; do :; done",
        told: ("cpu-time", "limits.cpu_seconds", 1000, "enforced"),
    },
    Case {
        name: "CPU time of children together",
        settings: &[("LIMITS_CPU_SECONDS", "1")],
        hits: "for i in 1 2 3; do (while :; do :; done) & done; wait",
        stays_below: "for i in 1 2 3; do (:) & done; wait",
        told: ("cpu-time", "limits.cpu_seconds", 1000, "enforced"),
    },
    Case {
        name: "memory by address space",
        settings: &[
            ("LIMITS_PROCESS_MEMORY_BYTES", "268435456"),
            ("LIMITS_CONTROL_GROUPS", "off"),
        ],
        hits: "python3 -c 'x = bytearray(1 << 30)'",
        stays_below: "python3 -c 'x = bytearray(1 << 20)'",
        told: (
            "process-memory",
            "limits.process_memory_bytes",
            256 * MIB,
            "output",
        ),
    },
    Case {
        name: "memory of the run where there is no group",
        settings: &[
            ("LIMITS_MEMORY_BYTES", "268435456"),
            ("LIMITS_CONTROL_GROUPS", "off"),
        ],
        hits: "python3 -c 'x = bytearray(1 << 30)'",
        stays_below: "python3 -c 'x = bytearray(1 << 20)'",
        told: ("memory", "limits.memory_bytes", 256 * MIB, "output"),
    },
    Case {
        name: "file size, by signal",
        settings: &[("LIMITS_FILE_SIZE_BYTES", "1048576")],
        hits: "exec head -c 2M /dev/zero > big",
        stays_below: "exec head -c 512K /dev/zero > big",
        told: ("file-size", "limits.file_size_bytes", MIB, "enforced"),
    },
    Case {
        name: "file size, by a child's signal",
        settings: &[("LIMITS_FILE_SIZE_BYTES", "1048576")],
        hits: "head -c 2M /dev/zero > big; exit $?",
        stays_below: "head -c 512K /dev/zero > big; exit $?",
        told: ("file-size", "limits.file_size_bytes", MIB, "exit-code"),
    },
    Case {
        name: "file size, by what the program says",
        settings: &[("LIMITS_FILE_SIZE_BYTES", "1048576")],
        hits: "python3 -c 'open(\"big\", \"wb\").write(bytes(2 << 20))'",
        stays_below: "python3 -c 'open(\"big\", \"wb\").write(bytes(1 << 19))'",
        told: ("file-size", "limits.file_size_bytes", MIB, "output"),
    },
    Case {
        name: "open files",
        settings: &[("LIMITS_OPEN_FILES", "32")],
        hits: "python3 -c 'l = [open(\"/dev/null\") for i in range(40)]'",
        stays_below: "python3 -c 'l = [open(\"/dev/null\") for i in range(10)]'",
        told: ("open-files", "limits.open_files", 32, "output"),
    },
    Case {
        name: "disk written",
        settings: &[("LIMITS_DISK_BYTES", "4194304")],
        // Many files, none of them large, by many processes; then it waits to be found out.
        hits: "for i in $(seq 16); do head -c 1M /dev/zero > f$i; done; sleep 20",
        stays_below: "head -c 1M /dev/zero > f",
        told: ("disk", "limits.disk_bytes", 4 * MIB, "enforced"),
    },
    Case {
        name: "disk taken without writing",
        settings: &[("LIMITS_DISK_BYTES", "4194304")],
        hits: "python3 -c 'import os; os.posix_fallocate(os.open(\"f\", os.O_CREAT | os.O_RDWR), 0, 32 << 20)'; sync; sleep 20",
        stays_below: "python3 -c 'import os; os.posix_fallocate(os.open(\"f\", os.O_CREAT | os.O_RDWR), 0, 1 << 20)'",
        told: ("disk", "limits.disk_bytes", 4 * MIB, "enforced"),
    },
    Case {
        name: "the size of /tmp",
        settings: &[("LIMITS_TMP_BYTES", "1048576")],
        hits: "head -c 2M /dev/zero > /tmp/big",
        stays_below: "head -c 512K /dev/zero > /tmp/big",
        told: ("tmp", "limits.tmp_bytes", MIB, "enforced"),
    },
    Case {
        name: "the time a run may last",
        settings: &[("LIMITS_WALL_SECONDS", "1")],
        hits: "sleep 30",
        stays_below: "true",
        told: ("wall-clock", "limits.wall_seconds", 1000, "enforced"),
    },
];

fn call(place: &Place, settings: &[(&str, &str)], text: &str) -> Value {
    let arguments = json!({ "command": ["bash", "-c", text], "timeout_ms": 60_000 }).to_string();
    let mut command = place.ringfence(&["call", "--approval", "on-failure", "shell", &arguments]);
    for (name, value) in settings {
        command.env(format!("RINGFENCE_{name}"), value);
    }
    let output = command.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout} {output:?}"))
}

fn check(case: &Case) {
    let place = Place::new();
    let reply = call(&place, case.settings, case.hits);
    let hits = reply["limits_hit"].as_array().cloned().unwrap_or_default();
    let (limit, setting, value, evidence) = case.told;
    assert_eq!(hits.len(), 1, "{}: {reply:#}", case.name);
    assert_eq!(
        [
            &hits[0]["limit"],
            &hits[0]["setting"],
            &hits[0]["value"],
            &hits[0]["evidence"]
        ],
        [
            &json!(limit),
            &json!(setting),
            &json!(value),
            &json!(evidence)
        ],
        "{}: {reply:#}",
        case.name
    );
    let message = hits[0]["message"].as_str().unwrap();
    assert!(message.contains(setting), "{message}");
    let twin = call(&place, case.settings, case.stays_below);
    assert_eq!(twin["exit_code"], 0, "{}: {twin:#}", case.name);
    assert_eq!(twin.get("limits_hit"), None, "{}: {twin:#}", case.name);
}

#[test]
fn each_limit_is_hit_and_named() {
    ALWAYS.iter().for_each(check);
}

/// Asks for a segment of shared memory of so many MiB, and for a file of as many.
fn shared_memory(mib: u64) -> String {
    format!(
        "python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
segment = libc.shmget(0, {mib} << 20, 0o1600)
print(\"segment\", segment >= 0)
try:
    with open(\"/dev/shm/file\", \"wb\") as file: file.write(bytes({mib} << 20))
    print(\"file True\")
except OSError: print(\"file False\")
'"
    )
}

#[test]
fn memory_that_outlives_its_run_is_bounded() {
    let place = Place::new();
    let settings = &[("LIMITS_TMP_BYTES", "8388608")];
    for (mib, fits) in [(4, "True"), (16, "False")] {
        let reply = call(&place, settings, &shared_memory(mib));
        let told = format!("segment {fits}\\nfile {fits}\\n");
        assert!(reply.to_string().contains(&told), "{reply:#}");
    }
}

#[test]
fn limits_that_a_group_holds_are_hit_and_named() {
    if !ringfence_testkit::require::control_groups() {
        return;
    }
    BY_GROUP.iter().for_each(check);
}

/// A run that is under way, in control groups.
struct UnderWay {
    child: Child,
    warden: i32,
}

impl UnderWay {
    fn start(place: &Place) -> Self {
        let mut command = place.ringfence(&["run", "--", "bash", "-c", "echo ready; sleep 60"]);
        command.env("RINGFENCE_LIMITS_MEMORY_BYTES", "1073741824");
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        let pid = child.id();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let warden = children.unwrap().split_whitespace().next().unwrap().parse();
        Self {
            child,
            warden: warden.unwrap(),
        }
    }

    /// The folders that its warden has made.
    fn roots(&self) -> Vec<PathBuf> {
        let own = GroupRoot::make(&[Controller::Pids, Controller::Memory]).unwrap();
        let prefix = format!("ringfence-{}-", self.warden);
        own.paths()
            .iter()
            .flat_map(|path| std::fs::read_dir(path.parent().unwrap()).unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                path.file_name()
                    .unwrap()
                    .to_string_lossy()
                    .starts_with(&prefix)
            })
            .collect()
    }
}

/// However a run ends, its control groups go: with the warden, or with the next one's sweep.
#[test]
fn no_control_group_is_left_behind() {
    if !ringfence_testkit::require::control_groups() {
        return;
    }
    let place = Place::new();
    let mut ended = UnderWay::start(&place);
    assert_eq!(ended.roots().len(), 2);
    ended.child.kill().unwrap();
    ended.child.wait().unwrap();
    assert_eq!(
        ringfence_testkit::processes::none_within_a_second(|| ended.roots()),
        Ok(())
    );

    let mut orphaned = UnderWay::start(&place);
    let warden = rustix::process::Pid::from_raw(orphaned.warden).unwrap();
    rustix::process::kill_process(warden, rustix::process::Signal::KILL).unwrap();
    orphaned.child.wait().unwrap();
    // Its processes may take a moment to die, and then anybody's next run removes the folders.
    let swept = ringfence_testkit::processes::none_within_a_second(|| {
        place.output(&["run", "--", "true"]);
        orphaned.roots()
    });
    assert_eq!(swept, Ok(()));
}
