//! The realm of tool scripts: frozen intrinsics, promises that know who waits for what, and the globals `tools`,
//! `context` and `console`; and one script in it.
//!
//! What the script may do is decided by the host. The code in `tool_realm/` makes the calls, cancels those that
//! nobody waits for any more, and writes the result as JSON.

use std::rc::Rc;

use super::globals;
use super::quickjs::{Kind, Native, Realm, Thrown, Val, Visibility};
use super::run::{Failure, Outcome, marshal, settled};
use super::run_state::RunState;
use crate::protocol::{Job, JobKind};
use crate::tool_source;

/// In this order: the later parts use the earlier ones.
const PARTS: [&str; 5] = [
    include_str!("tool_realm/freeze.js"),
    include_str!("tool_realm/promises.js"),
    include_str!("tool_realm/driver.js"),
    include_str!("tool_realm/helpers.js"),
    include_str!("tool_realm/facade.js"),
];

/// The way into a realm of tool scripts.
#[derive(Clone)]
pub(crate) struct ToolRealm {
    begin: Val,
    start: Val,
    mark_of: Val,
    /// What transformed code calls.
    helpers: Val,
}

impl ToolRealm {
    /// Furnishes a realm, and freezes it.
    pub(crate) fn set_up(
        realm: &Realm,
        evaluate: impl Fn(&str) -> Result<Val, Thrown>,
        console: Val,
    ) -> Result<Self, Thrown> {
        let source = format!(
            "'use strict'; ({{ console, locate, thrown, caught }}) => {{ {} return {{ begin, start, markOf, harden, \
             helpers, globals: {{ tools, context, console }} }}; }}",
            PARTS.concat()
        );
        let given = realm.object()?;
        given.define(c"console", console, Visibility::Enumerable)?;
        let natives: [(&str, Native); 3] = [
            ("locate", globals::locate),
            ("thrown", globals::thrown),
            ("caught", globals::caught),
        ];
        for (name, native) in natives {
            given.define_text(name, realm.function(name, native, 0, &realm.undefined())?)?;
        }
        let api = evaluate(&source)?.call(&realm.undefined(), &[given])?;
        let global = realm.global();
        global.define(c"$api", api.clone(), Visibility::Hidden)?;
        // Constants of the global lexical scope: every script sees them, and none can replace them.
        evaluate("const { tools, context, console } = $api.globals;")?;
        global.delete("$api")?;
        let globals = api.get(c"globals")?;
        let helpers = api.get(c"helpers")?;
        let shared = [globals.get(c"console")?, helpers.clone()];
        api.get(c"harden")?.call(&realm.undefined(), &shared)?;
        Ok(Self {
            begin: api.get(c"begin")?,
            start: api.get(c"start")?,
            mark_of: api.get(c"markOf")?,
            helpers,
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
    pub(crate) fn execute(&self, run: &Rc<RunState>, job: &Job) -> Outcome {
        let realm = &run.realm;
        let undefined = realm.undefined();
        let name = run.graph.borrow().entry.clone();
        let prepared = tool_source::prepare(&job.source, job.typescript)
            .map_err(|fault| Failure::Link(run.syntax_error(fault, &name)))?;
        let uses = prepared.uses;
        let body = run
            .load_body(&name, &job.source, prepared.code, &self.helpers)
            .map_err(Failure::Link)?;
        let value = if job.kind == JobKind::ToolCheck {
            realm.string(&uses.to_string())?
        } else {
            let given = run.clone_in(&job.globals)?;
            let begin = [given.get(c"host")?, given.get(c"settings")?];
            self.begin.call(&undefined, &begin)?;
            settled(run, &self.start.call(&undefined, &[body])?)?
        };
        marshal(run, &value)
    }

    /// Runs something trivial, so that what every script touches is at hand.
    pub(crate) fn rehearse(&self, run: &Rc<RunState>, source: &str) -> Result<(), Failure> {
        let name = run.graph.borrow().entry.clone();
        let prepared = tool_source::prepare(source, true)
            .map_err(|fault| Failure::Link(run.syntax_error(fault, &name)))?;
        let body = run.load_body(&name, source, prepared.code, &self.helpers)?;
        let promise = body.call(&run.realm.undefined(), &[])?;
        settled(run, &promise).map(drop)
    }
}
