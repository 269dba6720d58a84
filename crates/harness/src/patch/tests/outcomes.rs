//! What patches make of files: a table.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::super::ChangeKind;
use super::{Entry, Site};

/// Files before; the patch; files after, or a part of the error.
type Case<'a> = (
    &'a str,
    &'a [(&'a str, &'a str)],
    &'a str,
    Result<&'a [(&'a str, &'a str)], &'a str>,
);

fn check((name, before, patch, expected): &Case<'_>) {
    let site = Site::new(before);
    let untouched = site.state();
    let result = site.apply(patch);
    match expected {
        Ok(after) => {
            result.unwrap_or_else(|error| panic!("{name}: {error}"));
            let expected = Site::new(after).state();
            assert_eq!(contents(&site.state()), contents(&expected), "{name}");
        }
        Err(part) => {
            let error = result.expect_err(name).to_string();
            assert!(error.contains(part), "{name}: {error}");
            assert_eq!(site.state(), untouched, "{name}: something was left");
        }
    }
    assert_eq!(site.recover().unwrap(), 0, "{name}: a journal was left");
}

/// Text of files, without folders.
fn contents(state: &super::State) -> Vec<(String, String)> {
    let files = state.iter().filter_map(|(path, entry)| match entry {
        Entry::Folder => None,
        Entry::Link(target) => Some((path, format!("-> {}", target.display()))),
        Entry::File { content, .. } => Some((path, String::from_utf8_lossy(content).into_owned())),
    });
    files
        .map(|(path, text)| (path.display().to_string(), text))
        .collect()
}

const ABC: &[(&str, &str)] = &[("f", "a\nb\nc\n")];

