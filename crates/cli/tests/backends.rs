//! The choice of what builds the fence, as users make it.

#![allow(clippy::unwrap_used)]

mod program;

use std::process::Command;

use program::{Place, exists};
use ringfence_testkit::podman::{IMAGE, Podman};
use ringfence_testkit::require;

/// The exit code, and everything that was said.
fn outcome(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.code().unwrap(), text)
}

const SCRIPT: &str = "echo by $RINGFENCE_SANDBOX; echo in > made; touch ~/escaped";

/// A fence by this name writes inside, not outside, and says its name.
fn check(place: &Place, backend: &str, name: &str, variables: &[(String, String)]) {
    let mut command = place.ringfence(&["run", "--approve", "none", "--", "sh", "-c", SCRIPT]);
    command.env("RINGFENCE_SANDBOX_BACKEND", backend);
    let (code, text) = outcome(command.envs(variables.iter().cloned()));
    assert_ne!(code, 0, "{backend}: {text}");
    assert!(text.contains(&format!("by {name}\n")), "{backend}: {text}");
    assert!(exists(&place.work().join("made")), "{backend}: {text}");
    assert!(!exists(&place.home().join("escaped")), "{backend}: {text}");
}

#[test]
fn a_backend_is_chosen_by_name() {
    let place = Place::new();
    check(&place, "auto", "native", &[]);
    check(&place, "native", "native", &[]);
    if require::has_program("bwrap") {
        check(&place, "bubblewrap", "bubblewrap", &[]);
    } else {
        require::missing("bubblewrap", "bwrap is not installed");
    }
}

#[test]
fn a_container_holds_the_default_policy_in_a_fresh_folder() {
    let podman = match Podman::set_up(None) {
        Ok(podman) => podman,
        Err(why) => return require::missing("podman", &why),
    };
    let mut variables = podman.environment();
    variables.push(("RINGFENCE_SANDBOX_CONTAINER_IMAGE".into(), IMAGE.into()));
    let place = Place::new();
    check(&place, "container", "container", &variables);
    let names: Vec<_> = std::fs::read_dir(place.work())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["made"]);
    let left = podman.run(&["ps", "--all", "--quiet"]).unwrap();
    assert_eq!(left, "");
}

#[test]
fn no_fence_is_for_policies_without_one() {
    let place = Place::new();
    let run = |mode: &str| {
        let mut command = place.ringfence(&["run", "--sandbox", mode, "--", "echo", "ran"]);
        outcome(command.env("RINGFENCE_SANDBOX_BACKEND", "none"))
    };
    let (code, text) = run("workspace-write");
    assert_eq!(code, 125, "{text}");
    assert!(
        text.contains("builds no fence") && !text.contains("ran\n"),
        "{text}"
    );
    assert_eq!(run("danger-full-access"), (0, "ran\n".to_owned()));
    assert_eq!(run("external-sandbox"), (0, "ran\n".to_owned()));
}

#[test]
fn the_doctor_tells_of_every_backend() {
    let place = Place::new();
    let (_, text) = outcome(&mut place.ringfence(&["doctor", "--json"]));
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let backends = report["backends"].as_array().unwrap();
    let names: Vec<_> = backends
        .iter()
        .map(|found| found["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["native", "bubblewrap", "container"]);
    for found in backends {
        assert!(
            found["state"].is_string() && found["lacks"].is_array(),
            "{found}"
        );
        assert!(!found["detail"].as_str().unwrap().is_empty(), "{found}");
    }
    assert_eq!(backends[2]["lacks"], serde_json::json!([]));
}
