//! What of a record is kept: every text that came from outside without its secrets, and bounded.

use std::path::PathBuf;

use super::outcome::CallEnded;
use super::record::{
    ApprovalAnswered, ApprovalAsked, CallId, Command, ConnectionEnded, Intent, Record,
    SessionEnded, SessionId, SessionStarted,
};
use super::redact::Redactor;

/// How much of a command is kept.
const COMMAND_BYTES: usize = 32 << 10;
/// How much of any other text is kept.
const TEXT_BYTES: usize = 4 << 10;
/// How many changes of git's set-up are kept.
const MOST_MENDED: usize = 32;

impl Record {
    /// The record as it may be kept: every text that came from outside redacted and bounded.
    pub(super) fn fit_to_keep(mut self, redactor: &Redactor) -> Self {
        let text = |text: &mut String| *text = keep(redactor, text, TEXT_BYTES);
        let maybe = |maybe: &mut Option<String>| {
            if let Some(inner) = maybe {
                text(inner);
            }
        };
        let path = |path: &mut PathBuf| {
            *path = PathBuf::from(keep(redactor, &path.to_string_lossy(), TEXT_BYTES));
        };
        // Ids come from models, too.
        let call = |id: &mut CallId| text(&mut id.0);
        let session = |id: &mut SessionId| text(&mut id.0);
        match &mut self {
            Self::SessionStarted(SessionStarted {
                session: id,
                cwd,
                sandbox,
                approval,
                front,
                version,
            }) => {
                session(id);
                path(cwd);
                [sandbox, approval, front, version]
                    .into_iter()
                    .for_each(text);
            }
            Self::SessionEnded(SessionEnded {
                session: id,
                calls: _,
                reason,
            }) => {
                session(id);
                maybe(reason);
            }
            Self::Intent(intent) => {
                let Intent {
                    call: id,
                    session: of,
                    parent,
                    script,
                    tool,
                    command,
                    shell,
                    cwd,
                    ..
                } = intent;
                call(id);
                session(of);
                parent.as_mut().into_iter().for_each(call);
                if let Some(site) = script {
                    text(&mut site.id);
                }
                text(tool);
                command.fit_to_keep(redactor);
                shell.iter_mut().for_each(path);
                path(cwd);
                let Intent {
                    sandbox,
                    reason,
                    rule,
                    approved_by,
                    justification,
                    ..
                } = intent;
                [sandbox, reason].into_iter().for_each(text);
                [rule, approved_by, justification]
                    .into_iter()
                    .for_each(maybe);
            }
            Self::ApprovalAsked(asked) => {
                let ApprovalAsked {
                    call: id,
                    session: of,
                    command,
                    reason,
                    proposed_rule,
                    justification,
                } = asked;
                call(id);
                session(of);
                command.fit_to_keep(redactor);
                text(reason);
                [proposed_rule, justification].into_iter().for_each(maybe);
            }
            Self::ApprovalAnswered(ApprovalAnswered {
                call: id,
                session: of,
                by,
                rule,
                answer: _,
                waited_ms: _,
            }) => {
                call(id);
                session(of);
                text(by);
                maybe(rule);
            }
            Self::Outcome(CallEnded {
                call: id,
                session: of,
                error,
                fence,
                mended,
                ..
            }) => {
                call(id);
                session(of);
                [error, fence].into_iter().for_each(maybe);
                mended.truncate(MOST_MENDED);
                mended.iter_mut().for_each(text);
            }
            Self::ConnectionEnded(ConnectionEnded {
                call: id,
                session: of,
                ..
            }) => {
                call(id);
                session(of);
            }
        }
        self
    }
}

impl Command {
    fn fit_to_keep(&mut self, redactor: &Redactor) {
        match self {
            Self::Line(line) => *line = keep(redactor, line, COMMAND_BYTES),
            Self::Argv(argv) => *argv = keep_all(redactor, argv, COMMAND_BYTES),
        }
    }
}

/// The beginning of a text without its secrets, and how much is left out.
fn keep(redactor: &Redactor, text: &str, limit: usize) -> String {
    // Looking at twice as much finds secrets that begin before the limit and end behind it, and
    // still bounds the work for a text of any size.
    let (seen, unseen) = text.split_at(text.floor_char_boundary(limit.saturating_mul(2)));
    let redacted = redactor.text(seen);
    let (kept, cut) = redacted.split_at(redacted.floor_char_boundary(limit));
    match cut.len() + unseen.len() {
        0 => redacted.into_owned(),
        more => format!("{kept}[{more} more bytes]"),
    }
}

/// The first arguments without their secrets, and how many are left out.
fn keep_all(redactor: &Redactor, argv: &[String], limit: usize) -> Vec<String> {
    // An empty argument takes room as well.
    const EACH: usize = 8;
    let mut room = limit;
    let mut seen = Vec::new();
    for argument in argv {
        if room < EACH {
            break;
        }
        let part = &argument[..argument.floor_char_boundary(room.saturating_mul(2))];
        room = room.saturating_sub(part.len() + EACH);
        seen.push(part.to_owned());
    }
    let mut room = limit;
    let mut kept: Vec<String> = Vec::new();
    for (index, redacted) in redactor.argv(&seen).into_iter().enumerate() {
        let unseen = argv[index].len() - seen[index].len();
        let end = redacted.floor_char_boundary(room);
        let more = redacted.len() - end + unseen;
        room = room.saturating_sub(redacted.len() + EACH);
        kept.push(match more {
            0 => redacted,
            more => format!("{}[{more} more bytes]", &redacted[..end]),
        });
    }
    if kept.len() < argv.len() {
        kept.push(format!("[{} more arguments]", argv.len() - kept.len()));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_clipped_at_a_character() {
        let keep = |text, limit| keep(&Redactor::default(), text, limit);
        assert_eq!(keep("short", 5), "short");
        assert_eq!(keep("grün und rot", 3), "gr[11 more bytes]");
        assert_eq!(keep("grün und rot", 100), "grün und rot");
    }

    #[test]
    fn a_secret_across_the_limit_is_taken_out() {
        let text = format!(
            "{} ghp_0123456789abcdefghij0123 {}",
            "x".repeat(40),
            "y".repeat(500)
        );
        let kept = keep(&Redactor::default(), &text, 50);
        assert!(
            kept.starts_with(&"x".repeat(40)) && !kept.contains("ghp_"),
            "{kept}"
        );
    }

    #[test]
    fn long_argument_lists_are_clipped() {
        let argv = ["echo", &"x".repeat(100), "y", "z"].map(str::to_owned);
        let kept = keep_all(&Redactor::default(), &argv, 32);
        assert_eq!(kept[0], "echo");
        assert_eq!(kept[1], format!("{}[80 more bytes]", "x".repeat(20)));
        assert_eq!(kept[2], "[2 more arguments]");
    }

    #[test]
    fn work_on_a_hostile_command_is_bounded() {
        let begun = std::time::Instant::now();
        for part in [
            "-----BEGIN PRIVATE KEY-----",
            "curl ",
            "sudo -S ",
            "curl -u a:b ",
            "-a ",
            "set ",
            "password ",
            "user password '",
            "'",
            "\"' ",
            "vault kv put a=b ",
            "://a:b@",
        ] {
            let text = part.repeat((1 << 20) / part.len());
            let kept = keep(&Redactor::default(), &text, COMMAND_BYTES);
            assert!(kept.len() < COMMAND_BYTES + 64, "{part}");
        }
        // Far above what it takes, far below what a look from every word at every other would.
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
}
