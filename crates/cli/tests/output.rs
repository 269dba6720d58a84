//! What replies make of output that is more than plain text, from the outside.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;
use serde_json::{Value, json};

/// One pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

fn bash(place: &Place, command: &str) -> Value {
    place.call(
        "bash",
        &json!({ "command": command }),
        &["--approve", "all"],
    )
}

#[test]
fn images_come_back_as_image_blocks() {
    let place = Place::new();
    let image = json!([{ "type": "image", "data": PIXEL, "mimeType": "image/png" }]);
    for command in [
        format!("printf %s {PIXEL} | base64 -d"),
        format!("printf %s {PIXEL} | base64 -d | base64"),
        format!("echo data:image/png\\;base64,{PIXEL}"),
    ] {
        let reply = bash(&place, &command);
        assert_eq!(reply["isImage"], true, "{command}: {reply}");
        assert_eq!(reply["structuredContent"], image, "{command}: {reply}");
        let reply = place.call("shell_command", &json!({ "command": command }), &[]);
        assert_eq!(reply["structured_content"], image, "{command}: {reply}");
        assert_eq!(reply["is_image"], true);
    }
    // Almost an image.
    let reply = bash(&place, &format!("printf %s {PIXEL} | head -c 60"));
    assert_eq!(reply["isImage"], false, "{reply}");
    assert_eq!(reply["stdout"], PIXEL[..60]);
    assert!(reply.get("structuredContent").is_none(), "{reply}");
}

#[test]
fn a_large_image_is_whole() {
    let place = Place::new();
    // Two megabytes, more than is kept in memory: a JPEG as far as its beginning goes.
    let reply = bash(
        &place,
        r"printf '\xff\xd8\xff'; head -c 2000000 /dev/zero; printf '\xff\xd9'",
    );
    assert_eq!(reply["isImage"], true, "{}", reply["stdout"]);
    let block = &reply["structuredContent"][0];
    assert_eq!(block["mimeType"], "image/jpeg");
    let data = block["data"].as_str().unwrap();
    assert_eq!(data.len(), 2_000_005_usize.div_ceil(3) * 4);
    // And one that is too large to be returned.
    let reply = bash(&place, r"printf '\xff\xd8\xff'; head -c 4000000 /dev/zero");
    assert_eq!(reply["isImage"], false, "{}", reply["stdout"]);
    assert_eq!(
        reply["structuredContent"],
        json!([{
            "type": "binary",
            "kind": "image that is too large to return",
            "mimeType": "image/jpeg",
            "bytes": 4_000_003,
        }])
    );
    let file = reply["rawOutputPath"].as_str().unwrap();
    assert!(reply["summary"].as_str().unwrap().contains(file), "{reply}");
}

#[test]
fn binary_output_is_named_and_counted() {
    let place = Place::new();
    let reply = bash(&place, "echo hello | gzip -n; echo done >&2");
    let notice = reply["stdout"].as_str().unwrap();
    let bytes = reply["structuredContent"][0]["bytes"].as_u64().unwrap();
    assert_eq!(
        notice,
        format!("[binary output, {bytes} bytes, gzip archive: not shown]\n")
    );
    assert_eq!(reply["stderr"], "done\n");
    assert_eq!(
        reply["structuredContent"][1],
        json!({ "type": "text", "text": "done\n" })
    );
    // The twin: a list with NUL between its entries is text.
    let reply = bash(&place, r"printf 'first\0second\0'");
    assert_eq!(reply["stdout"], "first\0second\0", "{reply}");
    assert!(reply.get("structuredContent").is_none(), "{reply}");
}

#[test]
fn escape_sequences_go_or_stay() {
    let place = Place::new();
    let command = r"printf '\e[31mred\e[0m \e]0;title\abell\n'";
    let plain = "red bell\n";
    let raw = "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}bell\n";
    assert_eq!(bash(&place, command)["stdout"], plain);
    for tool in ["bash", "shell_command"] {
        let reply = place.call(tool, &json!({ "command": command, "ansi": "keep" }), &[]);
        let stdout = reply["stdout"].get("text").unwrap_or(&reply["stdout"]);
        assert_eq!(stdout, raw, "{reply}");
    }
    let folder = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "[output]\nansi = \"keep\"\n").unwrap();
    assert_eq!(bash(&place, command)["stdout"], raw);
    let reply = place.call(
        "bash",
        &json!({ "command": command, "ansi": "remove" }),
        &[],
    );
    assert_eq!(reply["stdout"], plain);
}
