//! A run from the job to its end: link, evaluate, pick the export, call it, await, marshal.

use std::collections::HashMap;
use std::rc::Rc;

use super::channel::Channel;
use super::clone_out::Functions;
use super::fault;
use super::globals;
use super::modules::Graph;
use super::quickjs::{PromiseState, Thrown, Val};
use super::session::Session;
use super::template::{Furniture, Template};
use super::tool_realm::ToolRealm;
use crate::protocol::{Done, DoneStatus, Encoded, Fault, FromWorker, Job};
use crate::value::wire::Tag;

/// Runs a job and tells the host how it ended.
pub(crate) fn run(template: &Template, job: &Job, channel: Channel) {
    let session = begin(template, job, channel);
    let meter = session.realm.meter();
    meter.begin(usize::try_from(job.memory).unwrap_or(usize::MAX));
    globals::seed(&session.realm);
    let outcome = match &template.furniture {
        Furniture::Module { set_console } => execute(&session, job, set_console),
        Furniture::ToolScript(tools) => tools.execute(&session, job),
    };
    let done = conclude(&session, &template.furniture, outcome);
    // If the host is gone there is nobody left to tell.
    let _ = session.send(&FromWorker::Done(Box::new(done)));
    session.graph.borrow_mut().set_imports(HashMap::new());
}

/// What most tool scripts do.
const TOOL_REHEARSAL: &str = "const f = async (a: number[]) => ({ a: a.map((x) => `${x}`) });
    const both = await Promise.all([f([1]), f([2])]); return JSON.stringify(both);";

/// Runs something trivial and tells nobody, so that a process that waits for its job has everything at hand that
/// a run touches. Gives the channel back.
pub(crate) fn rehearse(template: &Template, channel: Channel) -> Option<Channel> {
    let list = || vec![Tag::Array as u8, 0];
    let object = || vec![Tag::Object as u8, 0];
    let job = Job {
        source:
            "const f = async (a: number[]) => ({ a: a.map((x) => `${x}`) }); export default f([1]);"
                .to_owned(),
        // No caller's module has this name, and no specifier leads to it.
        filename: "\u{1}rehearsal".to_owned(),
        typescript: true,
        export: "default".to_owned(),
        arguments: list().into(),
        imports: object().into(),
        globals: object().into(),
        stack: 1 << 20,
        message_bytes: 1 << 20,
        message_depth: 100,
        ..Job::default()
    };
    let limits = channel.limits();
    let session = begin(template, &job, channel);
    let rehearsed = match &template.furniture {
        Furniture::Module { set_console } => execute(&session, &job, set_console),
        Furniture::ToolScript(_) => {
            ToolRealm::rehearse(&session, TOOL_REHEARSAL).map(|()| Vec::new())
        }
    }
    .is_ok();
    session.graph.borrow_mut().set_imports(HashMap::new());
    let mut channel = Session::into_channel(session).filter(|_| rehearsed)?;
    channel.set_limits(limits);
    Some(channel)
}

fn begin(template: &Template, job: &Job, mut channel: Channel) -> Rc<Session> {
    let limits = job.limits();
    channel.set_limits(limits);
    let graph = Graph::new(&job.filename, job.typescript, &job.modules);
    let session = Session::new(template, graph, limits, job, channel);
    session
        .realm
        .set_stack(usize::try_from(job.stack).unwrap_or(usize::MAX));
    session
}

/// How a run fails.
pub(crate) enum Failure {
    /// Before any code of the script ran.
    Link(Thrown),
    /// The export that `execute` names is not there.
    NoExport(String),
    /// Something was thrown and not caught.
    Uncaught(Thrown),
    /// The host has gone away, or nothing will ever continue the script.
    Stuck,
}

impl From<Thrown> for Failure {
    fn from(thrown: Thrown) -> Self {
        Self::Uncaught(thrown)
    }
}

fn conclude(
    session: &Rc<Session>,
    furniture: &Furniture,
    outcome: Result<Vec<u8>, Failure>,
) -> Done {
    let meter = session.realm.meter();
    // The allocator is asked first: what a script made of the exception does not count.
    let exhausted = meter.exhausted();
    let peak = meter.peak() as u64;
    // Describing an error takes memory too.
    meter.set_limit(usize::MAX);
    let dropped_logs = session.dropped_logs();
    let done = |status, error| Done {
        status,
        result: Encoded::default(),
        error,
        peak,
        dropped_logs,
    };
    if exhausted {
        let message = "the script used more memory than its limit allows".to_owned();
        let fault = Fault {
            name: "MemoryLimitError".to_owned(),
            message,
            ..Fault::default()
        };
        return done(DoneStatus::Memory, Some(fault));
    }
    match outcome {
        Ok(result) => Done {
            result: result.into(),
            ..done(DoneStatus::Success, None)
        },
        Err(Failure::Link(Thrown(error))) => {
            done(DoneStatus::LinkError, Some(link_fault(session, &error)))
        }
        Err(Failure::NoExport(name)) => {
            let message = format!("the module has no export named '{name}'");
            let name = "SyntaxError".to_owned();
            let filename = Some(session.graph.borrow().entry.clone());
            done(
                DoneStatus::LinkError,
                Some(Fault {
                    name,
                    message,
                    filename,
                    ..Fault::default()
                }),
            )
        }
        Err(Failure::Uncaught(Thrown(error))) => {
            let mut fault = fault::describe(&error, &session.graph.borrow());
            if let Furniture::ToolScript(tools) = furniture {
                fault.mark = tools.mark_of(&error);
            }
            done(DoneStatus::Error, Some(fault))
        }
        Err(Failure::Stuck) => {
            let message = "the script awaits a promise that nothing can settle any more".to_owned();
            let fault = Fault {
                name: "Error".to_owned(),
                message,
                ..Fault::default()
            };
            done(DoneStatus::Error, Some(fault))
        }
    }
}

