//! What replies say of output: frames of progress bars, data, the file with the whole of it; and what
//! one call can keep running.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;
use serde_json::{Value, json};

#[test]
fn output_is_told_as_a_terminal_would_show_it() {
    let place = Place::new();
    for (command, stdout) in [
        (r"printf '10%%\r50%%\r100%%\ndone\n'", "100%\ndone\n"),
        (r"printf 'a\033[2K\rb\n'", "b\n"),
        (r"printf 'N\bNA\bAM\bME\bE\n'", "NAME\n"),
        (r"printf 'dos\r\n'", "dos\r\n"),
        (
            r"echo hello; printf '\0\1\2\377'",
            "hello\n[4 bytes of data]",
        ),
    ] {
        let reply = place.call("bash", &json!({"command": command}), &[]);
        assert_eq!(reply["stdout"], stdout, "{command}: {reply:#}");
    }
    let raw = json!({"command": r"printf '1%%\r2%%\n'", "ansi": "keep"});
    assert_eq!(place.call("bash", &raw, &[])["stdout"], "1%\r2%\n");
}

#[test]
fn the_file_with_the_whole_output_outlives_the_call() {
    let place = Place::new();
    let long = place.call("bash", &json!({"command": "seq 1 20000"}), &[]);
    let path = long["rawOutputPath"].as_str().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with("19999\n20000\n"), "{long:#}");
    assert_eq!(long["rawOutputCut"], Value::Null, "{long:#}");
    // Data that no reply can show is there too, however short.
    let data = place.call(
        "bash",
        &json!({"command": r"printf '\037\213\10\0\0'"}),
        &[],
    );
    let path = data["rawOutputPath"].as_str().unwrap();
    assert_eq!(std::fs::read(path).unwrap(), b"\x1f\x8b\x08\0\0");
    let short = place.call("bash", &json!({"command": "echo short"}), &[]);
    assert_eq!(short["rawOutputPath"], Value::Null, "{short:#}");
}

#[test]
fn one_call_starts_nothing_that_would_die_with_it() {
    let place = Place::new();
    let background = json!({"command": "sleep 100", "run_in_background": true});
    let refused = place.call("bash", &background, &[]);
    assert_eq!(refused["error"]["code"], "ends_with_call", "{refused:#}");
    let open = json!({"command": ["sleep", "100"], "yield_time_ms": 0});
    let warned = place.call("exec_command", &open, &[]);
    let warning = warned["warning"].as_str().unwrap();
    assert!(warning.contains("would end with this call"), "{warning}");
}

#[test]
fn a_command_longer_than_one_argument_runs() {
    let place = Place::new();
    let body = "a line of a file that somebody writes\n".repeat(10_000);
    let command =
        format!("x=1; cat > long.txt <<'EOF'\n{body}EOF\necho \"$x $#\"; wc -c < long.txt");
    let stdin = json!({"command": command}).to_string();
    let ran = place.output_given(&["call", "bash", "-"], &stdin);
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(reply["stdout"], "1 0\n380000\n", "{reply:#}");
}

#[test]
fn commands_run_in_the_folder_that_they_name_and_without_a_terminal() {
    let place = Place::new();
    std::fs::create_dir(place.work().join("below")).unwrap();
    let reply = place.call(
        "bash",
        &json!({"command": "basename $PWD; echo $TERM", "workdir": "below"}),
        &[],
    );
    assert_eq!(reply["stdout"], "below\ndumb\n", "{reply:#}");
    let reply = place.call(
        "shell",
        &json!({"command": ["sh", "-c", "echo $TERM"]}),
        &[],
    );
    assert_eq!(reply["stdout"]["text"], "dumb\n", "{reply:#}");
}
