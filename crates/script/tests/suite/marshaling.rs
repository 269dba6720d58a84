//! Spec 3.5 in both directions: what goes in comes out the same, and what cannot cross says where it is.

use ringfence_script::{CodeOptions, HostFunction, Language, Status, Value};
use serde_json::{Value as Json, json};

use crate::cases;

fn plain() -> CodeOptions {
    CodeOptions::new().language(Language::JavaScript)
}

/// JavaScript expressions, and how they look as JSON.
fn table() -> Vec<(&'static str, Json)> {
    vec![
        ("undefined", json!({"$": "undefined"})),
        ("null", json!(null)),
        ("[true, false]", json!([true, false])),
        (
            "[0, 1, -1, 1.5, 2 ** 31, -(2 ** 31), 2 ** 53, 1e300]",
            json!([
                0,
                1,
                -1,
                1.5,
                2_147_483_648_i64,
                -2_147_483_648_i64,
                9_007_199_254_740_992.0,
                1e300
            ]),
        ),
        (
            "[NaN, Infinity, -Infinity, -0]",
            json!([{"$": "number", "v": "NaN"}, {"$": "number", "v": "Infinity"}, {"$": "number", "v": "-Infinity"}, {"$": "number", "v": "-0"}]),
        ),
        (
            "[0n, -5n, 123456789012345678901234567890n]",
            json!([{"$": "bigint", "v": "0"}, {"$": "bigint", "v": "-5"}, {"$": "bigint", "v": "123456789012345678901234567890"}]),
        ),
        (
            "['', 'x', 'ü€😀', 'a\\0b']",
            json!(["", "x", "ü€😀", "a\0b"]),
        ),
        ("[1, , 3, ,]", json!([1, {"$": "hole"}, 3, {"$": "hole"}])),
        (
            "[undefined, { u: undefined }]",
            json!([{"$": "undefined"}, {"u": {"$": "undefined"}}]),
        ),
        (
            "({ b: 1, a: { c: [] }, 2: 3, 1: 4 })",
            json!({"1": 4, "2": 3, "b": 1, "a": {"c": []}}),
        ),
        ("({ $: 1 })", json!({"$": "object", "v": {"$": 1}})),
        (
            "({ ['__proto__']: 1, constructor: 2, toString: 3 })",
            json!({"__proto__": 1, "constructor": 2, "toString": 3}),
        ),
        (
            "new Map([[1, 'a'], [{ k: 1 }, new Map()]])",
            json!({"$": "Map", "v": [[1, "a"], [{"k": 1}, {"$": "Map", "v": []}]]}),
        ),
        (
            "new Set([1, '1', null])",
            json!({"$": "Set", "v": [1, "1", null]}),
        ),
        (
            "new Date(0)",
            json!({"$": "Date", "v": "1970-01-01T00:00:00.000Z"}),
        ),
        ("new Date(NaN)", json!({"$": "Date", "v": null})),
        ("/a\\/b+/gi", json!({"$": "RegExp", "v": ["a\\/b+", "gi"]})),
        (
            "new Error('m', { cause: new TypeError('c') })",
            json!({"$": "Error", "name": "Error", "message": "m", "cause": {"$": "Error", "name": "TypeError", "message": "c"}}),
        ),
        (
            "new Uint8Array([1, 2, 3])",
            json!({"$": "Uint8Array", "base64": "AQID"}),
        ),
        (
            "new Uint8Array([1, 2, 3, 4]).subarray(1, 3)",
            json!({"$": "Uint8Array", "base64": "AgM="}),
        ),
        (
            "new Int16Array([1, -1])",
            json!({"$": "Int16Array", "base64": "AQD//w=="}),
        ),
        (
            "[Int8Array, Uint8ClampedArray, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array].map((T) => new T(1))",
            json!([{"$": "Int8Array", "base64": "AA=="}, {"$": "Uint8ClampedArray", "base64": "AA=="}, {"$": "Uint16Array", "base64": "AAA="},
                {"$": "Int32Array", "base64": "AAAAAA=="}, {"$": "Uint32Array", "base64": "AAAAAA=="}, {"$": "Float32Array", "base64": "AAAAAA=="},
                {"$": "Float64Array", "base64": "AAAAAAAAAAA="}, {"$": "BigInt64Array", "base64": "AAAAAAAAAAA="}, {"$": "BigUint64Array", "base64": "AAAAAAAAAAA="}]),
        ),
        (
            "new DataView(new Uint8Array([9, 8, 7]).buffer, 1)",
            json!({"$": "DataView", "base64": "CAc="}),
        ),
        (
            "new Uint8Array([5]).buffer",
            json!({"$": "ArrayBuffer", "base64": "BQ=="}),
        ),
        (
            "(() => { const b = new ArrayBuffer(4, { maxByteLength: 9 }), a = new Uint8Array(b); b.resize(1); return a })()",
            json!({"$": "Uint8Array", "base64": "AA=="}),
        ),
        (
            "(() => { const b = new ArrayBuffer(1, { maxByteLength: 9 }), a = new Uint8Array(b); b.resize(3); a[2] = 3; return a })()",
            json!({"$": "Uint8Array", "base64": "AAAD"}),
        ),
        (
            "(() => { const b = new ArrayBuffer(4, { maxByteLength: 9 }), a = new Uint16Array(b); b.resize(3); return a })()",
            json!({"$": "Uint16Array", "base64": "AAA="}),
        ),
        (
            "(() => { const b = new ArrayBuffer(4, { maxByteLength: 9 }), a = new Uint8Array(b); return { get x() { b.resize(0); return 1 }, a } })()",
            json!({"x": 1, "a": {"$": "Uint8Array", "base64": ""}}),
        ),
        (
            "new ArrayBuffer(0)",
            json!({"$": "ArrayBuffer", "base64": ""}),
        ),
        (
            "(() => { const a = {}; a.self = a; return a })()",
            json!({"$": "id", "n": 1, "v": {"self": {"$": "ref", "n": 1}}}),
        ),
        (
            "(() => { const s = { x: 1 }; return [s, s] })()",
            json!([{"$": "id", "n": 1, "v": {"x": 1}}, {"$": "ref", "n": 1}]),
        ),
        (
            "(() => { const m = new Map(); m.set(m, m); return m })()",
            json!({"$": "id", "n": 1, "v": {"$": "Map", "v": [[{"$": "ref", "n": 1}, {"$": "ref", "n": 1}]]}}),
        ),
        (
            "(() => { class P { constructor() { this.x = 1 } get y() { return 2 } } return new P() })()",
            json!({"x": 1}),
        ),
        (
            "(function () { return arguments })(1, 2)",
            json!({"0": 1, "1": 2}),
        ),
        (
            "Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } })",
            json!({"own": 2}),
        ),
        ("({ [Symbol('s')]: 1, a: 2 })", json!({"a": 2})),
    ]
}

