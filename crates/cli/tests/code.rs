//! `ringfence code` and the `run_code` tool, from the outside.

#![allow(clippy::unwrap_used)]

mod program;

use program::{Place, output_and_memory};
use serde_json::json;

#[test]
fn code_prints_its_result_and_exits_accordingly() {
    let place = Place::new();
    for (source, flags, stdout, code) in [
        ("export default 6 * 7", &[][..], "42\n", 0),
        (
            "export const add = (a: number, b: number) => a + b",
            &["--fn", "add", "--args", "[1, 2]"][..],
            "3\n",
            0,
        ),
        (
            "export default limit * 2",
            &["--global", "limit=21"][..],
            "42\n",
            0,
        ),
        (
            "export default () => { throw new Error('no') }",
            &[][..],
            "",
            1,
        ),
        ("export default fetch", &[][..], "", 1),
        ("while (true) {}", &["--timeout", "1"][..], "", 124),
    ] {
        let mut arguments = vec!["code"];
        arguments.extend(flags);
        arguments.push("-");
        let ran = place.output_given(&arguments, source);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(code), stdout),
            "{source}: {ran:?}"
        );
    }
}

#[test]
fn the_bridge_to_files_stays_in_its_folder() {
    let place = Place::new();
    std::fs::write(place.home().join("secret"), "SECRET").unwrap();
    std::fs::create_dir(place.work().join("data")).unwrap();
    std::fs::write(place.work().join("data/file"), "text").unwrap();
    std::os::unix::fs::symlink(place.home().join("secret"), place.work().join("data/link"))
        .unwrap();
    let source = "import { readFile, readDir } from 'fs';
        const tries = ['../../secret', '/../../secret', 'link', '/etc/passwd', 'data/../../x'];
        const got = tries.map(path => { try { return readFile(path) } catch (e) { return 'refused' } });
        export default [readFile('file'), readFile('/file'), readDir('.'), got];";
    let ran = place.output_given(&["code", "--import", "fs=data", "--json", "-"], source);
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let refused = ["refused"; 5];
    assert_eq!(
        result["result"],
        json!(["text", "text", ["file", "link"], refused]),
        "{ran:?}"
    );
}

#[test]
fn run_code_is_a_tool_like_the_others() {
    let place = Place::new();
    let reply = place.call(
        "run_code",
        &json!({"source": "export default async () => 1n + 2n", "options": {"filename": "a.ts"}}),
        &[],
    );
    assert_eq!(reply["status"], "success", "{reply}");
    assert_eq!(reply["result"], json!({"$": "bigint", "v": "3"}), "{reply}");
    let bad = place.call(
        "run_code",
        &json!({"source": "1", "options": {"imprts": {}}}),
        &[],
    );
    assert_eq!(bad["error"]["code"], "bad_arguments", "{bad}");
    let slow = place.call(
        "run_code",
        &json!({"source": "for(;;){}", "timeout_ms": 300}),
        &[],
    );
    assert_eq!(slow["status"], "terminated", "{slow}");
    let record = place.output(&["audit", "show"]);
    assert!(record.stdout.contains("1n + 2n"), "{record:?}");
}

/// The most memory that `code` had with this script in a sandbox of 16 MiB, in MiB.
fn most_memory(place: &Place, source: &str) -> i64 {
    std::fs::write(place.work().join("script.js"), source).unwrap();
    output_and_memory(place.spawn(&["code", "--json", "--memory", "16", "script.js"])).1
}

#[test]
fn a_small_script_cannot_make_its_host_hold_much() {
    let place = Place::new();
    let idle = most_memory(&place, "export default 1");
    for source in [
        "for (let i = 0; i < 2000; i++) console.log('x'.repeat(1e6)); export default 1",
        "for (let i = 0; i < 100000; i++) console.log(i, { a: [i] }); export default 1",
        "for (let i = 0; i < 100000; i++) report({ a: [i], b: 'y'.repeat(1000) }); export default 1",
        "export default Array(1e6).fill('abc')",
        "export default 'x'.repeat(4e6)",
        "export default '\\u0001'.repeat(2e6)",
        "throw new Error('x'.repeat(4e6))",
        "throw Array(5e5).fill({})",
    ] {
        let most = most_memory(&place, source);
        assert!(most < idle + 64, "{most} MiB, idle {idle}: {source}");
    }
}
