//! The session protocol over standard input and output. What is said and done is the dispatcher's; this is the way
//! there and back.

use std::convert::Infallible;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use ringfence::{CallError, Cancel, Latch};
use ringfence_protocol::wire::ClosingReason;
use ringfence_protocol::{Dispatcher, MessageLimits, Outgoing};

use super::super::run::{FirstInterrupt, stop_on_signal};
use super::client_options::OnThisMachine;
use super::input::{Came, Input};
use crate::arguments::Common;

/// How long a client has to read what was said last.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why no more is read.
enum End {
    Session(ClosingReason),
    /// Nobody reads what we say.
    Gone,
}

/// Serves a client, whose first message may have been read already.
pub(super) async fn serve(
    common: Common,
    mut input: Input,
    first: Option<Vec<u8>>,
) -> Result<ExitCode> {
    let (dispatcher, outgoing) =
        Dispatcher::new(OnThisMachine::new(common), MessageLimits::default());
    let (gone, written) = (Latch::new(), Latch::new());
    // A client that does not read makes this thread wait, and nothing else.
    let writer = {
        let (gone, written) = (gone.clone(), written.clone());
        std::thread::Builder::new().spawn(move || {
            if write(outgoing).is_err() {
                gone.set();
            }
            written.set();
        })
    };
    writer?;
    if let Some(first) = first {
        dispatcher.take(&first);
    }
    let stop = Cancel::new();
    let end = async {
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(End::Session(ClosingReason::Stopped)),
                () = gone.wait() => return Ok(End::Gone),
                () = dispatcher.ended() => return Ok(End::Session(ClosingReason::Shutdown)),
                came = next(&dispatcher, &mut input) => match came? {
                    Came::Line(line) => dispatcher.take(&line),
                    Came::TooLong => dispatcher.too_long(),
                    Came::End => return Ok(End::Session(ClosingReason::EndOfInput)),
                },
            }
        }
    };
    let end: io::Result<End> = tokio::select! {
        end = end => end,
        never = stop_on_signal::<Infallible>(&stop, FirstInterrupt::Ends) => match never? {},
    };
    let reason = match &end {
        Ok(End::Session(reason)) => *reason,
        Ok(End::Gone) | Err(_) => ClosingReason::EndOfInput,
    };
    dispatcher.close(reason).await;
    let _ = tokio::time::timeout(FAREWELL, written.wait()).await;
    match end? {
        End::Gone => Ok(ExitCode::FAILURE),
        End::Session(ClosingReason::Stopped) => Err(CallError::Cancelled.into()),
        End::Session(_) => Ok(ExitCode::SUCCESS),
    }
}

/// The next line, once the client has read enough of what it was told.
async fn next(dispatcher: &Dispatcher, input: &mut Input) -> io::Result<Came> {
    dispatcher.ready().await;
    input.next().await
}

fn write(mut outgoing: Outgoing) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    while let Some(line) = outgoing.blocking_next() {
        stdout.write_all(line.text().as_bytes())?;
        stdout.write_all(b"\n")?;
        stdout.flush()?;
    }
    Ok(())
}
