//! Messages that are awkward, or meant to mislead: what runs of each, what is a thought, and what is refused.
//!
//! The rest of a message is text. Each row is read as a whole, in two pieces cut at every place, and byte by byte.

#![allow(clippy::unwrap_used)]

use ringfence_dialect::message::{Detector, Segment, SegmentKind, SourceLimits, detect, joined};

/// A message, and the parts of it that are not text: `!` is a thought, `script: …` runs, `refused: …` is told.
type Row = (&'static str, &'static [&'static str]);

const GO: &str = "script: go()";

/// Thoughts: drafts in them never run, and talk about them hides nothing.
const THOUGHTS: &[Row] = &[
    (
        "<THINKING Lang='en' depth=3><tool-calls>no()</tool-calls></Thinking> <tool-calls>go()</tool-calls>",
        &["!", GO],
    ),
    (
        "<thinking\r\n  id=\"1\"\r\n><tool-calls>no()</tool-calls></thinking\r\n><tool-calls>go()</tool-calls>",
        &["!", GO],
    ),
    (
        "<thinking note=\"a>b\"><tool-calls>no()</tool-calls></thinking><tool-calls>go()</tool-calls>",
        &["!", GO],
    ),
    (
        "<thinking note=\"</thinking>\"><tool-calls>no()</tool-calls></thinking><tool-calls>go()</tool-calls>",
        &["!", GO],
    ),
    (
        "<Reasoning>\n```ts tool-calls\nno()\n```\n</REASONING>\n<tool-calls>go()</tool-calls>",
        &["!", GO],
    ),
    (
        "<think><thinking><tool-calls>no()</tool-calls></thinking></think><tool-calls>go()</tool-calls>",
        &["!", GO],
    ),
    (
        "<thinking>so <think> it is <tool-calls>no()</tool-calls></thinking><tool-calls>go()</tool-calls>",
        &["!", GO],
    ),
    (
        "<thinking>one</thinking><thinking><tool-calls>no()</tool-calls></thinking><tool-calls>go()</tool-calls>",
        &["!", "!", GO],
    ),
    (
        "<thinking>never ends <tool-calls>no()</tool-calls>",
        &["refused: the thought"],
    ),
    ("<thinking><tool-calls>no()", &["refused: the thought"]),
    ("<thinking/><tool-calls>go()</tool-calls>", &[GO]),
    ("<thinking /> <tool-calls>go()</tool-calls>", &[GO]),
    ("< thinking><tool-calls>go()</tool-calls>", &[GO]),
    (
        "<thinkings><tool-calls>go()</tool-calls></thinkings>",
        &[GO],
    ),
    (
        "I am `<thinking>` of it. <tool-calls>go()</tool-calls>",
        &[GO],
    ),
    ("```\n<thinking>\n```\n<tool-calls>go()</tool-calls>", &[GO]),
    ("\\<thinking> <tool-calls>go()</tool-calls>", &[GO]),
    (
        "so it was.</thinking>\n<tool-calls>go()</tool-calls>",
        &[GO],
    ),
    (
        "<tool-calls>go('<thinking>')</tool-calls> <thinking>x</thinking>",
        &["script: go('<thinking>')", "!"],
    ),
    ("<!-- <thinking> --><tool-calls>go()</tool-calls>", &[GO]),
];

/// Marks inside scripts: in strings, templates, comments and regular expressions.
const INSIDE: &[Row] = &[
    (
        "<tool-calls>go(\"</tool-calls>\")</tool-calls>",
        &["script: go(\"</tool-calls>\")"],
    ),
    (
        "<tool-calls>go('\\'</tool-calls>')</tool-calls>",
        &["script: go('\\'</tool-calls>')"],
    ),
    (
        "<tool-calls>go(`${`</tool-calls>${'`'}`}`)</tool-calls>",
        &["script: go(`${`</tool-calls>${'`'}`}`)"],
    ),
    (
        "<tool-calls>\n// don't </tool-calls> yet\ngo()\n</tool-calls>",
        &["script: // don't </tool-calls> yet\ngo()"],
    ),
    (
        "<tool-calls>/* it's \"<tool-calls>\" */go()</tool-calls>",
        &["script: /* it's \"<tool-calls>\" */go()"],
    ),
    (
        "<tool-calls>go(/[\"'`]/g, 1)</tool-calls> \"and\" <tool-calls>go()</tool-calls>",
        &["script: go(/[\"'`]/g, 1)", GO],
    ),
    (
        "<tool-calls>go(a / b, c / \"</tool-calls>\".length)</tool-calls>",
        &["script: go(a / b, c / \"</tool-calls>\".length)"],
    ),
    (
        "<tool-calls>return /<\\/tool-calls>/.test(s)</tool-calls>",
        &["script: return /<\\/tool-calls>/.test(s)"],
    ),
    (
        "<tool-calls>\nif (x) /\"/.test(y);\ngo()\n</tool-calls>",
        &["script: if (x) /\"/.test(y);\ngo()"],
    ),
    (
        "<tool-calls>\n# it's a comment elsewhere\ngo()\n</tool-calls>",
        &["script: # it's a comment elsewhere\ngo()"],
    ),
    (
        "<tool-calls>\n-- it's a comment elsewhere\ngo()\n</tool-calls>",
        &["script: -- it's a comment elsewhere\ngo()"],
    ),
    (
        "<tool-calls>#!/usr/bin/env it's\ngo()</tool-calls>",
        &["script: #!/usr/bin/env it's\ngo()"],
    ),
    (
        "<tool-calls>go('a\\\r\n</tool-calls>')</tool-calls>",
        &["script: go('a\\\r\n</tool-calls>')"],
    ),
    (
        "<tool-calls>go('\\ud83d')</tool-calls>",
        &["script: go('\\ud83d')"],
    ),
    (
        "<tool-calls>go('\\u{110000}', '\\x')</tool-calls>",
        &["script: go('\\u{110000}', '\\x')"],
    ),
    (
        "<tool-calls>go(\"\0\")</tool-calls>",
        &["script: go(\"\0\")"],
    ),
    (
        "<tool-calls>go('\u{2028}</tool-calls>')</tool-calls>",
        &["script: go('\u{2028}</tool-calls>')"],
    ),
    (
        "<tool-calls>return 'it</tool-calls> isn't <tool-calls>go()</tool-calls>",
        &["script: return 'it", GO],
    ),
    (
        "<tool-calls>return `a</tool-calls>\n`b`\n<tool-calls>go()</tool-calls>",
        &["script: return `a", GO],
    ),
    (
        "<tool-calls>/* no end</tool-calls> text <tool-calls>go()</tool-calls>",
        &["script: /* no end", GO],
    ),
    (
        "```ts tool-calls\n/*\n```\n*/ go()\n```\n",
        &["script: /*\n```\n*/ go()"],
    ),
    (
        "```ts tool-calls\ngo(`\n```ts tool-calls\n`)\n```\n",
        &["script: go(`\n```ts tool-calls\n`)"],
    ),
    ("<tool-calls><![CDATA[\ngo()\n]]></tool-calls>", &[GO]),
];

/// Marks around scripts, and what only looks like one.
const MARKS: &[Row] = &[
    ("<Tool-Calls>go()</TOOL-CALLS>", &[GO]),
    (
        "<tool-calls>go()</tool-calls ><tool-calls >go()</tool-calls\t>",
        &[GO, GO],
    ),
    (
        "<tool-calls>go()</tool-calls><tool-calls>go()</tool-calls>",
        &[GO, GO],
    ),
    ("\u{feff}<tool-calls>\u{feff}go()</tool-calls>", &[GO]),
    (
        "text\r\n<tool-calls>\r\ngo()\r\n</tool-calls>\r\n```js tool-calls\r\ngo()\r\n```\r\n",
        &[GO, GO],
    ),
    ("<tool-calls>\n~~~js\ngo()\n~~~\n</tool-calls>", &[GO]),
    (
        "```ts tool-calls\n<tool-calls>\ngo()\n</tool-calls>\n```",
        &[GO],
    ),
    ("```TS Tool-Calls\ngo()\n```", &[GO]),
    ("```tool-calls ts\ngo()\n```", &[GO]),
    (
        "`````js tool-calls\ngo()\n```\n`````",
        &["script: go()\n```"],
    ),
    (
        "<tool-calls>a <tool-calls>b</tool-calls> c</tool-calls> d",
        &["refused: another block begins"],
    ),
    ("<tool-calls>go()", &["refused: the block"]),
    ("```ts tool-calls\ngo()\n", &["refused: the fence"]),
    ("go()</tool-calls>", &["refused: the `</tool-calls>`"]),
    ("<tool-calls> \r\n\t </tool-calls>", &["refused: the block"]),
    (
        "<tool-calls/> <tool-calls />",
        &["refused: the block", "refused: the block"],
    ),
    ("<tool-calls lang='py'>no()</tool-calls>", &["refused: "]),
    (
        "<tool-calls lang='js' id='1'>no()</tool-calls>",
        &["refused: the mark"],
    ),
    ("```py tool-calls\nno()\n```", &["refused: "]),
    ("<tool-calls", &[]),
    (
        "<tool-calls\n>go()</tool-calls>",
        &["refused: the `</tool-calls>`"],
    ),
    (
        "<tool\u{200b}-calls>no()</tool\u{200b}-calls> ＜tool-calls＞no()＜/tool-calls＞",
        &[],
    ),
    (
        "&lt;tool-calls&gt;no()&lt;/tool-calls&gt; \\<tool-calls>no()\\</tool-calls>",
        &[],
    ),
    ("Write `<tool-calls>` and ``</tool-calls>``.", &[]),
    (
        "```xml\n<tool-calls>no()</tool-calls>\n```\n~~~\n<tool-calls>no()\n~~~\n",
        &[],
    ),
    ("````md\n```ts tool-calls\nno()\n```\n````\n", &[]),
    ("```\nno end of this\n<tool-calls>no()</tool-calls>", &[]),
    (
        "<!-- <tool-calls>no()</tool-calls> --> <tool-calls>go()</tool-calls>",
        &[GO],
    ),
    (
        "<!--\n```ts tool-calls\nno()\n```\n-->\n<tool-calls>go()</tool-calls>",
        &[GO],
    ),
    (
        "a <!-- that nothing ends <tool-calls>go()</tool-calls>",
        &[GO],
    ),
    (
        "<tool-calls>go(1 <!-- 2)</tool-calls> -->",
        &["script: go(1 <!-- 2)"],
    ),
];

fn told(segments: &[Segment]) -> Vec<String> {
    let kinds = segments.iter().map(|segment| &segment.kind);
    kinds
        .filter_map(|kind| match kind {
            SegmentKind::Text => None,
            SegmentKind::Thinking(_) => Some("!".to_owned()),
            SegmentKind::Script(script) => Some(format!("script: {}", script.source)),
            SegmentKind::Rejected(rejection) => Some(format!("refused: {rejection}")),
        })
        .collect()
}

fn in_pieces<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Segment> {
    let mut detector = Detector::new(SourceLimits::default());
    let mut segments: Vec<Segment> = pieces.flat_map(|piece| detector.feed(piece)).collect();
    segments.extend(detector.finish());
    joined(segments)
}

fn check(rows: &[Row]) {
    let mut wrong = Vec::new();
    for (message, expected) in rows {
        let bytes = message.as_bytes();
        let segments = detect(bytes, SourceLimits::default());
        let told = told(&segments);
        let is_as_expected = told.len() == expected.len()
            && told.iter().zip(*expected).all(|(told, expected)| {
                told == expected || (expected.starts_with("refused") && told.starts_with(expected))
            });
        if !is_as_expected {
            wrong.push(format!(
                "{message:?}\n  told     {told:?}\n  expected {expected:?}"
            ));
        }
        let whole: Vec<u8> = segments
            .iter()
            .flat_map(|segment| segment.raw.clone())
            .collect();
        assert_eq!(whole, bytes, "{message:?}");
        assert_eq!(in_pieces(bytes.chunks(1)), segments, "{message:?}");
        for at in 0..bytes.len() {
            let (one, two) = bytes.split_at(at);
            assert_eq!(
                in_pieces([one, two].into_iter()),
                segments,
                "{message:?} at {at}"
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn thoughts_never_run_and_hide_nothing() {
    check(THOUGHTS);
}

#[test]
fn marks_inside_scripts_end_nothing() {
    check(INSIDE);
}

#[test]
fn marks_are_what_they_look_like() {
    check(MARKS);
}
