//! The calls of tools that the text of a script shows: `tools.exec(…)`, `tools['exec'](…)`, and by a name that the
//! script gave a tool once and never again.

use std::collections::HashMap;

use oxc_ast::ast::{
    BindingIdentifier, BindingPattern, CallExpression, Expression, ObjectPropertyKind,
    VariableDeclarator,
};
use serde_json::{Map, Value as Json, json};

/// Stands for a value that the text does not show, and as a key for fields that it does not show.
pub const UNKNOWN: &str = "\u{0}unknown";

/// Names that lead to a tool through others.
const MOST_STEPS: usize = 8;
/// What every function has: a call of these is no call of a tool below it.
const OF_FUNCTIONS: [&str; 4] = ["call", "apply", "bind", "toString"];

/// A call of a tool.
pub(super) struct Use {
    pub(super) tool: String,
    pub(super) offset: u32,
    /// Its first argument, as far as it is written out.
    pub(super) arguments: Option<Json>,
}

/// Calls, before it is known which are of tools.
#[derive(Default)]
pub(super) struct Uses {
    calls: Vec<(Path, u32, Option<Json>)>,
    /// How often each name is declared.
    declared: HashMap<String, u32>,
    /// What each name was given.
    names: HashMap<String, Path>,
}

/// A name, and what is read from it.
#[derive(Clone)]
struct Path {
    root: String,
    members: Vec<String>,
}

impl Uses {
    pub(super) fn declare(&mut self, it: &BindingIdentifier<'_>) {
        *self.declared.entry(it.name.to_string()).or_default() += 1;
    }

    pub(super) fn name(&mut self, it: &VariableDeclarator<'_>) {
        if let Some(path) = it.init.as_ref().and_then(path) {
            self.bind(&it.id, &path);
        }
    }

    fn bind(&mut self, pattern: &BindingPattern<'_>, given: &Path) {
        match pattern {
            BindingPattern::BindingIdentifier(it) => {
                self.names.insert(it.name.to_string(), given.clone());
            }
            BindingPattern::ObjectPattern(it) => {
                for property in &it.properties {
                    if let Some(key) = property.key.static_name() {
                        let mut given = given.clone();
                        given.members.push(key.into_owned());
                        self.bind(&property.value, &given);
                    }
                }
            }
            BindingPattern::AssignmentPattern(it) => self.bind(&it.left, given),
            BindingPattern::ArrayPattern(_) => {}
        }
    }

    pub(super) fn call(&mut self, it: &CallExpression<'_>) {
        let Some(path) = path(&it.callee) else { return };
        let arguments = match it.arguments.first() {
            None => Some(json!({})),
            Some(first) => first.as_expression().map(literal),
        };
        self.calls.push((path, it.span.start, arguments));
    }

    /// Those that are calls of tools.
    pub(super) fn into_tools(self) -> impl Iterator<Item = Use> {
        let Self {
            calls,
            declared,
            names,
        } = self;
        let tool = move |path: &Path| {
            let mut path = path.clone();
            for _ in 0..MOST_STEPS {
                let times = declared.get(&path.root).copied().unwrap_or_default();
                if path.root == "tools" && times == 0 {
                    return Some(path.members);
                }
                let given = names.get(&path.root).filter(|_| times == 1)?;
                let members = [given.members.clone(), path.members].concat();
                path = Path {
                    root: given.root.clone(),
                    members,
                };
            }
            None
        };
        calls
            .into_iter()
            .filter_map(move |(path, offset, arguments)| {
                let members = tool(&path)?;
                let last = members.last()?;
                (!OF_FUNCTIONS.contains(&last.as_str())).then(|| Use {
                    tool: members.join("."),
                    offset,
                    arguments,
                })
            })
    }
}

/// The path of `a.b['c']`.
fn path(expression: &Expression<'_>) -> Option<Path> {
    let member = |object, name: &str| {
        let mut path = path(object)?;
        path.members.push(name.to_owned());
        Some(path)
    };
    match expression.get_inner_expression() {
        Expression::Identifier(root) => Some(Path {
            root: root.name.to_string(),
            members: Vec::new(),
        }),
        Expression::StaticMemberExpression(it) => member(&it.object, it.property.name.as_str()),
        Expression::ComputedMemberExpression(it) => match literal(&it.expression) {
            Json::String(name) if name != UNKNOWN => member(&it.object, &name),
            _ => None,
        },
        _ => None,
    }
}

/// The JSON of an expression, as far as it is written out.
fn literal(expression: &Expression<'_>) -> Json {
    let unknown = || Json::from(UNKNOWN);
    match expression.get_inner_expression() {
        Expression::NullLiteral(_) => Json::Null,
        Expression::BooleanLiteral(it) => it.value.into(),
        Expression::NumericLiteral(it) => number(it.value),
        Expression::UnaryExpression(it) if it.operator.as_str() == "-" => match &it.argument {
            Expression::NumericLiteral(it) => number(-it.value),
            _ => unknown(),
        },
        Expression::StringLiteral(it) => it.value.as_str().into(),
        Expression::TemplateLiteral(it) => match it.quasis.as_slice() {
            [only] => only
                .value
                .cooked
                .map_or_else(unknown, |text| text.as_str().into()),
            // It is a string, whichever.
            _ => unknown(),
        },
        Expression::ArrayExpression(it) => it
            .elements
            .iter()
            .map(|element| element.as_expression().map_or_else(unknown, literal))
            .collect(),
        Expression::ObjectExpression(it) => {
            let mut fields = Map::new();
            for property in &it.properties {
                match property {
                    ObjectPropertyKind::ObjectProperty(it)
                        if !it.computed && it.key.static_name().is_some() =>
                    {
                        let name = it.key.static_name().unwrap_or_default().into_owned();
                        if !is_undefined(&it.value) {
                            fields.insert(name, literal(&it.value));
                        }
                    }
                    _ => drop(fields.insert(UNKNOWN.to_owned(), Json::Bool(true))),
                }
            }
            Json::Object(fields)
        }
        _ => unknown(),
    }
}

fn is_undefined(expression: &Expression<'_>) -> bool {
    matches!(expression, Expression::Identifier(it) if it.name == "undefined")
}

fn number(value: f64) -> Json {
    let text = value.to_string();
    serde_json::from_str(&text).unwrap_or_else(|_| UNKNOWN.into())
}
