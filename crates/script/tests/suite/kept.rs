//! Nothing is lost silently: what a run says at its end, and what is told of what could not be kept.

use ringfence_script::{CodeOptions, HostFunction, Status, Value};
use serde_json::json;

use crate::cases;

fn never() -> HostFunction {
    HostFunction::asynchronous("never", |_| std::future::pending())
}

cases! {
    microtasks_still_run_when_the_result_is_there(stage) {
        let source = "let p = Promise.resolve(); for (let i = 0; i < 5; i++) p = p.then(() => report(i)); export default 1";
        let result = stage.run(source, CodeOptions::new().report(|_| {})).await;
        assert_eq!(result.status, Status::Success, "{:?}", result.error);
        assert_eq!(result.reports.len(), 5);
    }

    rejections_that_nobody_handles_are_errors_and_handled_ones_are_not(stage) {
        for (source, status) in [
            ("Promise.reject(new Error('lost')); export default 1", Status::Error),
            ("(async () => { await null; throw new Error('lost') })(); export default 1", Status::Error),
            ("const p = Promise.reject(new Error('x')); await null; p.catch(() => {}); export default 1", Status::Success),
        ] {
            let result = stage.run(source, CodeOptions::new()).await;
            assert_eq!(result.status, status, "{source}");
            if let Some(error) = result.error {
                assert!(error.message.contains("lost") && error.line == Some(1), "{error:?}");
            }
        }
    }

    dropped_calls_are_named(stage) {
        let options = CodeOptions::new().global("never", never());
        let result = stage.run("\nnever(); export default 1", options).await;
        assert_eq!(result.status, Status::Success);
        let line = result.logs.last().unwrap().args[0].text().unwrap().into_owned();
        assert!(line.contains("`never`") && line.contains("line 2"), "{line}");
    }

    long_lines_are_cut_and_many_are_bounded(stage) {
        let source = "for (let i = 0; i < 500; i++) console.log('x'.repeat(1e6)); console.log(Array(1e6).fill(1)); export default 1";
        let result = stage.run(source, CodeOptions::new()).await;
        assert_eq!(result.status, Status::Success, "{:?}", result.error);
        let total: usize = result.logs.iter().map(|log| log.to_json().to_string().len()).sum();
        assert!(total < 2 << 20 && result.dropped_logs > 0, "{total}");
    }

    what_is_too_large_is_told_with_its_beginning(stage) {
        let (status, error) = stage.failure("export default Array(3e6).fill(7)", CodeOptions::new()).await;
        assert_eq!(status, Status::Error);
        assert!(error.message.contains("[7,7,7"), "{}", error.message);
    }

    half_a_surrogate_pair_crosses(stage) {
        let echo = HostFunction::sync("echo", |mut arguments| Ok(arguments.remove(0)));
        let source = "const s = 'ab😀'.slice(0, 3); const o = structuredClone({ [s]: s, e: new Error(s) });
            export default [echo(s) === s, Object.keys(o)[0] === s, o[s] === s, o.e.message === s]";
        let value = stage.value(source, CodeOptions::new().global("echo", Value::from(echo))).await;
        assert_eq!(value, json!([true, true, true, true]));
    }

    memory_that_is_caught_again_and_again_ends_at_once(stage) {
        let source = "for (;;) { try { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) } catch { await null } }";
        let began = std::time::Instant::now();
        let result = stage.run(source, CodeOptions::new().memory_limit_bytes(16 << 20)).await;
        assert_eq!(result.status, Status::Memory);
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }
}
