//! Refusals of the fence as records in the reply: what, why, how it is known, and what would allow
//! it.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;
use serde_json::{Value, json};

/// What a command does, and what is told of it.
struct Case {
    name: &'static str,
    lookout: &'static str,
    text: &'static str,
    exit_code: i32,
    /// `kind`, a part of `subject`, `evidence`.
    told: &'static [(&'static str, &'static str, &'static str)],
}

const CONNECT: &str = "python3 -c '
import socket
for address in (\"127.0.0.1\", \"192.0.2.1\"):
    try: socket.create_connection((address, 443), 5)
    except OSError: pass
'";

const CASES: &[Case] = &[
    Case {
        name: "a connection that the program says nothing of",
        lookout: "connections",
        text: CONNECT,
        exit_code: 0,
        told: &[("network", "connecting to 192.0.2.1:443", "seen")],
    },
    Case {
        name: "the same, and nobody looks",
        lookout: "off",
        text: CONNECT,
        exit_code: 0,
        told: &[],
    },
    Case {
        name: "a name that is looked up, with other words than known ones",
        lookout: "connections",
        text: "python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); \
               s.connect((\"127.0.0.53\", 53))'; exit 3",
        exit_code: 3,
        told: &[("network", "looking up a name at 127.0.0.53:53", "seen")],
    },
    Case {
        name: "a socket of the machine's, whoever looks",
        lookout: "off",
        text: "python3 -c '
import os, socket
try: socket.socket(socket.AF_UNIX).connect(os.environ[\"HOME\"] + \"/daemon.sock\")
except PermissionError: pass
'",
        exit_code: 0,
        told: &[("socket", "home/daemon.sock", "seen")],
    },
    Case {
        name: "files, by what the program says",
        lookout: "connections",
        text: "touch \"$HOME/outside\"",
        exit_code: 1,
        told: &[("write", "/outside", "output")],
    },
    Case {
        name: "files, seen",
        lookout: "writes",
        text: "ln -s \"$HOME\" link; (echo x > link/a; mkdir \"$HOME/b\"; mv link \"$HOME/c\"; \
               mkdir .git; echo x > inside; rm inside link) 2> /dev/null; exit 4",
        exit_code: 4,
        told: &[
            ("write", "home/a", "seen"),
            ("write", "home/b", "seen"),
            ("write", "home/c", "seen"),
            ("write", "work/.git", "seen"),
        ],
    },
    Case {
        name: "files in the workspace and in /tmp",
        lookout: "writes",
        text: "echo x > a; mkdir b; mv a b/; rm -r b; echo x > /tmp/c; echo x > /dev/null",
        exit_code: 0,
        told: &[],
    },
];

fn call(place: &Place, lookout: &str, text: &str) -> Value {
    let arguments = json!({ "command": ["bash", "-c", text], "timeout_ms": 60_000 }).to_string();
    let output = place
        .ringfence(&[
            "call",
            "--approve",
            "all",
            "--approval",
            "on-request",
            "shell",
            &arguments,
        ])
        .env("RINGFENCE_SANDBOX_LOOKOUT", lookout)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn refusals_are_records() {
    for case in CASES {
        let place = Place::new();
        let daemon = place.home().join("daemon.sock");
        let _daemon = std::os::unix::net::UnixListener::bind(daemon).unwrap();
        let reply = call(&place, case.lookout, case.text);
        assert_eq!(
            reply["exit_code"], case.exit_code,
            "{}: {reply:#}",
            case.name
        );
        let denials = reply["denials"].as_array().cloned().unwrap_or_default();
        assert_eq!(denials.len(), case.told.len(), "{}: {reply:#}", case.name);
        for (denial, (kind, subject, evidence)) in denials.iter().zip(case.told) {
            assert_eq!(
                [&denial["kind"], &denial["evidence"]],
                [&json!(kind), &json!(evidence)],
                "{}: {reply:#}",
                case.name
            );
            let said = denial["subject"].as_str().unwrap();
            assert!(said.ends_with(subject), "{}: {reply:#}", case.name);
            for field in ["reason", "allow"] {
                assert_ne!(denial[field], "", "{}: {reply:#}", case.name);
            }
        }
    }
}

/// Many threads of many processes at once, each call waiting for its answer: all get theirs.
#[test]
fn looking_keeps_nobody_waiting() {
    let place = Place::new();
    let text = "cat > work.py <<'END'\n\
                import os, sys, threading\n\
                def work(n):\n    \
                    for i in range(50):\n        \
                        p = f'{sys.argv[1]}-{n}-{i}'; open(p, 'w').close(); os.unlink(p)\n\
                ts = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n\
                [t.start() for t in ts]; [t.join() for t in ts]\n\
                END\n\
                for p in 1 2 3; do python3 work.py $p & done; \
                timeout 0.1 python3 -c 'while True: open(\"x\", \"w\")'; wait; ls";
    let reply = call(&place, "writes", text);
    let listed = reply["stdout"]["text"].as_str().unwrap();
    assert_eq!(listed, "work.py\nx\n", "{reply:#}");
    assert_eq!(reply.get("denials"), None, "{reply:#}");
}
