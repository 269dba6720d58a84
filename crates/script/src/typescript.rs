//! TypeScript to JavaScript: types erased, enums, namespaces and parameter properties transformed, and a
//! map from the positions of the result to those of the source.
//!
//! No types are checked and no configuration file is read. JavaScript never comes here.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{ImportDeclarationSpecifier, Program, Statement};
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::Parser;
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_sourcemap::SourceMap;
use oxc_span::SourceType;
use oxc_transformer::{HelperLoaderMode, TransformOptions, Transformer};

/// The specifier prefix of the helpers that transformed decorators import.
pub(crate) const HELPERS: &str = "@oxc-project/runtime/helpers/";

/// JavaScript, and where each part of it comes from.
#[derive(Debug)]
pub(crate) struct Transformed {
    pub(crate) code: String,
    pub(crate) map: Origin,
}

/// Leads from a position in the JavaScript to the position in the TypeScript.
#[derive(Debug)]
pub(crate) struct Origin {
    map: Option<SourceMap<'static>>,
    /// Columns of the first line that were put before the source.
    prefix: u32,
}

/// A position as people count: both numbers begin at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// What is wrong with the text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxFault {
    pub(crate) message: String,
    pub(crate) at: Option<Position>,
}

/// Brackets inside brackets that the parser's recursion is trusted with.
const DEEPEST: usize = 4000;

/// Erases the types of a module.
pub(crate) fn transform(source: &str) -> Result<Transformed, SyntaxFault> {
    refuse_depth(source)?;
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::ts().with_module(true)).parse();
    if let Some(problem) = parsed
        .diagnostics
        .errors()
        .find(|found| parsed.panicked || blocks(found))
    {
        return Err(fault(source, problem));
    }
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new()
        .with_excess_capacity(2.0)
        .with_enum_eval(true)
        .build(&program);
    let scoping = semantic.semantic.into_scoping();
    drop_type_imports(&mut program, &scoping);
    let options = options();
    let path = Path::new("module.ts");
    let transformed =
        Transformer::new(&allocator, path, &options).build_with_scoping(scoping, &mut program);
    if let Some(problem) = transformed.diagnostics.errors().find(|found| blocks(found)) {
        return Err(fault(source, problem));
    }
    let printing = CodegenOptions {
        source_map_path: Some(path.into()),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(printing).build(&program);
    Ok(Transformed {
        code: printed.code,
        map: Origin::new(printed.map, 0),
    })
}

impl Origin {
    /// The origins of a text before whose first line `prefix` columns were put.
    pub(crate) fn new(map: Option<SourceMap<'_>>, prefix: u32) -> Self {
        Self {
            map: map.map(SourceMap::into_owned),
            prefix,
        }
    }

    /// The origin of a position, or `None` where the transformer made something up.
    pub(crate) fn of(&self, at: Position) -> Option<Position> {
        let map = self.map.as_ref()?;
        let table = map.generate_lookup_table();
        let token =
            map.lookup_token_approx(&table, at.line.checked_sub(1)?, at.column.saturating_sub(1))?;
        let found = Position {
            line: token.get_src_line() + 1,
            column: token.get_src_col() + 1,
        };
        Some(found.without_prefix(self.prefix))
    }
}

impl Position {
    /// The position in a text whose first line had so many columns put before it.
    pub(crate) fn without_prefix(self, prefix: u32) -> Self {
        if self.line > 1 {
            return self;
        }
        Self {
            column: self.column.saturating_sub(prefix).max(1),
            ..self
        }
    }
}

/// The parser recurses: nesting that it could not survive is refused before it looks.
pub(crate) fn refuse_depth(source: &str) -> Result<(), SyntaxFault> {
    match too_deep(source) {
        None => Ok(()),
        Some(offset) => Err(SyntaxFault {
            message: format!("brackets are nested deeper than {DEEPEST} levels"),
            at: Some(position(source, offset)),
        }),
    }
}

/// Where the nesting passes the limit. Brackets in strings count too, which only matters when thousands of them
/// are never closed.
fn too_deep(source: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, byte) in source.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Some(offset);
        }
    }
    None
}

