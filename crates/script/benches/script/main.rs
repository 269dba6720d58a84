//! Benchmark `script`: medians and ratios of one run on one machine. Compare within a table, not between tables.
//!
//! `-- throughput` does nothing but runs, for a profiler. `peers` are engines of Node's.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::cast_precision_loss)]

mod peers;

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ringfence_script::{
    CodeOptions, HostFunction, Language, Pool, PoolConfig, RunLimits, ScriptRuntime, Status,
    ThreadRuntime, run_code_on,
};

const TRIVIAL: &str = "export default 6 * 7";

fn main() {
    ringfence_script::serve_worker();
    if std::env::args().nth(1).as_deref() == Some("__echo") {
        return echo();
    }
    if std::env::args().any(|argument| argument == "throughput") {
        return throughput_alone();
    }
    let mut table = Table::default();
    let ping = ping_pong();
    table.row("bare socketpair ping-pong, two processes", ping, None);
    let trivial = block_on(warm(Language::JavaScript));
    table.row(
        "trivial module, warm worker (JavaScript)",
        trivial,
        Some(("goal 0.4 ms", 400.0)),
    );
    let typescript = block_on(warm(Language::TypeScript));
    table.row(
        "trivial module, warm worker (TypeScript)",
        typescript,
        Some(("goal 0.4 ms", 400.0)),
    );
    table.row(
        "trivial module, back to back",
        block_on(back_to_back()),
        Some(("goal 0.6 ms", 600.0)),
    );
    table.row(
        "trivial module, in-process thread",
        block_on(on_threads()),
        Some(("warm", trivial)),
    );
    let awaited = block_on(host_calls("asynchronous"));
    table.row("awaited host call", awaited, Some(("ping-pong", ping)));
    table.row(
        "synchronous host call",
        block_on(host_calls("sync")),
        Some(("ping-pong", ping)),
    );
    let (rate, rss) = on_two_threads(throughput());
    table.row(
        "one run of many at once",
        1e6 / rate,
        Some(("warm", trivial)),
    );
    for (name, micros) in peers::measure() {
        table.row(&format!("node: {name}"), micros, Some(("warm", trivial)));
    }
    table.print();
    println!("runs per second, two cores: {rate:.0} (goal 2000)");
    println!(
        "idle zygote: {:.1} MiB resident, {:.1} MiB of its own (goal 12)",
        rss.0, rss.1
    );
}

#[derive(Default)]
struct Table(Vec<(String, f64, String)>);

impl Table {
    fn row(&mut self, name: &str, micros: f64, against: Option<(&str, f64)>) {
        let ratio = against.map_or(String::new(), |(what, other)| {
            format!("{:.2} × {what}", micros / other)
        });
        self.0.push((name.to_owned(), micros, ratio));
    }

    fn print(&self) {
        println!("| what | median | ratio |\n|---|---|---|");
        for (name, micros, ratio) in &self.0 {
            println!("| {name} | {micros:.1} µs | {ratio} |");
        }
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn on_two_threads<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// What a profiler should look at: nothing but runs, first one after the other, then many at once.
fn throughput_alone() {
    let micros = block_on(back_to_back());
    println!("back to back: {micros:.0} µs");
    let (rate, _) = on_two_threads(throughput());
    println!("at once: {rate:.0} runs a second");
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn options(language: Language) -> CodeOptions {
    CodeOptions::new().language(language)
}

fn pool() -> Pool {
    Pool::new(PoolConfig {
        ready: 2,
        ..PoolConfig::default()
    })
}

/// Each run finds a child waiting.
async fn warm(language: Language) -> f64 {
    let pool = pool();
    pool.warm().await.unwrap();
    let mut times = Vec::new();
    for _ in 0..500 {
        while pool.health().ready == 0 {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        // The child warms itself up after it has been handed over.
        tokio::time::sleep(Duration::from_millis(3)).await;
        let began = Instant::now();
        let result = pool.run_code(TRIVIAL, options(language)).await;
        times.push(began.elapsed());
        assert_eq!(result.status, Status::Success);
    }
    median(times)
}

/// Each run begins when the one before has ended.
async fn back_to_back() -> f64 {
    let pool = pool();
    pool.warm().await.unwrap();
    let mut times = Vec::new();
    for _ in 0..1000 {
        let began = Instant::now();
        pool.run_code(TRIVIAL, options(Language::JavaScript)).await;
        times.push(began.elapsed());
    }
    median(times)
}

async fn on_threads() -> f64 {
    let runtime: Arc<dyn ScriptRuntime> = Arc::new(ThreadRuntime::new(RunLimits::default()));
    let mut times = Vec::new();
    for _ in 0..300 {
        let began = Instant::now();
        run_code_on(Arc::clone(&runtime), TRIVIAL, options(Language::JavaScript)).await;
        times.push(began.elapsed());
    }
    median(times)
}

/// From one call to the next, as the host sees it: the answer, the script's turn, the next call.
async fn host_calls(kind: &str) -> f64 {
    const CALLS: u32 = 5000;
    let pool = pool();
    let times = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&times);
    let note = move || seen.lock().unwrap().push(Instant::now());
    let f = match kind {
        "sync" => HostFunction::sync("f", move |mut arguments| {
            note();
            Ok(arguments.remove(0))
        }),
        _ => HostFunction::asynchronous("f", move |mut arguments| {
            note();
            async move { Ok(arguments.remove(0)) }
        }),
    };
    let source = format!("for (let i = 0; i < {CALLS}; i++) await f(i); export default 1");
    let result = pool
        .run_code(source, options(Language::JavaScript).global("f", f))
        .await;
    assert_eq!(result.status, Status::Success);
    let times = times.lock().unwrap();
    median(times.windows(2).map(|pair| pair[1] - pair[0]).collect())
}

async fn throughput() -> (f64, (f64, f64)) {
    const RUNS: usize = 3000;
    const AT_ONCE: usize = 4;
    let pool = Pool::new(PoolConfig {
        ready: 4,
        ..PoolConfig::default()
    });
    pool.warm().await.unwrap();
    let began = Instant::now();
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                for _ in 0..RUNS / AT_ONCE {
                    let result = pool.run_code(TRIVIAL, options(Language::JavaScript)).await;
                    assert_eq!(result.status, Status::Success);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let rate = RUNS as f64 / began.elapsed().as_secs_f64();
    let zygote = pool.health().zygote.unwrap();
    (rate, (mib(zygote, "VmRSS:"), mib(zygote, "RssAnon:")))
}

fn mib(pid: u32, field: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<f64>()
        .unwrap()
        / 1024.0
}

/// A message of the size of a small frame, there and back.
fn ping_pong() -> f64 {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg("__echo")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .unwrap();
    let mut message = [7_u8; 32];
    let mut times = Vec::new();
    for _ in 0..5000 {
        let began = Instant::now();
        ours.write_all(&message).unwrap();
        ours.read_exact(&mut message).unwrap();
        times.push(began.elapsed());
    }
    drop(ours);
    child.wait().unwrap();
    median(times)
}

fn echo() {
    let stdin = std::os::fd::AsFd::as_fd(&std::io::stdin())
        .try_clone_to_owned()
        .unwrap();
    let mut socket = UnixStream::from(stdin);
    let mut message = [0_u8; 32];
    while socket.read_exact(&mut message).is_ok() && socket.write_all(&message).is_ok() {}
}
