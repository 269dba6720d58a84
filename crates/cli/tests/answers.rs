//! What counts as an answer on a terminal: one of the words that are offered, typed after the prompt
//! has shown. Whoever raises a question chooses its moment, so nothing else does.

#![allow(clippy::unwrap_used)]

mod program;

use std::io::{Seek, Write};
use std::path::PathBuf;
use std::process::Stdio;

use program::terminal::OnTerminal;
use program::{Place, exists};
use serde_json::json;

/// A question about leaving the fence, and the file that would be there after a yes.
fn question(place: &Place) -> (OnTerminal, PathBuf) {
    let target = place.home().join("escaped");
    let path = target.display().to_string();
    let terminal = OnTerminal::start(place, &["run", "--", "touch", &path]);
    (terminal, target)
}

/// Each of these has a letter, a digit or a word in it that would be an answer by itself.
const NO_ANSWERS: &[&str] = &[
    "why?\r",
    "maybe\r",
    "try again\r",
    "docker system df\rgit diff\r",
    "0123 y\r",
    "\0y\r",
    "\0yes\r",
    "y\r",
    "Y\r",
    "s\r",
    "1\r",
    "v1.0\r",
    "always\r",
    "\r",
    "yes\rgit diff\r",
    "git diff\ryes\r",
    "yes please\r",
    "\x1b[200~yes\x1b[201~\r",
    "\x1b[200~yes\r\x1b[201~",
    "\x1b[A\x1b[B\x1bOC\r",
];

#[test]
fn what_only_contains_an_answer_is_none() {
    for lines in NO_ANSWERS.chunks(4) {
        let place = Place::new();
        let (mut terminal, target) = question(&place);
        for line in lines {
            terminal.prompt();
            terminal.press(line);
        }
        terminal.answer("no");
        let (code, seen) = terminal.end();
        assert_eq!(
            (code, exists(&target)),
            (Some(1), false),
            "{lines:?}: {seen}"
        );
        let expected = seen.matches("Type one of these and Enter: yes, no").count();
        assert_eq!(expected, lines.len(), "{lines:?}: {seen}");
        let rules = place.home().join(".config/ringfence/rules.toml");
        assert!(!exists(&rules), "{lines:?}: {seen}");
    }
}

#[test]
fn a_line_can_be_edited_and_stands_there_afterwards() {
    for (keys, made, shown) in [
        (&["yes\r"][..], true, "answer> yes\r\n"),
        (&["YES\r"], true, "answer> YES\r\n"),
        (&["y", "e", "s", "\n"], true, "answer> yes\r\n"),
        (&["yex\x7fs\r"], true, "answer> yex\x08 \x08s\r\n"),
        (&["\x1b[Ayes\x1b[D\r"], true, "answer> yes\r\n"),
        (&["nope\x15yes\r"], true, "yes\r\n"),
        (&["y\x15n\r"], false, "answer> y\x08 \x08n\r\n"),
        (&["yes\x15no\r"], false, "no\r\n"),
        (&["\x1b"], false, "answer> "),
        (&["ye\x04"], false, "answer> ye"),
        (&["yes\x03"], false, "answer> yes^C"),
    ] {
        let place = Place::new();
        let (mut terminal, target) = question(&place);
        terminal.prompt();
        for burst in keys {
            terminal.press(burst);
        }
        let (_, seen) = terminal.end();
        assert_eq!(exists(&target), made, "{keys:?}: {seen}");
        assert!(seen.contains(shown), "{keys:?}: {seen:?}");
    }
}

#[test]
fn whoever_never_answers_has_said_no() {
    let place = Place::new();
    let (mut terminal, target) = question(&place);
    terminal.answer("?");
    for _ in 0..5 {
        terminal.answer("well");
    }
    let (code, seen) = terminal.end();
    assert_eq!((code, exists(&target)), (Some(1), false), "{seen}");
    assert!(seen.contains("Esc, Ctrl-C and Ctrl-D mean no"), "{seen}");
    assert!(seen.contains("that is a no"), "{seen}");
}

