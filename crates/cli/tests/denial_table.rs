//! What was tried and what is said of it, from outside: the denial names the file, host or socket that was refused and what allows
//! just that. False friends, which only look like a refusal of the fence, are not called one.

#![allow(clippy::unwrap_used)]

mod program;

use std::os::unix::fs::PermissionsExt;

use program::Place;
use serde_json::{Value, json};

/// A command, and what is told of it: `kind`, `subject`, a part of `allow`, and `grant`. `OUT` is a folder outside the workspace,
/// `HOME` the home folder, `WORK` the workspace.
type Row = (&'static str, &'static [Told]);
type Told = (
    &'static str,
    &'static str,
    &'static str,
    Option<(&'static str, &'static str)>,
);

const IN_OUT: Option<(&str, &str)> = Some(("writable", "OUT"));
const TO_OUT: &str = "--writable OUT,";

const WRITES: &[Row] = &[
    ("touch OUT/x", &[("write", "OUT/x", TO_OUT, IN_OUT)]),
    ("echo y > OUT/x", &[("write", "OUT/x", TO_OUT, IN_OUT)]),
    // The shell that speaks is not what is refused.
    (
        "/bin/bash -c 'echo y > OUT/x'",
        &[("write", "OUT/x", TO_OUT, IN_OUT)],
    ),
    (
        "/usr/bin/touch OUT/x",
        &[("write", "OUT/x", TO_OUT, IN_OUT)],
    ),
    (
        "echo y >> OUT/there",
        &[("write", "OUT/there", TO_OUT, IN_OUT)],
    ),
    ("mkdir OUT/d", &[("write", "OUT/d", TO_OUT, IN_OUT)]),
    ("mkdir -p OUT/a/b/c", &[("write", "OUT/a", TO_OUT, IN_OUT)]),
    ("cp file OUT/copy", &[("write", "OUT/copy", TO_OUT, IN_OUT)]),
    (
        "mv file OUT/moved",
        &[("write", "OUT/moved", TO_OUT, IN_OUT)],
    ),
    ("rm -f OUT/there", &[("write", "OUT/there", TO_OUT, IN_OUT)]),
    (
        "ln -s file OUT/link",
        &[("write", "OUT/link", TO_OUT, IN_OUT)],
    ),
    ("echo y | tee OUT/x", &[("write", "OUT/x", TO_OUT, IN_OUT)]),
    (
        "dd if=/dev/zero of=OUT/x count=1",
        &[("write", "OUT/x", TO_OUT, IN_OUT)],
    ),
    (
        "truncate -s 0 OUT/there",
        &[("write", "OUT/there", TO_OUT, IN_OUT)],
    ),
    (
        "touch ../../outside/x",
        &[("write", "OUT/x", TO_OUT, IN_OUT)],
    ),
    (
        "python3 -c 'open(\"OUT/x\", \"w\")'",
        &[("write", "OUT/x", TO_OUT, IN_OUT)],
    ),
    (
        "git init -q OUT/repository",
        &[("write", "OUT/repository", TO_OUT, IN_OUT)],
    ),
    // Through a link: what is granted is where it leads.
    ("ln -s OUT away; touch away/x; rm away; false", &[]),
    // Some places are told and not offered.
    (
        "touch /etc/new-file",
        &[("write", "/etc/new-file", "--writable /etc,", None)],
    ),
    (
        "touch HOME/new-file",
        &[("write", "HOME/new-file", "--writable HOME,", None)],
    ),
    (
        "mkdir -p .vscode && touch .vscode/settings.json",
        &[(
            "write",
            "WORK/.vscode/settings.json",
            "unprotected_paths",
            Some(("unprotected", ".vscode")),
        )],
    ),
];

const READS: &[Row] = &[
    (
        "cat HOME/.netrc",
        &[(
            "read",
            "HOME/.netrc",
            "--allow-read HOME/.netrc,",
            Some(("readable", "HOME/.netrc")),
        )],
    ),
    (
        "cat HOME/.ssh/config",
        &[(
            "read",
            "HOME/.ssh/config",
            "--allow-read HOME/.ssh/config,",
            Some(("readable", "HOME/.ssh/config")),
        )],
    ),
    (
        "python3 -c 'print(open(\"HOME/.aws/credentials\").read())'",
        &[(
            "read",
            "HOME/.aws/credentials",
            "--allow-read HOME/.aws/credentials,",
            Some(("readable", "HOME/.aws/credentials")),
        )],
    ),
];

const HOST: Option<(&str, &str)> = Some(("host", "a.example"));
const TO_HOST: &str = "--allow-host a.example,";

const CONNECTIONS: &[Row] = &[
    (
        "curl -sS https://a.example/x",
        &[("network", "a.example:443", TO_HOST, HOST)],
    ),
    // What says nothing is told by the command.
    (
        "curl -s https://a.example/x",
        &[("network", "a.example:443", TO_HOST, HOST)],
    ),
    (
        "wget -q https://a.example/x",
        &[
            // It looks for passwords first.
            (
                "read",
                "HOME/.netrc",
                "--allow-read HOME/.netrc,",
                Some(("readable", "HOME/.netrc")),
            ),
            ("network", "a.example:443", TO_HOST, HOST),
        ],
    ),
    (
        "curl -s https://a.example:8443/x",
        &[(
            "network",
            "a.example:8443",
            "--allow-host a.example:8443,",
            Some(("host", "a.example:8443")),
        )],
    ),
    (
        "git ls-remote https://a.example/x",
        &[("network", "a.example:443", TO_HOST, HOST)],
    ),
    (
        "python3 -c 'import urllib.request as u; u.urlopen(\"https://a.example/x\")'",
        &[("network", "a.example:443", TO_HOST, HOST)],
    ),
    (
        "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 443), 5)'",
        &[(
            "network",
            "connecting to 192.0.2.1:443",
            "--network full",
            Some(("network", "")),
        )],
    ),
    (
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"HOME/daemon.sock\")'",
        &[(
            "socket",
            "HOME/daemon.sock",
            "--allow-socket HOME/daemon.sock,",
            Some(("socket", "HOME/daemon.sock")),
        )],
    ),
];

