//! How long `file_search` takes among a hundred thousand files: the first search of a session, and
//! later ones, beside a plain walk that only lists the names.
//!
//! `cargo bench -p ringfence-bench --bench search [-- --check]`. With `--check` a target that is
//! clearly missed is a failure.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs::{self, File};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use ringfence::Engine;
use ringfence::approval::Scripted;
use ringfence::shell::detect_shell;
use ringfence_bench::contest::{self, Contender, Times, Trouble, Turn, ratio};
use ringfence_bench::target::{Bound, Target};
use ringfence_bench::venue::{self, Venue};
use serde_json::json;

const ROUNDS: u32 = 15;
const PACKAGES: usize = 20;
const MODULES: usize = 50;
const FILES: usize = 100;

const WALK: &str = "plain walk";
const FIRST: &str = "the first search of a session";
const LATER: &str = "a later one";
const CHANGED: &str = "a later one, after a file was added";
const GLOB: &str = "a later one, by a pattern";

fn main() -> ExitCode {
    ringfence::init();
    venue::close(run())
}

fn run() -> Result<Vec<Target>, Trouble> {
    let venue = Venue::open()?;
    let workspace = venue.folder("workspace")?;
    plant(&workspace)?;
    let open = || open(&workspace);
    let kept = open()?;
    let search = |engine: &Engine, pattern: &str| -> Result<(), Trouble> {
        let found = venue
            .runtime
            .block_on(engine.call("file_search", json!({ "pattern": pattern })))?;
        match found.as_array() {
            Some(found) if !found.is_empty() => Ok(()),
            _ => Err("nothing was found".into()),
        }
    };
    let later = |pattern: &'static str| -> Turn<'_> {
        let (kept, search) = (&kept, &search);
        Box::new(move || {
            let started = Instant::now();
            search(kept, pattern)?;
            Ok(started.elapsed())
        })
    };
    let mut added = 0;
    let turns: [(&str, Turn<'_>); 5] = [
        (
            WALK,
            Box::new(|| {
                let started = Instant::now();
                let count = walk(&workspace)?;
                assert!(count >= PACKAGES * MODULES * FILES);
                Ok(started.elapsed())
            }),
        ),
        (
            FIRST,
            Box::new(|| {
                let engine = open()?;
                let started = Instant::now();
                search(&engine, "mod12comp7")?;
                Ok(started.elapsed())
            }),
        ),
        (LATER, later("mod12comp7")),
        (
            CHANGED,
            Box::new(|| {
                added += 1;
                File::create(workspace.join(format!("package3/module5/added_{added}.ts")))?;
                let started = Instant::now();
                search(&kept, "added")?;
                Ok(started.elapsed())
            }),
        ),
        (GLOB, later("*.test.ts")),
    ];
    let (names, turns): (Vec<_>, Vec<_>) = turns.into_iter().unzip();
    let mut contenders: Vec<Contender<'_>> = names
        .iter()
        .zip(turns)
        .map(|(name, turn)| Contender {
            name: (*name).to_owned(),
            turn,
        })
        .collect();
    let mut times = vec![Times::default(); contenders.len()];
    contest::hold(&mut contenders, &mut times, ROUNDS)?;
    println!(
        "{} files in {} folders, {ROUNDS} runs each, milliseconds\n",
        PACKAGES * MODULES * FILES,
        PACKAGES * (MODULES + 1)
    );
    println!("{:<40}{:>8}{:>8}{:>8}", "", "median", "p90", "× walk");
    for (name, times_of) in names.iter().zip(&times) {
        println!(
            "{name:<40}{:>8.1}{:>8.1}{:>8.2}",
            millis(times_of),
            times_of.quantile(0.9).as_secs_f64() * 1000.0,
            ratio(times_of.median(), times[0].median())
        );
    }
    Ok(vec![
        Target {
            what: "the first search / plain walk",
            measured: ratio(times[1].median(), times[0].median()),
            bound: Bound::AtMost(2.0),
        },
        Target {
            what: "a later search, milliseconds",
            measured: millis(&times[2]),
            bound: Bound::AtMost(50.0),
        },
    ])
}

fn millis(times: &Times) -> f64 {
    times.median().as_secs_f64() * 1000.0
}

/// Fills a folder.
fn plant(root: &Path) -> Result<(), Trouble> {
    fs::write(root.join(".gitignore"), "target/\n*.log\nnode_modules\n")?;
    for package in 0..PACKAGES {
        for module in 0..MODULES {
            let folder = root.join(format!("package{package}/module{module}"));
            fs::create_dir_all(&folder)?;
            for file in 0..FILES {
                let end = if file % 3 == 0 { "test.ts" } else { "ts" };
                File::create(folder.join(format!("component_{file}.{end}")))?;
            }
        }
    }
    Ok(())
}

/// Lists every name, on one thread, and minds no ignore files.
fn walk(folder: &Path) -> Result<usize, Trouble> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        count += if entry.file_type()?.is_dir() {
            walk(&entry.path())?
        } else {
            1
        };
    }
    Ok(count)
}

fn open(workspace: &Path) -> Result<Engine, Trouble> {
    Ok(Engine::builder(workspace)
        .shell(detect_shell(Some(Path::new("/bin/sh")), 0, None)?)
        .approver(Scripted::ApproveAll)
        .open()?)
}
