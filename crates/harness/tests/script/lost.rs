//! A script whose process is lost: tried once more if it has called no tool yet.

use std::time::Duration;

use ringfence::dialect::ErrorCode;
use ringfence::jail::WARDEN_ARGUMENT;
use ringfence::script::ScriptRequest;
use rustix::process::{Pid, Signal, kill_process};

use crate::stage::{Stage, short_timeout};
use crate::support::{Case, block_on};

pub(crate) fn cases() -> Vec<Case> {
    plain![a_lost_process_is_replaced_once_if_no_tool_was_called,]
}

/// How long a process has computed, in ticks of the kernel's clock, and its parent.
fn stat(pid: &str) -> Option<(u64, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.get(11)?.parse().ok()?, (*fields.get(1)?).to_owned()))
}

/// Whether a process is a warden: its children are stages, some of them at work ahead of need.
fn is_warden(pid: &str) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = words.split(|byte| *byte == 0);
    words.any(|word| word == WARDEN_ARGUMENT.as_bytes())
}

/// The processes below this one that are grandchildren of it and have been busy for longer than one
/// takes that only gets ready: runs of a zygote.
fn busy_runs() -> Vec<Pid> {
    const LONG: u64 = 10;
    let own = std::process::id().to_string();
    let all: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    let is_busy_run = |pid: &&String| {
        let found = stat(pid).filter(|(ticks, _)| *ticks >= LONG);
        found
            .filter(|(_, parent)| !is_warden(parent))
            .and_then(|(_, parent)| stat(&parent))
            .is_some_and(|(_, above)| above == own)
    };
    all.iter()
        .filter(is_busy_run)
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}

/// Kills the run that is under way, once.
async fn kill_a_run() {
    for _ in 0..2000 {
        // What was busy may have ended before it is killed: then it was not the run.
        let mut runs = busy_runs().into_iter();
        if runs.any(|run| kill_process(run, Signal::KILL).is_ok()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("no run was seen");
}

fn a_lost_process_is_replaced_once_if_no_tool_was_called() {
    let hangs = "while (true) {}";
    let calls_first = "await tools.exec({ command: ['touch', 'called'] }); while (true) {}";
    for (source, calls, code, again) in [
        (hangs, false, ErrorCode::ScriptTimeoutError, 1),
        (calls_first, true, ErrorCode::HarnessInternalError, 0),
    ] {
        let stage = Stage::new().with(short_timeout);
        let output = block_on(async {
            let engine = stage.engine();
            let call = engine.new_call();
            let run = engine.run_script(&call, ScriptRequest::new(source));
            let killing = async {
                while calls && !stage.home.work().join("called").exists() {
                    tokio::task::yield_now().await;
                }
                kill_a_run().await;
            };
            tokio::join!(run, killing).0.unwrap().output
        });
        assert_eq!(output.error.map(|error| error.code), Some(code), "{source}");
        let tried = stage
            .said()
            .iter()
            .filter(|text| text.contains("tried again"))
            .count();
        assert_eq!(tried, again, "{source}");
    }
}