const FALSE_FRIENDS: &[Row] = &[
    ("echo permission denied; exit 1", &[]),
    ("echo 'error: Operation not permitted' >&2; exit 1", &[]),
    ("echo 'seccomp, landlock and the sandbox'; exit 1", &[]),
    (
        "echo 'FAILED sandbox/test.rs: assertion failed'; exit 1",
        &[],
    ),
    (
        "echo 'curl: (6) Could not resolve host: a.example'; exit 6",
        &[],
    ),
    ("chmod 0 file; cat file", &[]),
    ("chmod 644 file; ./file", &[]),
    ("chown 12345 file", &[]),
    ("mkdir there", &[]),
    ("rmdir there", &[]),
    ("cat not-there", &[]),
    ("cat OUT/not-there", &[]),
    // Others may not read it, fence or no fence; nor may it be written, as it is nobody's.
    ("cat OUT/closed/x", &[]),
    ("kill -9 1", &[]),
    ("echo x > /proc/sys/kernel/hostname", &[]),
    ("curl -sS http://127.0.0.1:9/x", &[]),
    // What a command can live with is told by nobody.
    ("touch OUT/x || true", &[]),
    ("git -C there commit -m x", &[]),
];

fn filled(text: &str, place: &Place) -> String {
    let text = text.replace("OUT", &place.outside().display().to_string());
    let text = text.replace("HOME", &place.home().display().to_string());
    text.replace("WORK", &place.work().display().to_string())
}

fn furnish(place: &Place) {
    let (home, out) = (place.home(), place.outside());
    std::fs::write(out.join("there"), "x").unwrap();
    std::fs::create_dir(out.join("closed")).unwrap();
    std::fs::set_permissions(out.join("closed"), PermissionsExt::from_mode(0o000)).unwrap();
    std::fs::create_dir_all(place.work().join("there/sub")).unwrap();
    std::fs::write(place.work().join("file"), "x").unwrap();
    for (folder, file) in [(".", ".netrc"), (".ssh", "config"), (".aws", "credentials")] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
        std::fs::write(home.join(folder).join(file), "secret").unwrap();
    }
}

fn check(rows: &[Row]) {
    for (text, told) in rows {
        let place = Place::new();
        furnish(&place);
        let _daemon =
            std::os::unix::net::UnixListener::bind(place.home().join("daemon.sock")).unwrap();
        let command = filled(text, &place);
        let arguments = json!({"command": ["bash", "-c", command]});
        // The policy asks nobody about a command that failed, and reports.
        let flags = ["--approval", "on-request", "--approve", "all"];
        let reply = place.call("shell", &arguments, &flags);
        let denials = reply["denials"].as_array().cloned().unwrap_or_default();
        assert_eq!(denials.len(), told.len(), "{text}: {reply:#}");
        for (denial, (kind, subject, allow, grant)) in denials.iter().zip(*told) {
            assert_eq!(denial["kind"], *kind, "{text}: {reply:#}");
            assert_eq!(denial["subject"], filled(subject, &place), "{text}");
            let said = denial["allow"].as_str().unwrap();
            assert!(said.contains(&filled(allow, &place)), "{text}: {said}");
            let expected = grant.map_or(Value::Null, |(kind, what)| match kind {
                "network" => json!({"kind": kind}),
                "host" => json!({"kind": kind, "host": what}),
                _ => json!({"kind": kind, "path": filled(what, &place)}),
            });
            assert_eq!(denial["grant"], expected, "{text}");
        }
    }
}

#[test]
fn of_writes() {
    check(WRITES);
}

#[test]
fn of_reads() {
    check(READS);
}

#[test]
fn of_connections() {
    check(CONNECTIONS);
}

#[test]
fn of_what_only_looks_like_one() {
    check(FALSE_FRIENDS);
}

/// Text that says so, and something that failed in passing, are no reason to ask; what a command failed for is.
#[test]
fn what_is_a_reason_to_ask() {
    for (text, asks) in [
        ("echo permission denied; exit 1", false),
        (
            "curl -s https://a.example/updates; echo 2 tests failed; exit 1",
            false,
        ),
        (
            "curl -s https://a.example; echo 'could not check for updates: network is unreachable' >&2; \
             echo 'assertion failed: left == right'; exit 1",
            false,
        ),
        ("chmod 0 file; cat file", false),
        ("touch OUT/x || true", false),
        ("touch OUT/x", true),
        ("curl -sS https://a.example/x", true),
        ("curl -s https://a.example/x", true),
        ("python3 -m pip download --no-input tiny-thing", true),
    ] {
        let place = Place::new();
        furnish(&place);
        let arguments = json!({"command": ["bash", "-c", filled(text, &place)]});
        let reply = place.call("shell", &arguments, &["--approve", "none"]);
        assert_eq!(reply["not_retried"].is_string(), asks, "{text}: {reply:#}");
    }
}
