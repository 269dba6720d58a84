//! The shell that a call names: one of the machine's own, or none.

#![allow(clippy::unwrap_used)]

mod program;

use std::os::unix::fs::{PermissionsExt, symlink};

use program::{Place, exists};
use serde_json::json;

/// A program that says that it ran.
fn plant(place: &Place, at: &str) -> String {
    let path = place.home().join(at);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mark = place.work().join("ran");
    std::fs::write(&path, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn run(place: &Place, shell: &str) -> serde_json::Value {
    let arguments = json!({ "command": "echo hello", "shell": shell, "login": false });
    place.call("exec_command", &arguments, &["--approve", "all"])
}

#[test]
fn what_is_not_a_shell_of_the_machine_does_not_run() {
    let place = Place::new();
    let linked = place.work().join("linked");
    std::fs::create_dir_all(&linked).unwrap();
    symlink("/bin/bash", linked.join("bash")).unwrap();
    symlink("/bin", place.work().join("bin")).unwrap();
    let in_work = plant(&place, "work/bash");
    let climbing = format!("/bin/..{in_work}");
    for named in [
        in_work.as_str(),
        &climbing,
        "./bash",
        "work/bash",
        &plant(&place, "tools/bash"),
        &plant(&place, "work/deep/zsh"),
        &plant(&place, "work/sh"),
        // A link may point elsewhere by the time that it is followed.
        &linked.join("bash").display().to_string(),
        "/bin/cat",
        "/bin/no-such-bash",
        "/usr/bin/python3",
        "python3",
        "/tmp/bash",
        "",
        "/",
        "bash\0",
    ] {
        let reply = run(&place, named);
        assert_eq!(
            reply["error"]["code"], "shell_not_allowed",
            "{named:?}: {reply}"
        );
        assert!(!exists(&place.work().join("ran")), "{named:?}");
    }
    let reply = run(&place, &in_work);
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(message.contains("/etc/shells"), "{message}");
}

/// The harmless twins: the machine's shells, by any honest name.
#[test]
fn the_machines_shells_serve() {
    let place = Place::new();
    for named in [
        "/bin/bash",
        "/usr/bin/bash",
        "/bin/sh",
        "bash",
        "sh",
        "/bin/../bin/bash",
    ] {
        let reply = run(&place, named);
        assert_eq!(reply["exit_code"], 0, "{named}: {reply}");
        assert!(
            reply["output"]
                .as_str()
                .unwrap_or_default()
                .contains("hello"),
            "{named}: {reply}"
        );
    }
}

/// A session's own shell is not one that its commands could have written.
#[test]
fn a_configured_shell_in_the_workspace_is_refused() {
    let place = Place::new();
    let shell = plant(&place, "work/bash");
    let folder = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&folder).unwrap();
    let config = |path: &str| format!("[shell]\npath = \"{path}\"\n");
    std::fs::write(folder.join("config.toml"), config(&shell)).unwrap();
    let ran = place.output(&["call", "shell_command", r#"{"command":"echo hello"}"#]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(!exists(&place.work().join("ran")), "{ran:?}");
    assert!(
        format!("{ran:?}").contains("where commands may write"),
        "{ran:?}"
    );
    std::fs::write(folder.join("config.toml"), config("/bin/sh")).unwrap();
    let ran = place.output(&["call", "shell_command", r#"{"command":"echo hello"}"#]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
