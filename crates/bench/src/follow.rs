//! A fenced command, followed to its end as a call in the foreground would be.

use std::time::Duration;

use ringfence::jail::Process;
use ringfence::output::{Stream, Transcript};
use ringfence::testing::{DriveResult, OnTimeout, Outside, Running, Timing, drive};
use ringfence::{Cancel, Execution, Latch, Stopwatch};

use crate::contest::Trouble;

/// Follows a command to its end. All that it prints is kept, and passed on to `take`.
pub async fn to_its_end(
    process: Process,
    transcript: Transcript,
    take: impl FnMut(Stream, &[u8]),
) -> Result<Execution, Trouble> {
    let timing = Timing {
        timeout: None,
        silence: None,
        drain: Duration::from_secs(2),
        on_timeout: OnTimeout::Kill,
    };
    let (cancel, hand_over) = (Cancel::new(), Latch::new());
    let outside = Outside {
        cancel: &cancel,
        hand_over: &hand_over,
        typed: None,
    };
    let running = Running::new(process, transcript, Stopwatch::start())?;
    match drive(running, timing, outside, take).await? {
        DriveResult::Ended(execution) => Ok(*execution),
        DriveResult::HandedOver(_) => Err("nobody asked for it to be handed over".into()),
    }
}
