//! What an exit code means: to the program that gave it where that is known (`programs`), or to shells in general.

mod programs;

use ringfence_policy::action::RunCommand;
use ringfence_policy::command_line::CommandLine;
use ringfence_policy::facts::{CommandText, deciding};

use crate::execution::Ending;

/// Codes with a meaning of their own.
const CODES: &[(i32, &str)] = &[
    (1, "General error"),
    (2, "Misuse of shell command"),
    (124, "Timed out"),
    (126, "Command cannot execute (permission)"),
    (127, "Command not found"),
    (128, "Invalid exit argument"),
];

/// Signals by number, with what their name does not say.
const SIGNALS: &[(i32, &str, &str)] = &[
    (1, "SIGHUP", "the terminal is gone"),
    (2, "SIGINT", "terminated by Ctrl+C"),
    (3, "SIGQUIT", "quit from the keyboard"),
    (4, "SIGILL", "illegal instruction"),
    (5, "SIGTRAP", "trap"),
    (6, "SIGABRT", "aborted"),
    (7, "SIGBUS", "bad memory access"),
    (8, "SIGFPE", "arithmetic error"),
    (9, "SIGKILL", "killed (out of memory or timeout)"),
    (10, "SIGUSR1", "user signal"),
    (11, "SIGSEGV", "segmentation fault"),
    (12, "SIGUSR2", "user signal"),
    (13, "SIGPIPE", "nobody reads its output"),
    (14, "SIGALRM", "alarm"),
    (15, "SIGTERM", "terminated"),
    (16, "SIGSTKFLT", "stack fault"),
    (17, "SIGCHLD", "a child ended"),
    (18, "SIGCONT", "continued"),
    (19, "SIGSTOP", "stopped"),
    (20, "SIGTSTP", "stopped from the keyboard"),
    (21, "SIGTTIN", "read from the terminal in the background"),
    (22, "SIGTTOU", "wrote to the terminal in the background"),
    (23, "SIGURG", "urgent data"),
    (24, "SIGXCPU", "CPU time limit"),
    (25, "SIGXFSZ", "file size limit"),
    (26, "SIGVTALRM", "virtual alarm"),
    (27, "SIGPROF", "profiling alarm"),
    (28, "SIGWINCH", "window size"),
    (29, "SIGIO", "input or output is possible"),
    (30, "SIGPWR", "power failure"),
    (31, "SIGSYS", "a forbidden system call"),
];

/// What the exit code of a command means that came to its end in some way.
pub(crate) fn interpret(ending: Ending, code: i32, command: Option<&RunCommand>) -> Option<String> {
    let own = || {
        let text = match &command?.line {
            CommandLine::Argv(argv) => CommandText::Argv(argv),
            CommandLine::Shell { shell, text, .. } => CommandText::Shell {
                kind: shell.kind,
                text,
            },
        };
        programs::meaning(&deciding(text)?, code).map(str::to_owned)
    };
    match ending {
        Ending::Cancelled => Some("SIGKILL: stopped on request, before it was done".to_owned()),
        Ending::Exited if code != 0 => own().or_else(|| meaning(code)),
        _ => meaning(code),
    }
}

/// The meaning of an exit code; nothing for success and for codes that are the program's own.
fn meaning(code: i32) -> Option<String> {
    if let Some((_, meaning)) = CODES.iter().find(|(known, _)| *known == code) {
        return Some((*meaning).to_owned());
    }
    let number = code.checked_sub(128)?;
    if let Some((_, name, meaning)) = SIGNALS.iter().find(|(known, ..)| *known == number) {
        return Some(format!("{name}: {meaning}"));
    }
    // The kernel's real-time signals have numbers and no names.
    (32..=64)
        .contains(&number)
        .then(|| format!("real-time signal {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_every_signal_have_a_meaning() {
        for (code, expected) in [
            (0, None),
            (1, Some("General error")),
            (3, None),
            (124, Some("Timed out")),
            (127, Some("Command not found")),
            (130, Some("SIGINT: terminated by Ctrl+C")),
            (137, Some("SIGKILL: killed (out of memory or timeout)")),
            (139, Some("SIGSEGV: segmentation fault")),
            (143, Some("SIGTERM: terminated")),
            (255, None),
        ] {
            assert_eq!(
                interpret(Ending::Exited, code, None).as_deref(),
                expected,
                "{code}"
            );
        }
        assert!((129..=192).all(|code| meaning(code).is_some()));
        assert!((193..=255).all(|code| meaning(code).is_none()));
    }

    #[test]
    fn what_somebody_stopped_did_not_run_out_of_anything() {
        let said = interpret(Ending::Cancelled, 137, None).unwrap_or_default();
        assert!(said.contains("stopped on request"), "{said}");
        assert!(
            !said.contains("memory") && !said.contains("timeout"),
            "{said}"
        );
    }
}
