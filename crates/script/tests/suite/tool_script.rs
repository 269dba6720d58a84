//! Tool scripts on a host whose tools do nothing: `now` answers at once with its argument, `fail` throws, and `never`
//! answers only when it is cancelled.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use ringfence_script::{
    CodeExecutionLog, CodeExecutionResult, ErrorOrigin, Language, Pool, PoolConfig, RealmKind,
    Reply, RunLimits, ScriptRuntime, Status, ThreadRuntime, ToolCall, ToolHost, ToolScript,
    ToolScriptLimits, check_tool_script, run_tool_script,
};
use serde_json::{Value as Json, json};

use crate::cases;
use crate::stage::Stage;

#[derive(Default)]
pub(crate) struct Host {
    made: Mutex<BTreeMap<u64, ToolCall>>,
    cancelled: Mutex<Vec<Json>>,
    told: Mutex<Vec<String>>,
}

impl ToolHost for Host {
    fn call(&self, call: ToolCall) -> Reply {
        self.made.lock().unwrap().insert(call.number, call.clone());
        match call.tool.as_str() {
            "now" | "deep.er.now" => Box::pin(async move { Ok(call.arguments) }),
            "fail" => Box::pin(async {
                Err(json!({ "name": "ToolExecutionError", "message": "it broke", "stderr": "oh" }))
            }),
            _ => Box::pin(std::future::pending()),
        }
    }

    fn cancel(&self, number: u64) {
        let made = self.made.lock().unwrap();
        let arguments = made[&number].arguments.clone();
        self.cancelled.lock().unwrap().push(arguments);
    }

    fn missing(&self, path: &str) -> (String, Vec<String>) {
        (format!("no {path}"), vec!["now".to_owned()])
    }

    fn progress(&self, message: &str, kind: &str) {
        self.told.lock().unwrap().push(format!("{kind}: {message}"));
    }

    fn log(&self, log: &CodeExecutionLog) {
        let words: Vec<_> = log.args.iter().filter_map(|word| word.as_str()).collect();
        self.told.lock().unwrap().push(words.join(" "));
    }
}

fn script(source: &str) -> ToolScript {
    ToolScript {
        source: source.to_owned(),
        language: Language::TypeScript,
        tools: ["now", "never", "fail", "deep.er.now"]
            .map(str::to_owned)
            .into(),
        context: json!({ "turnId": "t", "nested": { "list": [1] }, "sandbox": { "toolBudget": 2 } }),
        limits: ToolScriptLimits {
            memory_bytes: 32 << 20,
            stack_bytes: 512 << 10,
            log_lines: 5,
            log_rate: 20,
            return_depth: 8,
        },
    }
}

fn runtime(stage: Stage) -> Arc<dyn ScriptRuntime> {
    static POOL: OnceLock<Pool> = OnceLock::new();
    match stage {
        Stage::Forked => Arc::new(
            POOL.get_or_init(|| {
                Pool::new(PoolConfig {
                    realm: RealmKind::ToolScript,
                    ..PoolConfig::default()
                })
            })
            .clone(),
        ),
        Stage::Thread => Arc::new(ThreadRuntime::new(RunLimits::default())),
    }
}

pub(crate) async fn run(stage: Stage, source: &str) -> (CodeExecutionResult, Arc<Host>) {
    let host = Arc::new(Host::default());
    let result = run_tool_script(runtime(stage), script(source), host.clone()).await;
    (result, host)
}

/// What a script that must succeed returns.
async fn value(stage: Stage, source: &str) -> Json {
    let (result, _) = run(stage, source).await;
    assert_eq!(
        result.status,
        Status::Success,
        "{source}\n{:?}",
        result.error
    );
    match result.result.unwrap().as_str() {
        Some(text) => serde_json::from_str(text).unwrap(),
        None => Json::Null,
    }
}

/// The name and message of the error of a script that must fail.
async fn failure(stage: Stage, source: &str) -> (String, String) {
    let (result, _) = run(stage, source).await;
    let error = result
        .error
        .unwrap_or_else(|| panic!("{source} succeeded: {:?}", result.result));
    (error.name, error.message)
}

