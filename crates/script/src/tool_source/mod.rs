//! The source of a tool script: the body of an async function, checked and made ready for the engine.
//!
//! It is parsed as a whole, what it may not name is refused, types are erased, and every async function becomes a
//! generator that the realm drives itself: so the realm knows at any time who awaits what.

mod scan;
mod uses;
mod watch;

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, IdentifierReference, Program, Statement};
use oxc_ast_visit::VisitMut;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_parser::Parser;
use oxc_span::SourceType;
use oxc_transformer::{HelperLoaderMode, TransformOptions, Transformer};
use serde_json::Value as Json;

use crate::brackets;
use crate::typescript::{
    self, Origin, Position, SyntaxFault, Transformed, blocks, fault, position, refuse_decorators,
    refuse_depth,
};

use scan::{banned_message, scan};
pub use uses::UNKNOWN;
use watch::Watch;

/// What stands behind the body.
const AFTER: &str = "\n}})";

/// What stands before the body, on its first line, so that lines keep their numbers.
///
/// The outermost function is given what transformed code calls, under a name that the script does not have; the one
/// in it holds what the transformer declares for `this` and `arguments` of the body.
struct Wrapper {
    helpers: String,
    before: String,
}

impl Wrapper {
    fn for_source(source: &str) -> Self {
        let mut helpers = "$helpers".to_owned();
        while source.contains(&helpers) {
            helpers.push('$');
        }
        let before = format!("\"use strict\";({helpers}=>function(){{return async()=>{{");
        Self { helpers, before }
    }

    /// Columns before the body.
    fn prefix(&self) -> u32 {
        u32::try_from(self.before.len()).unwrap_or(u32::MAX)
    }
}

/// The name under which the transformer calls its helpers.
const HELPERS: &str = "babelHelpers";

/// Gives the calls of helpers that the transformer made another name. What the script wrote has a place in the text.
struct Rename<'a>(&'a str);

impl<'a> VisitMut<'a> for Rename<'a> {
    fn visit_identifier_reference(&mut self, it: &mut IdentifierReference<'a>) {
        if it.name == HELPERS && it.span.is_unspanned() {
            it.name = self.0.into();
        }
    }
}

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
    let has_types_of_a_module =
        source.contains("namespace") || (source.contains("import") && source.contains("type"));
    if !(is_typescript && has_types_of_a_module) {
        return Body {
            source,
            first: None,
        }
        .prepare(is_typescript);
    }
    // A namespace and an import of types may only stand where a module has its own top level.
    let erased = typescript::transform_body(source)?;
    let body = Body {
        source: &erased.code,
        first: Some((source, &erased.map)),
    };
    let mut prepared = body.prepare(is_typescript)?;
    prepared.code.map = prepared.code.map.after(erased.map);
    Ok(prepared)
}

/// The body of a script: as it was written, or made from what was.
struct Body<'a> {
    source: &'a str,
    first: Option<(&'a str, &'a Origin)>,
}

impl Body<'_> {
    fn prepare(&self, is_typescript: bool) -> Result<Prepared, SyntaxFault> {
        let wrapper = Wrapper::for_source(self.source);
        let wrapped = [wrapper.before.as_str(), self.source, AFTER].concat();
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
        let in_body = |found| self.in_body(&wrapper, found);
        if let Some(problem) = problem {
            return Err(in_body(fault(&wrapped, problem)));
        }
        let mut program = parsed.program;
        if !is_one_body(&program, wrapped.len()) {
            let message = "a bracket is closed that was never opened".to_owned();
            let fault = SyntaxFault { message, at: None };
            return Err(brackets::explain(self.source).unwrap_or(fault));
        }
        let place = |offset: u32| {
            let at = position(&wrapped, offset as usize).without_prefix(wrapper.prefix());
            self.origin(at)
        };
        let uses = scan(&program, &place)?;
        refuse_decorators(&program, &wrapped).map_err(in_body)?;
        let scoping = typescript::scoping(&program, &wrapped).map_err(in_body)?;
        let path = Path::new("script.ts");
        let options = options();
        let transformed =
            Transformer::new(&allocator, path, &options).build_with_scoping(scoping, &mut program);
        if let Some(problem) = transformed.diagnostics.errors().find(|found| blocks(found)) {
            return Err(in_body(fault(&wrapped, problem)));
        }
        let helpers = allocator.alloc_str(&wrapper.helpers);
        Rename(helpers).visit_program(&mut program);
        Watch::new(&allocator, helpers).visit_program(&mut program);
        let printing = CodegenOptions {
            source_map_path: Some(path.into()),
            ..CodegenOptions::default()
        };
        let printed = Codegen::new().with_options(printing).build(&program);
        Ok(Prepared {
            code: Transformed {
                code: printed.code,
                map: Origin::new(printed.map, wrapper.prefix()),
            },
            uses,
        })
    }

    /// A place of this body in what was written.
    fn origin(&self, at: Position) -> Position {
        match self.first {
            Some((_, first)) => first.of(at).unwrap_or(at),
            None => at,
        }
    }

    /// A fault of the wrapped text as one of the script.
    fn in_body(&self, wrapper: &Wrapper, found: SyntaxFault) -> SyntaxFault {
        let written = self.first.map_or(self.source, |(written, _)| written);
        let last = position(self.source, self.source.len());
        let at = found.at.map(|at| {
            let at = at.without_prefix(wrapper.prefix());
            self.origin(if at.line > last.line { last } else { at })
        });
        let begins = |word: &str| at.is_some_and(|at| text_at(written, at).starts_with(word));
        if let Some(what) = ["import", "export"].into_iter().find(|word| begins(word)) {
            let message = banned_message(what);
            return SyntaxFault { message, at };
        }
        let message = found.message;
        brackets::explain(written).unwrap_or(SyntaxFault { message, at })
    }
}

/// Types are erased as for a module; async functions become generators, helped by a global of the realm.
fn options() -> TransformOptions {
    let mut options = typescript::options();
    options.helper_loader.mode = HelperLoaderMode::External;
    options.env.es2017.async_to_generator = true;
    options.env.es2018.async_generator_functions = true;
    options.env.es2026.explicit_resource_management = true;
    options
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
    let Expression::ArrowFunctionExpression(outermost) = &outer.expression else {
        return false;
    };
    let Some(Expression::FunctionExpression(function)) = outermost.get_expression() else {
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
            ("if (a) {\n  b();", 1),
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
