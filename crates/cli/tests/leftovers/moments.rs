//! A run is stopped at a moment of its life, something happens to it, it is let go, and nothing of it
//! is left.

use std::os::unix::process::CommandExt;
use std::process::Stdio;

use ringfence_testkit::require;
use rustix::process::{Pid, Signal};

use crate::program::Place;
use crate::program::terminal::OnTerminal;
use crate::trace::{Moment, Trace, left_of};

/// Moments in the life of a run, by the system call that somebody makes for the nth time: from the
/// start of the program to the removal of the last name. Those of a call that several processes make
/// stop each of them.
const MOMENTS: &[Moment] = &[
    // The harness, before anything is started.
    ("getcwd", 1),
    ("epoll_create1", 1),
    ("clone3", 1),
    // The warden, and its world.
    ("setsid", 1),
    ("unshare", 1),
    ("unshare", 2),
    ("mount", 1),
    ("fsopen", 3),
    ("symlink", 2),
    ("move_mount", 4),
    // Stages, and the view of a run.
    ("listen", 1),
    ("clone", 1),
    ("mount_setattr", 1),
    ("mkdirat", 1),
    ("mkdirat", 4),
    ("utimensat", 1),
    ("mkdirat", 8),
    ("utimensat", 8),
    ("move_mount", 14),
    // The command.
    ("landlock_restrict_self", 1),
    ("seccomp", 1),
    ("exit_group", 1),
    // The end.
    ("pidfd_send_signal", 1),
    ("unlinkat", 1),
    ("unlinkat", 4),
    ("unlinkat", 9),
];

/// How many of them there must be.
const FEWEST: usize = 20;

/// What happens.
#[derive(Debug, Clone, Copy)]
enum Blow {
    /// A signal to the program alone.
    Alone(Signal),
    /// A signal to its process group.
    Group(Signal),
    /// A key on its terminal.
    Key(&'static str),
    /// The window is closed.
    Closed,
}

/// The program that it happens to.
enum Struck {
    Plain(std::process::Child),
    OnTerminal(OnTerminal),
}

impl Blow {
    fn start(self, mut command: std::process::Command) -> Struck {
        match self {
            Self::Alone(_) | Self::Group(_) => {
                command.process_group(0).stdout(Stdio::null());
                Struck::Plain(command.stderr(Stdio::null()).spawn().unwrap())
            }
            Self::Key(_) | Self::Closed => Struck::OnTerminal(OnTerminal::of(command)),
        }
    }

    fn fall(self, mut on: Struck) -> std::process::Child {
        let pid = match &on {
            Struck::Plain(child) => Pid::from_child(child),
            Struck::OnTerminal(terminal) => Pid::from_child(&terminal.child),
        };
        match (self, &mut on) {
            // It may have ended by itself.
            (Self::Alone(signal), _) => drop(rustix::process::kill_process(pid, signal)),
            (Self::Group(signal), _) => drop(rustix::process::kill_process_group(pid, signal)),
            (Self::Key(key), Struck::OnTerminal(terminal)) => terminal.press(key),
            _ => {}
        }
        match (self, on) {
            (_, Struck::Plain(child)) => child,
            (Self::Closed, Struck::OnTerminal(terminal)) => terminal.close(),
            (_, Struck::OnTerminal(terminal)) => terminal.leave(),
        }
    }
}

/// One blow, at every nth moment.
fn at_moments(blow: Blow, first: usize, every: usize) {
    let (met, moments) = with_backend("native", blow, first, every);
    let expected = FEWEST * moments / MOMENTS.len();
    assert!(met >= expected, "{met} of {moments} moments");
}

/// The same with a backend. How many moments there were, and how many there might have been.
fn with_backend(backend: &str, blow: Blow, first: usize, every: usize) -> (usize, usize) {
    if !require::has_program("strace") {
        require::missing("strace", "a run cannot be stopped at a system call");
        return (MOMENTS.len(), MOMENTS.len());
    }
    let moments: Vec<_> = MOMENTS.iter().skip(first).step_by(every).collect();
    let mut met = 0;
    for moment in &moments {
        let place = Place::new();
        let trace = Trace::new(&place, **moment);
        let mut child = {
            let mut command = trace.command(&place, &["run", "--", "true"]);
            command.env("RINGFENCE_SANDBOX_BACKEND", backend);
            let struck = blow.start(command);
            let id = match &struck {
                Struck::Plain(child) => child.id(),
                Struck::OnTerminal(terminal) => terminal.child.id(),
            };
            met += usize::from(trace.reached(id));
            blow.fall(struck)
        };
        trace.let_go_until_all_have_ended(&place, &mut child);
        let left = left_of(&place, &trace.processes());
        assert_eq!(
            left,
            Vec::<String>::new(),
            "{blow:?} at {moment:?}: {}",
            trace.text()
        );
        let next = place.output(&["run", "--", "true"]);
        assert_eq!(next.code, Some(0), "{blow:?} at {moment:?}: {next:?}");
    }
    (met, moments.len())
}

#[test]
fn interrupted_with_its_group() {
    at_moments(Blow::Group(Signal::INT), 0, 1);
}

#[test]
fn killed_with_its_group() {
    at_moments(Blow::Group(Signal::KILL), 0, 1);
}

#[test]
fn killed_alone() {
    at_moments(Blow::Alone(Signal::KILL), 0, 1);
}

#[test]
fn terminated() {
    at_moments(Blow::Alone(Signal::TERM), 0, 1);
}

#[test]
fn interrupted_by_a_key() {
    at_moments(Blow::Key("\x03"), 0, 1);
}

#[test]
fn in_a_window_that_is_closed() {
    at_moments(Blow::Closed, 0, 1);
}

#[test]
fn in_all_other_ways() {
    let blows = [
        Blow::Key("\x1c"),
        Blow::Alone(Signal::INT),
        Blow::Alone(Signal::QUIT),
        Blow::Alone(Signal::HUP),
        Blow::Group(Signal::QUIT),
        Blow::Group(Signal::HUP),
        Blow::Group(Signal::TERM),
    ];
    for (first, blow) in blows.into_iter().enumerate() {
        at_moments(blow, first, blows.len());
    }
}

/// `bwrap` makes other calls: some of the moments are there.
#[test]
fn under_bubblewrap() {
    if !require::has_program("bwrap") {
        require::missing("bubblewrap", "bwrap is not installed");
        return;
    }
    let mut met = 0;
    for (first, blow) in [
        Blow::Group(Signal::KILL),
        Blow::Key("\x03"),
        Blow::Closed,
        Blow::Alone(Signal::KILL),
    ]
    .into_iter()
    .enumerate()
    {
        met += with_backend("bubblewrap", blow, first % 2, 2).0;
    }
    assert!(met >= FEWEST, "{met} moments");
}
