//! Engines of Node that the same run is measured with, and their set-up by npm.
//!
//! They are installed once, in a folder of the build's own. Without npm or its registry those take part that Node finds
//! by itself; the rest is said.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROGRAM: &str = include_str!("peers.js");

/// What npm installs. `isolated-vm` comes built for this version of Node and newer ones.
const ENGINES: [&str; 2] = ["quickjs-emscripten@0.32.0", "isolated-vm@7.0.1"];
const NODE: &str = "24.21.0";

/// Name and microseconds of each that takes part.
pub(crate) fn measure() -> Vec<(String, f64)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
    let node = match set_up(&folder) {
        Ok(node) => node.into_os_string(),
        Err(reason) => {
            println!("npm set up no engines ({reason}); comparing with what Node finds");
            OsString::from("node")
        }
    };
    let mut paths = vec![folder.join("node_modules")];
    if let Some(more) = std::env::var_os("NODE_PATH") {
        paths.extend(std::env::split_paths(&more));
    }
    let output = Command::new(node)
        .args(["-e", PROGRAM])
        .env("NODE_PATH", std::env::join_paths(paths).unwrap_or_default())
        .stderr(Stdio::inherit())
        .output();
    let Ok(output) = output else {
        println!("Node is not here: no comparison with its engines");
        return Vec::new();
    };
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(name, micros)| Some((name.to_owned(), micros.parse().ok()?)))
        .collect()
}

/// The program to run them with, or why there is none.
fn set_up(folder: &Path) -> Result<PathBuf, String> {
    let package = format!("node-linux-{}", architecture()?);
    let wanted = [
        &[format!("{package}@{NODE}")],
        &ENGINES.map(str::to_owned)[..],
    ]
    .concat();
    let node = folder.join("node_modules").join(package).join("bin/node");
    // Written last: a set-up that was cut short is made again.
    let done = folder.join("installed");
    if std::fs::read_to_string(&done).is_ok_and(|installed| installed == wanted.join(" ")) {
        return Ok(node);
    }
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    std::fs::write(folder.join("package.json"), r#"{ "private": true }"#)
        .map_err(|error| error.to_string())?;
    // No package's own script: what is needed is in the packages.
    let output = Command::new("npm")
        .args([
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ])
        .args(&wanted)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("npm: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(text.lines().next().unwrap_or("npm failed").to_owned());
    }
    std::fs::write(done, wanted.join(" ")).map_err(|error| error.to_string())?;
    Ok(node)
}

/// As the packages name it.
fn architecture() -> Result<&'static str, String> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("x64"),
        "aarch64" => Ok("arm64"),
        other => Err(format!("no package has Node for {other}")),
    }
}
