//! A record of the audit log as a sentence: who, what, where it ran, who said yes, how it ended.
//!
//! Calls are told by their numbers in the session: `#3`, and `#3.1` for a connection of its command.

use ringfence::audit::{
    Answer, ApprovalAnswered, ApprovalAsked, CallEnded, CallId, Command, ConnectionEnded, Decision,
    HttpEnded, Intent, Outcome, Record, SessionId,
};

/// A record in one line.
pub(super) fn line(record: &Record) -> String {
    match record {
        Record::SessionStarted(start) => format!(
            "session {} opened by {} in {} ({}, approval {})",
            start.session,
            start.front,
            start.cwd.display(),
            start.sandbox,
            start.approval
        ),
        Record::SessionEnded(end) => {
            format!("session {} ended after {} calls", end.session, end.calls)
        }
        Record::Intent(intent) => intended(intent),
        Record::ApprovalAsked(asked) => question(asked),
        Record::ApprovalAnswered(answered) => answer(answered),
        Record::ConnectionEnded(ended) => connections(ended),
        Record::Outcome(ended) => end(ended),
    }
}

/// A call by its number in the session.
fn number(call: &CallId, session: &SessionId) -> String {
    let own = call.0.strip_prefix(&session.0);
    match own.and_then(|rest| rest.strip_prefix('-')) {
        Some(number) => format!("#{number}"),
        None => call.0.clone(),
    }
}

/// A command as it was written.
pub(super) fn text(command: &Command) -> String {
    match command {
        Command::Line(line) => line.clone(),
        Command::Argv(argv) => argv.join(" "),
    }
}

fn intended(intent: &Intent) -> String {
    let parent = intent.parent.as_ref();
    let of = parent.map(|parent| format!(" of {}", number(parent, &intent.session)));
    let script = intent.script.as_ref();
    let at = script.map(|script| format!(" ({} line {})", script.id, script.line));
    let own = number(&intent.call, &intent.session);
    let who = [Some(own), of, at]
        .into_iter()
        .flatten()
        .collect::<String>();
    let what = format!("{who} {}: {}", intent.tool, text(&intent.command));
    match intent.verdict {
        Decision::Allow => {
            let reach = match intent.sandbox.as_str() {
                "none" => "unfenced".to_owned(),
                sandbox => sandbox.to_owned(),
            };
            let by = match (&intent.approved_by, &intent.rule) {
                (Some(by), _) => format!("approved by {by}"),
                (None, Some(_)) => "allowed by a rule".to_owned(),
                (None, None) => "allowed by policy".to_owned(),
            };
            format!("{what} -> {by}, {reach}: {}", intent.reason)
        }
        Decision::Deny => format!("{what} -> denied: {}", intent.reason),
        Decision::Ask => format!("{what} -> not decided: {}", intent.reason),
    }
}

fn question(asked: &ApprovalAsked) -> String {
    format!(
        "{} asks about {}: {}",
        number(&asked.call, &asked.session),
        text(&asked.command),
        asked.reason
    )
}

fn answer(answered: &ApprovalAnswered) -> String {
    let said = match answered.answer {
        Answer::Approved => "yes",
        Answer::ApprovedForSession => "yes, for this session",
        Answer::ApprovedWithRule => "yes, by a rule from now on",
        Answer::Denied => "no",
        Answer::Aborted => "no, and stop",
        Answer::TimedOut => "nothing in time",
    };
    format!(
        "{} {} said {said} after {} ms",
        number(&answered.call, &answered.session),
        answered.by,
        answered.waited_ms
    )
}

fn connections(ended: &ConnectionEnded) -> String {
    format!(
        "{} had {} connections: {} bytes sent, {} received",
        number(&ended.call, &ended.session),
        ended.connections,
        ended.sent_bytes,
        ended.received_bytes
    )
}

/// What went over the wire for a request.
fn wire(http: &HttpEnded) -> String {
    let status = match http.status {
        Some(status) => format!("status {status}"),
        None => "no answer".to_owned(),
    };
    let HttpEnded {
        sent_bytes,
        received_bytes,
        ..
    } = http;
    format!(", {status}, {sent_bytes} bytes sent, {received_bytes} received")
}

fn end(ended: &CallEnded) -> String {
    let number = number(&ended.call, &ended.session);
    let how = match (&ended.fence, ended.outcome) {
        (_, Outcome::Refused) => "was refused".to_owned(),
        (None, outcome) => format!("ended: {outcome}"),
        (Some(fence), outcome) if fence == "none" => {
            format!("ended: {outcome}, outside the fence")
        }
        (Some(fence), outcome) => format!("ended: {outcome}, in {fence}"),
    };
    let ran = ended.outcome != Outcome::Refused;
    let more = [
        ended.error.as_ref().map(|error| format!(" ({error})")),
        ended.exit_code.map(|code| format!(", exit {code}")),
        ended.http.as_ref().map(wire),
        ran.then(|| format!(" after {} ms", ended.duration_ms)),
        ended
            .denied_by_sandbox
            .then(|| ", refused something by the fence".to_owned()),
        (!ended.mended.is_empty()).then(|| format!(", put back: {}", ended.mended.join("; "))),
    ];
    let more: String = more.into_iter().flatten().collect();
    format!("{number} {how}{more}")
}
