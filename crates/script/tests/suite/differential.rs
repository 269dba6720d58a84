//! `structuredClone` of ours against Node's: the same expressions, described by the same function.

use std::process::Command;

use ringfence_script::{CodeOptions, Language};

use crate::stage::Stage;

/// Says everything about a value that a clone must keep.
const DESCRIBE: &str = r"
const describe = (root) => {
    const seen = new Map();
    const go = (v) => {
        if (typeof v === 'number') return Object.is(v, -0) ? '-0' : String(v);
        if (typeof v === 'bigint') return v + 'n';
        if (typeof v === 'string') return JSON.stringify(v);
        if (typeof v !== 'object' || v === null) return String(v);
        if (seen.has(v)) return '#' + seen.get(v);
        if (!(v instanceof Date) && !(v instanceof RegExp)) seen.set(v, seen.size);
        const name = Object.prototype.toString.call(v).slice(8, -1);
        if (v instanceof Date) return 'Date(' + v.getTime() + ')';
        if (v instanceof RegExp) return 'RegExp(' + v + ',' + v.lastIndex + ')';
        if (v instanceof Map) return 'Map{' + [...v].map(([k, w]) => go(k) + '=>' + go(w)) + '}';
        if (v instanceof Set) return 'Set{' + [...v].map(go) + '}';
        if (v instanceof ArrayBuffer) return 'ArrayBuffer(' + [...new Uint8Array(v)] + ')';
        if (ArrayBuffer.isView(v)) return name + '[' + v.byteOffset + ',' + v.byteLength + ',' + go(v.buffer) + ']';
        if (v instanceof Error) return Object.getPrototypeOf(v).name + '(' + v.name + ':' + v.message + ('cause' in v ? ',' + go(v.cause) : '') + ')';
        if (Array.isArray(v)) {
            const items = [];
            for (let i = 0; i < v.length; i++) items.push(i in v ? go(v[i]) : 'hole');
            return '[' + items + ']';
        }
        const plain = Object.getPrototypeOf(v) === Object.prototype ? '' : 'odd ';
        return plain + '{' + Object.keys(v).map((k) => JSON.stringify(k) + ':' + go(v[k])) + '}';
    };
    return go(root);
};
const outcome = (make) => {
    try { return describe(structuredClone(make())) } catch (e) { return 'refused' }
};
";

const EXPRESSIONS: &[&str] = &[
    "undefined",
    "null",
    "true",
    "0",
    "-0",
    "NaN",
    "Infinity",
    "1e308",
    "2 ** 53 + 1",
    "10n ** 40n",
    "-(10n ** 40n)",
    "''",
    "'ü€😀\\ud800'",
    "[]",
    "[1, , 2]",
    "[, ,]",
    "Array(3)",
    "({})",
    "({ a: 1, b: [2, { c: 3 }] })",
    "({ 2: 1, 1: 2, b: 3, a: 4 })",
    "Object.create(null)",
    "Object.create({ x: 1 })",
    "new (class A { x = 1; #y = 2 })()",
    "({ get a() { return 5 } })",
    "({ get a() { throw 1 } })",
    "Object.defineProperty({ a: 1 }, 'h', { value: 2 })",
    "({ [Symbol('s')]: 1 })",
    "Symbol()",
    "() => 1",
    "({ f() {} })",
    "[class A {}]",
    "new Map([[1, 2], [{}, new Map()]])",
    "new Set([1, 'a', new Set()])",
    "(() => { const m = new Map(); m.set('m', m); return m })()",
    "(() => { const a = []; a.push(a, a); return a })()",
    "(() => { const s = {}; return { a: s, b: s, c: [s] } })()",
    "(() => { const a = {}, b = { a }; a.b = b; return [a, b] })()",
    "new Date(0)",
    "new Date(1e12)",
    "new Date(NaN)",
    "new Date(8.64e15)",
    "/a/",
    "/a\\/b/gimsuy",
    "(() => { const r = /a/g; r.lastIndex = 3; return r })()",
    "new Error('e')",
    "new TypeError('t')",
    "new RangeError('r', { cause: [1] })",
    "new (class MyError extends Error {})('m')",
    "new Uint8Array([1, 2, 3])",
    "new Uint8Array([1, 2, 3, 4]).subarray(1, 3)",
    "new Float64Array([1.5, -0])",
    "new BigInt64Array([5n])",
    "new Uint8ClampedArray([300])",
    "new Int16Array(new ArrayBuffer(8), 2, 2)",
    "new DataView(new ArrayBuffer(4), 1, 2)",
    "new ArrayBuffer(5)",
    "(() => { const b = new ArrayBuffer(4); return [new Uint8Array(b), new Uint16Array(b), b] })()",
    "new WeakMap()",
    "new WeakSet()",
    "new WeakRef({})",
    "Promise.resolve(1)",
    "new Proxy({}, {})",
    "(function* () {})()",
    "(function () { return arguments })(1, 2)",
    "globalThis.Math",
    "({ u: undefined, n: null })",
    "[undefined, null]",
    "JSON.parse('{\"__proto__\": {\"a\": 1}}')",
    "({ toJSON() { return 1 } })",
    "[[[[[[[[[[1]]]]]]]]]]",
    "new Map([[NaN, 1], [0, 2], ['0', 3]])",
    "new Set([NaN, NaN, 0, -0])",
];

/// Differences that are meant, with the reason.
const MEANT: &[(&str, &str)] = &[
    (
        "new (class MyError extends Error {})('m')",
        "we keep the name that the script gave",
    ),
    (
        "(function () { return arguments })(1, 2)",
        "its items cross as those of a plain object; Node refuses",
    ),
];

pub(crate) fn agrees_with_node() {
    let made: Vec<String> = EXPRESSIONS
        .iter()
        .map(|expression| format!("() => ({expression})"))
        .collect();
    let list = made.join(",\n");
    let body = format!("{DESCRIBE}\nconst made = [{list}];");
    let Ok(node) = Command::new("node")
        .args([
            "-e",
            &format!("{body} console.log(JSON.stringify(made.map(outcome)))"),
        ])
        .output()
    else {
        let required = std::env::var("RINGFENCE_REQUIRE").unwrap_or_default();
        let named = |name: &str| required.split(',').any(|word| word.trim() == name);
        assert!(
            !named("node") && !named("all"),
            "node is required and not here"
        );
        println!("node is not here: nothing to compare with");
        return;
    };
    assert!(
        node.status.success(),
        "{}",
        String::from_utf8_lossy(&node.stderr)
    );
    let theirs: Vec<String> = serde_json::from_slice(&node.stdout).unwrap();
    for stage in [Stage::Forked, Stage::Thread] {
        let source = format!("{body} export default made.map(outcome)");
        let options = CodeOptions::new().language(Language::JavaScript);
        let ours = crate::stage::run(stage.value(&source, options));
        let mut different = Vec::new();
        for (at, expression) in EXPRESSIONS.iter().enumerate() {
            let ours = ours[at].as_str().unwrap();
            if ours != theirs[at] && !MEANT.iter().any(|(meant, _)| meant == expression) {
                different.push(format!(
                    "{expression}\n  ours:   {ours}\n  node's: {}",
                    theirs[at]
                ));
            }
        }
        assert!(different.is_empty(), "{}", different.join("\n"));
    }
}
