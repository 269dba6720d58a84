//! The processes of this machine, looked at from outside: whether something still runs, and how long it takes to be gone.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The processes of the machine whose command line contains a text.
pub fn processes_with(text: &str) -> Vec<String> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let line = fs::read(path.join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let own = path.file_name()?.to_str()? == std::process::id().to_string();
            (!own && line.contains(text)).then_some(line)
        })
        .collect()
}

/// Waits until no process of this one's group, which other tests have no part in, has the text in its command line; at most
/// a second.
pub fn gone_from_the_group_within_a_second(text: &str) -> Result<(), Vec<String>> {
    let own = group(&Path::new("/proc").join("self"));
    none_within_a_second(|| {
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        all.filter(|entry| group(&entry.path()) == own)
            .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
            .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
            .filter(|line| line.contains(text))
            .collect()
    })
}

/// The group of a process, given its folder.
fn group(process: &Path) -> Option<String> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    fields.nth(2).map(str::to_owned)
}

/// Waits until no process has the text in its command line; at most a second.
pub fn gone_within_a_second(text: &str) -> Result<(), Vec<String>> {
    none_within_a_second(|| processes_with(text))
}

/// Waits until a folder is empty; at most a second.
#[allow(clippy::expect_used, reason = "a test without its folder cannot go on")]
pub fn empty_within_a_second(folder: &Path) -> Result<(), Vec<String>> {
    none_within_a_second(|| {
        let entries = fs::read_dir(folder).expect("folder");
        entries
            .map(|entry| {
                entry
                    .expect("entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect()
    })
}

/// Waits until a look finds nothing any more; at most a second. What is still there is the error.
pub fn none_within_a_second<T>(look: impl Fn() -> Vec<T>) -> Result<(), Vec<T>> {
    let deadline = Instant::now() + Duration::from_secs(1);
    loop {
        let found = look();
        if found.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(found);
        }
        std::thread::yield_now();
    }
}
