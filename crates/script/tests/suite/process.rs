//! What only processes can promise: stopping anything, dying alone, leaving nothing behind.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ringfence_script::{
    CodeOptions, HostPromise, Language, Pool, PoolConfig, RunLimits, ScriptRuntime, Status,
    WorkerProgram,
};
use serde_json::json;

use crate::cases;
use crate::stage::{Stage, pool};

fn plain() -> CodeOptions {
    CodeOptions::new().language(Language::JavaScript)
}

fn waiting() -> CodeOptions {
    plain().global("forever", HostPromise::new(std::future::pending()))
}

fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Waits until a run has its process and has said its first word.
async fn reporting(
    pool: &Pool,
    source: &str,
    options: CodeOptions,
) -> ringfence_script::CodeExecution {
    let (seen, mut saw) = tokio::sync::mpsc::unbounded_channel();
    let run = pool.run_code(source, options.report(move |_| seen.send(()).unwrap()));
    saw.recv().await.expect("the run reports");
    run
}

/// A whole run on another pool.
async fn stage_run() {
    let result = pool().run_code("export default 1", plain()).await;
    assert_eq!(result.status, Status::Success);
}

fn exists(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{what} takes too long"
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn status_field(pid: u32, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Things that never end by themselves, some of them inside natives that ask nobody.
const RUNAWAYS: &[&str] = &[
    "report(1); while (true) {}",
    "report(1); const f = () => Promise.resolve().then(f); await f(); export default 1",
    "report(1); /^(a+)+$/.test('a'.repeat(40) + 'b'); export default 1",
    "report(1); let s = 'x'.repeat(2 ** 26); while (true) s.replaceAll('x', 'yy').length;",
    "report(1); 'x'.repeat(2 ** 28).replaceAll('x', 'yy'); while (true) {}",
    "report(1); const s = 'a'.repeat(2 ** 22); while (true) s.indexOf('a'.repeat(2 ** 21) + 'b');",
    "report(1); const a = Array(2 ** 21).fill('xxxxxxxx'); while (true) a.join('y').length;",
    "report(1); const a = Array(2 ** 20).fill(1); while (true) [...a, ...a].length;",
    "report(1); let a = []; for (let i = 0; i < 28; i++) a = [a, a]; JSON.stringify(a); export default 1",
    "report(1); const a = Array(2 ** 20).fill(1); while (true) a.concat(a).length;",
    "report(1); new Uint8Array(2 ** 20).sort(() => { while (true) {} }); export default 1",
    "report(1); let n = 3n; while (true) n = n ** 3n % (10n ** 5000n);",
    "report(1); 'x'.padEnd(2 ** 24).split('').sort().reverse(); while (true) Array.from({ length: 2 ** 20 }).sort();",
];

cases! {
    terminate_stops_anything_within_100_ms(stage) {
        let _ = stage;
        let pool = pool();
        for source in RUNAWAYS {
            let options = plain().memory_limit_bytes(4 << 30);
            let run = reporting(&pool, source, options).await;
            let pid = run.pid().unwrap();
            let began = Instant::now();
            // Others go on meanwhile.
            let other = pool.run_code("export default 1", plain()).await;
            assert_eq!(other.status, Status::Success);
            let asked = Instant::now();
            run.terminate(Some("enough"));
            let result = run.await;
            let took = asked.elapsed();
            assert_eq!(result.status, Status::Terminated, "{source}");
            assert!(took < Duration::from_millis(100), "{source} took {took:?} after {:?}", began.elapsed());
            until("the process's end", || !exists(pid)).await;
        }
    }

    dropping_the_handle_kills_the_run(stage) {
        let _ = stage;
        let run = reporting(&pool(), "report(1); while (true) {}", plain()).await;
        let pid = run.pid().unwrap();
        assert!(exists(pid));
        drop(run);
        until("the process's end", || !exists(pid)).await;
    }

    a_forbidden_system_call_kills_only_its_run(stage) {
        let _ = stage;
        let pool = pool();
        let other = reporting(&pool, "report(1); export default await forever", waiting()).await;
        let run = reporting(&pool, "report(1); export default await forever", waiting()).await;
        signal(run.pid().unwrap(), rustix::process::Signal::SYS);
        let result = run.await;
        let error = result.error.unwrap();
        assert_eq!((result.status, error.name.as_str()), (Status::Error, "SandboxViolationError"));
        assert!(error.message.contains("system call"));
        assert!(other.running());
        other.terminate(None);
        assert_eq!(other.await.status, Status::Terminated);
    }

    a_crash_is_an_error_of_its_run(stage) {
        let _ = stage;
        let pool = pool();
        for (kill, word) in [
            (rustix::process::Signal::ABORT, "crashed"),
            (rustix::process::Signal::KILL, "killed from outside"),
        ] {
            let run = reporting(&pool, "report(1); export default await forever", waiting()).await;
            signal(run.pid().unwrap(), kill);
            let result = run.await;
            assert_eq!(result.status, Status::Error);
            assert!(result.error.unwrap().message.contains(word));
            assert_eq!(result.reports.len(), 1, "what was reported is kept");
        }
        assert_eq!(pool.run_code("export default 1", plain()).await.status, Status::Success);
    }

    the_safety_cap_says_so(stage) {
        let _ = stage;
        let limits = RunLimits { cpu: Duration::from_secs(1), ..RunLimits::default() };
        let pool = Pool::new(PoolConfig { limits, ..PoolConfig::default() });
        let result = pool.run_code("while (true) {}", plain()).await;
        let message = result.error.unwrap().message;
        assert_eq!(result.status, Status::Terminated);
        assert!(message.contains("safety cap") && !message.contains("caller"), "{message}");
    }

    a_killed_zygote_is_replaced(stage) {
        let _ = stage;
        let pool = Pool::new(PoolConfig::default());
        let run = reporting(&pool, "report(1); export default await forever", waiting()).await;
        let zygote = pool.health().zygote.unwrap();
        signal(zygote, rustix::process::Signal::KILL);
        let result = run.await;
        assert_eq!(result.status, Status::Error, "its children go with it");
        let next = pool.run_code("export default 2", plain()).await;
        assert_eq!(next.result.unwrap().to_json(), json!(2));
        until("the restart", || pool.health().restarts == 1).await;
        assert_ne!(pool.health().zygote, Some(zygote));
    }

    a_worker_that_cannot_start_is_a_clear_error(stage) {
        let _ = stage;
        for (path, arguments, word) in [
            ("/nowhere/ringfence", vec!["__worker".to_owned()], "could not be started"),
            ("/bin/true", vec!["__worker".to_owned()], "ended before it could serve"),
        ] {
            let worker = WorkerProgram::Program { path: PathBuf::from(path), arguments };
            let pool = Pool::new(PoolConfig { worker, ..PoolConfig::default() });
            for _ in 0..2 {
                let result = pool.run_code("export default 1", plain()).await;
                let error = result.error.unwrap();
                assert_eq!((result.status, error.name.as_str()), (Status::Error, "HarnessInternalError"));
                assert!(error.message.contains(word), "{}", error.message);
            }
            assert!(pool.health().problem.is_some());
        }
    }

    the_zygote_is_recycled(stage) {
        let _ = stage;
        let pool = Pool::new(PoolConfig { recycle_after: 3, ..PoolConfig::default() });
        let mut zygotes = std::collections::HashSet::new();
        for _ in 0..12 {
            assert_eq!(pool.run_code("export default 1", plain()).await.status, Status::Success);
            zygotes.extend(pool.health().zygote);
        }
        assert!(zygotes.len() >= 3, "{zygotes:?}");
        let last = pool.health().zygote;
        until("the old ones' end", || zygotes.iter().all(|pid| Some(*pid) == last || !exists(*pid))).await;
    }

    no_more_runs_than_may_run_at_once(stage) {
        let _ = stage;
        // Whether the second run comes to its end while the first one is held.
        for (concurrent, beside) in [(1, false), (2, true)] {
            let pool = Pool::new(PoolConfig { concurrent, ..PoolConfig::default() });
            let (release, held) = tokio::sync::oneshot::channel::<()>();
            let held = HostPromise::new(async move {
                held.await.unwrap();
                Ok(().into())
            });
            let source = "report(1); export default await held";
            let first = reporting(&pool, source, plain().global("held", held)).await;
            let mut second = std::pin::pin!(pool.run_code("export default 2", plain()));
            if beside {
                assert_eq!(second.as_mut().await.status, Status::Success);
            } else {
                // As long as a run takes elsewhere.
                stage_run().await;
                let now = futures_util::FutureExt::now_or_never(second.as_mut());
                assert!(now.is_none() && second.pid().is_none());
            }
            release.send(()).unwrap();
            assert_eq!(first.await.status, Status::Success);
            if !beside {
                assert_eq!(second.await.status, Status::Success);
            }
        }
    }

    the_time_zone_is_the_one_that_was_named(stage) {
        let _ = stage;
        for (zone, minutes) in [("RFT-3", -180), ("RFT+5", 300), ("UTC0", 0)] {
            let time_zone = Some(zone.to_owned());
            let pool = Pool::new(PoolConfig { time_zone, ..PoolConfig::default() });
            let source = "export default new Date(0).getTimezoneOffset()";
            let result = pool.run_code(source, plain()).await.result.unwrap();
            assert_eq!(result.to_json(), json!(minutes), "{zone}");
        }
    }

    a_dropped_pool_leaves_no_process(stage) {
        let _ = stage;
        let pool = Pool::new(PoolConfig::default());
        let run = reporting(&pool, "report(1); while (true) {}", plain()).await;
        let pids = [pool.health().zygote.unwrap(), run.pid().unwrap()];
        drop(run);
        drop(pool);
        until("their end", || pids.iter().all(|pid| !exists(*pid))).await;
    }

    children_have_one_socket_and_a_filter(stage) {
        let _ = stage;
        let run = reporting(&pool(), "report(1); export default await forever", waiting()).await;
        let pid = run.pid().unwrap();
        assert_eq!(status_field(pid, "Seccomp:"), Some(2));
        assert_eq!(status_field(pid, "Seccomp_filters:"), Some(2));
        assert_eq!(status_field(pid, "NoNewPrivs:"), Some(1));
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let capabilities = status.lines().find(|line| line.starts_with("CapEff:")).unwrap();
        assert!(capabilities.ends_with("0000000000000000"), "{capabilities}");
        let mut open: Vec<_> = std::fs::read_dir(format!("/proc/{pid}/fd"))
            .unwrap()
            .map(|entry| std::fs::read_link(entry.unwrap().path()).unwrap().display().to_string())
            .collect();
        open.sort();
        assert_eq!(open.len(), 3, "{open:?}");
        assert_eq!(open[..2], ["/dev/null", "/dev/null"]);
        assert!(open[2].starts_with("socket:"));
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        assert!(!String::from_utf8_lossy(&environment).contains("PATH="));
    }

    an_idle_zygote_is_small(stage) {
        let _ = stage;
        let pool = Pool::new(PoolConfig::default());
        pool.warm().await.unwrap();
        let kib = status_field(pool.health().zygote.unwrap(), "RssAnon:").unwrap();
        assert!(kib < 12 << 10, "{kib} KiB");
    }

    one_hanging_script_blocks_nobody(stage) {
        let pool = pool();
        let mut hanging = Vec::new();
        for _ in 0..8 {
            hanging.push(reporting(&pool, "report(1); while (true) {}", plain()).await);
        }
        for _ in 0..10 {
            assert_eq!(stage.value("export default 1", plain()).await, json!(1));
        }
        for run in hanging {
            run.terminate(None);
            assert_eq!(run.await.status, Status::Terminated);
        }
    }
}

/// The runs of the soak: what, and what becomes of it.
const SOAK: [(&str, Status); 5] = [
    ("export default 1", Status::Success),
    ("export default (await import('./m.js')).x", Status::Success),
    (
        "const a = []; while (true) a.push(new Uint8Array(1 << 16).fill(1))",
        Status::Memory,
    ),
    ("throw new Error('x')", Status::Error),
    ("import 'nothing'", Status::LinkError),
];

/// The argument with which this program soaks.
pub(crate) const SOAK_ARGUMENT: &str = "__soak";

/// Soaks in a process of its own, where nothing else opens descriptors or starts processes.
pub(crate) fn soak_apart() {
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program)
        .arg(SOAK_ARGUMENT)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// `RINGFENCE_SOAK_RUNS` runs (500 unless told), a tenth of them killed, crashed or out of memory.
pub(crate) fn soak() {
    let runs: usize = std::env::var("RINGFENCE_SOAK_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(500);
    crate::stage::run(async move {
        let pool = Pool::new(PoolConfig {
            recycle_after: runs as u64 / 4,
            ..PoolConfig::default()
        });
        let mut before = None;
        for round in 0..runs {
            let options = || {
                plain()
                    .memory_limit_bytes(4 << 20)
                    .module("./m.js", "export const x = 1")
            };
            match round % 30 {
                10 => {
                    let run = reporting(&pool, "report(1); while (true) {}", options()).await;
                    signal(run.pid().unwrap(), rustix::process::Signal::ABORT);
                    assert_eq!(run.await.status, Status::Error);
                }
                20 => {
                    let run = reporting(&pool, "report(1); while (true) {}", options()).await;
                    run.terminate(None);
                    assert_eq!(run.await.status, Status::Terminated);
                }
                round => {
                    let (source, status) = if round == 0 {
                        SOAK[2]
                    } else {
                        SOAK[[0, 1, 3, 4][round % 4]]
                    };
                    let result = pool.run_code(source, options()).await;
                    assert_eq!(result.status, status, "{source} {:?}", result.error);
                }
            }
            if round == runs / 4 {
                before = Some(footprint());
            }
        }
        let before = before.expect("a quarter was run");
        until("quiet", || {
            footprint().0 <= before.0 + 2 && footprint().1 <= before.1 + 2
        })
        .await;
        let after = footprint();
        assert!(
            after.2 < before.2 + (8 << 10),
            "memory grew: {before:?} {after:?}"
        );
    });
}

/// Descriptors, children with their children, and resident KiB of this process.
fn footprint() -> (usize, usize, u64) {
    let own = std::process::id();
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let parent =
        |pid: u32| status_field(pid, "PPid:").and_then(|parent| u32::try_from(parent).ok());
    let pids = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let descends = |pid: u32| parent(pid) == Some(own) || parent(pid).and_then(parent) == Some(own);
    (
        descriptors,
        pids.filter(|pid| descends(*pid)).count(),
        status_field(own, "VmRSS:").unwrap(),
    )
}

/// The in-process runtime cannot stop natives; it settles at once all the same.
pub(crate) fn thread_runtime_settles_at_once() {
    crate::stage::run(async {
        let run = Stage::Thread.begin("while (true) {}", plain());
        tokio::time::sleep(Duration::from_millis(20)).await;
        let asked = Instant::now();
        run.terminate(None);
        assert_eq!(run.await.status, Status::Terminated);
        assert!(asked.elapsed() < Duration::from_millis(100));
    });
}