#[test]
fn a_letter_is_enough_for_what_stays_inside() {
    let place = Place::new();
    let arguments = ["run", "--approval", "on-request", "--", "frobnicate"];
    let mut terminal = OnTerminal::start(&place, &arguments);
    terminal.expect("yes (or y)");
    terminal.answer("y");
    assert_eq!(terminal.end().0, Some(127));
}

#[test]
fn keys_that_were_typed_before_the_prompt_do_not_count() {
    let place = Place::new();
    let (mut terminal, target) = question(&place);
    // Before the question, the moment it shows, and again when it says to wait.
    terminal.press("yes\ryes\r");
    terminal.expect("May it run again OUTSIDE the fence?");
    terminal.press("yes\r");
    terminal.expect("not taken");
    terminal.press("yes\r");
    terminal.prompt();
    assert!(!exists(&target));
    terminal.press("no\r");
    let (code, seen) = terminal.end();
    assert_eq!((code, exists(&target)), (Some(1), false), "{seen}");
}

/// A fenced program waits until somebody types at it, and wants a host then.
#[test]
fn a_program_cannot_make_its_keys_an_answer() {
    let place = Place::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let script = format!(
        "echo type; read -r line; curl -s -m 20 -o got --noproxy x -x $HTTP_PROXY http://localhost:{port}/; \
         echo over; until [ \"$line\" = later ]; do read -r line; done; echo line is $line"
    );
    let arguments = [
        "shell",
        "--network",
        "allow-list",
        "--",
        "bash",
        "-c",
        &script,
    ];
    let mut terminal = OnTerminal::start(&place, &arguments);
    terminal.expect("type\r\n");
    terminal.press("yes\ryes\ryes\r");
    terminal.expect("localhost");
    terminal.press("yes\ry\r");
    terminal.expect("not taken");
    // A letter is what one types at a program.
    terminal.answer("y");
    terminal.answer("no");
    terminal.expect("over\r\n");
    terminal.press("later\r");
    let (_, seen) = terminal.end();
    assert!(seen.contains("line is later"), "{seen}");
    server.set_nonblocking(true).unwrap();
    assert!(server.accept().is_err(), "{seen}");
}

#[test]
fn in_a_session_a_line_goes_to_the_question_or_to_the_session() {
    let place = Place::new();
    let target = place.home().join("escaped");
    let call = |id: u32, command: &[&str]| {
        json!({"id": id, "tool": "shell", "arguments": {"command": command}}).to_string()
    };
    let leaves = call(1, &["touch", &target.display().to_string()]);
    let mut terminal = OnTerminal::start(&place, &["session"]);
    // What was typed before the question is the session's, whenever that comes to read it.
    terminal.press(&format!("{leaves}\r{}\r", call(2, &["echo", "early"])));
    terminal.prompt();
    terminal.press(&format!("{}\r", call(3, &["touch", "unasked"])));
    terminal.answer("no");
    terminal.expect("{\"id\":1,\"reply\"");
    terminal.press(&format!("{}\r", call(4, &["echo", "late"])));
    terminal.expect("{\"id\":4,\"reply\"");
    terminal.press("\x04");
    let (code, seen) = terminal.end();
    assert_eq!((code, exists(&target)), (Some(0), false), "{seen}");
    assert!(!exists(&place.work().join("unasked")), "{seen}");
    let answered = |id: u32| seen.contains(&format!("{{\"id\":{id},\"reply\""));
    assert_eq!(
        [1, 2, 3, 4].map(answered),
        [true, true, false, true],
        "{seen}"
    );
}

#[test]
fn a_question_that_nobody_answers_ends_on_a_line_of_its_own() {
    let place = Place::new();
    let folder = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&folder).unwrap();
    let config = "[approval]\ntimeout_ms = 1500\n";
    std::fs::write(folder.join("config.toml"), config).unwrap();
    let (terminal, target) = question(&place);
    let (code, seen) = terminal.end();
    assert_eq!((code, exists(&target)), (Some(1), false), "{seen}");
    assert!(seen.contains("No answer within 2 s means no."), "{seen}");
    assert!(seen.contains("answer> (not answered)\r\n"), "{seen}");
}

