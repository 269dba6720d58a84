//! `ringfence shell` on a real terminal: keys, sizes, signals, ends.

#![allow(clippy::unwrap_used)]

mod program;

use program::terminal::OnTerminal;
use program::{Place, exists};
use ringfence_testkit::processes::gone_within_a_second;

#[test]
fn a_person_can_walk_around_inside_the_fence() {
    let place = Place::new();
    let mut shell = OnTerminal::start(&place, &["shell"]);
    let before = shell.mode();
    shell.expect("inside the fence");
    shell.press("export FOO=bar; stty size; tty >/dev/null && echo on-a-$((1))-terminal\r");
    shell.expect("24 80");
    shell.expect("on-a-1-terminal");
    shell.press("echo FOO is $FOO; touch made; touch ~/escaped\r");
    shell.expect("FOO is bar");
    shell.press("exit 3\r");
    let (code, seen, after) = shell.end_and_mode();
    assert_eq!(code, Some(3), "{seen}");
    assert_eq!(after, before);
    assert!(exists(&place.work().join("made")), "{seen}");
    assert!(!exists(&place.home().join("escaped")), "{seen}");
}

#[test]
fn keys_and_sizes_reach_the_command() {
    let place = Place::new();
    let script = r"
        trap 'echo now $(stty size)' WINCH
        trap 'echo caught; exit 7' INT
        echo ready
        while :; do read -r -t 1 line; done";
    let mut shell = OnTerminal::start(&place, &["shell", "--", "bash", "-c", script]);
    shell.expect("ready");
    shell.resize(30, 100);
    shell.expect("now 30 100");
    shell.press("\x03");
    shell.expect("caught");
    let (code, seen) = shell.end();
    assert_eq!(code, Some(7), "{seen}");
}

#[test]
fn the_terminal_is_given_back_when_the_program_is_ended_from_outside() {
    let place = Place::new();
    let script = r"printf '\033[?1049h\033[?25lready'; exec sleep 4711.5";
    let mut shell = OnTerminal::start(&place, &["shell", "--", "sh", "-c", script]);
    let before = shell.mode();
    shell.expect("ready");
    assert_ne!(shell.mode(), before);
    let id = rustix::process::Pid::from_child(&shell.child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let (code, seen, after) = shell.end_and_mode();
    assert_eq!(code, Some(137), "{seen}");
    assert_eq!(after, before);
    for restored in [
        "\x1b[?1049l",
        "\x1b[?25h",
        "\x1b[?1004l",
        "\x1b[?1007l",
        "\x1b[<u",
        "\x1b(B",
        "\x1b[r",
    ] {
        assert!(seen.contains(restored), "{restored:?} in {seen:?}");
    }
    gone_within_a_second("4711.5").unwrap();
}

#[test]
fn without_a_terminal_it_says_what_to_do_instead() {
    let place = Place::new();
    let ran = place.output(&["shell"]);
    assert_eq!(ran.code, Some(125), "{ran:?}");
    assert!(ran.stderr.contains("ringfence run -- sh"), "{ran:?}");
}
