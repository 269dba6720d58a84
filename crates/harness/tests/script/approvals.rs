//! Approvals inside scripts: the call is parked, the script's clock stands still, and a no is an error like any other.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use ringfence::approval::{AnswerFuture, Approver, Scripted};
use ringfence::dialect::ErrorCode;
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use serde_json::json;

use crate::stage::Stage;
use crate::support::Case;

pub(crate) fn cases() -> Vec<Case> {
    plain![
        f11_a_call_that_needs_approval_waits_and_the_clock_stands_still,
        f12_a_denied_call_can_be_caught_and_the_script_goes_on,
        a_question_that_nobody_answers_is_an_error_of_its_own,
        what_policy_forbids_is_never_asked_about,
        stopping_everything_stops_the_script,
        a_parked_call_that_loses_a_race_is_not_asked_about_any_longer,
    ]
}

/// Thinks for a while, and remembers what it was asked about.
struct Thinker {
    takes: Duration,
    answer: Answer,
    asked: Mutex<Vec<(u32, String)>>,
}

impl Approver for &'static Thinker {
    fn name(&self) -> &'static str {
        "thinker"
    }

    fn ask<'a>(&'a self, _: &'a Question, grounds: &'a Grounds) -> AnswerFuture<'a> {
        let line = grounds.script.clone().unwrap();
        self.asked.lock().unwrap().push((line.line, line.text));
        Box::pin(async {
            tokio::time::sleep(self.takes).await;
            self.answer.clone()
        })
    }
}

fn thinker(takes: Duration, answer: Answer) -> &'static Thinker {
    Box::leak(Box::new(Thinker {
        takes,
        answer,
        asked: Mutex::default(),
    }))
}

const ASKS: &str = "try {\n  const r = await tools.exec({ command: ['rm', 'file.txt'] });\n  return r.exitCode;\n} catch (e) { return [e.name, e.callId] }";

fn f11_a_call_that_needs_approval_waits_and_the_clock_stands_still() {
    let approver = thinker(Duration::from_millis(3200), Answer::Approved);
    let stage = Stage::new().asking(approver).with(|config| {
        config.script.limits.timeout = Duration::from_secs(3);
    });
    std::fs::write(stage.home.work().join("file.txt"), "x").unwrap();
    crate::stage::hand_over(&stage.home.work());
    let began = Instant::now();
    assert_eq!(stage.value(ASKS), 0);
    assert!(began.elapsed() >= Duration::from_millis(3200));
    assert!(!stage.home.work().join("file.txt").exists());
    let asked = approver.asked.lock().unwrap().clone();
    assert_eq!(
        asked,
        [(
            2,
            "const r = await tools.exec({ command: ['rm', 'file.txt'] });".to_owned()
        )]
    );
}

fn f12_a_denied_call_can_be_caught_and_the_script_goes_on() {
    let stage = Stage::new().asking(Scripted::DenyAll {
        message: "not today".to_owned(),
    });
    assert_eq!(stage.value(ASKS), json!(["ApprovalDeniedError", "tool_0"]));
    let (code, message) = stage.failure("await tools.exec({ command: ['rm', 'file.txt'] })");
    assert_eq!(code, ErrorCode::ApprovalDeniedError);
    assert!(message.contains("not today"), "{message}");
}

fn a_question_that_nobody_answers_is_an_error_of_its_own() {
    let approver = thinker(Duration::from_mins(1), Answer::Approved);
    let stage = Stage::new().asking(approver).with(|config| {
        config.approval.timeout = Duration::from_millis(100);
    });
    assert_eq!(stage.value(ASKS), json!(["ApprovalTimeoutError", "tool_0"]));
}

fn what_policy_forbids_is_never_asked_about() {
    let approver = thinker(Duration::ZERO, Answer::Approved);
    let stage = Stage::new().asking(approver);
    let source = "try { await tools.exec({ command: ['rm', '-rf', '/'] }) } catch (e) { return [e.name, e.metadata.code] }";
    assert_eq!(
        stage.value(source),
        json!(["ApprovalDeniedError", "dangerous"])
    );
    assert!(approver.asked.lock().unwrap().is_empty());
}

fn stopping_everything_stops_the_script() {
    let approver = thinker(Duration::ZERO, Answer::Abort);
    let stage = Stage::new().asking(approver);
    let (code, _) = stage
        .failure("try { await tools.exec({ command: ['rm', 'x'] }) } catch {} while (true) {}");
    assert_eq!(code, ErrorCode::ApprovalDeniedError);
}

fn a_parked_call_that_loses_a_race_is_not_asked_about_any_longer() {
    let approver = thinker(Duration::from_mins(1), Answer::Approved);
    let stage = Stage::new().asking(approver);
    let began = Instant::now();
    let source = "return (await Promise.race([tools.exec({ command: ['rm', 'x'] }), tools.exec({ command: ['echo', 'fast'] })])).stdout";
    assert_eq!(stage.value(source), "fast\n");
    assert!(began.elapsed() < Duration::from_secs(30));
}