#[test]
fn a_dumb_terminal_gets_text_and_nothing_else() {
    let place = Place::new();
    let target = place.home().join("escaped");
    let path = target.display().to_string();
    let mut command = place.ringfence(&["run", "--", "touch", &path]);
    command.env("TERM", "dumb").env("NO_COLOR", "1");
    let mut terminal = OnTerminal::of(command);
    terminal.prompt();
    terminal.press("nx\x7fo\r");
    let (code, seen) = terminal.end();
    assert_eq!((code, exists(&target)), (Some(1), false), "{seen}");
    assert!(seen.contains("answer> no\r\n"), "{seen}");
    assert!(!seen.contains(['\x1b', '\x08']), "{seen:?}");
}

/// Input that lies in a pipe whole, input that is in a file, and input that is still being written.
#[test]
fn a_second_run_reads_what_the_first_one_did_or_is_not_offered() {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum From {
        Pipe,
        File,
        OpenPipe,
    }
    for (from, asked) in [
        (From::Pipe, Some("yes")),
        (From::File, Some("yes")),
        (From::Pipe, None),
        (From::OpenPipe, Some("yes")),
        (From::OpenPipe, None),
    ] {
        let place = Place::new();
        let target = place.home().join("escaped");
        let path = target.display().to_string();
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"precious\n").unwrap();
        let file = place.work().join("input");
        std::fs::write(&file, "skipped\nprecious\n").unwrap();
        let input = match from {
            From::File => {
                let mut file = std::fs::File::open(&file).unwrap();
                file.seek(std::io::SeekFrom::Start(8)).unwrap();
                Stdio::from(file)
            }
            From::Pipe | From::OpenPipe => Stdio::from(reader),
        };
        let writer = (from == From::OpenPipe).then_some(writer);
        let approve = if asked.is_some() {
            "ask"
        } else {
            "all,unfenced"
        };
        let script = format!("head -n 1 | tee {path}");
        let arguments = [
            "run",
            "--approve",
            approve,
            "--",
            "bash",
            "-o",
            "pipefail",
            "-c",
            &script,
        ];
        let mut terminal = OnTerminal::reading(place.ringfence(&arguments), input);
        if let Some(word) = asked
            && from != From::OpenPipe
        {
            terminal.answer(word);
        }
        let (_, seen) = terminal.end();
        drop(writer);
        let written = std::fs::read_to_string(&target).ok();
        if from == From::OpenPipe {
            assert_eq!(written, None, "{from:?} {asked:?}: {seen}");
            assert!(seen.contains("comes through a pipe"), "{seen}");
        } else {
            assert_eq!(
                written.as_deref(),
                Some("precious\n"),
                "{from:?} {asked:?}: {seen}"
            );
        }
    }
}

/// What is shown at a question is ours: the command has no way to the terminal but through us.
#[test]
fn a_command_cannot_write_on_the_terminal_that_it_reads() {
    let place = Place::new();
    let script = "tty -s && echo reads a terminal; echo drawn >&0 || echo drawn > /proc/self/fd/0; \
                  read -r line; echo line is $line";
    // From a file: it is the terminal that is tried, not what the policy thinks of a text.
    std::fs::write(place.work().join("draw.sh"), script).unwrap();
    let arguments = ["run", "--approval", "never", "--", "bash", "draw.sh"];
    let mut terminal = OnTerminal::start(&place, &arguments);
    terminal.press("typed\r");
    let (_, seen) = terminal.end();
    assert!(seen.contains("reads a terminal"), "{seen}");
    assert!(seen.contains("line is typed"), "{seen}");
    assert!(!seen.contains("\ndrawn"), "{seen}");
}
