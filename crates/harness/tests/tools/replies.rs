//! What every tool replies, in its whole: the names are those of the wire, and stay.

use std::fmt::Write;

use expect_test::{ExpectFile, expect_file};
use serde_json::{Value, json};

use crate::conform;
use crate::stage::Stage;
use crate::support::{Case, block_on};

pub(crate) fn cases() -> Vec<Case> {
    plain![
        of_commands,
        of_bash,
        of_processes,
        of_tasks,
        of_files,
        of_code,
        of_scripts,
        of_mistakes
    ]
}

/// A picture of one point.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Makes the calls one after the other in one session, and compares what is replied. A name in the arguments that
/// stands for the last task is put in.
fn check(expected: &ExpectFile, calls: &[(&str, Value)]) {
    let stage = Stage::new();
    let mut text = String::new();
    block_on(async {
        let engine = stage.engine();
        let mut task = String::new();
        for (tool, arguments) in calls {
            let asked = arguments.to_string().replace("LAST_TASK", &task);
            let asked = serde_json::from_str(&asked).unwrap();
            let mut reply = match engine.call(tool, asked).await {
                Ok(reply) => {
                    let schema = engine.tools().find(tool).unwrap().output_schema();
                    assert_eq!(
                        conform::problem(&schema, &reply),
                        None,
                        "{tool} {arguments}"
                    );
                    reply
                }
                Err(error) => error.to_json(),
            };
            if let Some(id) = reply["backgroundTaskId"].as_str() {
                id.clone_into(&mut task);
            }
            stage.normal(&mut reply);
            let (arguments, reply) = (arguments.to_string(), format!("{reply:#}"));
            writeln!(text, "{tool} {}\n{}\n", cut(&arguments), cut(&reply)).unwrap();
        }
    });
    expected.assert_eq(&text);
}