fn link_fault(session: &Rc<Session>, error: &Val) -> Fault {
    let graph = session.graph.borrow();
    if let Some(fault) = &graph.syntax {
        return fault.clone();
    }
    let mut fault = fault::describe(error, &graph);
    // A missing export is only told in the engine's message, at a time when no script has run yet.
    let in_message = fault
        .message
        .rsplit_once("in module '")
        .and_then(|(_, rest)| rest.split_once('\''))
        .map(|(specifier, _)| specifier.to_owned());
    fault.specifier = graph.missing.clone().or(in_message);
    fault
}

fn execute(session: &Rc<Session>, job: &Job, set_console: &Val) -> Result<Vec<u8>, Failure> {
    install(session, job, set_console)?;
    let realm = &session.realm;
    let entry = session.graph.borrow().entry.clone();
    let module = session
        .load_source(&entry, &job.source, &job.filename)
        .map_err(Failure::Link)?;
    realm.resolve_imports(&module).map_err(Failure::Link)?;
    let reference = module.module().ok_or(Failure::Stuck)?;
    // Linking happens here; what evaluation throws arrives through the promise.
    let evaluation = realm.run(module).map_err(Failure::Link)?;
    settled(session, &evaluation)?;
    let namespace = realm.namespace(reference)?;
    if !namespace.has(&job.export)? {
        return Err(Failure::NoExport(job.export.clone()));
    }
    let export = namespace.get_text(&job.export)?;
    let arguments = session.spread(&job.arguments)?;
    let candidate = if export.is_function() {
        export.call(&realm.undefined(), &arguments)?
    } else if arguments.is_empty() {
        export
    } else {
        let message = format!(
            "the export '{}' is not a function, so it takes no arguments",
            job.export
        );
        return Err(Failure::Uncaught(realm.error("TypeError", &message)));
    };
    // Resolving a promise with it unwraps thenables of any depth.
    let (promise, resolve, _) = realm.promise()?;
    resolve.call(&realm.undefined(), &[candidate])?;
    let value = settled(session, &promise)?;
    let result = session.clone_out(&value, Functions::Refuse);
    Ok(result.map_err(|fault| fault.into_thrown(realm, "result"))?)
}

/// Runs jobs and attends to the host until the promise has settled.
pub(super) fn settled(session: &Rc<Session>, promise: &Val) -> Result<Val, Failure> {
    loop {
        match promise.promise_state() {
            Some(PromiseState::Fulfilled) => return Ok(promise.promise_result()),
            Some(PromiseState::Rejected) => {
                return Err(Failure::Uncaught(Thrown(promise.promise_result())));
            }
            Some(PromiseState::Pending) => {}
            None => return Ok(promise.clone()),
        }
        if session.realm.run_job()? {
            continue;
        }
        if session.realm.meter().exhausted() || !session.expects_the_host() || !session.attend()? {
            return Err(Failure::Stuck);
        }
    }
}

/// Brings the caller's globals and imports in.
fn install(session: &Rc<Session>, job: &Job, set_console: &Val) -> Result<(), Failure> {
    let realm = &session.realm;
    let globals = session.clone_in(&job.globals)?;
    if globals.has("console")? {
        let console = globals.get(c"console")?;
        set_console.call(&realm.undefined(), &[console])?;
    }
    let mut names: Vec<&str> = job
        .global_names
        .iter()
        .map(String::as_str)
        .filter(|name| *name != "console")
        .collect();
    if job.report && !names.contains(&"report") {
        globals.define_text("report", globals::report_function(realm)?)?;
        names.push("report");
    }
    if !names.is_empty() {
        declare(session, &names, &globals)?;
    }
    let imports = session.clone_in(&job.imports)?;
    let keys = imports.keys()?;
    let modules: Result<HashMap<String, Val>, Thrown> = (0..keys.len())
        .map(|at| {
            Ok((
                keys.key(at)?.string().unwrap_or_default(),
                keys.value(&imports, at)?,
            ))
        })
        .collect();
    session.graph.borrow_mut().set_imports(modules?);
    Ok(())
}

/// Binds names in the global lexical scope: every module sees them, `globalThis` does not.
fn declare(session: &Rc<Session>, names: &[&str], values: &Val) -> Result<(), Thrown> {
    let mut source = format!("let {}; $ => {{ ", names.join(", "));
    for name in names {
        source.push_str(name);
        source.push_str(" = $.");
        source.push_str(name);
        source.push(';');
    }
    source.push('}');
    let bytecode = session.compiler.compile(&source, "<globals>", false)?;
    let assign = session.realm.run(session.realm.load(&bytecode)?)?;
    assign
        .call(&session.realm.undefined(), std::slice::from_ref(values))
        .map(drop)
}
