//! Messages taken apart: a table, every split, and ten thousand mutations.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use ringfence_dialect::message::{Detector, Segment, SegmentKind, SourceLimits, detect, joined};

/// The parts of a message, one per line.
fn shown(segments: &[Segment]) -> String {
    let mut text = String::new();
    for segment in segments {
        let raw = String::from_utf8_lossy(&segment.raw);
        let at = segment.at;
        let _ = match &segment.kind {
            SegmentKind::Text => writeln!(text, "text {raw:?}"),
            SegmentKind::Thinking(thought) => writeln!(text, "thinking {thought:?}"),
            SegmentKind::Script(script) => writeln!(
                text,
                "script {:?} {:?} at {at}, source at {} (byte {}): {:?}",
                script.form,
                script.language,
                script.source_at,
                script.source_at.byte,
                script.source
            ),
            SegmentKind::Rejected(rejection) => writeln!(text, "rejected {rejection}: {raw:?}"),
        };
    }
    text
}

fn check(message: &str, expected: &Expect) {
    let segments = detect(message.as_bytes(), SourceLimits::default());
    expected.assert_eq(&shown(&segments));
    assert_eq!(put_together(&segments), message.as_bytes());
    // Byte by byte, too.
    assert_eq!(in_pieces(message.as_bytes(), |_| 1), segments);
}

fn put_together(segments: &[Segment]) -> Vec<u8> {
    segments
        .iter()
        .flat_map(|segment| segment.raw.clone())
        .collect()
}

fn in_pieces(message: &[u8], mut size: impl FnMut(usize) -> usize) -> Vec<Segment> {
    let mut detector = Detector::new(SourceLimits::default());
    let mut segments = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(size(rest.len()).clamp(1, rest.len()));
        segments.extend(detector.feed(piece));
        rest = after;
    }
    segments.extend(detector.finish());
    joined(segments)
}

