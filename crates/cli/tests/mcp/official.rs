//! What the official client sees. The scenarios are in `client.py`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use ringfence_testkit::require::missing;
use serde_json::{Value, json};

use crate::program::{Place, RINGFENCE};

/// Flags that a scenario wants the server to have.
const FLAGS: &[(&str, &[&str])] = &[
    ("approving", &["--approval", "unless-trusted"]),
    ("refusing", &["--approval", "unless-trusted"]),
    ("others_go_on", &["--approval", "unless-trusted"]),
    ("question_ends_with_call", &["--approval", "unless-trusted"]),
    ("replaying", &["--approval", "unless-trusted"]),
];
pub(crate) const TOKEN: &str = "a-token-for-the-tests";

/// The Python with the packages that `scripts/test` installs.
pub(crate) fn python() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/test-python/bin/python");
    if python.exists() {
        return Some(python);
    }
    missing(
        "Python packages",
        "scripts/test installs them into target/test-python",
    );
    None
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Pipes,
    Http,
}

/// A server over HTTP, ended with the test.
pub(crate) struct HttpServer {
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl HttpServer {
    pub(crate) fn start(place: &Place, flags: &[&str]) -> Self {
        let mut child = place
            .ringfence(&["mcp", "--http", "127.0.0.1:0"])
            .args(flags)
            .env("RINGFENCE_MCP_TOKEN", TOKEN)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = loop {
            let line = said.next().expect("it says where it is").unwrap();
            if let Some((_, url)) = line.split_once("serving MCP at ") {
                break url.trim().to_owned();
            }
        };
        std::thread::spawn(move || said.for_each(drop));
        Self { child, url }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn scenario(name: &str, mode: &str, way: Way) {
    let Some(python) = python() else { return };
    let place = Place::new();
    let flags = FLAGS.iter().find(|(with, _)| *with == name);
    let flags = flags.map_or(&[][..], |(_, flags)| flags);
    let environment = json!({
        "HOME": place.home(), "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    });
    let at = json!({"command": RINGFENCE, "env": environment, "cwd": place.work()});
    let mut asked = json!({"scenario": name, "mode": mode, "work": place.work(), "place": at});
    let server = match way {
        Way::Pipes => {
            let args: Vec<&str> = ["mcp"].iter().chain(flags).copied().collect();
            asked["server"] = at;
            asked["server"]["args"] = json!(args);
            None
        }
        Way::Http => Some(HttpServer::start(&place, flags)),
    };
    if let Some(server) = &server {
        asked["url"] = json!(server.url);
        asked["token"] = json!(TOKEN);
    }
    run(&python, &asked);
}

fn run(python: &Path, asked: &Value) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(asked.to_string().as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said.lines().rev().take(30).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    assert!(output.status.success(), "{asked}\n{}", last.join("\n"));
}

/// A test for each scenario, generation and way.
macro_rules! scenarios {
    ($($name:ident: $($way:ident $mode:literal),+;)+) => {
        $(mod $name {
            use super::*;

            #[test]
            fn as_it_should_be() {
                $(scenario(stringify!($name), $mode, Way::$way);)+
            }
        })+
    };
}

scenarios! {
    listing: Pipes "legacy", Pipes "2026-07-28", Pipes "auto", Http "legacy", Http "2026-07-28";
    calling: Pipes "legacy", Pipes "2026-07-28", Http "legacy", Http "2026-07-28";
    image: Pipes "legacy", Http "2026-07-28";
    progress: Pipes "legacy", Pipes "2026-07-28", Http "legacy", Http "2026-07-28";
    cancelling: Pipes "legacy", Pipes "2026-07-28", Http "legacy", Http "2026-07-28";
    approving: Pipes "legacy", Pipes "2026-07-28", Http "legacy", Http "2026-07-28";
    refusing: Pipes "legacy", Pipes "2026-07-28", Http "legacy", Http "2026-07-28";
    nobody: Pipes "legacy", Pipes "2026-07-28", Http "legacy", Http "2026-07-28";
    others_go_on: Pipes "legacy", Pipes "2026-07-28", Http "legacy", Http "2026-07-28";
    question_ends_with_call: Pipes "legacy", Http "legacy";
    replaying: Pipes "2026-07-28", Http "2026-07-28";
    resources: Pipes "legacy", Pipes "2026-07-28", Http "legacy", Http "2026-07-28";
    interactive: Pipes "legacy", Http "2026-07-28";
    background: Pipes "legacy", Http "2026-07-28";
    script: Pipes "legacy", Http "2026-07-28";
    coming_back: Http "legacy", Http "2026-07-28";
}
