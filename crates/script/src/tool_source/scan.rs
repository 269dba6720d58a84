//! What a tool script may not name, and the calls of tools that its text shows.

use oxc_ast::ast::{
    BindingIdentifier, CallExpression, ExportAllDeclaration, ExportDefaultDeclaration,
    ExportNamedDeclaration, Expression, IdentifierReference, ImportDeclaration, ImportExpression,
    ImportMeta, NewExpression, Program, TSImportEqualsDeclaration, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use serde_json::{Value as Json, json};

use super::uses::Uses;
use crate::typescript::{Position, SyntaxFault};

pub(super) fn banned_message(what: &str) -> String {
    match what {
        "import" => "`import` is not available in tool scripts; what a script needs is in `tools`"
            .to_owned(),
        "export" => "`export` is not available in tool scripts; return a value instead".to_owned(),
        "require" => {
            "`require` is not available in tool scripts; what a script needs is in `tools`"
                .to_owned()
        }
        other => format!("`{other}` is not available in tool scripts: no code is made from text"),
    }
}

/// Refuses what is banned, and lists the calls of tools.
pub(super) fn scan(
    program: &Program<'_>,
    place: &dyn Fn(u32) -> Position,
) -> Result<Json, SyntaxFault> {
    let mut scan = Scan::default();
    scan.visit_program(program);
    if let Some((what, offset)) = scan.banned {
        return Err(SyntaxFault {
            message: banned_message(what),
            at: Some(place(offset)),
        });
    }
    let described = scan.uses.into_tools().map(|used| {
        let at = place(used.offset);
        let mut described = json!({ "tool": used.tool, "line": at.line, "column": at.column });
        if let Some(arguments) = used.arguments {
            described["arguments"] = arguments;
        }
        described
    });
    Ok(described.collect())
}

/// Looks for references to what a script may not name. Property names, strings and comments are none.
#[derive(Default)]
struct Scan {
    banned: Option<(&'static str, u32)>,
    uses: Uses,
}

impl Scan {
    fn note(&mut self, what: &'static str, offset: u32) {
        self.banned.get_or_insert((what, offset));
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

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.note("export", it.span.start);
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        self.note("export", it.span.start);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.note("export", it.span.start);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        self.note("import", it.span.start);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.note("import", it.span.start);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.uses.declare(it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.uses.name(it);
        walk::walk_variable_declarator(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.uses.call(it);
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
