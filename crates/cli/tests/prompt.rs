//! Questions on a terminal: the program is given one, and a key is pressed.

#![allow(clippy::unwrap_used)]

mod program;

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use program::{Place, exists};
use rustix::pty::OpenptFlags;

/// The program with a terminal of its own, of which this is the other end.
struct OnTerminal {
    child: Child,
    terminal: File,
    seen: String,
}

impl OnTerminal {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let outer = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::pty::grantpt(&outer).unwrap();
        rustix::pty::unlockpt(&outer).unwrap();
        let name = rustix::pty::ptsname(&outer, Vec::new()).unwrap();
        let inner = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let mut command = place.ringfence(arguments);
        command
            .stdin(Stdio::from(inner.try_clone().unwrap()))
            .stdout(Stdio::from(inner.try_clone().unwrap()))
            .stderr(Stdio::from(inner));
        #[allow(unsafe_code)]
        // SAFETY: between fork and exec only two system calls are made.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?)
            });
        }
        let child = command.spawn().unwrap();
        // The command holds its ends in our process too until it goes.
        drop(command);
        Self {
            child,
            terminal: File::from(outer),
            seen: String::new(),
        }
    }

    /// Reads until a text has appeared.
    fn expect(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        while !self.seen.contains(text) {
            let count = self.terminal.read(&mut buffer).unwrap_or(0);
            assert!(count > 0, "never saw {text:?}: {}", self.seen);
            self.seen
                .push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    }

    fn press(&mut self, key: &str) {
        self.terminal.write_all(key.as_bytes()).unwrap();
    }

    fn end(mut self) -> (Option<i32>, String) {
        let mut rest = Vec::new();
        // The kernel reports the last close of the other end as an error.
        let _ = self.terminal.read_to_end(&mut rest);
        self.seen.push_str(&String::from_utf8_lossy(&rest));
        (self.child.wait().unwrap().code(), self.seen)
    }
}

#[test]
fn a_refused_command_may_run_again_outside_after_a_yes() {
    let place = Place::new();
    let target = place.home().join("escaped");
    let script = format!("echo hello from inside; touch {}", target.display());
    for (key, code, made) in [("n", 1, false), ("y", 0, true)] {
        let mut terminal = OnTerminal::start(&place, &["run", "--", "bash", "-c", &script]);
        terminal.expect("May it run again OUTSIDE the fence?");
        terminal.expect("> ");
        assert!(!exists(&target));
        terminal.press(key);
        let (ended, seen) = terminal.end();
        assert_eq!(
            (ended, exists(&target)),
            (Some(code), made),
            "{key}: {seen}"
        );
        assert!(seen.contains("hello from inside"), "{seen}");
    }
}

#[test]
fn the_question_shows_what_would_act_on_the_terminal() {
    let place = Place::new();
    let trick = "frobnicate \u{1b}[2K\u{1b}[1Gls";
    let mut terminal = OnTerminal::start(
        &place,
        &["run", "--approval", "on-request", "--", "bash", "-c", trick],
    );
    terminal.expect("> ");
    terminal.press("n");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(126), "{seen}");
    assert!(seen.contains("\\u{1b}[2K"), "{seen}");
    assert!(!seen.contains("\u{1b}[2K"), "{seen}");
}

#[test]
fn a_yes_with_a_rule_is_not_asked_again() {
    let place = Place::new();
    let arguments = [
        "run",
        "--approval",
        "on-request",
        "--",
        "frobnicate",
        "--all",
    ];
    let mut terminal = OnTerminal::start(&place, &arguments);
    terminal.expect("[1] yes, and always");
    terminal.expect("> ");
    terminal.press("1");
    let (code, seen) = terminal.end();
    // It is allowed now; that there is no such program is another matter.
    assert_eq!(code, Some(127), "{seen}");
    let rules = std::fs::read_to_string(place.home().join(".config/ringfence/rules.toml")).unwrap();
    assert!(
        rules.contains("# Approved ") && rules.contains("frobnicate"),
        "{rules}"
    );
    let again = place.output(&arguments);
    assert_eq!(again.code, Some(127), "{again:?}");
    let record = place.output(&["audit", "show"]);
    assert!(
        record.stdout.contains("ApprovedWithRule by terminal"),
        "{record:?}"
    );
}
