//! A run from the job to its end: link, evaluate, pick the export, call it, await, marshal.

use std::collections::HashMap;
use std::rc::Rc;

use super::channel::Channel;
use super::clone_out::Functions;
use super::fault;
use super::globals;
use super::modules::{Graph, Missing};
use super::preview;
use super::quickjs::{PromiseState, Thrown, Val};
use super::run_state::RunState;
use super::stack;
use super::template::{RealmContents, Template};
use crate::protocol::{Encoded, Fault, FromWorker, Job, Oversize, Place, RunReport, RunStatus};
use crate::runtime::RealmKind;
use crate::value::wire::Tag;

/// Runs a job and tells the host how it ended.
pub(crate) fn run(template: &Template, job: &Job, channel: Channel) {
    let run = begin(template, job, channel);
    let meter = run.realm.meter();
    meter.begin(usize::try_from(job.memory).unwrap_or(usize::MAX));
    globals::seed(&run.realm);
    let outcome = match &template.contents {
        RealmContents::Module { set_console } => execute(&run, job, set_console),
        RealmContents::ToolScript(tools) => tools.execute(&run, job),
    };
    let outcome = wind_down(&run, outcome);
    let done = conclude(&run, &template.contents, outcome);
    // If the host is gone there is nobody left to tell.
    let _ = run.send(&FromWorker::Done(Box::new(done)));
    run.rejections.clear();
    run.graph.borrow_mut().set_imports(HashMap::new());
}

/// How much more stack a driven async function takes than one of the engine's own.
const DRIVEN: usize = 8;

/// Jobs that still run when the result is there. A script whose jobs make new ones for ever has a result all the same.
const MOST_JOBS_AFTER: u32 = 1_000_000;

/// Lets the microtasks run that are queued when the result is there: what they print and report counts, and so does
/// what they throw.
fn wind_down(run: &Rc<RunState>, outcome: Outcome) -> Outcome {
    let result = outcome?;
    for _ in 0..MOST_JOBS_AFTER {
        if run.realm.meter().exhausted() || !run.run_job()? {
            break;
        }
    }
    Ok(result)
}

/// What comes of a run: its result, or what is told of one that is too large.
pub(crate) enum Product {
    Whole(Vec<u8>),
    Oversize(Oversize),
}

pub(crate) type Outcome = Result<Product, Failure>;

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
        message_held: 1 << 20,
        ..Job::default()
    };
    let limits = channel.limits();
    let run = begin(template, &job, channel);
    let rehearsed = match &template.contents {
        RealmContents::Module { set_console } => execute(&run, &job, set_console),
        RealmContents::ToolScript(tools) => tools
            .rehearse(&run, TOOL_REHEARSAL)
            .map(|()| Product::Whole(Vec::new())),
    }
    .is_ok();
    run.rejections.clear();
    run.graph.borrow_mut().set_imports(HashMap::new());
    let mut channel = RunState::into_channel(run).filter(|_| rehearsed)?;
    channel.set_limits(limits);
    Some(channel)
}

