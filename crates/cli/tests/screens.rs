//! A person at a real terminal: what the screen shows when the fence refused something, when keys stop a command, and when nobody
//! answers.

#![allow(clippy::unwrap_used)]
#![allow(
    clippy::needless_raw_string_hashes,
    reason = "expectations are written in this form when they are updated"
)]

mod program;
mod world;

use std::path::Path;

use expect_test::{Expect, expect};
use program::terminal::OnTerminal;
use program::{Place, exists};
use ringfence::jail::TerminalSize;
use ringfence::output::Screen;
use ringfence_testkit::processes::gone_within_a_second;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::json;
use world::World;

/// What a terminal shows that is wide enough for the folders of a test.
fn screen(place: &Place, seen: &str) -> String {
    let mut screen = Screen::new(TerminalSize {
        rows: 60,
        columns: 180,
    });
    screen.feed(seen.as_bytes());
    let mut text = screen.text();
    for (path, name) in [
        (place.work(), "WORK"),
        (place.home(), "HOME"),
        (place.outside(), "OUT"),
    ] {
        text = text.replace(&path.display().to_string(), name);
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("{}\n", lines.join("\n").trim())
}

/// Ends a run, and compares what the screen shows in the end.
fn ends(place: &Place, terminal: OnTerminal, code: i32, shown: &Expect) {
    let (ended, seen) = terminal.end();
    shown.assert_eq(&screen(place, &seen));
    assert_eq!(ended, Some(code), "{seen}");
}

fn touching(place: &Place, file: &Path) -> OnTerminal {
    let file = file.display().to_string();
    OnTerminal::start(place, &["run", "--", "touch", &file])
}

#[test]
fn one_folder_is_granted() {
    let place = Place::new();
    let file = place.outside().join("new");
    let mut terminal = touching(&place, &file);
    terminal.prompt();
    assert!(!exists(&file));
    terminal.press("yes\r");
    ends(
        &place,
        terminal,
        0,
        &expect![[r#"
        touch: cannot touch 'OUT/new': Read-only file system

        The fence refused something:
          writing OUT/new: it is outside the workspace and the writable roots
        May it run again, still INSIDE the fence, with leave to
          + write in OUT
          | touch OUT/new
          why asked: the fence refused something that the command needs
          in: WORK
          may write: WORK, OUT; network: off
        Type a word and Enter:
          yes          this once
          always       yes, and always allow commands that begin with `touch OUT/new`, with leave to write in OUT
          outside      this once, OUTSIDE the fence: it may write and reach anything
          no (or n)    not this
          stop (or q)  no, and stop
        No answer within 1 min means no.
        answer> yes
        ringfence: the command runs again, inside the fence, and may write in OUT
    "#]],
    );
    assert!(exists(&file));
    // It was for once.
    let again = place.output(&[
        "run",
        "--approve",
        "none",
        "--",
        "touch",
        "../../outside/other",
    ]);
    assert_eq!(again.code, Some(1), "{again:?}");
}

#[test]
fn a_grant_is_kept_as_a_rule_about_the_command_and_no_other() {
    let place = Place::new();
    let file = place.outside().join("new");
    let mut terminal = touching(&place, &file);
    terminal.answer("always 1");
    assert_eq!(terminal.end().0, Some(0));
    std::fs::remove_file(&file).unwrap();
    let path = file.display().to_string();
    let same = place.output(&["run", "--approve", "none", "--", "touch", &path]);
    assert_eq!((same.code, exists(&file)), (Some(0), true), "{same:?}");
    let rules = std::fs::read_to_string(place.home().join(".config/ringfence/rules.toml")).unwrap();
    assert!(
        rules.contains("writable = [") && !rules.contains("unfenced"),
        "{rules}"
    );
    for other in [
        &["cp", "/etc/hostname", &path][..],
        &["bash", "-c", &format!("touch {path}; echo x > {path}")],
    ] {
        let mut arguments = vec!["run", "--approve", "none", "--"];
        arguments.extend(other);
        let ran = place.output(&arguments);
        assert_ne!(ran.code, Some(0), "{ran:?}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
}

#[test]
fn no_and_outside_are_answers_too() {
    let place = Place::new();
    let file = place.outside().join("new");
    let mut terminal = touching(&place, &file);
    terminal.answer("no");
    ends(
        &place,
        terminal,
        1,
        &expect![[r#"
        touch: cannot touch 'OUT/new': Read-only file system

        The fence refused something:
          writing OUT/new: it is outside the workspace and the writable roots
        May it run again, still INSIDE the fence, with leave to
          + write in OUT
          | touch OUT/new
          why asked: the fence refused something that the command needs
          in: WORK
          may write: WORK, OUT; network: off
        Type a word and Enter:
          yes          this once
          always       yes, and always allow commands that begin with `touch OUT/new`, with leave to write in OUT
          outside      this once, OUTSIDE the fence: it may write and reach anything
          no (or n)    not this
          stop (or q)  no, and stop
        No answer within 1 min means no.
        answer> no
        ringfence: denied: writing OUT/new: it is outside the workspace and the writable roots
          to allow it: --writable OUT, or `sandbox.writable_roots = ["OUT"]`
        ringfence: not run again: the user said no; it was asked about because the fence refused something that the command needs
    "#]],
    );
    assert!(!exists(&file));
    let mut terminal = touching(&place, &file);
    terminal.answer("outside");
    let (code, seen) = terminal.end();
    assert_eq!((code, exists(&file)), (Some(0), true), "{seen}");
    let told = seen
        .matches("the command runs again, OUTSIDE the fence")
        .count();
    assert_eq!(told, 1, "{seen}");
}

#[test]
fn one_host_is_granted() {
    let Some(world) = World::new() else { return };
    let command = world.ringfence(&["run", "--", "curl", "-s", "http://allowed.test/page"]);
    let mut terminal = OnTerminal::of(command);
    terminal.prompt();
    assert_eq!(world.seen(), [""; 0], "nothing goes out before the answer");
    terminal.press("yes\r");
    ends(
        &world.place,
        terminal,
        0,
        &expect![[r#"
        The fence refused something:
          allowed.test:80: the network is off inside the fence
        May it run again, still INSIDE the fence, with leave to
          + reach allowed.test
          | curl -s http://allowed.test/page
          why asked: the fence refused something that the command needs
          in: WORK
          may write: WORK; network: allow-list
        Type a word and Enter:
          yes          this once
          always       yes, and always allow commands that begin with `curl -s http://allowed.test/page`, with leave to reach allowed.test
          outside      this once, OUTSIDE the fence: it may write and reach anything
          no (or n)    not this
          stop (or q)  no, and stop
        No answer within 1 min means no.
        answer> yes
        ringfence: the command runs again, inside the fence, and may reach allowed.test
        the page
    "#]],
    );
    let other = [
        "run",
        "--approve",
        "all",
        "--",
        "curl",
        "-sS",
        "-L",
        "http://other.test/page",
    ];
    let ran = world.output(&other);
    assert!(
        ran.stderr
            .contains("inside the fence, and may reach other.test"),
        "{ran:?}"
    );
}

#[test]
fn nobody_answers() {
    let place = Place::new();
    let file = place.outside().join("new");
    let path = file.display().to_string();
    let mut command = place.ringfence(&["run", "--", "touch", &path]);
    command.env("RINGFENCE_APPROVAL_TIMEOUT_MS", "1500");
    let mut terminal = OnTerminal::of(command);
    terminal.prompt();
    ends(
        &place,
        terminal,
        1,
        &expect![[r#"
        touch: cannot touch 'OUT/new': Read-only file system

        The fence refused something:
          writing OUT/new: it is outside the workspace and the writable roots
        May it run again, still INSIDE the fence, with leave to
          + write in OUT
          | touch OUT/new
          why asked: the fence refused something that the command needs
          in: WORK
          may write: WORK, OUT; network: off
        Type a word and Enter:
          yes          this once
          always       yes, and always allow commands that begin with `touch OUT/new`, with leave to write in OUT
          outside      this once, OUTSIDE the fence: it may write and reach anything
          no (or n)    not this
          stop (or q)  no, and stop
        No answer within 2 s means no.
        answer> (not answered)
        ringfence: denied: writing OUT/new: it is outside the workspace and the writable roots
          to allow it: --writable OUT, or `sandbox.writable_roots = ["OUT"]`
        ringfence: not run again: nobody answered the question in time; it was asked about because the fence refused something that the command needs; `approval.timeout_ms` sets how long a
         question waits
    "#]],
    );
    assert!(!exists(&file));
}

#[test]
fn what_was_typed_ahead_answers_nothing() {
    let place = Place::new();
    let file = place.outside().join("new");
    let path = file.display().to_string();
    let script = format!("echo ready; read line < gate; touch {path}");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.work().join("gate"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let mut terminal = OnTerminal::start(&place, &["run", "--", "bash", "-c", &script]);
    terminal.expect("ready");
    terminal.press("yes\ryes\r");
    std::fs::write(place.work().join("gate"), "go\n").unwrap();
    terminal.prompt();
    assert!(!exists(&file));
    terminal.press("no\r");
    let (code, seen) = terminal.end();
    assert_eq!((code, exists(&file)), (Some(1), false), "{seen}");
}

#[test]
fn keys_that_stop_a_command() {
    let place = Place::new();
    for (key, code, shown) in [
        (
            "\x03",
            130,
            expect![[r#"
        ready
        ^C
    "#]],
        ),
        (
            "\x1c",
            137,
            expect![[r#"
        ready
        ^\ringfence: the command was cancelled
    "#]],
        ),
    ] {
        let script = "echo ready; exec sleep 4711.5";
        let mut terminal = OnTerminal::start(&place, &["run", "--", "bash", "-c", script]);
        terminal.expect("ready");
        terminal.press(key);
        ends(&place, terminal, code, &shown);
        gone_within_a_second("4711.5").unwrap();
    }
}

#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let place = Place::new();
    let script = "echo ready; while ! test -e go; do sleep 0.05; done; echo done";
    let mut terminal = OnTerminal::start(&place, &["run", "--", "bash", "-c", script]);
    terminal.expect("ready");
    terminal.press("\x1a");
    let id = Pid::from_child(&terminal.child);
    let (_, status) = waitpid(Some(id), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped(), "{status:?}");
    std::fs::write(place.work().join("go"), "").unwrap();
    kill_process(id, Signal::CONT).unwrap();
    ends(
        &place,
        terminal,
        0,
        &expect![[r#"
            ready
            ^Zdone
        "#]],
    );
}

#[test]
fn a_closed_window_ends_the_command() {
    let place = Place::new();
    let script = "echo ready; exec sleep 4712.5";
    let mut terminal = OnTerminal::start(&place, &["run", "--", "bash", "-c", script]);
    terminal.expect("ready");
    assert_eq!(terminal.close().wait().unwrap().code(), Some(137));
    gone_within_a_second("4712.5").unwrap();
}

#[test]
fn a_session_and_a_person_share_a_terminal() {
    let place = Place::new();
    let file = place.outside().join("new");
    let command = format!("touch {}", file.display());
    let call = json!({"id": 1, "tool": "bash", "arguments": {"command": command}});
    let mut terminal = OnTerminal::start(&place, &["session"]);
    terminal.press(&format!("{call}\r"));
    terminal.prompt();
    let shown = screen(&place, &terminal.seen);
    let question = shown
        .find("The fence refused")
        .map(|at| shown[at..].to_owned());
    expect![[r#"
        The fence refused something:
          writing OUT/new: it is outside the workspace and the writable roots
        May it run again, still INSIDE the fence, with leave to
          + write in OUT
          | touch OUT/new
          why asked: the fence refused something that the command needs
          with: /bin/bash
          in: WORK
          may write: WORK, OUT; network: off
        Type a word and Enter:
          yes          this once
          session      yes, for this session
          always       yes, and always allow commands that begin with `touch OUT/new`, with leave to write in OUT
          outside      this once, OUTSIDE the fence: it may write and reach anything
          no (or n)    not this
          stop (or q)  no, and stop
        No answer within 1 min means no.
        answer>
    "#]].assert_eq(&question.unwrap());
    terminal.press("session\r");
    terminal.expect("\"retried\"");
    // The same once more is asked by nobody, and another is.
    std::fs::remove_file(&file).unwrap();
    terminal.press(&format!(
        "{}\r",
        call.to_string().replace("\"id\":1", "\"id\":2")
    ));
    terminal.expect("{\"id\":2,\"reply\"");
    assert!(exists(&file));
    let other = json!({"id": 3, "tool": "bash", "arguments": {"command": format!("{command}er")}});
    terminal.press(&format!("{other}\r"));
    terminal.answer("no");
    terminal.expect("\"not_retried\"");
    terminal.press("\x04");
    assert_eq!(terminal.end().0, Some(0));
}