#[test]
fn envelopes() {
    let cases: &[Case<'_>] = &[
        (
            "add, with folders",
            &[],
            "*** Begin Patch\n*** Add File: x/y/z.txt\n+one\n+\n+two\n*** End Patch\n",
            Ok(&[("x/y/z.txt", "one\n\ntwo\n")]),
        ),
        (
            "add an empty file",
            &[],
            "*** Begin Patch\n*** Add File: empty\n*** End Patch",
            Ok(&[("empty", "")]),
        ),
        (
            "add what is there",
            ABC,
            "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch",
            Err("`f` exists already; to change it, use `*** Update File: f`"),
        ),
        (
            "delete",
            ABC,
            "*** Begin Patch\n*** Delete File: f\n*** End Patch",
            Ok(&[]),
        ),
        (
            "delete what is not there",
            ABC,
            "*** Begin Patch\n*** Delete File: g\n*** End Patch",
            Err("`g` does not exist"),
        ),
        (
            "update",
            ABC,
            "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+B\n c\n*** End Patch",
            Ok(&[("f", "a\nB\nc\n")]),
        ),
        (
            "update without the first @@",
            ABC,
            "*** Begin Patch\n*** Update File: f\n a\n-b\n+B\n*** End Patch",
            Ok(&[("f", "a\nB\nc\n")]),
        ),
        (
            "several hunks, in order",
            &[("f", "x\ny\nx\ny\nx\ny\n")],
            "*** Begin Patch\n*** Update File: f\n@@\n-x\n+1\n y\n@@\n-x\n+2\n y\n*** End Patch",
            Ok(&[("f", "1\ny\n2\ny\nx\ny\n")]),
        ),
        (
            "several hunks, out of order",
            &[("f", "a\nb\nc\nd\n")],
            "*** Begin Patch\n*** Update File: f\n@@\n-d\n+D\n@@\n-a\n+A\n*** End Patch",
            Ok(&[("f", "A\nb\nc\nD\n")]),
        ),
        (
            "headings, nested",
            &[(
                "f.py",
                "class A:\n  def f():\n    pass\nclass B:\n  def f():\n    pass\n",
            )],
            "*** Begin Patch\n*** Update File: f.py\n@@ class B:\n@@   def f():\n-    pass\n+    return 1\n*** End Patch",
            Ok(&[(
                "f.py",
                "class A:\n  def f():\n    pass\nclass B:\n  def f():\n    return 1\n",
            )]),
        ),
        (
            "only added lines, after a heading",
            ABC,
            "*** Begin Patch\n*** Update File: f\n@@ b\n+new\n*** End Patch",
            Ok(&[("f", "a\nb\nnew\nc\n")]),
        ),
        (
            "only added lines, at the end",
            ABC,
            "*** Begin Patch\n*** Update File: f\n@@\n+d\n*** End Patch",
            Ok(&[("f", "a\nb\nc\nd\n")]),
        ),
        (
            "the last of several, by End of File",
            &[("f", "x\ny\nx\n")],
            "*** Begin Patch\n*** Update File: f\n@@\n-x\n+z\n*** End of File\n*** End Patch",
            Ok(&[("f", "x\ny\nz\n")]),
        ),
        (
            "move and change",
            ABC,
            "*** Begin Patch\n*** Update File: f\n*** Move to: d/g\n@@\n-b\n+B\n*** End Patch",
            Ok(&[("d/g", "a\nB\nc\n")]),
        ),
        (
            "move alone",
            ABC,
            "*** Begin Patch\n*** Update File: f\n*** Move to: g\n*** End Patch",
            Ok(&[("g", "a\nb\nc\n")]),
        ),
        (
            "move onto another file",
            &[("f", "a\n"), ("g", "b\n")],
            "*** Begin Patch\n*** Update File: f\n*** Move to: g\n*** End Patch",
            Err("`g` exists already"),
        ),
        (
            "delete and add is to replace",
            ABC,
            "*** Begin Patch\n*** Delete File: f\n*** Add File: f\n+new\n*** End Patch",
            Ok(&[("f", "new\n")]),
        ),
        (
            "two updates of one file",
            ABC,
            "*** Begin Patch\n*** Update File: f\n-a\n+A\n*** Update File: f\n A\n-b\n+B\n*** End Patch",
            Ok(&[("f", "A\nB\nc\n")]),
        ),
        (
            "the second file fails, and so does the first",
            ABC,
            "*** Begin Patch\n*** Add File: n/g\n+x\n*** Update File: f\n-zzz\n*** End Patch",
            Err("hunk 1 of 1 of `f` fits nowhere"),
        ),
        (
            "line ends stay",
            &[("f", "a\r\nb\r\nc")],
            "*** Begin Patch\n*** Update File: f\n a\n-b\n+B\n+B2\n*** End Patch",
            Ok(&[("f", "a\r\nB\r\nB2\r\nc")]),
        ),
        (
            "no newline at the end stays none",
            &[("f", "a\nb")],
            "*** Begin Patch\n*** Update File: f\n-b\n+c\n*** End Patch",
            Ok(&[("f", "a\nc")]),
        ),
        (
            "blanks at the end of lines do not matter, and stay",
            &[("f", "a  \nb\n")],
            "*** Begin Patch\n*** Update File: f\n a\n-b\n+c\n*** End Patch",
            Ok(&[("f", "a  \nc\n")]),
        ),
        (
            "indentation matters where it decides",
            &[("f", "  x\n    x\n")],
            "*** Begin Patch\n*** Update File: f\n-x\n+y\n*** End Patch",
            Err("fits nowhere"),
        ),
        (
            "quotes that look alike",
            &[("f", "say “hi” – now\n")],
            "*** Begin Patch\n*** Update File: f\n-say \"hi\" - now\n+x\n*** End Patch",
            Ok(&[("f", "x\n")]),
        ),
        (
            "in a here-document",
            ABC,
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: f\n*** End Patch\nEOF\n",
            Ok(&[]),
        ),
        (
            "cut off",
            ABC,
            "*** Begin Patch\n*** Update File: f\n-b\n+B\n",
            Err("without `*** End Patch`"),
        ),
        (
            "nothing in it",
            ABC,
            "*** Begin Patch\n*** End Patch",
            Err("changes no file"),
        ),
        (
            "a line that is none of a hunk",
            ABC,
            "*** Begin Patch\n*** Update File: f\n@@\n-b\nB\n*** End Patch",
            Err("line 5 of the patch"),
        ),
        (
            "a marker that does not exist",
            ABC,
            "*** Begin Patch\n*** Rename File: f\n*** End Patch",
            Err("`*** Rename File: f` is not one of"),
        ),
        ("not a patch", ABC, "s/a/b/", Err("begins neither with")),
        ("nothing", ABC, " \n", Err("it is empty")),
        (
            "a folder",
            &[("d/x", "")],
            "*** Begin Patch\n*** Delete File: d\n*** End Patch",
            Err("`d` is not an ordinary file"),
        ),
        (
            "a file in the place of a folder",
            ABC,
            "*** Begin Patch\n*** Add File: f/g\n+x\n*** End Patch",
            Err("`f/g` cannot be"),
        ),
        (
            "the workspace itself",
            ABC,
            "*** Begin Patch\n*** Delete File: .\n*** End Patch",
            Err("cannot be used"),
        ),
        (
            "through a link inside",
            &[("real/f", "a\n"), ("link", "-> real")],
            "*** Begin Patch\n*** Update File: link/f\n-a\n+b\n*** End Patch",
            Ok(&[("real/f", "b\n"), ("link", "-> real")]),
        ),
        (
            "a link to a file is followed",
            &[("real", "a\n"), ("link", "-> real")],
            "*** Begin Patch\n*** Update File: link\n-a\n+b\n*** End Patch",
            Ok(&[("real", "b\n"), ("link", "-> real")]),
        ),
        (
            "a link is deleted, not what it points at",
            &[("real", "a\n"), ("link", "-> real")],
            "*** Begin Patch\n*** Delete File: link\n*** End Patch",
            Ok(&[("real", "a\n")]),
        ),
        (
            "a dangling link",
            &[("link", "-> nowhere")],
            "*** Begin Patch\n*** Add File: link\n+x\n*** End Patch",
            Err("`link` exists already"),
        ),
    ];
    cases.iter().for_each(check);
}

