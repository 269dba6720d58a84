//! How long a command takes, in words.

use std::time::Duration;

use ringfence_confine::process;

/// A line about a command that takes its time.
pub(super) fn told(elapsed: Duration, lines: u64) -> String {
    let seconds = elapsed.as_secs();
    let time = match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    };
    let lines = match lines {
        0 => "no output yet".to_owned(),
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    };
    format!("ringfence: running for {time}, {lines}")
}

/// What somebody can do who does not want to wait: the shell that started us can move us to the
/// background, command and all.
pub(super) fn offer() -> &'static str {
    if is_a_job() {
        " (Ctrl-Z and `bg` move it to the background)"
    } else {
        ""
    }
}

/// Whether a shell with job control started this process.
fn is_a_job() -> bool {
    let group = process::own_group();
    group.is_some() && process::own_session() != group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_in_words() {
        for (seconds, lines, expected) in [
            (3, 0, "ringfence: running for 3 s, no output yet"),
            (61, 1, "ringfence: running for 1 min 01 s, 1 line"),
            (7260, 12, "ringfence: running for 2 h 01 min, 12 lines"),
        ] {
            assert_eq!(told(Duration::from_secs(seconds), lines), expected);
        }
    }
}
