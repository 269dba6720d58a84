//! Declarations as text, and that they are TypeScript.

use expect_test::expect;
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;
use serde_json::{Value, json};

use super::{Declared, Returns, declarations, describe, prompt, search};
use crate::tools::ToolSet;

/// What the parser finds wrong with declarations.
fn problems(text: &str) -> Vec<String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::d_ts()).parse();
    let found = parsed.diagnostics.iter();
    found.map(ToString::to_string).collect()
}

fn declared() -> Vec<Declared> {
    let tools = ToolSet::built_in();
    let declared = tools.iter().map(|tool| Declared {
        returns: Returns::Promise(tool.output_schema()),
        ..Declared::new(tool.name(), tool.description(), tool.schema())
    });
    declared.collect()
}

#[test]
fn every_tool_has_a_declaration_that_parses() {
    let tools = declared();
    let text = declarations(&tools);
    assert_eq!(problems(&text), Vec::<String>::new(), "{text}");
    for tool in &tools {
        assert!(
            text.contains(&format!(" {}(args: ", tool.name)),
            "{}",
            tool.name
        );
    }
    assert_ne!(problems("declare const x: {"), Vec::<String>::new());
}

#[test]
fn schemas_become_types() {
    let find = |name: &str| {
        declared()
            .into_iter()
            .find(|tool| tool.name == name)
            .unwrap()
    };
    let text = declarations(&[find("file_search"), find("apply_patch"), find("shell")]);
    let (_, tools) = text.split_once("declare const tools").unwrap();
    expect![[r#"
        : {
          /** Adds, updates, moves and deletes files by a patch: all of it, or nothing. */
          apply_patch(args: {
            /** The patch: `*** Begin Patch` … `*** End Patch`, or a unified diff. */
            patch: string;
          }): Promise<PatchResult>;
          /** Finds files by a part of their path or by a pattern such as `*.test.ts`, best first. */
          file_search(args: {
            /** Letters of the path in order (`harnlib` finds `harness/src/lib.rs`), or a pattern with `*`, `?` or `{a,b}`. */
            pattern: string;
            /** The most results to return (100 unless configured otherwise). */
            limit?: number;
            /** What to leave out, written like lines of a `.gitignore`. */
            excludePatterns?: string[];
          }): Promise<FileSearchResult[]>;
          /** Runs a program with arguments inside the fence and returns its output. */
          shell(args: {
            /** The program and its arguments, for example `["ls", "-la"]`. */
            command: string[];
            /** The folder to run in, relative to the session's. */
            workdir?: string;
            /** The most time to take, in milliseconds (10000 unless configured otherwise). */
            timeout_ms?: number;
            /** Where to run: where the policy puts it, or outside the fence after a question. */
            sandbox_permissions?: "use_default" | "require_escalated";
            /** Why it has to run outside the fence. */
            justification?: string;
            /** What becomes of escape sequences, such as colours, in the output. */
            ansi?: "remove" | "keep";
          }): Promise<ExecToolCallOutput>;
          /** The tools that have these words in their name or description. */
          search(query: string): Promise<Array<{ name: string; description: string }>>;
          /** All about one tool, its declaration included. */
          describe(name: string): Promise<{ name: string; description: string; schema: unknown; outputSchema: unknown; declaration: string }>;
        };
    "#]].assert_eq(tools);
}

#[test]
fn types_of_all_sorts() {
    let cases: &[(Value, &str)] = &[
        (json!({}), "unknown"),
        (json!(true), "unknown"),
        (json!({"type": "integer"}), "number"),
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"enum": ["a", 1, null]}), "\"a\" | 1 | null"),
        (json!({"const": "x"}), "\"x\""),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            "string[]",
        ),
        (
            json!({"type": "array", "items": {"type": ["string", "number"]}}),
            "Array<string | number>",
        ),
        (json!({"type": "array"}), "unknown[]"),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {}]}),
            "[string, unknown]",
        ),
        (json!({"type": "object"}), "Record<string, unknown>"),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            "Record<string, string>",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "string"}, {"type": "null"}]}),
            "string | null",
        ),
        (
            json!({"allOf": [{"type": "string"}, {"type": "number"}]}),
            "(string) & (number)",
        ),
        (
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "boolean"}}}),
            "boolean",
        ),
        (json!({"$ref": "#/$defs/missing"}), "unknown"),
        (
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": ["string", "null"]}, "b-c": {"type": ["string", "null"]}}}),
            "{\n  a: string | null;\n  \"b-c\"?: string;\n}",
        ),
    ];
    for (schema, expected) in cases {
        let found = super::schema::type_of(schema, schema, 0);
        assert_eq!(found, *expected, "{schema}");
        assert_eq!(
            problems(&format!("type T = {found};")),
            Vec::<String>::new(),
            "{found}"
        );
    }
    // A schema that refers to itself ends somewhere.
    let list = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    let found = super::schema::type_of(&list, &list, 0);
    assert!(found.contains("unknown"), "{found}");
}

