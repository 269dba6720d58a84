//! The source of a tool script: the body of an async function, checked and made ready for the engine.
//!
//! It is parsed as a whole, what it may not name is refused, types are erased, and every async function becomes a
//! generator that the realm drives itself: so the realm knows at any time who awaits what.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    CallExpression, Expression, IdentifierReference, ImportDeclaration, ImportExpression,
    ImportMeta, NewExpression, ObjectPropertyKind, Program, Statement, TSImportEqualsDeclaration,
};
use oxc_ast_visit::{Visit, walk};
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{HelperLoaderMode, TransformOptions, Transformer};
use serde_json::{Value as Json, json};

use crate::typescript::{
    self, Origin, Position, SyntaxFault, Transformed, blocks, fault, position, refuse_depth,
};

/// What stands before the body, on its first line, so that lines keep their numbers.
///
/// The outer function holds what the transformer declares for `this` and `arguments` of the body.
const BEFORE: &str = "\"use strict\";(function(){return async()=>{";
const AFTER: &str = "\n}})";

/// A script that can be run.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// An expression whose value is a function that returns the function to run.
    pub(crate) code: Transformed,
    /// The calls of tools that the text shows, as a JSON array.
    pub(crate) uses: Json,
}

/// Checks a script and makes it ready.
pub(crate) fn prepare(source: &str, is_typescript: bool) -> Result<Prepared, SyntaxFault> {
    refuse_depth(source)?;
    let wrapped = [BEFORE, source, AFTER].concat();
    let allocator = Allocator::default();
    let kind = if is_typescript {
        SourceType::ts()
    } else {
        SourceType::cjs()
    };
    let parsed = Parser::new(&allocator, &wrapped, kind.with_script(true)).parse();
    let problem = parsed
        .diagnostics
        .errors()
        .find(|found| parsed.panicked || blocks(found));
    if let Some(problem) = problem {
        return Err(in_body(source, fault(&wrapped, problem)));
    }
    let mut program = parsed.program;
    if !is_one_body(&program, wrapped.len()) {
        let message = "a bracket is closed that was never opened".to_owned();
        return Err(SyntaxFault { message, at: None });
    }
    let uses = scan(&program, &wrapped)?;
    let scoping = SemanticBuilder::new()
        .with_excess_capacity(2.0)
        .with_enum_eval(true)
        .build(&program)
        .semantic
        .into_scoping();
    let path = Path::new("script.ts");
    let options = options();
    let transformed =
        Transformer::new(&allocator, path, &options).build_with_scoping(scoping, &mut program);
    if let Some(problem) = transformed.diagnostics.errors().find(|found| blocks(found)) {
        return Err(in_body(source, fault(&wrapped, problem)));
    }
    let printing = CodegenOptions {
        source_map_path: Some(path.into()),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(printing).build(&program);
    Ok(Prepared {
        code: Transformed {
            code: printed.code,
            map: Origin::new(printed.map, prefix()),
        },
        uses,
    })
}

fn prefix() -> u32 {
    u32::try_from(BEFORE.len()).unwrap_or(u32::MAX)
}

/// Types are erased as for a module; async functions become generators, helped by a global of the realm.
fn options() -> TransformOptions {
    let mut options = typescript::options();
    options.helper_loader.mode = HelperLoaderMode::External;
    options.env.es2017.async_to_generator = true;
    options.env.es2018.async_generator_functions = true;
    options
}

/// A fault of the wrapped text as one of the body.
fn in_body(source: &str, found: SyntaxFault) -> SyntaxFault {
    let last = position(source, source.len());
    let at = found.at.map(|at| {
        let at = at.without_prefix(prefix());
        if at.line > last.line { last } else { at }
    });
    let message = if at.is_some_and(|at| text_at(source, at).starts_with("import")) {
        banned_message("import")
    } else {
        found.message
    };
    SyntaxFault { message, at }
}

fn text_at(source: &str, at: Position) -> &str {
    let line = source.lines().nth(at.line as usize - 1).unwrap_or_default();
    line.get(at.column as usize - 1..).unwrap_or_default()
}

/// Whether the wrapper still is what it was: nothing in the body closed it early.
fn is_one_body(program: &Program<'_>, length: usize) -> bool {
    let [Statement::ExpressionStatement(statement)] = program.body.as_slice() else {
        return false;
    };
    let Expression::ParenthesizedExpression(outer) = &statement.expression else {
        return false;
    };
    let Expression::FunctionExpression(function) = &outer.expression else {
        return false;
    };
    let body = function
        .body
        .as_ref()
        .map(|body| body.statements.as_slice());
    let Some([Statement::ReturnStatement(returned)]) = body else {
        return false;
    };
    let Some(Expression::ArrowFunctionExpression(arrow)) = &returned.argument else {
        return false;
    };
    outer.span.end as usize == length && arrow.span.end as usize + 2 == length
}

fn banned_message(what: &str) -> String {
    match what {
        "import" => "`import` is not available in tool scripts; what a script needs is in `tools`"
            .to_owned(),
        "require" => {
            "`require` is not available in tool scripts; what a script needs is in `tools`"
                .to_owned()
        }
        other => format!("`{other}` is not available in tool scripts: no code is made from text"),
    }
}

/// Refuses what is banned, and lists the calls of tools.
fn scan(program: &Program<'_>, wrapped: &str) -> Result<Json, SyntaxFault> {
    let mut scan = Scan::default();
    scan.visit_program(program);
    let place = |offset: u32| position(wrapped, offset as usize).without_prefix(prefix());
    if let Some((what, offset)) = scan.banned {
        return Err(SyntaxFault {
            message: banned_message(what),
            at: Some(place(offset)),
        });
    }
    let describe = |used: Use| {
        let at = place(used.offset);
        let mut described = json!({ "tool": used.tool, "line": at.line, "column": at.column });
        if let Some(arguments) = used.arguments {
            described["arguments"] = arguments;
        }
        described
    };
    Ok(scan.uses.into_iter().map(describe).collect())
}

/// Looks for references to what a script may not name. Property names, strings and comments are none.
#[derive(Default)]
struct Scan {
    banned: Option<(&'static str, u32)>,
    uses: Vec<Use>,
}

/// A call of a tool.
struct Use {
    tool: String,
    offset: u32,
    /// Its first argument, where that is written out in full.
    arguments: Option<Json>,
}

impl Scan {
    fn note(&mut self, what: &'static str, offset: u32) {
        self.banned.get_or_insert((what, offset));
    }
}

/// The path of `tools.a.b`.
fn tool_path(callee: &Expression<'_>) -> Option<String> {
    let Expression::StaticMemberExpression(member) = callee.without_parentheses() else {
        return None;
    };
    let name = member.property.name.as_str();
    match member.object.without_parentheses() {
        Expression::Identifier(root) if root.name == "tools" => Some(name.to_owned()),
        inner => Some(format!("{}.{name}", tool_path(inner)?)),
    }
}

/// The JSON of an expression that is written out.
fn literal(expression: &Expression<'_>) -> Option<Json> {
    match expression.get_inner_expression() {
        Expression::NullLiteral(_) => Some(Json::Null),
        Expression::BooleanLiteral(it) => Some(it.value.into()),
        Expression::NumericLiteral(it) => serde_json::from_str(&it.value.to_string()).ok(),
        Expression::StringLiteral(it) => Some(it.value.as_str().into()),
        Expression::TemplateLiteral(it) => {
            let [only] = it.quasis.as_slice() else {
                return None;
            };
            Some(only.value.cooked?.as_str().into())
        }
        Expression::ArrayExpression(it) => it
            .elements
            .iter()
            .map(|element| literal(element.as_expression()?))
            .collect(),
        Expression::ObjectExpression(it) => it
            .properties
            .iter()
            .map(|property| match property {
                ObjectPropertyKind::ObjectProperty(it) if !it.computed => {
                    Some((it.key.static_name()?.into_owned(), literal(&it.value)?))
                }
                _ => None,
            })
            .collect::<Option<serde_json::Map<_, _>>>()
            .map(Json::Object),
        _ => None,
    }
}

impl<'a> Visit<'a> for Scan {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if it.name == "require" {
            self.note("require", it.span.start);
        }
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.note("import", it.span.start);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.note("import", it.span.start);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        self.note("import", it.span.start);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.note("import", it.span.start);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Some(tool) = tool_path(&it.callee) {
            let arguments = match it.arguments.first() {
                None => Some(json!({})),
                Some(first) => first.as_expression().and_then(literal),
            };
            self.uses.push(Use {
                tool,
                offset: it.span.start,
                arguments,
            });
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        if let Expression::Identifier(callee) = it.callee.without_parentheses()
            && callee.name == "Function"
        {
            self.note("new Function", it.span.start);
        }
        walk::walk_new_expression(self, it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_becomes_a_function() {
        for source in [
            "return 1",
            "const a: number = await tools.exec({}); return a as unknown;",
            "async function f() { await g(); } async function* g() { yield 1 } for await (const x of g()) {} return 2 // end",
            "class A { async m() { return await super.toString() } static async s() { return this } }",
            "const f = async (a, ...b) => { await a; return this ?? arguments }; enum E { A } return f(E.A)",
            "",
        ] {
            let code = prepare(source, true).unwrap().code.code;
            for word in ["async ", "await ", "async("] {
                assert!(!code.contains(word), "{source} became {code}");
            }
        }
    }

    #[test]
    fn what_is_banned_is_found_where_it_is() {
        for (source, what, line, column) in [
            ("require('fs')", "require", 1, 1),
            (
                "const a = 1;\n  const fs = require('fs');",
                "require",
                2,
                14,
            ),
            ("await import('fs')", "import", 1, 7),
            ("import fs from 'fs'; return 1", "import", 1, 1),
            ("return import.meta", "import", 1, 8),
            ("return new Function('return this')()", "new Function", 1, 8),
            ("new (Function)('x')", "new Function", 1, 1),
        ] {
            let fault = prepare(source, true).unwrap_err();
            assert!(fault.message.contains(what), "{source}: {fault:?}");
            assert_eq!(fault.at, Some(Position { line, column }), "{source}");
        }
    }

    #[test]
    fn names_that_only_look_banned_are_not() {
        for source in [
            "tools.require; ({ require: 1, import: 2 }).import",
            "// require('fs')\nreturn 'import(x)' + `require`",
            "class A { require() {} import() {} }",
            "return typeof eval",
        ] {
            assert!(prepare(source, true).is_ok(), "{source}");
        }
    }

    #[test]
    fn mistakes_have_a_position_in_the_body() {
        for (source, line) in [
            ("const a = 1;\nconst = 2;", 2),
            ("const = 2;", 1),
            ("if (a) {\n  b();", 2),
            ("a(); } b();", 1),
        ] {
            let fault = prepare(source, true).unwrap_err();
            assert_eq!(
                fault.at.map(|at| at.line),
                Some(line),
                "{source}: {fault:?}"
            );
        }
    }

    #[test]
    fn the_wrapper_cannot_be_left() {
        for source in [
            "}); evil(); (async () => {",
            "})(); (() => {",
            "}) + (async () => {",
            "}, () => {",
        ] {
            assert!(prepare(source, true).is_err(), "{source}");
        }
    }

    #[test]
    fn positions_lead_back_to_the_body() {
        for (source, needle, line, column) in [
            ("throw new Error('x')", "throw", 1, 1),
            (
                "interface A { b: 1 }\n\nlet a: A;\n  throw new Error('x')",
                "throw",
                4,
                3,
            ),
        ] {
            let prepared = prepare(source, true).unwrap().code;
            let (at, text) = prepared
                .code
                .lines()
                .enumerate()
                .find(|(_, text)| text.contains(needle))
                .unwrap();
            let generated = Position {
                line: u32::try_from(at).unwrap() + 1,
                column: u32::try_from(text.find(needle).unwrap()).unwrap() + 1,
            };
            assert_eq!(
                prepared.map.of(generated),
                Some(Position { line, column }),
                "{source}"
            );
        }
    }
}
