//! Benchmark `script`: medians and ratios of one run on one machine. Compare within a table, not between tables.
//!
//! Node's engines take part where Node finds them; `NODE_PATH` may name the folder that has them.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::cast_precision_loss)]

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
        Some(("warm", trivial)),
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
    let multi = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let (rate, rss) = multi.block_on(throughput());
    table.row(
        "one run of many at once",
        1e6 / rate,
        Some(("warm", trivial)),
    );
    for (name, micros) in node_peers() {
        table.row(&format!("node: {name}"), micros, Some(("warm", trivial)));
    }
    table.print();
    println!("runs per second, two cores: {rate:.0} (goal 1000)");
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

/// The same trivial run in engines that Node finds: name and microseconds.
fn node_peers() -> Vec<(String, f64)> {
    let script = "
        const median = (t) => t.sort((a, b) => a - b)[t.length >> 1];
        const time = async (name, run, n = 300) => {
            const times = [];
            for (let i = 0; i < n; i++) { const b = process.hrtime.bigint(); await run(); times.push(Number(process.hrtime.bigint() - b) / 1e3); }
            console.log(name + '\\t' + median(times));
        };
        (async () => {
            const vm = require('vm');
            await time('vm, fresh context (no isolation)', () => vm.runInNewContext('6 * 7'));
            try {
                const { getQuickJS } = require('quickjs-emscripten');
                const q = await getQuickJS();
                await time('quickjs-emscripten, fresh runtime', () => {
                    const r = q.newRuntime(); const c = r.newContext();
                    const v = c.unwrapResult(c.evalCode('export default 6 * 7', 'm.js', { type: 'module' }));
                    c.dump(v); v.dispose(); c.dispose(); r.dispose();
                });
            } catch (e) { console.error('quickjs-emscripten: ' + e.message.split('\\n')[0]); }
            try {
                const ivm = require('isolated-vm');
                await time('isolated-vm, fresh isolate', async () => {
                    const i = new ivm.Isolate({ memoryLimit: 96 }); const c = await i.createContext();
                    await c.eval('6 * 7'); i.dispose();
                }, 100);
            } catch (e) { console.error('isolated-vm: ' + e.message.split('\\n')[0]); }
        })();";
    let Ok(output) = Command::new("node")
        .args(["-e", script])
        .stderr(Stdio::inherit())
        .output()
    else {
        println!("node is not here: no comparison with its engines");
        return Vec::new();
    };
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(name, micros)| Some((name.to_owned(), micros.parse().ok()?)))
        .collect()
}
