//! What a tool script may not name, and the calls of tools that its text shows.

use oxc_ast::ast::{
    CallExpression, Expression, IdentifierReference, ImportDeclaration, ImportExpression,
    ImportMeta, NewExpression, ObjectPropertyKind, Program, TSImportEqualsDeclaration,
};
use oxc_ast_visit::{Visit, walk};
use serde_json::{Value as Json, json};

use super::prefix;
use crate::typescript::{SyntaxFault, position};

pub(super) fn banned_message(what: &str) -> String {
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
pub(super) fn scan(program: &Program<'_>, wrapped: &str) -> Result<Json, SyntaxFault> {
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
