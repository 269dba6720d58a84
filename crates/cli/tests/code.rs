//! `ringfence code` and the `run_code` tool, from the outside.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;
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
