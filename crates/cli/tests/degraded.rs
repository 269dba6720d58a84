//! A machine that refuses user namespaces: the default policy is refused with what would be lost,
//! and what Landlock and seccomp can hold is held once that is accepted.

#![allow(clippy::unwrap_used)]

mod program;

use std::process::Command;

use program::{Place, RINGFENCE, exists};
use ringfence_testkit::require;

/// Runs the program where no further user namespace can be made.
fn without_namespaces(place: &Place, setting: &str, script: &str) -> Option<(i32, String)> {
    let outer = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", outer, "sh"])
        .args([RINGFENCE, "run", "--", "bash", "-c", script])
        .current_dir(place.work())
        .env_clear()
        .env("HOME", place.home())
        .env("PATH", "/usr/bin:/bin")
        .env("RINGFENCE_SANDBOX_DEGRADED", setting)
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
        program::gone_within_a_second(&format!("sleep {mark}")),
        Ok(())
    );
}
