//! TypeScript to JavaScript: types erased, enums, namespaces and parameter properties transformed, and a
//! map from the positions of the result to those of the source.
//!
//! No types are checked and no configuration file is read. JavaScript never comes here. Decorators are refused: the
//! transformer only knows the old kind.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{Decorator, ImportDeclarationSpecifier, Program, Statement};
use oxc_ast_visit::Visit;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_sourcemap::SourceMap;
use oxc_span::{GetSpan, SourceType};
use oxc_transformer::{TransformOptions, Transformer};

use crate::brackets;

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
    /// Where the source itself comes from, if it was made from another one.
    first: Option<Box<Origin>>,
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
    erase(source, ParseOptions::default())
}

/// Erases the types of the body of a function, at whose top level there may be what only a module has at its own.
pub(crate) fn transform_body(source: &str) -> Result<Transformed, SyntaxFault> {
    let options = ParseOptions {
        allow_return_outside_function: true,
        ..ParseOptions::default()
    };
    erase(source, options)
}

fn erase(source: &str, parsing: ParseOptions) -> Result<Transformed, SyntaxFault> {
    refuse_depth(source)?;
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::ts().with_module(true))
        .with_options(parsing)
        .parse();
    if let Some(problem) = parsed
        .diagnostics
        .errors()
        .find(|found| parsed.panicked || blocks(found))
    {
        return Err(brackets::explain(source).unwrap_or_else(|| fault(source, problem)));
    }
    let mut program = parsed.program;
    refuse_decorators(&program, source)?;
    let scoping = scoping(&program, source)?;
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

/// What the names of a program mean. One that is declared twice is refused here, where it still has its name.
pub(crate) fn scoping(program: &Program<'_>, source: &str) -> Result<Scoping, SyntaxFault> {
    let built = SemanticBuilder::new()
        .with_excess_capacity(2.0)
        .with_enum_eval(true)
        .with_check_syntax_error(true)
        .build(program);
    let twice = built
        .diagnostics
        .errors()
        .find(|found| found.message.contains("has already been declared"));
    match twice {
        Some(problem) => Err(fault(source, problem)),
        None => Ok(built.semantic.into_scoping()),
    }
}

/// Refuses decorators, of which the transformer knows only those from before the standard.
pub(crate) fn refuse_decorators(program: &Program<'_>, source: &str) -> Result<(), SyntaxFault> {
    struct Decorators(Option<u32>);
    impl<'a> Visit<'a> for Decorators {
        fn visit_decorator(&mut self, it: &Decorator<'a>) {
            self.0.get_or_insert(it.span.start);
        }
    }
    if !source.contains('@') {
        return Ok(());
    }
    let mut found = Decorators(None);
    found.visit_program(program);
    match found.0 {
        None => Ok(()),
        Some(at) => Err(SyntaxFault {
            message: "decorators are not available; call the function yourself, as in \
                      `const A = decorate(class A { … })`"
                .to_owned(),
            at: Some(position(source, at as usize)),
        }),
    }
}

impl Origin {
    /// The origins of a text before whose first line `prefix` columns were put.
    pub(crate) fn new(map: Option<SourceMap<'_>>, prefix: u32) -> Self {
        Self {
            map: map.map(SourceMap::into_owned),
            prefix,
            first: None,
        }
    }

    /// The origins of a text that was itself transformed before.
    pub(crate) fn after(self, first: Self) -> Self {
        Self {
            first: Some(Box::new(first)),
            ..self
        }
    }

    /// The origin of a position, or `None` where the transformer made something up.
    pub(crate) fn of(&self, at: Position) -> Option<Position> {
        let found = self.token(at.line.checked_sub(1)?, at.column.saturating_sub(1))?;
        let found = found.without_prefix(self.prefix);
        match &self.first {
            Some(first) => first.of(found),
            None => Some(found),
        }
    }

    /// The last token of a line that begins at or before a column, or else the first one of the line. The tokens are
    /// in the order of the text, so that no table is needed to find one.
    fn token(&self, line: u32, column: u32) -> Option<Position> {
        let map = self.map.as_ref()?;
        let count = u32::try_from(map.get_tokens().len()).unwrap_or(u32::MAX);
        let place = |at: u32| {
            map.get_token(at)
                .map(|token| (token.get_dst_line(), token.get_dst_col()))
        };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if place(middle)? <= (line, column) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let before = low.checked_sub(1).and_then(|at| map.get_token(at));
        let token = before
            .filter(|token| token.get_dst_line() == line)
            .or_else(|| map.get_token(low))
            .filter(|token| token.get_dst_line() == line)?;
        Some(Position {
            line: token.get_src_line() + 1,
            column: token.get_src_col() + 1,
        })
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

/// The byte at which a position is; `None` if the text has no such place.
pub(crate) fn offset(source: &str, at: Position) -> Option<usize> {
    let line = usize::try_from(at.line).ok()?.checked_sub(1)?;
    let start = match line {
        0 => 0,
        line => source.match_indices('\n').nth(line - 1)?.0 + 1,
    };
    let mut left = at.column.checked_sub(1)?;
    for (index, letter) in source.get(start..)?.char_indices() {
        if left == 0 {
            return Some(start + index);
        }
        left = left.saturating_sub(u32::try_from(letter.len_utf16()).unwrap_or(1));
    }
    (left == 0).then_some(source.len())
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

/// Where a text imports something: by this name, or at all, from a specifier that leads there.
pub(crate) fn import_site(
    source: &str,
    name: Option<&str>,
    leads_there: impl Fn(&str) -> bool,
) -> Option<Position> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::ts().with_module(true)).parse();
    let found = parsed.program.body.iter().find_map(|statement| {
        let (from, names): (_, Vec<_>) = match statement {
            Statement::ImportDeclaration(it) => {
                let specifiers = it.specifiers.iter().flatten();
                let names = specifiers.map(|specifier| (imported(specifier), specifier.span()));
                (&it.source, names.collect())
            }
            Statement::ExportFromDeclaration(it) => {
                let names = it.specifiers.iter();
                let names =
                    names.map(|specifier| (specifier.local.name().to_string(), specifier.span));
                (&it.source, names.collect())
            }
            Statement::ExportAllDeclaration(it) => (&it.source, Vec::new()),
            _ => return None,
        };
        if !leads_there(&from.value) {
            return None;
        }
        match name {
            None => Some(from.span),
            Some(name) => names
                .iter()
                .find(|(imported, _)| imported == name)
                .map(|(_, span)| *span),
        }
    })?;
    Some(position(source, found.start as usize))
}

/// The name under which something is imported.
fn imported(specifier: &ImportDeclarationSpecifier<'_>) -> String {
    match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(it) => it.imported.name().to_string(),
        ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => "default".to_owned(),
        ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => "*".to_owned(),
    }
}

/// Removes what is imported by value but only used as a type, as the TypeScript compiler does.
fn drop_type_imports(program: &mut Program<'_>, scoping: &Scoping) {
    let only_a_type = |specifier: &ImportDeclarationSpecifier<'_>| {
        let local = match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(specifier)
                if specifier.import_kind.is_type() =>
            {
                return true;
            }
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
