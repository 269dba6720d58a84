//! The records of some calls out of many.

use ringfence::audit::{
    self, Answer, ApprovalAnswered, ApprovalAsked, CallEnded, Command, Decision, Filter, Intent,
    Outcome, Record, SessionStarted, Timestamp,
};

use crate::{Archive, intent, outcome};

/// A call of this number.
fn call(number: u64, change: impl FnOnce(&mut Intent)) -> Record {
    let mut record = intent(number, "make test");
    if let Record::Intent(intent) = &mut record {
        change(intent);
    }
    record
}

fn ended(number: u64, outcome: Outcome) -> Record {
    let call = format!("call-{number}").into();
    Record::Outcome(CallEnded::new(call, "session-1".into(), outcome))
}

/// A second goes by with every record.
fn archive() -> Archive {
    let archive = Archive::new();
    let log = archive.open();
    let start = SessionStarted {
        session: "session-1".into(),
        cwd: "/work/project".into(),
        sandbox: "workspace-write".into(),
        approval: "on-failure".into(),
        front: "cli".into(),
        version: "1".into(),
    };
    let asked = ApprovalAsked {
        call: "call-2".into(),
        session: "session-1".into(),
        command: Command::Line("git push".into()),
        reason: "suspicious".into(),
        proposed_rule: None,
        justification: None,
    };
    let answered = ApprovalAnswered {
        call: "call-2".into(),
        session: "session-1".into(),
        answer: Answer::Denied,
        by: "terminal".into(),
        waited_ms: 5,
        rule: None,
    };
    for record in [
        Record::SessionStarted(start),
        call(1, |intent| intent.class = Some("safe".to_owned())),
        // Calls of a session run beside each other.
        Record::ApprovalAsked(asked),
        ended(1, Outcome::Failed),
        Record::ApprovalAnswered(answered),
        call(2, |intent| {
            intent.command = Command::Line("git push https://git.example.com/a \"b\"".into());
            intent.verdict = Decision::Deny;
            intent.class = Some("suspicious".to_owned());
        }),
        ended(2, Outcome::Refused),
        call(3, |intent| {
            intent.tool = "shell".into();
            intent.command = Command::Argv(vec!["cat".into(), "/etc/hosts".into()]);
            intent.cwd = "/elsewhere/deep".into();
            intent.session = "session-2".into();
        }),
        outcome(3),
    ] {
        log.record(record).unwrap();
    }
    archive
}

type Change = fn(&mut Filter);

const SELECTIONS: &[(&str, Change, &[u64])] = &[
    ("everything", |_| {}, &[1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ("a session", |f| f.session = Some("session-2".into()), &[8]),
    (
        "a tool",
        |f| f.tool = Some("bash".into()),
        &[2, 4, 3, 5, 6, 7],
    ),
    ("no such tool", |f| f.tool = Some("bas".into()), &[]),
    (
        "a verdict",
        |f| f.verdict = Some(Decision::Deny),
        &[3, 5, 6, 7],
    ),
    ("a class", |f| f.class = Some("safe".into()), &[2, 4]),
    ("an outcome", |f| f.outcome = Some(Outcome::Failed), &[2, 4]),
    (
        "an outcome after a question",
        |f| f.outcome = Some(Outcome::Refused),
        &[3, 5, 6, 7],
    ),
    (
        "two conditions",
        |f| {
            f.outcome = Some(Outcome::Failed);
            f.class = Some("suspicious".into());
        },
        &[],
    ),
    ("a folder", |f| f.path = Some("/elsewhere".into()), &[8]),
    (
        "a path in the command",
        |f| f.path = Some("/etc/hosts".into()),
        &[8],
    ),
    (
        "a host",
        |f| f.host = Some("git.example.com".into()),
        &[3, 5, 6, 7],
    ),
    (
        "a part of a host",
        |f| f.host = Some("example.com".into()),
        &[],
    ),
    (
        "a text with quotes",
        |f| f.text = Some("a \"b\"".into()),
        &[3, 5, 6, 7],
    ),
    (
        "a text in the reason",
        |f| f.text = Some("make runs inside".into()),
        &[2, 4, 3, 5, 6, 7, 8],
    ),
    ("since", |f| f.since = Some(moment(7)), &[8, 9]),
    ("until", |f| f.until = Some(moment(2)), &[1, 2]),
];

/// When the record after so many was made: the log's start takes the first second.
fn moment(records: u64) -> Timestamp {
    Timestamp::from_millis(1_767_323_045_678 + 1000 * (records + 1))
}

#[test]
fn the_records_of_the_calls_that_are_wanted() {
    let archive = archive();
    for (what, change, expected) in SELECTIONS {
        let mut filter = Filter::default();
        change(&mut filter);
        let found: Vec<u64> = audit::select(&archive.folders.dir, filter)
            .unwrap()
            .map(|entry| entry.unwrap().line)
            .collect();
        assert_eq!(found, *expected, "{what}");
    }
}

#[test]
fn a_bad_line_is_reported_and_the_reading_goes_on() {
    let archive = archive();
    let log = std::fs::read_dir(&archive.folders.dir)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut text = std::fs::read_to_string(&log).unwrap();
    text.insert_str(text.find('\n').unwrap() + 1, "not a record\n");
    std::fs::write(&log, text).unwrap();
    let filter = Filter {
        tool: Some("shell".into()),
        ..Filter::default()
    };
    let found: Vec<_> = audit::select(&archive.folders.dir, filter)
        .unwrap()
        .collect();
    assert!(
        found[0]
            .as_ref()
            .unwrap_err()
            .to_string()
            .contains(":2: not an audit record")
    );
    assert_eq!(found.len(), 2);
}