#[test]
fn unified_diffs() {
    let cases: &[Case<'_>] = &[
        (
            "plain",
            ABC,
            "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
            Ok(&[("f", "a\nB\nc\n")]),
        ),
        (
            "of git, with text before",
            ABC,
            "Here it is:\n\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+B\n",
            Ok(&[("f", "a\nB\nc\n")]),
        ),
        (
            "new file",
            &[],
            "--- /dev/null\n+++ b/n/f\n@@ -0,0 +1,2 @@\n+a\n+b\n",
            Ok(&[("n/f", "a\nb\n")]),
        ),
        (
            "deleted file",
            ABC,
            "--- a/f\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n",
            Ok(&[]),
        ),
        (
            "deleted file with other lines",
            ABC,
            "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-x\n",
            Err("hunk 1 of 1 of `f` fits nowhere"),
        ),
        (
            "deleted file with more lines",
            ABC,
            "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
            Err("has more in it"),
        ),
        (
            "renamed",
            ABC,
            "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n",
            Ok(&[("g", "a\nb\nc\n")]),
        ),
        (
            "the nearest of several places",
            &[("f", "x\n1\nx\n2\nx\n3\n")],
            "--- f\n+++ f\n@@ -5 +5 @@\n-x\n+X\n",
            Ok(&[("f", "x\n1\nx\n2\nX\n3\n")]),
        ),
        (
            "moved down by lines that came before",
            &[("f", "new\nnew\nx\n1\nx\n2\n")],
            "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-x\n+X\n 1\n@@ -3,2 +3,2 @@\n-x\n+Y\n 2\n",
            Ok(&[("f", "new\nnew\nX\n1\nY\n2\n")]),
        ),
        (
            "counts that are off",
            ABC,
            "--- f\n+++ f\n@@ -1,9 +1,2 @@\n a\n-b\n+B\n+B2\n c\n",
            Ok(&[("f", "a\nB\nB2\nc\n")]),
        ),
        (
            "only added lines",
            ABC,
            "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n",
            Ok(&[("f", "a\nx\nb\nc\n")]),
        ),
        (
            "two files",
            &[("f", "a\n"), ("g", "-- b\n")],
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n--- b\n+++ c\n",
            Ok(&[("f", "A\n"), ("g", "++ c\n")]),
        ),
        (
            "no newline at the end, before",
            &[("f", "a")],
            "--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
            Ok(&[("f", "a\n")]),
        ),
        (
            "no newline at the end, after",
            &[("f", "a\n")],
            "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n",
            Ok(&[("f", "b")]),
        ),
        (
            "a name with blanks, in quotes",
            &[("ä b", "a\n")],
            "--- \"a/\\303\\244 b\"\n+++ \"b/\\303\\244 b\"\n@@ -1 +1 @@\n-a\n+b\n",
            Ok(&[("ä b", "b\n")]),
        ),
        (
            "binary",
            ABC,
            "diff --git a/f b/f\nGIT binary patch\nliteral 1\n",
            Err("binary patches are not understood"),
        ),
        (
            "a hunk without a file",
            ABC,
            "@@ -1 +1 @@\n-a\n+b\n--- x\n",
            Err("belongs to no file"),
        ),
        (
            "in a fence",
            ABC,
            "```diff\n--- f\n+++ f\n@@ -1 +1 @@\n-a\n+A\n```\n",
            Ok(&[("f", "A\nb\nc\n")]),
        ),
    ];
    cases.iter().for_each(check);
}