cases! {
    a_body_returns_json(stage) {
        for (source, expected) in [
            ("return 1 + 1", json!(2)),
            ("", json!(null)),
            ("return undefined", json!(null)),
            ("const a: string = await tools.now('x'); return { a, b: [1, { c: null }] }", json!({ "a": "x", "b": [1, { "c": null }] })),
            ("return (await tools.deep.er.now({ a: 1 })).a", json!(1)),
            ("return { d: new Date(0), u: undefined, e: new TypeError('m') }", json!({ "d": "1970-01-01T00:00:00.000Z", "e": { "name": "TypeError", "message": "m" } })),
            ("enum E { A = 3 } return E.A", json!(3)),
        ] {
            assert_eq!(value(stage, source).await, expected, "{source}");
        }
    }

    async_functions_behave_as_written(stage) {
        for (source, expected) in [
            ("const f = async (a, b = 2) => a + b; return await f(1)", json!(3)),
            ("async function f(...a) { return a.length } return f(1, 2, 3)", json!(3)),
            ("async function f() { throw new Error('x') } try { await f() } catch (e) { return e.message } finally { }", json!("x")),
            ("class A { x = 5; async m() { return this.x } static async s() { return 6 } } return [await new A().m(), await A.s()]", json!([5, 6])),
            ("class A { async m() { return 1 } } class B extends A { async m() { return 1 + await super.m() } } return new B().m()", json!(2)),
            ("const o = { async m() { const f = async () => this.v; return f() }, v: 4 }; return o.m()", json!(4)),
            ("async function* g() { yield 1; const x = yield await tools.now(2); yield x ?? 3 } const out = []; for await (const v of g()) out.push(v); return out", json!([1, 2, 3])),
            ("async function* a() { yield 1; yield 2; return 9 } async function* b() { const r = yield* a(); yield r } const out = []; for await (const v of b()) out.push(v); return out", json!([1, 2, 9])),
            ("const out = []; for await (const v of [1, Promise.resolve(2)]) out.push(v); return out", json!([1, 2])),
            ("async function* g() { try { yield 1; yield 2 } finally { log.push('end') } } const log = []; for await (const v of g()) break; return log", json!(["end"])),
            ("const f = async ({ a }) => a; return f().catch((e) => e.name)", json!("TypeError")),
            ("const log = []; const f = async () => { log.push(1); await null; log.push(3) }; const p = f(); log.push(2); await p; return log", json!([1, 2, 3])),
            ("return await Promise.all([1, tools.now(2), (async () => 3)()])", json!([1, 2, 3])),
            ("return (await Promise.allSettled([tools.fail(), 1])).map((r) => r.status)", json!(["rejected", "fulfilled"])),
            ("return await Promise.any([tools.fail(), tools.now('ok')])", json!("ok")),
            ("return await Promise.race([]) === undefined", json!(null)),
            ("return await tools.now(1).then((v) => v + 1).finally(() => 7)", json!(2)),
            ("let n = 0; await tools.fail().finally(() => { n = 1 }).catch((e) => { n += e.message.length }); return n", json!(9)),
            ("return await { then(r) { r(5) } }", json!(5)),
            ("return await Promise.try(() => 8)", json!(8)),
            ("class P extends Promise {} return await P.all([P.resolve(1), 2]) ", json!([1, 2])),
        ] {
            if source.contains("race([])") {
                let (name, message) = failure(stage, source).await;
                assert!(message.contains("nothing can settle"), "{name}: {message}");
                continue;
            }
            assert_eq!(value(stage, source).await, expected, "{source}");
        }
    }

    async_generators_and_combinators_ask_iterators_as_the_engine_does(stage) {
        let boom = "function* boom() { yield 1; throw new Error('boom') }";
        for (source, expected) in [
            ("async function* g() { yield* boom() } try { for await (const x of g()) out.push(x) } catch (e) { out.push(e.message) }", json!([1, "boom"])),
            ("async function* g() { try { yield* boom() } catch (e) { yield e.message } } for await (const x of g()) out.push(x)", json!([1, "boom"])),
            ("async function* g() { yield* [Promise.resolve(1), 2] } for await (const x of g()) out.push(x)", json!([1, 2])),
            ("async function* g() { yield* { [Symbol.iterator]: () => ({ next: () => 5 }) } } await g().next().catch((e) => out.push(e.name))", json!(["TypeError"])),
            ("async function* g() { yield* [1, 2] } const i = g(); await i.next(); await i.throw(new Error('in')).catch((e) => out.push(e.name))", json!(["TypeError"])),
            ("async function* g() { yield* boom() } const i = g(); await i.next(); await i.throw(new Error('in')).catch((e) => out.push(e.message))", json!(["in"])),
            ("async function* g() { yield* { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }), get return() { throw new Error('get') } }) } } const i = g(); await i.next(); await i.return(1).catch((e) => out.push(e.message))", json!(["get"])),
            ("async function* g() { yield* [1] } const i = g(); await i.next(); out.push(await i.return(9))", json!([{ "value": 9, "done": true }])),
            ("async function* g() {} const p = Promise.resolve(1); Object.defineProperty(p, 'constructor', { get() { throw new Error('c') } }); await g().return(p).catch((e) => out.push(e.message))", json!(["c"])),
            ("for await (const x of boom()) out.push(x)", json!("boom")),
            // An endless iterable is left at its first failure, and closed.
            ("const bad = Promise.resolve(1); Object.defineProperty(bad, 'then', { value: 0 }); await Promise.all({ [Symbol.iterator]: () => ({ next: () => ({ value: bad }), return: () => { out.push('closed'); return {} } }) }).catch((e) => out.push(e.name))", json!(["closed", "TypeError"])),
            ("await Promise.any({ [Symbol.iterator]: () => ({ next() { throw new Error('n') }, return: () => out.push('closed') }) }).catch((e) => out.push(e.message))", json!(["n"])),
            ("await Promise.all(7).catch((e) => out.push(e.name))", json!(["TypeError"])),
            ("class P extends Promise {} out.push((await P.resolve(1).finally(() => 2)), P.resolve(1).finally(() => 2) instanceof P)", json!([1, true])),
        ] {
            let source = format!("{boom} const out = []; {source}; return out");
            if expected == json!("boom") {
                assert_eq!(failure(stage, &source).await.1, "boom", "{source}");
                continue;
            }
            assert_eq!(value(stage, &source).await, expected, "{source}");
        }
    }

    losers_are_cancelled_and_nobody_else(stage) {
        for (source, cancelled) in [
            ("await Promise.race([tools.now(), tools.never('a'), tools.never('b')])", json!(["a", "b"])),
            ("await Promise.any([tools.fail(), tools.now(), tools.never('a')])", json!(["a"])),
            ("await Promise.race([tools.now(), tools.never('then').then((x) => x).then((x) => x)])", json!(["then"])),
            ("await Promise.race([tools.now(), tools.never('catch').catch(() => 1)])", json!(["catch"])),
            ("await Promise.race([tools.now(), tools.never('finally').finally(() => 1)])", json!(["finally"])),
            ("const w = async () => { await tools.now(); return (await tools.never('wrapped')).x }; await Promise.race([tools.now().then(() => tools.now()).then(() => tools.now()), w()])", json!(["wrapped"])),
            ("const w = async () => { const inner = async () => tools.never('deep'); return await inner() }; await Promise.race([tools.now(), w()])", json!(["deep"])),
            ("await Promise.race([tools.now(), Promise.all([tools.never('x'), tools.never('y')])])", json!(["x", "y"])),
            ("await Promise.race([tools.now(), Promise.allSettled([tools.never('x'), Promise.all([tools.never('y').then(() => 1)])])])", json!(["x", "y"])),
            ("await Promise.race([tools.now(), Promise.race([tools.never('x'), tools.never('y')])])", json!(["x", "y"])),
            ("await Promise.race([1, tools.never('x')])", json!(["x"])),
            ("const slow = tools.never('x'); slow.catch(() => {}); await Promise.race([tools.now(), slow])", json!(["x"])),
            ("async function* g() { yield await tools.never('gen') } await Promise.race([tools.now(), g().next()])", json!(["gen"])),
            ("const p = tools.now().then(() => tools.never('returned')); await tools.now(); await tools.now(); await Promise.race([p, 1])", json!(["returned"])),
            // Somebody else waits for it.
            ("const x = tools.never('x'); const other = (async () => { await x })(); await Promise.race([tools.now(), x])", json!([])),
            ("const x = tools.never('x'); const kept = x.then((v) => v); await Promise.race([tools.now(), x])", json!([])),
            ("const x = tools.never('x'); const all = Promise.all([x]); await Promise.race([tools.now(), x])", json!([])),
            ("const x = tools.never('x'); const one = Promise.race([x, tools.never('y')]); await Promise.race([tools.now(), x])", json!([])),
            ("const x = tools.never('x'); const w = (async () => (await x).y)(); w.then(() => 1); await Promise.race([tools.now(), w])", json!([])),
            // What a handler of its own does with it is not known, so it is left alone.
            ("await Promise.race([tools.now(), new Promise((r) => tools.never('x').then((v) => r(v)))])", json!([])),
            // It is in two races: the second one to be decided lets it go.
            ("const x = tools.never('x'); const one = Promise.race([x, tools.now()]); await Promise.race([x, tools.now().then(() => tools.now())]); await one", json!(["x"])),
            // No race at all.
            ("const x = tools.never('x'); await Promise.all([tools.now()])", json!([])),
            ("const x = tools.never('x'); await Promise.all([x, tools.fail()]).catch(() => 1)", json!([])),
        ] {
            let (result, host) = run(stage, source).await;
            assert_eq!(result.status, Status::Success, "{source}\n{:?}", result.error);
            assert_eq!(json!(*host.cancelled.lock().unwrap()), cancelled, "{source}");
        }
    }

    a_cancelled_call_rejects_when_it_is_awaited_later(stage) {
        let source = "const x = tools.never(1); await Promise.race([tools.now(), x]);
            try { await x } catch (e) { return [e.name, e.code, e.toolName, e.callId, e.message.includes('lost a Promise.race')] }";
        assert_eq!(value(stage, source).await, json!(["AbortError", "AbortError", "never", "tool_0", true]));
        let source = "const seen = []; const w = async () => { try { await tools.never() } catch (e) { seen.push(e.name) } };
            await Promise.race([tools.now(), w()]); await null; await null; return seen";
        assert_eq!(value(stage, source).await, json!(["AbortError"]));
    }

    everything_is_frozen(stage) {
        for attack in [
            "Object.prototype.hack = 1", "Array.prototype.push = 1", "Promise.constructor = null", "Promise.prototype.then = 1",
            "Promise.race = 1", "JSON.parse = 1", "Math.x = 1", "globalThis.x = 1", "tools.now = null", "delete tools.now", "tools = 1",
            "context.turnId = 'x'", "context.nested.list.push(2)", "context.sandbox.remainingToolBudget = 99", "console.log = 1",
            "Object.setPrototypeOf(context, {})", "Object.getPrototypeOf(function* () {}).x = 1", "Object.getPrototypeOf([].values()).next = 1",
            "Error.prototype.name = 'x'", "Object.defineProperty(Array.prototype, 'x', { value: 1 })", "(await tools.now({ a: { b: 1 } })).a.b = 2",
            "babelHelpers.asyncToGenerator = 1", "tools.now.x = 1", "Symbol.prototype.x = 1", "Object.setPrototypeOf(Object.prototype, {})",
            "context.telemetry.emitProgress.x = 1", "Reflect.getPrototypeOf(async () => 1).x = 1", "undeclared = 1",
        ] {
            let source = format!("try {{ {attack}; return 'done' }} catch (e) {{ return e instanceof Error }}");
            assert_eq!(value(stage, &source).await, json!(true), "{attack}");
        }
        assert_eq!(value(stage, "return [Object.isFrozen(Object.getPrototypeOf(context)), Object.isFrozen(globalThis), ({}).hack]").await, json!([true, true, null]));
    }

    instances_may_override_what_their_frozen_prototypes_have(stage) {
        let source = "
            class MyError extends Error { constructor(m) { super(m); this.name = 'MyError'; this.message = m + '!'; this.constructor = 1 } }
            const e = new MyError('a'); e.name = 'Again';
            const o = {}; o.toString = () => 'mine'; o.constructor = 7; o.hasOwnProperty = 1; o.valueOf = () => 3;
            const f = () => 1; f.toString = () => 'f';
            const d = Object.create(o); d.toString = () => 'd';
            return [e.name, e.message, String(o), o.constructor, +o, f.toString(), d.toString(), Object.keys(o), new Error('x').name, ({}).toString()]";
        assert_eq!(value(stage, source).await, json!(["Again", "a!", "mine", 7, 3, "f", "d", ["toString", "constructor", "hasOwnProperty", "valueOf"], "Error", "[object Object]"]));
    }

    nothing_else_is_there(stage) {
        for (expression, expected) in [
            ("eval('1')", "ReferenceError"), ("Function('return this')", "ReferenceError"), ("new Worker('x')", "ReferenceError"),
            ("setTimeout(() => 1)", "ReferenceError"), ("fetch('x')", "ReferenceError"), ("process.exit()", "ReferenceError"),
            ("(() => 1).constructor('return 1')()", "TypeError"), ("(async () => 1).constructor('return 1')()", "TypeError"),
            ("(function* () {}).constructor('return 1')()", "TypeError"),
            ("tools.nothing()", "ToolNotFoundError"), ("tools.deep.nothing()", "ToolNotFoundError"),
        ] {
            let source = format!("try {{ {expression}; return 'done' }} catch (e) {{ return e.name }}");
            assert_eq!(value(stage, &source).await, json!(expected), "{expression}");
        }
        let source = "return [typeof globalThis.process, 'now' in tools, 'http' in tools, Object.keys(tools), typeof tools.then, typeof this, arguments.length]";
        assert_eq!(value(stage, source).await, json!(["undefined", true, false, ["now", "never", "fail", "deep"], "undefined", "undefined", 0]));
    }

    what_json_lacks_is_refused_with_its_place(stage) {
        for (source, place) in [
            ("return { a: [1n] }", "the value.a[0] is a bigint"), ("return Symbol('x')", "is a symbol"), ("return { f() {} }", "the value.f is a function"),
            ("return { p: tools.now() }", "the value.p is a promise; await it first"), ("const a = {}; a.a = a; return a", "contains itself"),
            ("return new Map()", "is a Map"), ("return [[[[[[[[[1]]]]]]]]]", "deeper than 8"), ("return new Uint8Array(2)", "binary"),
        ] {
            let (name, message) = failure(stage, source).await;
            assert_eq!(name, "SerializationError", "{source}");
            assert!(message.contains(place), "{source}: {message}");
        }
        assert_eq!(value(stage, "return [[[[[[[[1]]]]]]]]").await, json!([[[[[[[[1]]]]]]]]));
        let source = "try { await tools.now({ a: 1n }) } catch (e) { return [e.name, e.message.includes('a is a bigint')] }";
        assert_eq!(value(stage, source).await, json!(["ToolValidationError", true]));
    }

    errors_say_whose_they_are_and_where(stage) {
        let source = "type A = { b: number };\n\nconst f = async () => {\n  await tools.fail({});\n};\nawait f();";
        let (result, host) = run(stage, source).await;
        let error = result.error.unwrap();
        assert_eq!((error.name.as_str(), error.origin), ("ToolExecutionError", ErrorOrigin::ToolCall(0)));
        assert_eq!((error.line, error.column), (Some(4), Some(15)), "{error:?}");
        let site = host.made.lock().unwrap()[&0].site.unwrap();
        assert_eq!((site.line, site.column), (4, 15));
        let (result, _) = run(stage, "let a: any;\n  a.b.c").await;
        let error = result.error.unwrap();
        assert_eq!((error.name.as_str(), error.origin, error.line), ("TypeError", ErrorOrigin::Script, Some(2)));
        let (result, _) = run(stage, "tools.nothing").await;
        assert_eq!(result.error.unwrap().origin, ErrorOrigin::Harness);
        let (result, _) = run(stage, "const a = 1;\nconst = 2").await;
        assert_eq!(result.status, Status::LinkError);
        assert_eq!(result.error.unwrap().line, Some(2));
    }

    a_caught_error_says_what_is_no_function(stage) {
        let message = |what: &str| json!(format!("{what} is not a function"));
        for (source, expected) in [
            ("try { o.a.b(1) } catch (e) { return e.message }", message("o.a.b")),
            ("try { o.f() } catch ({ message }) { return message }", message("o.f")),
            ("try { o.f() } catch ({ message: [a, ...b], stack: s = 1 }) { return a + b.join('') }", message("o.f")),
            ("try { o.f() } catch (e) { return e.stack.split('\\n')[0] }", json!("TypeError: o.f is not a function")),
            ("try { try { o.f() } finally { o.a } } catch (e) { return String(e) }", json!("TypeError: o.f is not a function")),
            ("try { new o.K() } catch (e) { return e.message }", json!("o.K is not a constructor")),
            ("return await (async () => o.f())().catch((e) => e.message)", message("o.f")),
            ("return await Promise.resolve().then(() => o.f()).catch((e) => e.message)", message("o.f")),
            ("return await new Promise(() => o.f()).then(null, (e) => e.message)", message("o.f")),
            ("return (await Promise.allSettled([(async () => o.f())()]))[0].reason.message", message("o.f")),
            ("return await Promise.any([(async () => o.f())()]).catch((e) => e.errors[0].message)", message("o.f")),
            ("async function* g() { yield 1; o.f() } try { for await (const x of g()); } catch (e) { return e.message }", message("o.f")),
            ("try { [1].map((x) => x.f()) } catch (e) { return e.message }", message("x.f")),
            ("for (let i = 0; i < 3000; i++) try { o.f() } catch (e) { if (i === 2999) return e.message }", message("o.f")),
            // What the script says itself stays as it is, and is not run.
            ("try { throw new TypeError('not a function') } catch (e) { return e.message }", json!("not a function")),
            ("try { throw { get message() { seen = 1 } } } catch (e) { return seen }", json!(0)),
            ("try { throw Object.defineProperty(new Error(), 'message', { get() { seen = 1 } }) } catch (e) { return seen }", json!(0)),
            ("try { throw new Proxy({}, { getOwnPropertyDescriptor() { seen = 1 }, get() { seen = 1 } }) } catch (e) { return seen }", json!(0)),
            ("try { null() } catch { return 'none' }", json!("none")),
            ("try { throw undefined } catch (e) { return e === undefined }", json!(true)),
            ("const $helpers = 1, $helpers$caught = 2; try { o.f() } catch ({ message }) { return [message, $helpers, $helpers$caught] }", json!(["o.f is not a function", 1, 2])),
        ] {
            let source = format!("let seen = 0; const o: any = {{ a: {{}} }}; {source}");
            assert_eq!(value(stage, &source).await, expected, "{source}");
        }
    }

    what_is_thrown_has_its_line(stage) {
        for (source, line) in [
            ("\nthrow 'a'", 2),
            ("const f = async () => {\n\n  throw { code: 7 } };\nawait f()", 3),
            ("const f = () => {\n  throw 1 };\ntry { f() } catch (e) {\n throw e }", 4),
            ("for (const x of ['a', 'b'])\n  try { throw x } catch {}\nthrow 'b'", 3),
            ("function* g() {\n throw null }\n[...g()]", 2),
            ("await Promise.all([\n(async () => {\n throw 5 })()])", 3),
            ("await new Promise(() => {\n throw 'p' })", 2),
            ("await Promise.resolve().then(() => {\n throw 'p' })", 2),
        ] {
            let (result, _) = run(stage, source).await;
            let error = result.error.unwrap();
            assert_eq!(error.line, Some(line), "{source}: {error:?}");
        }
    }

    console_and_progress_reach_the_host(stage) {
        let source = "for (let i = 0; i < 9; i++) console.log('line', 'x'); context.emitProgress('half'); context.telemetry.emitProgress('odd', 'warn');
            await tools.now(); return context.sandbox.remainingToolBudget";
        let (result, host) = run(stage, source).await;
        assert_eq!(result.result.unwrap().as_str(), Some("1"));
        let told = host.told.lock().unwrap().clone();
        assert_eq!(told, ["line x", "line x", "line x", "line x", "line x", "info: half", "warn: odd"]);
        assert_eq!(result.logs.last().unwrap().args[0].as_str(), Some("… 4 more lines were dropped"));
    }

    a_check_lists_calls_and_runs_nothing(stage) {
        let source = "await tools.now({ a: [1, 'x'], b: `t` });\nconst p = tools.deep.er.now(p0);\nwhile (true) {}";
        let result = check_tool_script(runtime(stage), script(source)).await;
        let uses: Json = serde_json::from_str(result.result.unwrap().as_str().unwrap()).unwrap();
        assert_eq!(uses, json!([
            { "tool": "now", "line": 1, "column": 7, "arguments": { "a": [1, "x"], "b": "t" } },
            { "tool": "deep.er.now", "line": 2, "column": 11, "arguments": ringfence_script::UNKNOWN },
        ]));
    }
}
