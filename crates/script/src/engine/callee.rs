//! Which expression was called although it is no function: the engine does not say, the source does.

use oxc_allocator::Allocator;
use oxc_ast::ast::{CallExpression, NewExpression, TaggedTemplateExpression};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan, SourceType, Span};

use super::modules::Graph;
use crate::protocol::Place;
use crate::typescript::{Position, offset};

/// Letters of an expression that are shown.
const LONGEST: usize = 80;

/// Whether this is one of the engine's messages that leave out what they are about.
pub(crate) fn is_terse(message: &str) -> bool {
    matches!(message, "not a function" | "not a constructor")
}

/// A better message for one of the engine's, at the place of an error.
pub(crate) fn explain(message: &str, place: &Place, graph: &Graph) -> Option<String> {
    if !is_terse(message) {
        return None;
    }
    let source = graph.source(&place.file)?;
    let at = offset(
        source,
        Position {
            line: place.line,
            column: place.column,
        },
    )?;
    let allocator = Allocator::default();
    let options = ParseOptions {
        allow_return_outside_function: true,
        ..ParseOptions::default()
    };
    let kind = SourceType::ts().with_module(true);
    let parsed = Parser::new(&allocator, source, kind)
        .with_options(options)
        .parse();
    let mut search = Search {
        at: u32::try_from(at).ok()?,
        source,
        message,
        found: None,
    };
    search.visit_program(&parsed.program);
    let (callee, what) = search.found?;
    let text = source.get(callee.start as usize..callee.end as usize)?;
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = text.chars().take(LONGEST).collect();
    let rest = if short.len() < text.len() { "…" } else { "" };
    Some(format!("{short}{rest} is not {what}"))
}

/// Looks for the call whose callee ends last before a place, or that begins there.
struct Search<'m> {
    at: u32,
    source: &'m str,
    message: &'m str,
    found: Option<(Span, &'static str)>,
}

impl Search<'_> {
    fn consider(&mut self, whole: Span, callee: Span, what: &'static str) {
        if !(whole.start <= self.at && self.at < whole.end) {
            return;
        }
        // A script that says so itself means something else.
        let given = self.source.get(callee.end as usize..whole.end as usize);
        if given.is_some_and(|given| given.contains(self.message)) {
            return;
        }
        // The engine names the place of the callee's last part, or of the bracket: inside the callee or right behind it.
        let within = self.at <= callee.end;
        let shorter = self
            .found
            .is_none_or(|(found, _)| callee.size() < found.size());
        if within && shorter {
            self.found = Some((callee, what));
        }
    }
}

impl<'a> Visit<'a> for Search<'_> {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.consider(it.span, it.callee.span(), "a function");
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.consider(it.span, it.callee.span(), "a constructor");
        walk::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.consider(it.span, it.tag.span(), "a function");
        walk::walk_tagged_template_expression(self, it);
    }
}