#[test]
fn a_failed_hunk_says_which_and_what_was_there() {
    let before = "fn main() {\n    let total = 1;\n    println!(\"{total}\");\n}\n";
    let site = Site::new(&[("src/main.rs", before)]);
    let error = site
        .apply(
            "*** Begin Patch\n*** Update File: src/main.rs\n@@\n-fn main() {\n+fn main() -> u8 {\n@@\n     let total = 2;\n-    println!(\"{total}\");\n+    total\n*** End Patch\n",
        )
        .unwrap_err();
    expect_test::expect![[r#"
        hunk 2 of 2 of `src/main.rs` fits nowhere. It expects:
               |     let total = 2;
               |     println!("{total}");
        The nearest place is line 2, which has:
             2 |     let total = 1;
             3 |     println!("{total}");
        Line 2 differs: `    let total = 1;` instead of `    let total = 2;`."#]]
    .assert_eq(&error.to_string());
    expect_test::expect![[r#"{"path":"src/main.rs","hunk":2,"hunks":2,"expected":["    let total = 2;","    println!(\"{total}\");"],"heading":null,"nearest":{"line":2,"found":["    let total = 1;","    println!(\"{total}\");"],"firstDifference":2}}"#]]
        .assert_eq(&error.details().unwrap().to_string());
}

#[test]
fn modes_are_kept_and_set() {
    let site = Site::new(&[("run", "#!/bin/sh\necho a\n"), ("odd", "x\n")]);
    let mode = |name: &str| {
        let meta = fs::metadata(site.work().join(name)).unwrap();
        meta.permissions().mode() & 0o7777
    };
    for (name, mode) in [("run", 0o755), ("odd", 0o640)] {
        let path = site.work().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    site.apply("*** Begin Patch\n*** Update File: run\n-echo a\n+echo b\n*** Update File: odd\n*** Move to: odder\n-x\n+y\n*** Add File: new\n+x\n*** End Patch")
        .unwrap();
    assert_eq!(
        (mode("run"), mode("odder"), mode("new")),
        (0o755, 0o640, 0o644)
    );
    site.apply("diff --git a/new b/new\nold mode 100644\nnew mode 100755\ndiff --git a/p b/p\nnew file mode 100755\n--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+x\n")
        .unwrap();
    assert_eq!((mode("new"), mode("p")), (0o755, 0o755));
}

#[test]
fn changes_are_told() {
    let site = Site::new(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n")]);
    let applied = site
        .apply("*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Delete File: b\n*** Add File: d\n+x\n*** Update File: c\n*** Move to: e\n*** End Patch")
        .unwrap();
    let told: Vec<_> = applied
        .changes
        .iter()
        .map(|change| {
            (
                change.path.as_str(),
                change.kind,
                change.moved_from.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a", ChangeKind::Update, None),
            ("b", ChangeKind::Delete, None),
            ("d", ChangeKind::Add, None),
            ("c", ChangeKind::Delete, None),
            ("e", ChangeKind::Add, Some("c")),
        ]
    );
}

#[test]
fn what_somebody_else_changed_meanwhile_is_not_lost() {
    // The file changes between reading and exchanging: here, by the patch being applied twice at
    // once, which the second one finds out when it looks at what it has put aside.
    let site = Site::new(&[("f", "a\n")]);
    let stale = super::locate(
        "*** Begin Patch\n*** Update File: f\n-a\n+b\n*** End Patch",
        1 << 20,
        &site.atlas(),
    )
    .unwrap();
    let drafted = super::super::draft::draft(stale.changes, &mut |location| {
        let found = super::super::apply::read(location, 1 << 20);
        // Somebody is quicker.
        fs::write(site.work().join("f"), "a\nand more\n").unwrap();
        found
    })
    .unwrap();
    let errand = super::Errand {
        call: super::CallId("call-1".to_owned()),
        session: super::SessionId("ses_1".to_owned()),
        owner: None,
        id: "test".to_owned(),
    };
    let plan = super::super::swap::plan(errand, &drafted.edits).unwrap();
    let mut journal = super::Journal::begin(&site.journals(), "one").unwrap();
    let error =
        super::super::swap::carry_out(&plan, &drafted.edits, &mut journal).expect_err("changed");
    assert_eq!(error.code(), "patch_file_changed");
    assert_eq!(
        contents(&site.state()),
        [("f".to_owned(), "a\nand more\n".to_owned())]
    );
}
