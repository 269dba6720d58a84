//! Fifty scripts at once: those that misbehave are stopped within their own limits, and the others don't notice.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use ringfence::approval::{AnswerFuture, Approver};
use ringfence::dialect::ErrorCode;
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use ringfence::script::ScriptRequest;
use tokio::sync::Semaphore;

use crate::stage::Stage;
use crate::support::{Case, block_on};

pub(crate) fn cases() -> Vec<Case> {
    plain![fifty_scripts_at_once_end_within_their_own_limits,]
}

/// Answers when it is told to.
struct Gate(Arc<Semaphore>);

impl Approver for Gate {
    fn name(&self) -> &'static str {
        "gate"
    }

    fn ask<'a>(&'a self, _: &'a Question, _: &'a Grounds) -> AnswerFuture<'a> {
        Box::pin(async {
            self.0.acquire().await.unwrap().forget();
            Answer::Denied { message: None }
        })
    }
}

const HANGS: &str = "while (true) {}";
const EXHAUSTS: &str = "const all = []; while (true) all.push(new Array(1000).fill(1))";
const PARKED: &str =
    "try { await tools.exec({ command: ['rm', 'x'] }) } catch (e) { return e.name }";
const WORKS: &str = "return (await tools.exec({ command: ['echo', 'done'] })).stdout";

fn fifty_scripts_at_once_end_within_their_own_limits() {
    let gate = Arc::new(Semaphore::new(0));
    let timeout = Duration::from_secs(8);
    let stage = Stage::new().asking(Gate(Arc::clone(&gate))).with(|config| {
        config.script.limits.timeout = timeout;
        config.script.limits.memory_mb = 16;
    });
    block_on(async {
        let engine = stage.engine();
        let run = async |source: &'static str, began: Instant| {
            let call = engine.new_call();
            let run = engine
                .run_script(&call, ScriptRequest::new(source))
                .await
                .unwrap();
            (run.output, began.elapsed())
        };
        // How long the ordinary ones take by themselves, once everything is warm.
        run(WORKS, Instant::now()).await;
        let began = Instant::now();
        join_all((0..30).map(|_| run(WORKS, began))).await;
        let alone = began.elapsed();
        let began = Instant::now();
        let run = |source| run(source, began);
        let working = async {
            let all = join_all((0..30).map(|_| run(WORKS))).await;
            let last = all.iter().map(|(_, at)| *at).max().unwrap();
            // Only now are the parked ones let go.
            gate.add_permits(8);
            (all, last)
        };
        let ((worked, last), hung, exhausted, parked) = tokio::join!(
            working,
            join_all((0..4).map(|_| run(HANGS))),
            join_all((0..8).map(|_| run(EXHAUSTS))),
            join_all((0..8).map(|_| run(PARKED))),
        );
        for (output, _) in &worked {
            assert_eq!(
                output.output_json.as_deref(),
                Some("\"done\\n\""),
                "{:?}",
                output.error
            );
        }
        // Those that hang take their share of the cores, here two, and nothing else.
        let usual = alone * 6 + Duration::from_secs(1);
        assert!(
            last < usual.min(timeout),
            "the others waited for those that hang: {last:?}, {alone:?} by themselves"
        );
        let code = |output: &ringfence::dialect::ScriptToolCallOutput| {
            output.error.as_ref().map(|error| error.code)
        };
        for (output, at) in &hung {
            assert_eq!(code(output), Some(ErrorCode::ScriptTimeoutError));
            assert!(*at < timeout + Duration::from_secs(10), "{at:?}");
        }
        for (output, _) in &exhausted {
            assert_eq!(code(output), Some(ErrorCode::ScriptMemoryError));
        }
        for (output, _) in &parked {
            assert_eq!(
                output.output_json.as_deref(),
                Some("\"ApprovalDeniedError\"")
            );
        }
    });
}