pub(crate) fn options() -> TransformOptions {
    let mut options = TransformOptions::default();
    // An import that is never used must still be linked, so that a missing export is found;
    // `drop_type_imports` removes those that are only used as types.
    options.typescript.only_remove_type_imports = true;
    options.typescript.allow_namespaces = true;
    options.typescript.optimize_const_enums = false;
    options.decorator.legacy = true;
    options.helper_loader.mode = HelperLoaderMode::Runtime;
    options
}

/// Complaints about types have a code of TypeScript; they never block.
pub(crate) fn blocks(problem: &OxcDiagnostic) -> bool {
    problem.code.scope.as_deref() != Some("TS")
}

pub(crate) fn fault(source: &str, problem: &OxcDiagnostic) -> SyntaxFault {
    let offset = problem.labels.first().map(|label| label.offset() as usize);
    SyntaxFault {
        message: problem.message.to_string(),
        at: offset.map(|at| position(source, at)),
    }
}

pub(crate) fn position(source: &str, offset: usize) -> Position {
    let before = source.get(..offset).unwrap_or(source);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
    Position {
        line: number(before.matches('\n').count()),
        column: number(before[line_start..].encode_utf16().count()),
    }
}

/// Removes what is imported by value but only used as a type, as the TypeScript compiler does.
fn drop_type_imports(program: &mut Program<'_>, scoping: &Scoping) {
    let only_a_type = |specifier: &ImportDeclarationSpecifier<'_>| {
        let local = match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(specifier) => &specifier.local,
            ImportDeclarationSpecifier::ImportDefaultSpecifier(specifier) => &specifier.local,
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(specifier) => &specifier.local,
        };
        let mut references = scoping
            .get_resolved_references(local.symbol_id())
            .peekable();
        references.peek().is_some() && references.all(oxc_semantic::Reference::is_type)
    };
    program.body.retain_mut(|statement| {
        let Statement::ImportDeclaration(import) = statement else {
            return true;
        };
        let Some(specifiers) = &mut import.specifiers else {
            return true;
        };
        let before = specifiers.len();
        specifiers.retain(|specifier| !only_a_type(specifier));
        before == 0 || !specifiers.is_empty()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> String {
        transform(source).unwrap().code
    }

    #[test]
    fn types_are_erased() {
        for (source, gone) in [
            ("const a: number = 1;", ": number"),
            ("import type { T } from './t.ts';", "import"),
            (
                "import { T } from './t.ts'; export const a = 1 as unknown as T;",
                "import",
            ),
            ("export type A = string;", "string"),
            ("const a = { b: 1 } satisfies object;", "satisfies"),
            ("function f<T>(x: T): T { return x }", "<T>"),
            ("declare const x: number;", "declare"),
            ("interface A { b: number }", "interface"),
            (
                "class A<T> { declare b: T; readonly c?: number; }",
                "declare",
            ),
        ] {
            let code = code(source);
            assert!(!code.contains(gone), "{source} became {code}");
        }
    }

    #[test]
    fn what_has_a_value_stays() {
        for (source, kept) in [
            ("import { unused } from 'fs';", "unused"),
            ("enum A { B = 1, C }", "A[\"B\"]"),
            ("const enum A { B = 'x' } export default A.B", "B"),
            ("namespace N { export const a = 1 }", "N"),
            (
                "class P { constructor(private x: number) {} }",
                "this.x = x",
            ),
        ] {
            let code = code(source);
            assert!(code.contains(kept), "{source} became {code}");
        }
    }

    #[test]
    fn syntax_errors_have_a_position() {
        let fault = transform("const a = 1;\nconst = 2;").unwrap_err();
        assert_eq!(fault.at.map(|at| at.line), Some(2));
    }

    #[test]
    fn positions_lead_back_to_the_source() {
        let source = "interface A {\n  b: number;\n}\n\nthrow new Error('x');";
        let transformed = transform(source).unwrap();
        let line = transformed
            .code
            .lines()
            .position(|line| line.contains("throw"))
            .unwrap();
        let at = Position {
            line: u32::try_from(line).unwrap() + 1,
            column: 1,
        };
        assert_eq!(
            transformed.map.of(at),
            Some(Position { line: 5, column: 1 })
        );
    }
}
