//! A machine that refuses user namespaces: the default policy is refused with what would be lost,
//! and what Landlock and seccomp can hold is held once that is accepted.

#![allow(clippy::unwrap_used, unsafe_code)]

mod program;

use std::os::unix::process::CommandExt;
use std::process::Command;

use program::{Place, RINGFENCE, exists};
use ringfence_confine::seccomp::{Answer, Entry, Filter, When};
use ringfence_testkit::require;

/// Runs the program where no further user namespace can be made.
fn without_namespaces(place: &Place, setting: &str, script: &str) -> Option<(i32, String)> {
    without_namespaces_and(place, &[("RINGFENCE_SANDBOX_DEGRADED", setting)], script)
}

fn without_namespaces_and(
    place: &Place,
    settings: &[(&str, &str)],
    script: &str,
) -> Option<(i32, String)> {
    let outer = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", outer, "sh"])
        .args([RINGFENCE, "run", "--", "bash", "-c", script])
        .current_dir(place.work())
        .env_clear()
        .env("HOME", place.home())
        .env("PATH", "/usr/bin:/bin")
        // Unless a test says otherwise: another one may be able to do it whole.
        .env("RINGFENCE_SANDBOX_BACKEND", "native")
        .envs(settings.iter().copied())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    if text.contains("unshare failed") {
        require::missing("user namespaces", &text);
        return None;
    }
    Some((output.status.code().unwrap(), text))
}