#[test]
fn nothing_gets_out_of_its_comment_or_quotes() {
    let hostile = Declared::new(
        "mcp.bad server.drop`it",
        "*/ }; declare const evil: 1; /* \n second line",
        json!({
            "type": "object",
            "properties": {
                "\"}; x: {\"": {"type": "string", "description": "*/ evil: 2; /*"},
                "k": {"enum": ["\"; evil", "\u{2028}"]},
            },
        }),
    );
    let harmless = Declared::new("mcp.good.read", "", json!({}));
    let text = declarations(&[hostile, harmless]);
    assert_eq!(problems(&text), Vec::<String>::new(), "{text}");
    let without_comments: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with(['*', '/']))
        .collect();
    assert!(!without_comments.contains("declare const evil"), "{text}");
    assert!(text.contains("    \"bad server\": {\n"), "{text}");
}

/// A tool with a reply of this schema.
fn returning(name: &str, reply: Value) -> Declared {
    Declared {
        returns: Returns::Promise(reply),
        ..Declared::new(name, "", json!({}))
    }
}

#[test]
fn replies_that_are_the_same_have_one_name() {
    let point = json!({"title": "Point", "type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]});
    let list = json!({"title": "Array_of_Point", "type": "array", "items": {"$ref": "#/$defs/Point"}, "$defs": {"Point": point}});
    let text = declarations(&[returning("a", point), returning("b", list)]);
    assert_eq!(problems(&text), Vec::<String>::new(), "{text}");
    assert_eq!(
        text.matches("interface Point {\n  x: number;\n}\n").count(),
        1,
        "{text}"
    );
    assert!(
        text.contains("  a(args: unknown): Promise<Point>;\n"),
        "{text}"
    );
    assert!(
        text.contains("  b(args: unknown): Promise<Point[]>;\n"),
        "{text}"
    );
}

#[test]
fn no_reply_takes_the_name_of_another_type() {
    let object = |title: &str| json!({"title": title, "type": "object", "properties": {"y": {"type": "string"}}});
    let cases = [
        // Another object, and something that is no object.
        ("PatchResult", object("PatchResult")),
        (
            "PatchResult",
            json!({"title": "PatchResult", "type": "string"}),
        ),
        (
            "PatchResult",
            json!({"type": "array", "items": {"$ref": "#/$defs/PatchResult"}, "$defs": {"PatchResult": {"type": "string"}}}),
        ),
        // What the language has, and what is no name.
        ("Promise", object("Promise")),
        ("Record", object("Record")),
        ("tools", object("tools")),
        (
            "E {}; declare const evil: {",
            object("E {}; declare const evil: {"),
        ),
    ];
    for (title, reply) in cases {
        let own = declared()
            .into_iter()
            .filter(|tool| tool.name == "apply_patch");
        for tools in [
            own.clone()
                .chain([returning("x", reply.clone())])
                .collect::<Vec<_>>(),
            [returning("x", reply.clone())]
                .into_iter()
                .chain(own)
                .collect(),
        ] {
            let text = declarations(&tools);
            assert_eq!(problems(&text), Vec::<String>::new(), "{text}");
            assert!(!text.contains(&format!("interface {title}")), "{text}");
            assert!(!text.contains(&format!("Promise<{title}")), "{text}");
        }
    }
    let harmless = declarations(&[returning("x", object("Parcel"))]);
    assert!(harmless.contains("interface Parcel {"), "{harmless}");
}

#[test]
fn tools_are_found_by_their_words() {
    let tools = declared();
    let names = |query: &str| -> Vec<&str> {
        let found = search(&tools, query).into_iter();
        found.map(|tool| tool.name.as_str()).collect()
    };
    assert_eq!(names("patch")[0], "apply_patch");
    assert_eq!(names("find FILES by pattern")[0], "file_search");
    assert_eq!(names("zebra"), Vec::<&str>::new());
    assert_eq!(names("").len(), tools.len());
    let about = describe(search(&tools, "apply_patch")[0]);
    let declaration = about["declaration"].as_str().unwrap();
    assert!(declaration.contains("apply_patch(args: {"), "{declaration}");
    assert!(
        declaration.ends_with("): Promise<PatchResult>;\n"),
        "{declaration}"
    );
}

#[test]
fn the_prompt_stays_short() {
    let many: Vec<Declared> = (0..300)
        .map(|number| Declared::new(format!("mcp.a.t{number}"), "does something", json!({})))
        .collect();
    let config = crate::config::Config::default();
    let limits = &config.script.limits;
    let text = prompt(&many, limits);
    assert!(text.len() < 3_000, "{} bytes", text.len());
    assert!(text.contains("and 280 more"), "{text}");
    assert!(prompt(&declared(), limits).contains("- `tools.apply_patch`: Adds, updates"));
}
