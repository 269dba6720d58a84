//! What is put around `throw` and behind `catch`, so that the realm can tell what the engine does not: where a value was
//! thrown that is no error, and which expression was called although it is no function.

use oxc_allocator::{Allocator, TakeIn};
use oxc_ast::ast::{
    Argument, BindingPattern, CatchClause, Expression, IdentifierName, Statement, ThrowStatement,
    VariableDeclarationKind, VariableDeclarator,
};
use oxc_ast::builder::AstBuilder;
use oxc_ast_visit::{VisitMut, walk_mut};
use oxc_span::{SPAN, Span};

/// Goes over a program that has been transformed.
pub(super) struct Watch<'a> {
    build: AstBuilder<'a>,
    /// The name of the helpers, which the script does not have.
    helpers: &'a str,
    /// A name for what was caught, which it does not have either.
    caught: &'a str,
}

impl<'a> Watch<'a> {
    pub(super) fn new(allocator: &'a Allocator, helpers: &'a str) -> Self {
        let caught = allocator.alloc_str(&format!("{helpers}caught"));
        Self {
            build: AstBuilder::new(allocator),
            helpers,
            caught,
        }
    }

    /// `helpers.name(argument)`, which stands at this place of what was written.
    fn help(&self, at: Span, name: &'static str, argument: Expression<'a>) -> Expression<'a> {
        let build = &self.build;
        let helpers = Expression::new_identifier(SPAN, self.helpers, build);
        let name = IdentifierName::new(SPAN, name, build);
        let callee = Expression::new_static_member_expression(SPAN, helpers, name, false, build);
        Expression::new_call_expression(at, callee, None, [Argument::from(argument)], false, build)
    }

    /// `let pattern = helpers.caught(name);`
    fn take_apart(&self, pattern: BindingPattern<'a>, caught: Expression<'a>) -> Statement<'a> {
        let build = &self.build;
        let declared = VariableDeclarator::new(SPAN, pattern, None, Some(caught), false, build);
        let kind = VariableDeclarationKind::Let;
        Statement::new_variable_declaration(SPAN, kind, [declared], false, build)
    }
}

impl<'a> VisitMut<'a> for Watch<'a> {
    fn visit_throw_statement(&mut self, it: &mut ThrowStatement<'a>) {
        walk_mut::walk_throw_statement(self, it);
        // What the transformer throws was thrown before.
        if !it.span.is_unspanned() {
            let thrown = it.argument.take_in(&self.build);
            it.argument = self.help(it.span, "thrown", thrown);
        }
    }

    fn visit_catch_clause(&mut self, it: &mut CatchClause<'a>) {
        walk_mut::walk_catch_clause(self, it);
        let Some(parameter) = &mut it.param else {
            return;
        };
        let build = &self.build;
        let first = if let BindingPattern::BindingIdentifier(name) = &parameter.pattern {
            let name = Expression::new_identifier(SPAN, name.name, build);
            Statement::new_expression_statement(SPAN, self.help(SPAN, "caught", name), build)
        } else {
            let name = BindingPattern::new_binding_identifier(SPAN, self.caught, build);
            let pattern = std::mem::replace(&mut parameter.pattern, name);
            let name = Expression::new_identifier(SPAN, self.caught, build);
            self.take_apart(pattern, self.help(SPAN, "caught", name))
        };
        it.body.body.insert(0, first);
    }
}