cases! {
    s3_5_every_kind_of_value_leaves(stage) {
        for (expression, expected) in table() {
            let source = format!("export default {expression}");
            assert_eq!(stage.value(&source, plain()).await, expected, "{expression}");
        }
    }

    s3_5_every_kind_of_value_makes_the_round_trip(stage) {
        for (expression, expected) in table() {
            let inside = Value::from_json(&expected).unwrap();
            let options = plain().execute("default", [inside]);
            assert_eq!(stage.value("export default (x) => x", options).await, expected, "{expression}");
        }
    }

    s3_5_through_a_host_function_and_back(stage) {
        let echo = HostFunction::sync("echo", |mut arguments| Ok(arguments.remove(0)));
        for (expression, expected) in table() {
            let source = format!("export default echo({expression})");
            assert_eq!(stage.value(&source, plain().global("echo", echo.clone())).await, expected, "{expression}");
        }
    }

    s3_5_structured_clone_inside(stage) {
        for (expression, expected) in table() {
            let source = format!("export default structuredClone({expression})");
            assert_eq!(stage.value(&source, plain()).await, expected, "{expression}");
        }
        let source = "const a = { b: new Map([[1, new Uint8Array(2)]]) }; const c = structuredClone(a); a.b.set(2, 2);
            export default [c !== a, c.b.size, c.b.get(1) instanceof Uint8Array, c instanceof Object]";
        assert_eq!(stage.value(source, plain()).await, json!([true, 1, true, true]));
    }

    s3_5_what_arrives_has_its_own_prototypes(stage) {
        let value = Value::from_json(&json!([{"a": 1}, {"$": "Map", "v": []}, {"$": "Error", "name": "RangeError", "message": "r"},
            {"$": "Uint8Array", "base64": "AQ=="}, {"$": "RegExp", "v": ["a", ""]}, {"$": "Date", "v": null}])).unwrap();
        let source = "export default (v) => [v instanceof Array, v[0] instanceof Object, v[1] instanceof Map, v[2] instanceof RangeError,
            v[3] instanceof Uint8Array, v[4] instanceof RegExp, v[5] instanceof Date].every(Boolean)";
        assert_eq!(stage.value(source, plain().execute("default", [value])).await, json!(true));
    }

    s3_5_lone_surrogates_survive(stage) {
        let source = "export default (s) => [s.length, s.charCodeAt(0)]";
        let value = Value::Utf16([0xd800, 0x61].into());
        assert_eq!(stage.value(source, plain().execute("default", [value])).await, json!([2, 0xd800]));
        let result = stage.run("export default '\\ud800x'", plain()).await;
        assert!(matches!(result.result, Some(Value::Utf16(units)) if *units == [0xd800, 0x78]));
    }

    s3_5_views_share_their_buffer(stage) {
        let source = "export default ([a, b]) => { a[0] = 7; return b[0] }";
        let options = plain().execute("default", [{
            let buffer = ringfence_script::Shared::new(vec![0; 4]);
            let view = |buffer| Value::View(ringfence_script::Shared::new(ringfence_script::View {
                kind: ringfence_script::ViewKind::Uint8Array, buffer, offset: 0, length: 4,
            }));
            Value::array([view(buffer.clone()), view(buffer)])
        }]);
        assert_eq!(stage.value(source, options).await, json!(7));
    }

    s3_5_what_cannot_cross_names_its_path(stage) {
        for (expression, path) in [
            ("() => () => 1", "result: "),
            ("({ items: [1, 2, 3, { fn() {} }] })", "result.items[3].fn: "),
            ("({ a: { 'b-c': Symbol() } })", "result.a[\"b-c\"]: "),
            ("new Map([[1, () => 1]])", "result.value(0): "),
            ("new Map([[() => 1, 1]])", "result.key(0): "),
            ("new Set([Symbol()])", "result.value(0): "),
            ("[new WeakMap()]", "result[0]: "),
            ("[new WeakRef({})]", "result[0]: "),
            ("({ p: Promise.resolve(1) })", "result.p: "),
            ("[new Proxy({}, {})]", "result[0]: "),
            ("new Error('x', { cause: () => 1 })", "result.cause: "),
            ("[(function* () {})()]", "result[0]: "),
            ("[new Number(1)]", "result[0]: "),
        ] {
            let (status, error) = stage.failure(&format!("export default {expression}"), plain()).await;
            assert_eq!((status, error.name.as_str()), (Status::Error, "SerializationError"), "{expression}");
            assert!(error.message.starts_with(path), "{expression}: {}", error.message);
        }
    }

    s3_5_arguments_that_cannot_cross_throw_in_the_script(stage) {
        let f = HostFunction::sync("f", |_| Ok(Value::Undefined));
        let source = "let r; try { f(1, { s: Symbol() }) } catch (e) { r = [e.name, e.message] } export default r";
        let value = stage.value(source, plain().global("f", f)).await;
        assert_eq!(value[0], json!("SerializationError"));
        assert!(value[1].as_str().unwrap().starts_with("arguments[1].s"));
    }

    s3_5_depth_and_size_are_bounded(stage) {
        for (source, word) in [
            ("let a = []; for (let i = 0; i < 100000; i++) a = [a]; export default a", "nested deeper"),
            ("let a = {}; for (let i = 0; i < 1000; i++) a = { a }; export default a", "nested deeper"),
            ("export default 'x'.repeat(20_000_000)", "larger than"),
            ("export default new Uint8Array(20_000_000)", "larger than"),
            ("const a = []; a.length = 4_000_000_000; export default a", "larger than"),
        ] {
            let (status, error) = stage.failure(source, plain()).await;
            assert_eq!((status, error.name.as_str()), (Status::Error, "SerializationError"), "{source}");
            assert!(error.message.contains(word), "{}", error.message);
        }
    }

    s3_5_large_values_within_the_limit_cross(stage) {
        let echo = HostFunction::asynchronous("echo", |mut arguments| async move { Ok(arguments.remove(0)) });
        let source = "const a = 'x'.repeat(4_000_000); const b = await Promise.all([echo(a), echo(a), echo(a)]);
            export default b.map((s) => s.length)";
        assert_eq!(stage.value(source, plain().global("echo", echo)).await, json!([4_000_000, 4_000_000, 4_000_000]));
    }

    s3_5_getters_run_once_and_may_throw(stage) {
        let source = "let n = 0; export default { get a() { return ++n } }";
        assert_eq!(stage.value(source, plain()).await, json!({"a": 1}));
        let (status, error) = stage.failure("export default { get a() { throw new TypeError('g') } }", plain()).await;
        assert_eq!((status, error.name.as_str()), (Status::Error, "TypeError"));
    }
}
