//! Forty ways to use up memory. Each ends in `memory`, or in a `RangeError` where the engine refuses the size at
//! once, and the process never takes much more than its limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ringfence_script::{CodeOptions, Language, Status};

use crate::stage::pool;

const LIMIT: u64 = 64 << 20;
const BEYOND: u64 = 32 << 20;

pub(crate) const WAYS: &[(&str, &str)] = &[
    ("string_doubling", "let s = 'x'; while (true) s += s + '.';"),
    (
        "string_array",
        "const a = []; while (true) a.push('x'.repeat(1e6) + a.length);",
    ),
    (
        "string_repeat",
        "const a = []; for (let i = 0; ; i++) a.push(String(i).repeat(1e5));",
    ),
    (
        "string_pad",
        "const a = []; while (true) a.push('é'.padEnd(1e6, 'ü' + a.length));",
    ),
    (
        "string_replace_all",
        "const a = []; while (true) a.push('x'.repeat(1e4).replaceAll('x', 'xyz'.repeat(50)));",
    ),
    (
        "string_split",
        "const a = []; while (true) a.push('a,'.repeat(1e5).split(','));",
    ),
    (
        "string_join",
        "const a = Array(1e5).fill('x'.repeat(1000)); const b = []; while (true) b.push(a.join());",
    ),
    (
        "template",
        "let s = 'abc'; while (true) s = `${s}${s}${s}!`;",
    ),
    (
        "utf16",
        "let s = '\\u4e00'; while (true) s += s + '\\u4e01';",
    ),
    ("array_push", "const a = []; while (true) a.push(a.length);"),
    (
        "array_of_arrays",
        "const a = []; while (true) a.push([1, 2, 3]);",
    ),
    (
        "array_fill",
        "const a = []; while (true) a.push(Array(1e5).fill(0));",
    ),
    (
        "array_length",
        "const a = []; while (true) a.push(Array.from({ length: 1e5 }, (_, i) => i));",
    ),
    (
        "array_concat",
        "let a = [1]; while (true) a = a.concat(a, [2]);",
    ),
    (
        "array_spread",
        "let a = [1]; while (true) a = [...a, ...a];",
    ),
    (
        "array_flat_map",
        "let a = [1, 2]; while (true) a = a.flatMap((x) => [x, x]);",
    ),
    (
        "array_unshift",
        "const a = []; const b = Array(50000).fill(1); while (true) a.unshift(...b);",
    ),
    (
        "arguments_spread",
        "const a = Array(60000).fill(1); const b = []; while (true) b.push((function () { return arguments })(...a));",
    ),
    (
        "uint8",
        "const a = []; while (true) a.push(new Uint8Array(1e6));",
    ),
    (
        "float64",
        "const a = []; while (true) a.push(new Float64Array(1e5).fill(1));",
    ),
    (
        "array_buffer_at_once",
        "new ArrayBuffer(2 ** 30); export default 1",
    ),
    (
        "typed_array_at_once",
        "new Uint8Array(2 ** 31); export default 1",
    ),
    (
        "buffer_slice",
        "const b = new ArrayBuffer(1e6); const a = []; while (true) a.push(b.slice(0));",
    ),
    (
        "objects",
        "const a = []; while (true) a.push({ a: 1, b: 2, c: {} });",
    ),
    (
        "properties",
        "const o = {}; for (let i = 0; ; i++) o['k' + i] = i;",
    ),
    ("linked_list", "let l = null; while (true) l = { l };"),
    (
        "cycles",
        "let l = {}; while (true) { const n = { l }; l.n = n; l = n }",
    ),
    (
        "map",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i });",
    ),
    (
        "set",
        "const s = new Set(); for (let i = 0; ; i++) s.add('s' + i);",
    ),
    (
        "weak_map",
        "const k = []; const w = new WeakMap(); while (true) { const o = {}; k.push(o); w.set(o, new Array(10)) }",
    ),
    (
        "symbols",
        "const a = []; while (true) a.push(Symbol('x'.repeat(100)));",
    ),
    (
        "closures",
        "const a = []; while (true) { const b = new Array(10); a.push(() => b) }",
    ),
    (
        "generators",
        "const a = []; function* g() { yield new Array(100) } while (true) { const i = g(); i.next(); a.push(i) }",
    ),
    (
        "promises",
        "const a = []; while (true) a.push(new Promise(() => {}).then(() => 1));",
    ),
    (
        "async_functions",
        "const a = []; const f = async () => { await new Promise(() => {}) }; while (true) a.push(f());",
    ),
    ("microtasks", "while (true) queueMicrotask(() => {});"),
    (
        "regexp_matches",
        "const a = []; while (true) a.push([...'ab'.repeat(1e4).matchAll(/a(b)/g)]);",
    ),
    (
        "regexps",
        "const a = []; for (let i = 0; ; i++) a.push(new RegExp('(a|b)*' + i));",
    ),
    (
        "json_parse",
        "const a = []; const t = JSON.stringify(Array(1e4).fill({ x: [1] })); while (true) a.push(JSON.parse(t));",
    ),
    (
        "json_stringify",
        "let o = [1]; while (true) o = [JSON.stringify(o), JSON.stringify(o)];",
    ),
    ("bigint", "let n = 2n; while (true) n = n * n;"),
    (
        "bigint_shift",
        "const a = []; while (true) a.push(1n << 10000000n);",
    ),
    (
        "structured_clone",
        "let o = { a: [1, 2, 3] }; while (true) o = { o, c: structuredClone(o.c ?? o) , pad: new Array(1000).fill(1) };",
    ),
    (
        "catch_and_continue",
        "const a = []; while (true) { try { while (true) a.push(new Array(1000).fill(1)) } catch {} }",
    ),
    (
        "catch_and_succeed",
        "const a = []; try { while (true) a.push(new Array(1000).fill(1)) } catch {} a.length = 0; export default 'fine'",
    ),
    (
        "finally",
        "const a = []; function f() { try { while (true) a.push({}) } finally { return f() } } f();",
    ),
    (
        "proxies",
        "let p = {}; const a = []; while (true) a.push(p = new Proxy(p, {}));",
    ),
    (
        "errors",
        "const a = []; while (true) a.push(new Error('x'.repeat(1000)));",
    ),
    (
        "class_instances",
        "class A { #x = new Array(10); y = 1 } const a = []; while (true) a.push(new A());",
    ),
    (
        "getters",
        "const a = []; while (true) a.push({ get x() { return 1 }, set x(v) {} });",
    ),
];

