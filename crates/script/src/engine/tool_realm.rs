//! The realm of tool scripts: frozen intrinsics, promises that know who waits for what, and the globals `tools`,
//! `context` and `console`; and one script in it.
//!
//! What the script may do is decided by the host. The code in `tool_realm/` makes the calls, cancels those that
//! nobody waits for any more, and writes the result as JSON.

use std::rc::Rc;

use super::clone_out::Functions;
use super::globals;
use super::quickjs::{Kind, Realm, Shown, Thrown, Val};
use super::run::{Failure, settled};
use super::session::Session;
use crate::protocol::{Job, JobKind};
use crate::tool_source;

/// In this order: the later parts use the earlier ones.
const PARTS: [&str; 3] = [
    include_str!("tool_realm/freeze.js"),
    include_str!("tool_realm/promises.js"),
    include_str!("tool_realm/facade.js"),
];

/// The way into a realm of tool scripts.
#[derive(Clone)]
pub(crate) struct ToolRealm {
    begin: Val,
    start: Val,
    mark_of: Val,
}

impl ToolRealm {
    /// Furnishes a realm, and freezes it.
    pub(crate) fn furnish(
        realm: &Realm,
        evaluate: impl Fn(&str) -> Result<Val, Thrown>,
        console: Val,
    ) -> Result<Self, Thrown> {
        let source = format!(
            "'use strict'; ({{ console, locate }}) => {{ {} return {{ begin, start, markOf, harden, \
             globals: {{ tools, context, console, babelHelpers: helpers }} }}; }}",
            PARTS.concat()
        );
        let given = realm.object()?;
        given.define(c"console", console, Shown::Enumerable)?;
        let locate = realm.function("locate", globals::locate, 0, &realm.undefined())?;
        given.define(c"locate", locate, Shown::Enumerable)?;
        let api = evaluate(&source)?.call(&realm.undefined(), &[given])?;
        let global = realm.global();
        global.define(c"$api", api.clone(), Shown::Hidden)?;
        // Constants of the global lexical scope: every script sees them, and none can replace them.
        evaluate("const { tools, context, console, babelHelpers } = $api.globals;")?;
        global.delete("$api")?;
        let globals = api.get(c"globals")?;
        let shared = [globals.get(c"console")?, globals.get(c"babelHelpers")?];
        api.get(c"harden")?.call(&realm.undefined(), &shared)?;
        Ok(Self {
            begin: api.get(c"begin")?,
            start: api.get(c"start")?,
            mark_of: api.get(c"markOf")?,
        })
    }

    /// Whose error this is, as `Fault::mark` has it.
    pub(crate) fn mark_of(&self, error: &Val) -> u64 {
        let mark = self
            .mark_of
            .call(&error.realm().undefined(), std::slice::from_ref(error));
        match mark.map(|mark| mark.kind()) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "made from a counter"
            )]
            Ok(Kind::Number(number)) => number as u64,
            _ => 0,
        }
    }

    /// Runs a script to its end, or only looks at it.
    pub(crate) fn execute(&self, session: &Rc<Session>, job: &Job) -> Result<Vec<u8>, Failure> {
        let realm = &session.realm;
        let undefined = realm.undefined();
        let name = session.graph.borrow().entry.clone();
        let prepared = tool_source::prepare(&job.source, job.typescript)
            .map_err(|fault| Failure::Link(session.syntax_error(fault, &name)))?;
        let uses = prepared.uses;
        let body = session
            .load_body(&name, prepared.code)
            .map_err(Failure::Link)?;
        let value = if job.kind == JobKind::ToolCheck {
            realm.string(&uses.to_string())?
        } else {
            let given = session.clone_in(&job.globals)?;
            let begin = [given.get(c"host")?, given.get(c"settings")?];
            self.begin.call(&undefined, &begin)?;
            settled(session, &self.start.call(&undefined, &[body])?)?
        };
        let result = session.clone_out(&value, Functions::Refuse);
        Ok(result.map_err(|fault| fault.into_thrown(realm, "result"))?)
    }

    /// Runs something trivial, so that what every script touches is at hand.
    pub(crate) fn rehearse(session: &Rc<Session>, source: &str) -> Result<(), Failure> {
        let name = session.graph.borrow().entry.clone();
        let prepared = tool_source::prepare(source, true)
            .map_err(|fault| Failure::Link(session.syntax_error(fault, &name)))?;
        let body = session.load_body(&name, prepared.code)?;
        let promise = body.call(&session.realm.undefined(), &[])?;
        settled(session, &promise).map(drop)
    }
}