#[test]
fn text_thoughts_and_scripts_in_order() {
    check(
        "Let me see.\n\n<thinking>\nfirst <tool-calls>no</tool-calls>\n</thinking>\n\nStarting.\n<tool-calls>\nreturn 1;\n</tool-calls>\n\nThen:\n```ts tool-calls\nreturn 2;\n```\nDone.\n",
        &expect![[r#"
            text "Let me see.\n\n"
            thinking "\nfirst <tool-calls>no</tool-calls>\n"
            text "\n\nStarting.\n"
            script Tags Ts at line 8, column 1, source at line 9, column 1 (byte 94): "return 1;"
            text "\n\nThen:\n"
            script Fence Ts at line 13, column 1, source at line 14, column 1 (byte 142): "return 2;"
            text "\nDone.\n"
        "#]],
    );
}

#[test]
fn shown_code_is_no_script() {
    check(
        "Write `<tool-calls>` or ``a ` <tool-calls>``:\n```xml\n<tool-calls>\nx\n</tool-calls>\n```\n~~~~\n```ts tool-calls\nx\n```\n~~~~\n\\`<tool-calls>a</tool-calls>\\`\n5` <tool-calls>b</tool-calls>\n",
        &expect![[r#"
            text "Write `<tool-calls>` or ``a ` <tool-calls>``:\n```xml\n<tool-calls>\nx\n</tool-calls>\n```\n~~~~\n```ts tool-calls\nx\n```\n~~~~\n\\`"
            script Tags Ts at line 12, column 3, source at line 12, column 15 (byte 133): "a"
            text "\\`\n5` "
            script Tags Ts at line 13, column 4, source at line 13, column 16 (byte 165): "b"
            text "\n"
        "#]],
    );
}

#[test]
fn forms_of_scripts() {
    check(
        "a <tool-calls>x()</tool-calls> b <tool-calls lang=\"js\">y()</tool-calls>\n<tool-calls>\n```ts\nz()\n```\n</tool-calls>\n  ````js tool-calls\r\n```\r\nw()\r\n````  \r\n~~~typescript tool-calls\n\u{feff}v()\n~~~",
        &expect![[r#"
            text "a "
            script Tags Ts at line 1, column 3, source at line 1, column 15 (byte 14): "x()"
            text " b "
            script Tags Js at line 1, column 34, source at line 1, column 56 (byte 55): "y()"
            text "\n"
            script Tags Ts at line 2, column 1, source at line 4, column 1 (byte 91): "z()"
            text "\n"
            script Fence Js at line 7, column 1, source at line 8, column 1 (byte 134): "```\r\nw()"
            text "  \r\n"
            script Fence Ts at line 11, column 1, source at line 12, column 2 (byte 180): "v()"
        "#]],
    );
}

#[test]
fn what_is_not_a_block_says_where_and_why() {
    for (message, expected) in [
        (
            "é <tool-calls>\nreturn 1;",
            expect![[r#"
                text "é "
                rejected the block that begins at line 1, column 3 has no `</tool-calls>`: "<tool-calls>\nreturn 1;"
            "#]],
        ),
        (
            "a\n```ts tool-calls\nreturn 1;",
            expect![[r#"
                text "a\n"
                rejected the fence that begins at line 2, column 1 is not closed: "```ts tool-calls\nreturn 1;"
            "#]],
        ),
        (
            "a </tool-calls> b",
            expect![[r#"
                text "a "
                rejected the `</tool-calls>` at line 1, column 3 closes nothing: "</tool-calls>"
                text " b"
            "#]],
        ),
        (
            "<tool-calls>\na\n<tool-calls>b</tool-calls>\n</tool-calls> after",
            expect![[r#"
                rejected another block begins at line 3, column 1, inside a block; write one after the other: "<tool-calls>\na\n<tool-calls>b</tool-calls>\n</tool-calls>"
                text " after"
            "#]],
        ),
        (
            "```ts tool-calls\na\n```ts tool-calls\nb\n```\n```\nafter",
            expect![[r#"
                rejected another block begins at line 3, column 1, inside a block; write one after the other: "```ts tool-calls\na\n```ts tool-calls\nb\n```\n```"
                text "\nafter"
            "#]],
        ),
        (
            "<tool-calls runtime=\"v8\">x</tool-calls>",
            expect![[r#"
                rejected the mark at line 1, column 1 is not understood; write `<tool-calls>` or ```ts tool-calls, and nothing else in it: "<tool-calls runtime=\"v8\">x</tool-calls>"
            "#]],
        ),
        (
            "<tool-calls> \n</tool-calls>",
            expect![[r#"
                rejected the block at line 1, column 13 is empty: "<tool-calls> \n</tool-calls>"
            "#]],
        ),
        (
            "<thinking>so\n<tool-calls>x</tool-calls>",
            expect![[r#"
                rejected the thought that begins at line 1, column 1 is not closed: "<thinking>so\n<tool-calls>x</tool-calls>"
            "#]],
        ),
        (
            "<tool-calls-log>x</tool-calls-log> <tool-call> < / <tool-calls",
            expect![[r#"
                text "<tool-calls-log>x</tool-calls-log> <tool-call> < / <tool-calls"
            "#]],
        ),
    ] {
        check(message, &expected);
    }
}

#[test]
fn thoughts_are_thoughts_however_their_tags_are_written() {
    let script = "<tool-calls>draft()</tool-calls>";
    for (open, close) in [
        ("<thinking>", "</thinking>"),
        ("<THINKING>", "</Thinking>"),
        ("<thinking mode=\"deep\" budget='9'>", "</thinking>"),
        ("<thinking\n  mode=\"deep\"\n>", "</thinking >"),
        ("<think>", "</think>"),
        ("<Reasoning>", "</reasoning>"),
        ("<reasoning effort=high>", "</REASONING>"),
        ("<thought>", "</thought>"),
        ("<scratchpad>", "</scratchpad>"),
        ("<antThinking>", "</antThinking>"),
        // A tag inside, opened and closed, and one that is only mentioned.
        ("<thinking>a <thinking>b</thinking>", "</thinking>"),
        ("<thinking>use <thinking> tags; </thinking>", "</thinking>"),
        ("<thinking>use `<thinking>` tags ", "</thinking>"),
    ] {
        let message = format!("{open}{script}{close}<tool-calls>go()</tool-calls>");
        let segments = detect(message.as_bytes(), SourceLimits::default());
        let scripts: Vec<_> = segments
            .iter()
            .filter_map(|segment| match &segment.kind {
                SegmentKind::Script(script) => Some(script.source.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(scripts, ["go()"], "{message}");
        assert_eq!(in_pieces(message.as_bytes(), |_| 1), segments, "{message}");
    }
    // Other tags are none.
    for tag in ["thinkpad", "thinking-aloud", "think/", "rethink"] {
        let message = format!("<{tag}><tool-calls>go()</tool-calls></{tag}>");
        let segments = detect(message.as_bytes(), SourceLimits::default());
        assert!(shown(&segments).contains("\"go()\""), "{message}");
    }
}

/// The sources of the scripts in a message, and what was rejected.
fn found(message: &str) -> Vec<String> {
    let segments = detect(message.as_bytes(), SourceLimits::default());
    assert_eq!(put_together(&segments), message.as_bytes());
    assert_eq!(in_pieces(message.as_bytes(), |_| 1), segments, "{message}");
    let told = segments.iter().filter_map(|segment| match &segment.kind {
        SegmentKind::Script(script) => Some(script.source.clone()),
        SegmentKind::Rejected(rejection) => Some(rejection.to_string()),
        _ => None,
    });
    told.collect()
}

#[test]
fn marks_in_strings_and_comments_are_none() {
    // What stands in the first script; a second one follows.
    for inner in [
        "const a = '<tool-calls>';",
        "const a = \"</tool-calls>\"; b(a)",
        "// write <tool-calls> here\nb()",
        "// write </tool-calls> at the end\nb()",
        "/* <tool-calls>\n </tool-calls> */ b()",
        "const a = `\n<tool-calls>\nx\n</tool-calls>\n`; b(a)",
        "const a = `${f('</tool-calls>', `</tool-calls>${1}`)}`; b(a)",
        "const a = 'it\\'s </tool-calls>'; b(a)",
        "const a = /['\"`]/.test(x); b(a)",
        "const a = x / 2; const c = '</tool-calls>' // '\nb(a)",
        "return /[/'`]</.test(x) ? 1 : 2",
        "const it = { a: `}` }; b(`${it.a}</tool-calls>`)",
        "const a = `don't`; const c = ``; b(a, '</tool-calls>')",
    ] {
        let message =
            format!("<tool-calls>\n{inner}\n</tool-calls>\nand\n<tool-calls>two()</tool-calls>");
        assert_eq!(found(&message), [inner, "two()"], "{inner}");
        let message =
            format!("```ts tool-calls\n{inner}\n```\nand\n<tool-calls>two()</tool-calls>");
        assert_eq!(found(&message), [inner, "two()"], "{inner}");
    }
    // A fence in a template, of a script in a fence.
    let inner = "const readme = `\n~~~\nnpm i\n~~~\n\\`\\`\\`\n`; b(readme)";
    let message = format!("~~~ts tool-calls\n{inner}\n~~~\nand\n```ts tool-calls\ntwo()\n```\n");
    assert_eq!(found(&message), [inner, "two()"]);
}

#[test]
fn what_is_never_closed_swallows_no_other_script() {
    for (first, source) in [
        ("<tool-calls>return 'abc</tool-calls>", "return 'abc"),
        ("<tool-calls>\nreturn `abc\n</tool-calls>", "return `abc"),
        (
            "<tool-calls>\nreturn 1 /* abc\n</tool-calls>",
            "return 1 /* abc",
        ),
        (
            "<tool-calls>return 1 // abc</tool-calls>",
            "return 1 // abc",
        ),
        (
            "<tool-calls>\nreturn 1 // abc</tool-calls>",
            "return 1 // abc",
        ),
        ("<tool-calls>\nf(() => {\n</tool-calls>", "f(() => {"),
        ("```ts tool-calls\nreturn `abc\n```", "return `abc"),
    ] {
        let message = format!("{first}\nand <tool-calls>two()</tool-calls>");
        assert_eq!(found(&message), [source, "two()"], "{first}");
    }
    // Two that are never closed look like one template with text around it: it says where it could have ended.
    let message = "<tool-calls>a(`)</tool-calls> and <tool-calls>b(`)</tool-calls> end";
    let segments = detect(message.as_bytes(), SourceLimits::default());
    let [
        Segment {
            kind: SegmentKind::Script(script),
            raw,
            ..
        },
        _,
    ] = segments.as_slice()
    else {
        panic!("{segments:?}");
    };
    let end = script.could_end.unwrap();
    assert_eq!(&raw[..end], b"<tool-calls>a(`)</tool-calls>");
}

#[test]
fn a_script_with_two_kinds_of_marks_is_one() {
    for message in [
        "<tool-calls>\n```ts\nb()\n```\n</tool-calls>",
        "<tool-calls>\n```ts tool-calls\nb()\n```\n</tool-calls>",
        "<tool-calls>\n````typescript\nb()\n````\n</tool-calls>",
        "<tool-calls>\n~~~\nb()\n~~~\n</tool-calls>",
        "<tool-calls>```js\nb()\n```</tool-calls>",
        "```ts tool-calls\n<tool-calls>\nb()\n</tool-calls>\n```",
        "<TOOL-CALLS>b()</Tool-Calls>",
        "<tool-calls Lang='TS' >b()</tool-calls >",
        "```tool-calls\nb()\n```",
        "```TypeScript Tool-Calls\nb()\n```",
    ] {
        assert_eq!(found(message), ["b()"], "{message}");
    }
    let inner = "const a = `x`;\nb(`</tool-calls>`)";
    let message = format!("<tool-calls>\n```ts\n{inner}\n```\n</tool-calls>");
    assert_eq!(found(&message), [inner]);
}

#[test]
fn sources_are_text_of_a_bounded_size() {
    let kinds = |message: &[u8], max_source_bytes| -> String {
        shown(&detect(message, SourceLimits { max_source_bytes }))
    };
    let long = format!("<tool-calls>{}</tool-calls>", "x".repeat(20_481));
    let text = kinds(long.as_bytes(), 20_480);
    assert!(
        text.contains("has 20481 bytes, and 20480 are the most"),
        "{text}"
    );
    let text = kinds(b"<tool-calls>12345</tool-calls>", 5);
    assert!(text.starts_with("script"), "{text}");
    let text = kinds(b"a\n<tool-calls>\nb\xff</tool-calls>", 20_480);
    assert!(text.contains("not UTF-8 at line 3, column 2"), "{text}");
}

/// Messages as models write them.
const REAL: &[&str] = &[
    include_str!("messages/fix-tests.md"),
    include_str!("messages/explains.md"),
    include_str!("messages/several.md"),
    include_str!("messages/mixed.md"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_parts_for_every_split(
        which in 0..REAL.len(),
        sizes in prop::collection::vec(1usize..40, 1..50),
    ) {
        let message = REAL[which].as_bytes();
        let mut turn = 0;
        let pieces = in_pieces(message, |_| { turn += 1; sizes[turn % sizes.len()] });
        prop_assert_eq!(pieces, detect(message, SourceLimits::default()));
    }

    #[test]
    fn the_same_parts_of_any_jumble(
        parts in prop::collection::vec(prop::sample::select(vec![
            "<tool-calls>", "</tool-calls>", "<thinking>", "</thinking>", "<think>", "<Reasoning a=b>", "</reasoning>", "'", "//", "/*", "*/", "${", "}", "`", "``", "```", "````\n",
            "```ts tool-calls\n", "~~~", "\n", "\r\n", " ", "   ", "x", "é", "\\", "<", ">", "/", "tool-calls", "\u{feff}",
            "<tool-calls lang=\"js\">", "<tool-calls x", "return 1;",
        ]), 0..40),
        size in 1usize..9,
    ) {
        let message = parts.concat();
        let whole = detect(message.as_bytes(), SourceLimits::default());
        prop_assert_eq!(put_together(&whole), message.as_bytes());
        prop_assert_eq!(in_pieces(message.as_bytes(), |_| size), whole);
    }
}

#[test]
fn ten_thousand_mutations_lose_nothing() {
    // A generator of its own, so that every run tries the same.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let mut scripts = 0;
    for round in 0..10_000 {
        let mut message = REAL[round % REAL.len()].as_bytes().to_vec();
        for _ in 0..=random(4) {
            if message.is_empty() {
                break;
            }
            let at = random(message.len());
            match random(5) {
                0 => message[at] = u8::try_from(random(256)).unwrap(),
                1 => _ = message.remove(at),
                2 => message.insert(at, b"`<>/\n~\\ \xff"[random(9)]),
                3 => message.truncate(at.max(1)),
                _ => {
                    let other = REAL[random(REAL.len())].as_bytes();
                    let from = random(other.len());
                    let piece = &other[from..(from + random(60)).min(other.len())];
                    message.splice(at..at, piece.iter().copied());
                }
            }
        }
        let segments = detect(&message, SourceLimits::default());
        assert_eq!(put_together(&segments), message, "round {round}");
        let sizes = 1 + random(30);
        assert_eq!(in_pieces(&message, |_| sizes), segments, "round {round}");
        let mut at = 0;
        for segment in &segments {
            assert_eq!(segment.at.byte, at, "round {round}");
            at += segment.raw.len();
            if let SegmentKind::Script(script) = &segment.kind {
                scripts += 1;
                let source = &message[script.source_at.byte..][..script.source.len()];
                assert_eq!(source, script.source.as_bytes(), "round {round}");
            }
        }
    }
    assert!(scripts > 5_000, "only {scripts} scripts were left");
}
