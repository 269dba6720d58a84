//! The program killed before every single step of a patch, and of the recovery after it.

use super::super::step::testing::killed_after;
use super::Site;

/// A name, files, and a patch for them.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

const PATCHES: &[Case<'_>] = &[
    (
        "everything at once",
        &[
            ("a", "1\n2\n"),
            ("b", "x\n"),
            ("c/d", "old\n"),
            ("l", "-> a"),
        ],
        "*** Begin Patch\n*** Update File: a\n-1\n+one\n*** Delete File: b\n*** Add File: new/deep/f\n+hello\n*** Update File: c/d\n*** Move to: e/d\n-old\n+new\n*** Delete File: l\n*** Add File: new/g\n+x\n*** End Patch",
    ),
    (
        "three updates",
        &[("a", "1\n"), ("b", "1\n"), ("c", "1\n")],
        "--- a\n+++ a\n@@ -1 +1 @@\n-1\n+2\n--- b\n+++ b\n@@ -1 +1 @@\n-1\n+2\n--- c\n+++ c\n@@ -1 +1 @@\n-1\n+2\n",
    ),
    (
        "a patch that fails half-way",
        &[("a", "1\n"), ("b/c", "1\n")],
        // `b` is a folder: found out while folders are made.
        "*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Add File: x/y\n+1\n*** Add File: a/z\n+1\n*** End Patch",
    ),
];

/// More steps than any of these patches takes.
const MOST: usize = 200;

#[test]
fn all_or_nothing_wherever_it_is_killed() {
    for (name, files, patch) in PATCHES {
        let before = Site::new(files).state();
        let after = {
            let site = Site::new(files);
            let _ = site.apply(patch);
            site.state()
        };
        let mut seen = (false, false);
        let mut ended = false;
        for steps in 0..MOST {
            let site = Site::new(files);
            let (_, killed) = killed_after(steps, || site.apply(patch));
            site.recover().unwrap();
            let state = site.state();
            assert!(
                state == before || state == after,
                "{name}, killed before step {steps}: {state:#?}"
            );
            seen = (seen.0 || state == before, seen.1 || state == after);
            let left = std::fs::read_dir(site.journals()).unwrap().count();
            assert_eq!(left, 0, "{name}, step {steps}: a journal was left");
            if !killed {
                ended = true;
                break;
            }
        }
        assert!(ended && seen == (true, true), "{name}: {seen:?}");
    }
}

#[test]
fn recovery_may_be_killed_as_well() {
    let (name, files, patch) = PATCHES[0];
    let before = Site::new(files).state();
    let after = {
        let site = Site::new(files);
        site.apply(patch).unwrap();
        site.state()
    };
    for steps in 0..MOST {
        let mut killed = true;
        for recovery in 0..MOST {
            let site = Site::new(files);
            killed = killed_after(steps, || site.apply(patch)).1;
            let (_, again) = killed_after(recovery, || site.recover());
            site.recover().unwrap();
            let state = site.state();
            assert!(
                state == before || state == after,
                "{name}, killed before step {steps} and {recovery}: {state:#?}"
            );
            if !again {
                break;
            }
        }
        if !killed {
            return;
        }
    }
    panic!("{name}: more steps than thought");
}

#[test]
fn what_was_written_after_the_kill_is_not_taken_back() {
    let files: &[(&str, &str)] = &[("a", "1\n"), ("b", "1\n")];
    let patch =
        "*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Update File: b\n-1\n+2\n*** End Patch";
    for steps in 0..MOST {
        let site = Site::new(files);
        let (_, killed) = killed_after(steps, || site.apply(patch));
        if !killed {
            return;
        }
        std::fs::write(site.work().join("a"), "the user's own\n").unwrap();
        site.recover().unwrap();
        let text = std::fs::read_to_string(site.work().join("a")).unwrap();
        assert_eq!(text, "the user's own\n", "killed before step {steps}");
        assert_eq!(site.state().len(), 2, "killed before step {steps}");
    }
}

#[test]
fn a_journal_that_is_in_use_is_left_alone() {
    let site = Site::new(&[]);
    let journal = super::Journal::begin(&site.journals(), "live").unwrap();
    assert_eq!(site.recover().unwrap(), 0);
    assert!(site.journals().join("live.journal").exists());
    journal.end().unwrap();
}
