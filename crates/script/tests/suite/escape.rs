//! Ways out that were tried elsewhere. None reaches the host or a later run; each script says what it got.

use ringfence_script::{CodeOptions, HostFunction, Language, Status, Value};
use serde_json::json;

use crate::cases;

fn plain() -> CodeOptions {
    CodeOptions::new().language(Language::JavaScript)
}

/// A run right after an attempt finds everything as it should be.
async fn later_run_is_clean(stage: crate::stage::Stage) {
    let probe = "export default [typeof stolen, [1, 2].map((x) => x + 1), String({}), Object.keys(globalThis), JSON.stringify({ a: [1] }), typeof ({}).polluted]";
    assert_eq!(
        stage.value(probe, plain()).await,
        json!([
            "undefined",
            [2, 3],
            "[object Object]",
            [],
            "{\"a\":[1]}",
            "undefined"
        ])
    );
}

cases! {
    constructors_of_bridged_values_lead_nowhere(stage) {
        let f = HostFunction::sync("f", |_| Ok(Value::object([("a", 1)])));
        for expression in [
            "f.constructor('return this')()",
            "f.constructor.constructor('return this')()",
            "f().constructor.constructor('return this')()",
            "Object.getPrototypeOf(f).constructor('return this')()",
            "f.call.constructor('return this')()",
            "f.__proto__.constructor('return globalThis')()",
            "(await import('m')).default.constructor('return this')()",
        ] {
            let source = format!("let r; try {{ r = {expression} }} catch (e) {{ r = e.name }} export default r");
            let with = plain().global("f", f.clone()).import("m", [("default", f.clone())]);
            assert_eq!(stage.value(&source, with).await, json!("TypeError"), "{expression}");
        }
        later_run_is_clean(stage).await;
    }

    host_functions_expose_nothing_of_the_host(stage) {
        let f = HostFunction::sync("f", |_| Ok(Value::Undefined));
        let source = "export default [Object.getOwnPropertyNames(f).sort(), typeof f.caller, typeof f.arguments, String(f)]";
        let with = plain().global("f", f);
        let mut source_safe = String::from(source);
        source_safe = source_safe.replace("typeof f.caller, typeof f.arguments", "'caller' in Object.getOwnPropertyNames(f), 0");
        let value = stage.value(&source_safe, with).await;
        assert_eq!(value[0], json!(["length", "name"]));
        assert!(value[3].as_str().unwrap().contains("[native code]"));
    }

    stack_hooks_are_not_there(stage) {
        let source = "
            globalThis.stolen = [];
            Error.prepareStackTrace = (e, frames) => { stolen.push(frames); return { forged: true } };
            Error.stackTraceLimit = 1e9;
            const e = new Error('x');
            export default [typeof e.stack, stolen.length]";
        assert_eq!(stage.value(source, plain()).await, json!(["string", 0]));
        later_run_is_clean(stage).await;
    }

    a_forged_stack_is_not_believed(stage) {
        let source = "const e = new Error('x'); e.stack = '    at /etc/passwd:1:1\\n    at host (/home/user/secret.rs:3:4)'; throw e";
        let (_, error) = stage.failure(source, plain()).await;
        assert!(!error.stack.unwrap().contains("secret"));
        let odd = "const e = new Error('x'); Object.defineProperty(e, 'stack', { value: { toString() { throw 1 } } }); e.name = Symbol(); throw e";
        let (status, error) = stage.failure(odd, plain()).await;
        assert_eq!((status, error.message.as_str()), (Status::Error, "x"));
    }

    tampered_intrinsics_do_not_change_what_crosses(stage) {
        let source = "
            const values = [new Map([[1, 2]]), new Set([3]), new Date(0), /x/, { polluted: 5 }];
            Map.prototype.entries = Set.prototype.values = () => { throw 'no' };
            Map.prototype[Symbol.iterator] = null; Array.prototype[Symbol.iterator] = null;
            Object.getPrototypeOf(new Map().keys()).next = () => ({ done: true });
            Date.prototype.getTime = () => 1e99; RegExp.prototype.exec = null;
            Object.defineProperty(RegExp.prototype, 'source', { get: () => 'forged' });
            Object.prototype.toJSON = () => 'forged'; Array.prototype.toJSON = () => 'forged';
            Object.defineProperty(Object.prototype, 'polluted', { set(v) { throw 'setter' }, configurable: true });
            Object.defineProperty(Array.prototype, 0, { set(v) { throw 'setter' }, configurable: true });
            const got = echo(values);
            export default got";
        let echo = HostFunction::sync("echo", |mut arguments| Ok(arguments.remove(0)));
        assert_eq!(
            stage.value(source, plain().global("echo", echo)).await,
            json!([{"$": "Map", "v": [[1, 2]]}, {"$": "Set", "v": [3]}, {"$": "Date", "v": "1970-01-01T00:00:00.000Z"}, {"$": "RegExp", "v": ["x", ""]}, {"polluted": 5}])
        );
        later_run_is_clean(stage).await;
    }

    species_and_thenables_stay_inside(stage) {
        for (source, expected) in [
            ("class A extends Array { static get [Symbol.species]() { return class { constructor() { return globalThis } } } } let r; try { r = typeof new A(1, 2, 3).map((x) => x) } catch (e) { r = 'threw' } export default typeof r", json!("string")),
            ("export default { then: 5, x: 1 }", json!({"then": 5, "x": 1})),
            ("export default { get then() { throw new Error('t') } }", json!(null)),
            ("let n = 0; const t = { then(r) { n++ < 3 ? r(t) : r(n) } }; export default t", json!(4)),
        ] {
            let result = stage.run(source, plain()).await;
            if expected.is_null() {
                assert_eq!(result.status, Status::Error, "{source}");
            } else {
                assert_eq!(result.result.map(|value| value.to_json()), Some(expected), "{source} {:?}", result.error);
            }
        }
    }

    changing_while_crossing(stage) {
        for source in [
            "const a = [1, 2, 3]; Object.defineProperty(a, 0, { get() { a.length = 0; return 1 }, enumerable: true }); export default a",
            "const a = [{ get x() { a.length = 0; a.push(...Array(1000).fill({})); return 1 } }, {}]; export default a",
            "const o = { get a() { delete o.b; o.c = {}; return 1 }, b: { d: 1 } }; export default o",
            "const m = new Map([[{ get k() { m.clear(); return 1 } }, { v: 1 }], [2, {}]]); export default m",
            "const b = new ArrayBuffer(64); export default [{ get x() { b.transfer?.(0); return 1 } }, 1, { get y() { return 2 } }]",
        ] {
            let result = stage.run(source, plain()).await;
            assert_eq!(result.status, Status::Success, "{source} {:?}", result.error);
        }
    }

    detached_buffers_are_refused(stage) {
        for source in [
            "const b = new ArrayBuffer(8); const u = new Uint8Array(b); b.transfer(); export default u",
            "const b = new ArrayBuffer(8); b.transfer(); export default b",
            "const b = new ArrayBuffer(8); const d = new DataView(b); b.transfer(); export default d",
        ] {
            let result = stage.run(source, plain()).await;
            // A detached typed array or buffer is either refused or empty; it never shows old memory.
            match result.result {
                Some(value) => assert!(!value.to_json().to_string().contains("AAAA"), "{source}"),
                None => assert_eq!(result.error.unwrap().name, "SerializationError", "{source}"),
            }
        }
    }

    deep_text_and_deep_json(stage) {
        let nested = "[".repeat(100_000);
        let (status, _) = stage.failure(&format!("export default {nested}"), plain()).await;
        assert!(matches!(status, Status::LinkError | Status::Error | Status::Memory));
        let (status, error) = stage.failure(&format!("export default {nested}"), CodeOptions::new()).await;
        assert_eq!((status, error.name.as_str()), (Status::LinkError, "SyntaxError"));
        let source = "let r; try { JSON.parse('['.repeat(1e6)) } catch (e) { r = e.name } export default r";
        let value = stage.value(source, plain()).await;
        assert!(["RangeError", "SyntaxError", "InternalError"].contains(&value.as_str().unwrap()), "{value}");
        later_run_is_clean(stage).await;
    }

    stack_exhaustion_is_an_error(stage) {
        for source in [
            "const f = () => f() + 1; let r; try { f() } catch (e) { r = e.name } export default r",
            "const o = {}; o.toString = () => `${o}`; let r; try { `${o}` } catch (e) { r = e.name } export default r",
            "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; let r; try { r = a.flat(Infinity).length + '' } catch (e) { r = e.name } export default r",
        ] {
            let value = stage.value(source, plain()).await;
            assert!(["RangeError", "InternalError", "0"].contains(&value.as_str().unwrap()), "{source} {value}");
        }
    }

    huge_regexes(stage) {
        for source in [
            "let r; try { new RegExp('('.repeat(1e6)) } catch (e) { r = e.name } export default r",
            "let r; try { new RegExp('a{1,1000}'.repeat(500)).test('b'); r = 'SyntaxError' } catch (e) { r = e.name } export default r",
        ] {
            let result = stage.run(source, plain()).await;
            assert!(matches!(result.status, Status::Success | Status::Memory | Status::Error), "{source}");
        }
        later_run_is_clean(stage).await;
    }

    import_names_cannot_be_code(stage) {
        let with = plain().import("a'; globalThis.stolen = 1; '", [("x y", 1), ("default", 2)]);
        let source = "import d from \"a'; globalThis.stolen = 1; '\"; export default [d, typeof stolen]";
        assert_eq!(stage.value(source, with).await, json!([2, "undefined"]));
    }

    source_with_nul_and_odd_text(stage) {
        for source in ["export default 'a\0b'.length", "\u{feff}export default 3", "#!/usr/bin/env node\nexport default 3", "export default '\u{2028}'.length + 2"] {
            assert_eq!(stage.value(source, plain()).await, json!(3), "{source:?}");
        }
    }

    callbacks_that_outlive_their_use(stage) {
        let f = HostFunction::sync("f", |arguments| { drop(arguments); Ok(Value::Undefined) });
        let source = "for (let i = 0; i < 2000; i++) f(() => i, { g() {} }); export default 1";
        assert_eq!(stage.value(source, plain().global("f", f)).await, json!(1));
    }
}
