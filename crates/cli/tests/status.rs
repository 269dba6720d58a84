//! The line about long work: on a terminal, below the output, and gone before anything else.

#![allow(clippy::unwrap_used)]

mod program;

use std::process::{Command, Stdio};

use program::terminal::OnTerminal;
use program::{Place, RINGFENCE, Ran};
use ringfence_testkit::require;

fn fifo(place: &Place) -> std::path::PathBuf {
    let path = place.work().join("go");
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    path
}

/// Prints, waits to be told, prints again.
const SLOW: &str = "echo first; read -r word < go; echo last";

#[test]
fn a_person_sees_how_long_it_takes() {
    let place = Place::new();
    let fifo = fifo(&place);
    let mut run = OnTerminal::start(&place, &["run", "--", "sh", "-c", SLOW]);
    run.expect("first");
    run.expect("ringfence: running for ");
    run.expect(" s, 1 line");
    std::fs::write(&fifo, "on\n").unwrap();
    let (code, seen) = run.end();
    assert_eq!(code, Some(0), "{seen}");
    let (_, after) = seen.rsplit_once("ringfence: running for").unwrap();
    let (status, rest) = after.split_once("\r\u{1b}[K").unwrap();
    assert!(!status.contains("last"), "{seen:?}");
    assert_eq!(rest, "last\r\n", "{seen:?}");
}

#[test]
fn the_shell_can_move_it_to_the_background() {
    let place = Place::new();
    let fifo = fifo(&place);
    let mut command = std::process::Command::new("bash");
    let shell = command.args(["--norc", "--noprofile", "-i"]);
    shell.current_dir(place.work()).env_clear();
    shell.env("HOME", place.home()).env("PATH", "/usr/bin:/bin");
    shell.env("PS1", "ready> ").env("TERM", "dumb");
    let mut shell = OnTerminal::of(command);
    shell.expect("ready> ");
    // A terminal that can take a line back, for the program alone: the shell would use it too.
    shell.press(&format!("TERM=vt100 {RINGFENCE} run -- sh -c '{SLOW}'\r"));
    shell.expect("(Ctrl-Z and `bg` move it to the background)");
    shell.press("\x1a");
    shell.expect("Stopped");
    shell.press("bg\r");
    shell.expect("ready> bg");
    std::fs::write(&fifo, "on\n").unwrap();
    shell.press("wait\r");
    shell.expect("last\r\n");
    shell.press("exit\r");
    let (_, seen) = shell.end();
    // No line about progress got into what was typed meanwhile.
    let (_, after) = seen.split_once("Stopped").unwrap();
    assert!(!after.contains("running for"), "{seen:?}");
}

#[test]
fn nobody_else_gets_to_see_it() {
    let place = Place::new();
    let ran = place.output(&["run", "--", "sh", "-c", "sleep 2.5; echo done"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("done\n", ""));
}

#[test]
fn a_line_that_has_begun_is_not_touched() {
    let place = Place::new();
    let script = "printf 'name? '; sleep 2.5; echo; echo done";
    let (code, seen) = OnTerminal::start(&place, &["run", "--", "sh", "-c", script]).end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(seen, "name? \r\ndone\r\n");
}

/// As where a container engine's `exec` starts it: who leads the session cannot be named there.
#[test]
fn it_runs_where_its_session_is_led_from_outside_its_processes() {
    let place = Place::new();
    let ringfence = place.ringfence(&["run", "--", "sh", "-c", "sleep 2.5; echo done"]);
    let outer = [
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--mount-proc",
    ];
    let mut command = Command::new("unshare");
    command.args(outer).arg(ringfence.get_program());
    command.args(ringfence.get_args()).stdin(Stdio::null());
    command.current_dir(place.work()).env_clear();
    command
        .env("HOME", place.home())
        .env("PATH", "/usr/bin:/bin");
    let ran = Ran::of(&command.output().unwrap());
    if ran.stderr.contains("unshare failed") {
        return require::missing("user namespaces", &ran.stderr);
    }
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("done\n", ""));
}
