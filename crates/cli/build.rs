//! Notes which program is built: its commit, target and profile.

use std::process::Command;

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let profile = variable("PROFILE");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=BUILT_COMMIT");
    // Not called `RINGFENCE_…`: tests are given these too, and the program takes every such name for a setting.
    println!("cargo:rustc-env=BUILT_TARGET={}", variable("TARGET"));
    println!("cargo:rustc-env=BUILT_PROFILE={profile}");
    // Whoever builds without a repository says which commit it is. While developing nobody needs to know, and a program
    // that is built anew with every commit is a nuisance.
    let commit = match variable("BUILT_COMMIT") {
        named if !named.is_empty() => named,
        _ if profile == "debug" => "not noted in a debug build".to_owned(),
        _ => head().unwrap_or_else(|| "unknown".to_owned()),
    };
    println!("cargo:rustc-env=BUILT_COMMIT={commit}");
}

/// The commit that is checked out, marked if files were changed since.
fn head() -> Option<String> {
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo:rerun-if-changed={log}");
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let is_changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if is_changed {
        format!("{commit} with changes")
    } else {
        commit
    })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