/// The largest resident set of a process while a run lives, read as fast as it goes.
struct Watch {
    stop: Arc<AtomicBool>,
    peak: Arc<AtomicU64>,
    thread: std::thread::JoinHandle<()>,
}

impl Watch {
    fn new(pid: u32) -> Self {
        let (stop, peak) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let (stopped, highest) = (Arc::clone(&stop), Arc::clone(&peak));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let statm =
                    std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
                let pages = statm
                    .split(' ')
                    .nth(1)
                    .and_then(|pages| pages.parse::<u64>().ok())
                    .unwrap_or(0);
                highest.fetch_max(pages * 4096, Ordering::Relaxed);
                std::thread::sleep(std::time::Duration::from_micros(500));
            }
        });
        Self { stop, peak, thread }
    }

    fn peak(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
        self.peak.load(Ordering::Relaxed)
    }
}

/// One way: it ends as it must, and within bounds.
pub(crate) fn exhausts(name: &str, source: &str) {
    crate::stage::run(async {
        let (seen, mut saw) = tokio::sync::mpsc::unbounded_channel();
        let options = CodeOptions::new()
            .language(Language::JavaScript)
            .memory_limit_bytes(LIMIT)
            .report(move |_| seen.send(()).unwrap());
        let run = pool().run_code(format!("report(1); {source}"), options);
        saw.recv().await.expect("the run begins");
        let watch = Watch::new(run.pid().unwrap());
        let result = tokio::time::timeout(std::time::Duration::from_mins(1), run)
            .await
            .expect("it ends");
        let peak = watch.peak();
        let refused = result.status == Status::Error
            && result
                .error
                .as_ref()
                .is_some_and(|error| error.name == "RangeError");
        assert!(
            result.status == Status::Memory || refused,
            "{name}: {:?} {:?}",
            result.status,
            result.error
        );
        assert!(
            peak <= LIMIT + BEYOND,
            "{name}: {} MiB resident",
            peak >> 20
        );
    });
}