fn begin(template: &Template, job: &Job, mut channel: Channel) -> Rc<RunState> {
    let limits = job.limits();
    channel.set_limits(limits);
    let graph = Graph::new(&job.filename, job.typescript, &job.modules);
    let run = RunState::new(template, graph, limits, job, channel);
    // A tool script's async functions are driven by functions of ours, which take a multiple of the stack.
    let times = match job.realm() {
        RealmKind::Module => 1,
        RealmKind::ToolScript => DRIVEN,
    };
    let stack = usize::try_from(job.stack).unwrap_or(usize::MAX);
    run.realm.set_stack(stack.saturating_mul(times));
    run
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

fn conclude(run: &Rc<RunState>, contents: &RealmContents, outcome: Outcome) -> RunReport {
    let meter = run.realm.meter();
    // The allocator is asked first: what a script made of the exception does not count.
    let exhausted = meter.exhausted();
    let peak = meter.peak() as u64;
    // Describing an error takes memory too.
    meter.set_limit(usize::MAX);
    if exhausted {
        let message = "the script used more memory than its limit allows".to_owned();
        let fault = Fault {
            name: "MemoryLimitError".to_owned(),
            message,
            ..Fault::default()
        };
        return RunReport {
            status: RunStatus::Memory,
            error: Some(fault),
            peak,
            dropped_logs: run.outlet.dropped_logs(),
            ..RunReport::default()
        };
    }
    let failed = match &outcome {
        Err(Failure::Uncaught(Thrown(error))) => Some(error.clone()),
        _ => None,
    };
    let mark = |error: &Val| match contents {
        RealmContents::ToolScript(tools) => tools.mark_of(error),
        RealmContents::Module { .. } => 0,
    };
    let (unhandled, unhandled_left_out) = run.rejections.take(run, failed.as_ref(), mark);
    let (status, error) = match &outcome {
        Ok(_) => (RunStatus::Success, None),
        Err(failure) => {
            let (status, mut fault) = told(run, failure);
            if let Some(error) = &failed {
                fault.mark = mark(error);
            }
            (status, Some(fault))
        }
    };
    let (result, oversize) = match outcome {
        Ok(Product::Whole(result)) => (result.into(), None),
        Ok(Product::Oversize(oversize)) => (Encoded::default(), Some(oversize)),
        Err(_) => (Encoded::default(), None),
    };
    RunReport {
        status,
        result,
        error,
        peak,
        dropped_logs: run.outlet.dropped_logs(),
        unhandled,
        unhandled_left_out,
        dropped_calls: run.under_way(),
        oversize,
    }
}

/// What is told of a failure.
fn told(run: &Rc<RunState>, failure: &Failure) -> (RunStatus, Fault) {
    let entry = || Some(run.graph.borrow().entry.clone());
    match failure {
        Failure::Link(Thrown(error)) => (RunStatus::LinkError, link_fault(run, error)),
        Failure::NoExport(name) => (
            RunStatus::LinkError,
            Fault {
                name: "SyntaxError".to_owned(),
                message: format!("the module has no export named '{name}'"),
                filename: entry(),
                ..Fault::default()
            },
        ),
        Failure::Uncaught(Thrown(error)) => (RunStatus::Error, fault::describe(error, run)),
        Failure::Stuck => (
            RunStatus::Error,
            Fault {
                name: "Error".to_owned(),
                message: "the script awaits a promise that nothing can settle any more".to_owned(),
                filename: entry(),
                ..Fault::default()
            },
        ),
    }
}

fn link_fault(run: &Rc<RunState>, error: &Val) -> Fault {
    if let Some(fault) = &run.graph.borrow().syntax {
        return fault.clone();
    }
    let fault = fault::describe(error, run);
    let graph = run.graph.borrow();
    let unexported = missing_export(&fault.message);
    let Some(missing) = graph.missing.as_ref().or(unexported.as_ref()) else {
        return fault;
    };
    let place = graph.import_site(missing);
    let stack = place.as_ref().map(|Place { file, line, column }| {
        let header = stack::header(&fault.name, &fault.message);
        format!("{header}\n    at {file}:{line}:{column}")
    });
    Fault {
        specifier: Some(missing.specifier.clone()),
        stack: stack.or(fault.stack.clone()),
        ..fault
    }
    .at(place.as_ref())
}

/// A missing export is only told in the engine's message, at a time when no script has run yet.
fn missing_export(message: &str) -> Option<Missing> {
    let (before, rest) = message.rsplit_once("in module '")?;
    let (specifier, _) = rest.split_once('\'')?;
    let export = before.split('\'').nth(1)?;
    Some(Missing {
        base: String::new(),
        specifier: specifier.to_owned(),
        export: Some(export.to_owned()),
    })
}

fn execute(run: &Rc<RunState>, job: &Job, set_console: &Val) -> Outcome {
    install(run, job, set_console)?;
    let realm = &run.realm;
    let entry = run.graph.borrow().entry.clone();
    let module = run
        .load_source(&entry, &job.source, &job.filename)
        .map_err(Failure::Link)?;
    realm.resolve_imports(&module).map_err(Failure::Link)?;
    let reference = module.module().ok_or(Failure::Stuck)?;
    // Linking happens here; what evaluation throws arrives through the promise.
    let evaluation = realm.run(module).map_err(Failure::Link)?;
    settled(run, &evaluation)?;
    let namespace = realm.namespace(reference)?;
    if !namespace.has(&job.export)? {
        return Err(Failure::NoExport(job.export.clone()));
    }
    let export = namespace.get_text(&job.export)?;
    let arguments = run.spread(&job.arguments)?;
    drop(realm.take_back_trace());
    let candidate = if export.is_function() {
        let called = export.call(&realm.undefined(), &arguments);
        if let Err(Thrown(error)) = &called {
            run.rejections.note(run, error);
        }
        called?
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
    let value = settled(run, &promise)?;
    marshal(run, &value)
}

/// The result as it crosses, or what is told of it.
pub(super) fn marshal(run: &Rc<RunState>, value: &Val) -> Outcome {
    match run.clone_out(value, Functions::Refuse) {
        Ok(result) => Ok(Product::Whole(result)),
        Err(fault) if fault.is_too_large() => Ok(Product::Oversize(preview::oversize(value, run))),
        Err(fault) => Err(Failure::Uncaught(fault.into_thrown(&run.realm, "result"))),
    }
}

/// Runs jobs and attends to the host until the promise has settled.
pub(super) fn settled(run: &Rc<RunState>, promise: &Val) -> Result<Val, Failure> {
    loop {
        match promise.promise_state() {
            Some(PromiseState::Fulfilled) => return Ok(promise.promise_result()),
            Some(PromiseState::Rejected) => {
                return Err(Failure::Uncaught(Thrown(promise.promise_result())));
            }
            Some(PromiseState::Pending) => {}
            None => return Ok(promise.clone()),
        }
        if run.realm.meter().exhausted() {
            return Err(Failure::Stuck);
        }
        if run.run_job()? {
            continue;
        }
        if !run.expects_the_host() || !run.attend()? {
            return Err(Failure::Stuck);
        }
    }
}

/// Brings the caller's globals and imports in.
fn install(run: &Rc<RunState>, job: &Job, set_console: &Val) -> Result<(), Failure> {
    let realm = &run.realm;
    let globals = run.clone_in(&job.globals)?;
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
        declare(run, &names, &globals)?;
    }
    let imports = run.clone_in(&job.imports)?;
    let keys = imports.keys()?;
    let modules: Result<HashMap<String, Val>, Thrown> = (0..keys.len())
        .map(|at| {
            Ok((
                keys.key(at)?.string().unwrap_or_default(),
                keys.value(&imports, at)?,
            ))
        })
        .collect();
    run.graph.borrow_mut().set_imports(modules?);
    Ok(())
}

/// Binds names in the global lexical scope: every module sees them, `globalThis` does not.
fn declare(run: &Rc<RunState>, names: &[&str], values: &Val) -> Result<(), Thrown> {
    let mut source = format!("let {}; $ => {{ ", names.join(", "));
    for name in names {
        source.push_str(name);
        source.push_str(" = $.");
        source.push_str(name);
        source.push(';');
    }
    source.push('}');
    let bytecode = run.compiler.compile(&source, "<globals>", false)?;
    let assign = run.realm.run(run.realm.load(&bytecode)?)?;
    assign
        .call(&run.realm.undefined(), std::slice::from_ref(values))
        .map(drop)
}
