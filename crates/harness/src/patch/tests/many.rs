//! Patches with thousands of files and folders: the work grows with their number, not with its
//! square.

use std::fmt::Write as _;

use super::super::apply::locate;
use super::super::draft::draft;
use super::super::swap::{self, Errand};
use super::Site;
use crate::audit::{CallId, SessionId};

/// A patch that adds so many files, each in a folder of its own.
fn patch(files: usize) -> String {
    let mut text = "*** Begin Patch\n".to_owned();
    for number in 0..files {
        writeln!(text, "*** Add File: many/folder-{number}/inner/file\n+x").unwrap();
    }
    text + "*** End Patch\n"
}

/// The time that this thread has had on a processor, in nanoseconds.
fn worked() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// The work of placing and planning a patch, without writing anything.
fn work(site: &Site, files: usize) -> u64 {
    let text = patch(files);
    let before = worked();
    let located = locate(&text, 1 << 30, &site.atlas()).unwrap();
    assert_eq!(located.action().writes.len(), files);
    let drafted = draft(located.changes, &mut |_| Ok(None)).unwrap();
    let errand = Errand {
        call: CallId("call-1".to_owned()),
        session: SessionId("ses_1".to_owned()),
        owner: None,
        id: "test".to_owned(),
    };
    let plan = swap::plan(errand, &drafted.edits).unwrap();
    assert_eq!(plan.folders.len(), 2 * files + 1);
    worked() - before
}

#[test]
fn eight_times_the_folders_are_about_eight_times_the_work() {
    let site = Site::new(&[]);
    // The least of several: what disturbs only ever adds.
    let least = |files| (0..3).map(|_| work(&site, files)).min().unwrap();
    let (few, many) = (least(500), least(4000));
    assert!(many < few * 20, "{few} ns for 500, {many} ns for 4,000");
}