/// Long texts are told by their ends.
fn cut(text: &str) -> String {
    let line = |line: &str| match line.char_indices().nth(300) {
        Some((at, _)) => format!("{} … {}", &line[..at], &line[line.len() - 40..]),
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn of_commands() {
    let image = format!("echo {PNG} | base64 -d");
    check(
        &expect_file!["./replies/commands.txt"],
        &[
            ("shell", json!({"command": ["bash", "-c", "echo err >&2"]})),
            (
                "container.exec",
                json!({"command": ["bash", "-c", "exit 3"]}),
            ),
            (
                "shell",
                json!({"command": ["sleep", "60"], "timeout_ms": 300}),
            ),
            ("shell", json!({"command": ["touch", "../refused"]})),
            ("shell_command", json!({"command": image})),
            (
                "shell_command",
                json!({"command": "printf '\\037\\213\\010\\000\\000\\000\\000\\000\\000\\003abc'"}),
            ),
            ("shell_command", json!({"command": "seq 1 20000"})),
            (
                "shell_command",
                json!({"command": "sleep 300 </dev/null >/dev/null 2>&1 &", "login": false}),
            ),
            (
                "shell_command",
                json!({"command": "printf '\\033[31mred\\033[0m'", "ansi": "keep"}),
            ),
        ],
    );
}

fn of_bash() {
    let image = format!("echo {PNG} | base64 -d");
    check(
        &expect_file!["./replies/bash.txt"],
        &[
            (
                "bash",
                json!({"command": "echo out; echo err >&2", "description": "Prints two words"}),
            ),
            ("bash", json!({"command": "exit 127"})),
            ("bash", json!({"command": "sleep 60", "timeout": 300})),
            ("bash", json!({"command": "touch ../refused"})),
            ("bash", json!({"command": image})),
            ("bash", json!({"command": "seq 1 20000"})),
            (
                "bash",
                json!({"command": "sleep 300 </dev/null >/dev/null 2>&1 &"}),
            ),
            (
                "bash",
                json!({"command": "true", "run_in_background": true}),
            ),
        ],
    );
}

fn of_processes() {
    check(
        &expect_file!["./replies/processes.txt"],
        &[
            (
                "exec_command",
                json!({"command": ["echo", "word"], "tty": false}),
            ),
            (
                "exec_command",
                json!({"command": "touch ../refused", "login": false, "tty": false}),
            ),
            (
                "exec_command",
                json!({"command": ["cat"], "process_id": "p", "yield_time_ms": 0, "tty": false}),
            ),
            (
                "write_stdin",
                json!({"process_id": "p", "input": "typed\n", "wait_for": "output", "yield_time_ms": 20000}),
            ),
            (
                "write_stdin",
                json!({"process_id": "p", "close": true, "yield_time_ms": 20000}),
            ),
            ("write_stdin", json!({"process_id": "p"})),
            (
                "exec_command",
                json!({"command": ["bash", "-c", "printf '\\033]0;title\\007ready'; read x; seq 1 3000"],
                "tty": true, "size": {"rows": 4, "cols": 20}, "screen": true, "process_id": 7,
                "pattern": "ready", "yield_time_ms": 20000}),
            ),
            (
                "write_stdin",
                json!({"process_id": 7, "input": "\n", "yield_time_ms": 20000, "max_output_tokens": 20}),
            ),
        ],
    );
}

fn of_tasks() {
    check(
        &expect_file!["./replies/tasks.txt"],
        &[
            ("bash_task_stop", json!({"taskId": "none"})),
            (
                "bash",
                json!({"command": "printf 'one\\ntwo\\n'; exit 2", "run_in_background": true}),
            ),
            (
                "bash_task_output",
                json!({"taskId": "LAST_TASK", "waitMs": 20000, "filter": "o$"}),
            ),
            ("bash_task_output", json!({"taskId": "LAST_TASK"})),
            (
                "bash",
                json!({"command": "echo begun; sleep 300", "run_in_background": true}),
            ),
            (
                "bash_task_output",
                json!({"taskId": "LAST_TASK", "waitMs": 20000, "pattern": "begun"}),
            ),
            ("bash_task_stop", json!({"taskId": "LAST_TASK"})),
        ],
    );
    check(
        &expect_file!["./replies/list.txt"],
        &[
            (
                "bash",
                json!({"command": "exit 1", "run_in_background": true}),
            ),
            (
                "bash_task_output",
                json!({"taskId": "LAST_TASK", "waitMs": 20000}),
            ),
            (
                "exec_command",
                json!({"command": ["cat"], "process_id": "p", "yield_time_ms": 0, "tty": false}),
            ),
            ("bash_task_list", json!({})),
        ],
    );
}

fn of_files() {
    check(
        &expect_file!["./replies/files.txt"],
        &[
            (
                "apply_patch",
                json!({"patch": "*** Begin Patch\n*** Add File: src/one.txt\n+1\n*** Add File: two.txt\n+2\n*** End Patch"}),
            ),
            (
                "applyPatch",
                json!({"patch": "*** Begin Patch\n*** Update File: two.txt\n*** Move to: three.txt\n@@\n-2\n+3\n*** Delete File: src/one.txt\n*** End Patch"}),
            ),
            (
                "apply_patch",
                json!({"patch": "*** Begin Patch\n*** Update File: three.txt\n@@\n-4\n+5\n*** End Patch"}),
            ),
            ("file_search", json!({"pattern": "thr"})),
            (
                "fileSearch",
                json!({"pattern": "*.txt", "limit": 1, "excludePatterns": ["two*"]}),
            ),
        ],
    );
}

fn of_code() {
    check(
        &expect_file!["./replies/code.txt"],
        &[
            (
                "run_code",
                json!({"source": "console.log('a', 1); report({b: 2n}); export default (x: number) => x + one;",
                "options": {"execute": {"args": [41]}, "globals": {"one": 1}, "report": true, "filename": "sum.ts"}}),
            ),
            (
                "runCode",
                json!({"source": "export const value = 1; throw new TypeError('no')", "options": {"language": "javascript"}}),
            ),
            (
                "run_code",
                json!({"source": "import 'nowhere'; export default 1"}),
            ),
            (
                "run_code",
                json!({"source": "for (;;);", "timeout_ms": 300}),
            ),
            ("run_code", json!({"source": "", "options": {"memory": 1}})),
            (
                "run_code",
                json!({"source": "", "options": {"language": "cobol"}}),
            ),
            (
                "run_code",
                json!({"source": "", "options": {"memoryLimitBytes": 1}}),
            ),
            (
                "run_code",
                json!({"source": "", "options": {"execute": {"f": 1}}}),
            ),
            ("run_code", json!({"source": "", "options": 1})),
        ],
    );
}

fn of_scripts() {
    check(
        &expect_file!["./replies/scripts.txt"],
        &[
            (
                "run_script",
                json!({"source": "return {message: 'done', it: await tools.exec({command: ['echo', 'hi']})}"}),
            ),
            (
                "run_script",
                json!({"source": "return await tools.exec({command: ['touch', '../refused']})", "language": "js"}),
            ),
            (
                "run_script",
                json!({"source": "return await tools.exec({command: ['sleep', '60'], timeoutMs: 300})"}),
            ),
            (
                "run_script",
                json!({"source": "await tools.applyPatch({patch: 'x'})"}),
            ),
            (
                "run_script",
                json!({"source": "tools.exec({command: ['sleep', '60']}); return 1"}),
            ),
            (
                "run_script",
                json!({"source": "return await tools.search('patch')"}),
            ),
        ],
    );
}

fn of_mistakes() {
    check(
        &expect_file!["./replies/mistakes.txt"],
        &[
            ("shel", json!({})),
            ("shell", json!([])),
            ("shell", json!({"comand": []})),
            ("shell", json!({"command": []})),
            ("shell", json!({"command": [1]})),
            ("bash", json!({"command": "ls", "timeout": 1_000_000_000})),
            ("write_stdin", json!({"process_id": "none"})),
            ("file_search", json!({"pattern": ""})),
        ],
    );
}