#[test]
fn what_cannot_be_enforced_is_refused_by_name() {
    let place = Place::new();
    let Some((code, text)) = without_namespaces(&place, "refuse", "echo ran") else {
        return;
    };
    assert_eq!(code, 125, "{text}");
    for says in [
        "user namespace",
        "denied reads",
        "protected paths",
        "sandbox.degraded",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    assert!(!text.contains("ran\n"));
}

#[test]
fn what_remains_is_enforced_once_that_is_accepted() {
    let place = Place::new();
    let script = "echo inside > made; echo out > ~/escaped; \
                  python3 -c 'import socket; socket.socket(socket.AF_INET)' && echo SOCKET; \
                  grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status; \
                  grep -E '^CapEff' /proc/self/status; true";
    let Some((code, text)) = without_namespaces(&place, "allow", script) else {
        return;
    };
    assert_eq!(code, 0, "{text}");
    assert!(exists(&place.work().join("made")), "{text}");
    assert!(!exists(&place.home().join("escaped")), "{text}");
    assert!(!text.contains("SOCKET"), "{text}");
    for says in ["NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000"] {
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[test]
fn a_time_out_reaches_daemons_there_too() {
    let place = Place::new();
    let mark = format!("9{}", std::process::id());
    let script = format!("(setsid sh -c 'sleep {mark}1 & sleep {mark}2' &); echo on; sleep 0.2");
    let Some((code, text)) = without_namespaces(&place, "allow", &script) else {
        return;
    };
    assert_eq!(code, 0, "{text}");
    assert_eq!(
        ringfence_testkit::processes::gone_within_a_second(&format!("sleep {mark}")),
        Ok(())
    );
}

#[test]
fn the_network_that_is_not_there_is_a_fact_there_too() {
    let place = Place::new();
    let script = "python3 -c 'import socket; socket.socket(socket.AF_INET)' 2> /dev/null; exit 3";
    let Some((code, text)) = without_namespaces(&place, "allow", script) else {
        return;
    };
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("denied: a socket for the network"), "{text}");
}

#[test]
fn refusals_are_told_there_too() {
    let place = Place::new();
    let script = "touch ~/escaped";
    let Some((code, text)) = without_namespaces(&place, "allow", script) else {
        return;
    };
    assert_eq!(code, 1, "{text}");
    let told = format!("denied: writing {}", place.home().join("escaped").display());
    assert!(text.contains(&told), "{text}");
    assert!(text.contains("to allow it: --writable"), "{text}");
}

/// The setting, a program that passes it, and what is said then.
const LIMITS: &[(&str, &str, &str, &str)] = &[
    (
        "RINGFENCE_LIMITS_CPU_SECONDS",
        "1",
        "for i in 1 2; do (while :; do :; done) & done; wait",
        "hit the limit on CPU time (1 s)",
    ),
    (
        "RINGFENCE_LIMITS_WALL_SECONDS",
        "1",
        "(setsid sleep 30 &); sleep 30",
        "hit the limit on the time it may take (1 s)",
    ),
    (
        "RINGFENCE_LIMITS_DISK_BYTES",
        "4194304",
        "for i in 1 2 3 4 5 6 7 8; do head -c 1M /dev/zero > f$i; done; sleep 20",
        "hit the limit on what a run may write to disk (4 MiB)",
    ),
    (
        "RINGFENCE_LIMITS_FILE_SIZE_BYTES",
        "1048576",
        "exec head -c 2M /dev/zero > f",
        "hit the limit on the size of a file (1 MiB)",
    ),
    (
        "RINGFENCE_LIMITS_OPEN_FILES",
        "32",
        "python3 -c 'l = [open(\"/dev/null\") for i in range(40)]'",
        "seems to have hit the limit on open files (32)",
    ),
    (
        "RINGFENCE_LIMITS_PROCESS_MEMORY_BYTES",
        "268435456",
        "python3 -c 'bytearray(1 << 30)'",
        "seems to have hit the limit on the memory of a process (256 MiB)",
    ),
];

#[test]
fn limits_hold_and_are_named_there_too() {
    for (name, value, script, says) in LIMITS {
        let place = Place::new();
        let settings = [("RINGFENCE_SANDBOX_DEGRADED", "allow"), (name, value)];
        let Some((code, text)) = without_namespaces_and(&place, &settings, script) else {
            return;
        };
        assert_ne!(code, 0, "{name}: {text}");
        assert!(text.contains(says), "{name}: {text}");
        let twin = without_namespaces_and(&place, &settings, "echo fine");
        assert_eq!(twin, Some((0, "fine\n".to_owned())), "{name}");
    }
}

/// Runs a command through the program on a machine whose kernel does not know a system call.
fn where_the_kernel_lacks(place: &Place, syscall: i64, degraded: &str) -> (i32, String) {
    let entry = Entry {
        syscall,
        when: When::Always,
        answer: Answer::Errno(libc::ENOSYS),
        reason: "the machine of this test does not have it",
    };
    let filter = Filter::new(&[entry], Answer::Allow).unwrap();
    let mut command = place.ringfence(&["run", "--", "echo", "ran"]);
    command.env("RINGFENCE_SANDBOX_DEGRADED", degraded);
    // SAFETY: between fork and exec only two system calls are made, with memory made before.
    unsafe {
        command.pre_exec(move || {
            ringfence_confine::privilege::no_new_privs()?;
            filter.install().map_err(std::io::Error::other)
        });
    }
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// A missing filter is an error that names it, never a warning.
#[test]
fn without_landlock_or_seccomp_nothing_runs() {
    for degraded in ["refuse", "allow"] {
        for (syscall, says) in [
            (libc::SYS_landlock_create_ruleset, "Landlock"),
            (libc::SYS_landlock_restrict_self, "Landlock"),
            (libc::SYS_seccomp, "Seccomp"),
        ] {
            let place = Place::new();
            let (code, text) = where_the_kernel_lacks(&place, syscall, degraded);
            assert_eq!(code, 125, "{says}, {degraded}: {text}");
            assert!(text.contains(says), "{says}, {degraded}: {text}");
            assert!(!text.contains("ran\n"), "{says}, {degraded}: {text}");
        }
        // The twin lacks something that no command needs.
        let place = Place::new();
        let (code, text) = where_the_kernel_lacks(&place, libc::SYS_swapon, degraded);
        assert_eq!((code, text.as_str()), (0, "ran\n"), "{degraded}");
    }
}

#[test]
fn another_backend_that_can_do_it_whole_is_taken() {
    if !require::has_program("bwrap") {
        return require::missing("bubblewrap", "bwrap is not installed");
    }
    let place = Place::new();
    let script = "echo by $RINGFENCE_SANDBOX; echo in > made; echo out > ~/escaped; true";
    // Root of its namespace, to which `bwrap` needs to add no other.
    let settings = [("RINGFENCE_SANDBOX_BACKEND", "auto")];
    let Some((code, text)) = without_namespaces_and(&place, &settings, script) else {
        return;
    };
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("by bubblewrap"), "{text}");
    assert!(exists(&place.work().join("made")), "{text}");
    assert!(!exists(&place.home().join("escaped")), "{text}");
}
