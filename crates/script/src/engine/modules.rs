//! The module graph of a run: what a specifier leads to, and how source becomes a module.
//!
//! Bare specifiers lead to the caller's `imports`, relative ones to its `modules`, and nothing else leads
//! anywhere. Source is compiled in the compiler realm and loaded as bytecode into the script's.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};

use rquickjs_sys as qjs;

use super::quickjs::{ModuleRef, Realm, Thrown, Val, Visibility};
use super::run_state::RunState;
use crate::brackets;
use crate::protocol::{Fault, Place};
use crate::typescript::{self, Origin, Position, SyntaxFault, Transformed};

/// All modules that a run can reach.
pub(crate) struct Graph {
    /// The name of the entry module.
    pub(crate) entry: String,
    entry_path: Option<String>,
    typescript: bool,
    sources: HashMap<String, String>,
    imports: HashMap<String, Val>,
    loaded: HashMap<String, Loaded>,
    /// What could not be found last.
    pub(crate) missing: Option<Missing>,
    /// The syntax error that was found last.
    pub(crate) syntax: Option<Fault>,
}

/// A module that could not be found, or one without an export that was asked for.
pub(crate) struct Missing {
    /// Who imports it; empty where that is not known.
    pub(crate) base: String,
    pub(crate) specifier: String,
    pub(crate) export: Option<String>,
}

/// A module whose code is known to the engine.
struct Loaded {
    source: String,
    /// Where its code comes from, if it is not the source itself.
    origin: Option<Origin>,
}

impl Graph {
    pub(crate) fn new(filename: &str, typescript: bool, modules: &[(String, String)]) -> Self {
        let sources = modules
            .iter()
            .filter_map(|(key, source)| Some((normalize("", key)?, source.clone())))
            .collect();
        Self {
            entry: filename.to_owned(),
            entry_path: normalize("", &format!("./{}", filename.trim_start_matches('/'))),
            typescript,
            sources,
            imports: HashMap::new(),
            loaded: HashMap::new(),
            missing: None,
            syntax: None,
        }
    }

    /// Adds the caller's modules by bare specifier.
    pub(crate) fn set_imports(&mut self, imports: HashMap<String, Val>) {
        if imports.contains_key(&self.entry) {
            self.entry = format!("./{}", self.entry);
        }
        self.imports = imports;
    }

    /// Whether this name belongs to a module of the script.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.loaded.contains_key(name)
    }

    /// The text of a module as it was written.
    pub(crate) fn source(&self, name: &str) -> Option<&str> {
        self.loaded.get(name).map(|loaded| loaded.source.as_str())
    }

    /// Whether what stands at a place is thrown there. The engine names the place behind the word.
    pub(crate) fn is_thrown_at(&self, place: &Place) -> bool {
        let at = Position {
            line: place.line,
            column: place.column,
        };
        let found = self.source(&place.file).and_then(|source| {
            let offset = typescript::offset(source, at)?;
            source.split_at_checked(offset)
        });
        found.is_some_and(|(before, behind)| {
            behind.starts_with("throw") || before.trim_end().ends_with("throw")
        })
    }

    /// The line of a place.
    pub(crate) fn line_of(&self, place: &Place) -> &str {
        let at = usize::try_from(place.line).unwrap_or(0).checked_sub(1);
        let source = self.source(&place.file).unwrap_or_default();
        at.and_then(|at| source.lines().nth(at)).unwrap_or_default()
    }

    /// Where a module is imported that is not there, or that has no export of this name.
    pub(crate) fn import_site(&self, missing: &Missing) -> Option<Place> {
        let leads_there = |base: &str, specifier: &str| match &missing.export {
            None => base == missing.base && specifier == missing.specifier,
            Some(_) => self.resolve(base, specifier).ok().as_deref() == Some(&missing.specifier),
        };
        self.loaded.iter().find_map(|(name, loaded)| {
            let leads = |specifier: &str| leads_there(name, specifier);
            let at = typescript::import_site(&loaded.source, missing.export.as_deref(), leads)?;
            Some(Place {
                file: name.clone(),
                line: at.line,
                column: at.column,
            })
        })
    }

    /// Where a position in the evaluated code comes from; `None` for code that nobody wrote.
    pub(crate) fn origin(&self, name: &str, at: Position) -> Option<Position> {
        let loaded = self.loaded.get(name);
        let origin = loaded.and_then(|loaded| loaded.origin.as_ref());
        origin.map_or(Some(at), |origin| origin.of(at))
    }

    fn resolve(&self, base: &str, specifier: &str) -> Result<String, String> {
        if self.imports.contains_key(specifier) {
            return Ok(specifier.to_owned());
        }
        if specifier.starts_with("./") || specifier.starts_with("../") {
            let base = if base == self.entry {
                self.entry_path.as_deref().unwrap_or("./")
            } else {
                base
            };
            let path = normalize(base, specifier).ok_or_else(|| {
                format!("Cannot find module '{specifier}': it leaves the module graph")
            })?;
            if Some(&path) == self.entry_path.as_ref() {
                return Ok(self.entry.clone());
            }
            if self.sources.contains_key(&path) {
                return Ok(path);
            }
            return Err(format!(
                "Cannot find module '{specifier}' from '{base}': it is not among `modules`"
            ));
        }
        Err(
            if specifier.contains("://") || specifier.starts_with("data:") {
                format!("Cannot import '{specifier}': URLs are not available in the sandbox")
            } else {
                format!("Cannot find module '{specifier}': it is not among `imports`")
            },
        )
    }
}

/// The relative path from the root of the graph, beginning with `./`; `None` if it leaves the root.
fn normalize(base: &str, specifier: &str) -> Option<String> {
    if !specifier.starts_with("./") && !specifier.starts_with("../") {
        return None;
    }
    let mut parts: Vec<&str> = base.trim_start_matches("./").split('/').collect();
    parts.pop();
    for part in specifier.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| format!("./{}", parts.join("/")))
}

impl RunState {
    /// Compiles a module's source and brings it into the script's realm.
    pub(crate) fn load_source(&self, name: &str, source: &str, label: &str) -> Result<Val, Thrown> {
        let typescript = self.graph.borrow().typescript;
        let transformed = if typescript {
            let transformed = typescript::transform(source);
            Some(transformed.map_err(|fault| self.syntax_error(fault, label))?)
        } else {
            None
        };
        let (code, origin) = match transformed {
            Some(transformed) => (transformed.code, Some(transformed.map)),
            None => (source.to_owned(), None),
        };
        let loaded = Loaded {
            source: source.to_owned(),
            origin,
        };
        self.graph
            .borrow_mut()
            .loaded
            .insert(name.to_owned(), loaded);
        let value = self.compile_and_load(&code, name, true)?;
        if let Some(module) = value.module() {
            let meta = self.realm.import_meta(module)?;
            let url = self.realm.string(&format!("sandbox:{label}"))?;
            meta.define(c"url", url, Visibility::Enumerable)?;
        }
        Ok(value)
    }

    /// Compiles the prepared body of a tool script and brings it into the script's realm.
    pub(crate) fn load_body(
        &self,
        name: &str,
        source: &str,
        body: Transformed,
        helpers: &Val,
    ) -> Result<Val, Thrown> {
        let (source, origin) = (source.to_owned(), Some(body.map));
        self.graph
            .borrow_mut()
            .loaded
            .insert(name.to_owned(), Loaded { source, origin });
        let code = self.compile_and_load(&body.code, name, false)?;
        let (outermost, undefined) = (self.realm.run(code)?, self.realm.undefined());
        let outer = outermost.call(&undefined, std::slice::from_ref(helpers))?;
        outer.call(&undefined, &[])
    }

    fn compile_and_load(&self, code: &str, name: &str, module: bool) -> Result<Val, Thrown> {
        // An error of the compiler realm must not reach the script: its prototypes lead to that realm.
        let bytecode = self
            .compiler
            .compile(code, name, module)
            .map_err(|Thrown(error)| {
                let mut fault = super::fault::describe(&error, self);
                let source = self.graph.borrow().source(name).map(str::to_owned);
                if let Some(found) = source.as_deref().and_then(brackets::explain) {
                    fault.message = found.message;
                    fault.stack = None;
                    fault.line = found.at.map(|at| at.line.into());
                    fault.column = found.at.map(|at| at.column.into());
                }
                fault.specifier = self.specifier_of(name);
                let thrown = self.realm.error("SyntaxError", &fault.message);
                self.graph.borrow_mut().syntax = Some(fault);
                thrown
            })?;
        self.realm.load(&bytecode)
    }

    /// The specifier of a module that is not the entry.
    fn specifier_of(&self, name: &str) -> Option<String> {
        (name != self.graph.borrow().entry).then(|| name.to_owned())
    }

    /// Notes what is wrong with a text, and gives the error for it.
    pub(crate) fn syntax_error(&self, fault: SyntaxFault, label: &str) -> Thrown {
        let thrown = self.realm.error("SyntaxError", &fault.message);
        let specifier = self.specifier_of(label);
        self.graph.borrow_mut().syntax = Some(Fault {
            name: "SyntaxError".to_owned(),
            message: fault.message,
            specifier,
            filename: Some(label.to_owned()),
            line: fault.at.map(|at| at.line.into()),
            column: fault.at.map(|at| at.column.into()),
            ..Fault::default()
        });
        thrown
    }

    fn load_module(&self, name: &str) -> Result<ModuleRef, Thrown> {
        let import = self.graph.borrow().imports.get(name).cloned();
        if let Some(exports) = import {
            let keys = exports.keys()?;
            let names: Result<Vec<String>, Thrown> = (0..keys.len())
                .map(|at| Ok(keys.key(at)?.string().unwrap_or_default()))
                .collect();
            return self.realm.synthetic_module(name, &names?, exports);
        }
        let source = self.graph.borrow().sources.get(name).cloned();
        let Some(source) = source else {
            return Err(self
                .realm
                .error("ReferenceError", &format!("Cannot find module '{name}'")));
        };
        let value = self.load_source(name, &source, name)?;
        value
            .module()
            .ok_or_else(|| self.realm.error("InternalError", "not a module"))
    }

    fn resolve(&self, base: &str, specifier: &str) -> Result<String, Thrown> {
        let resolved = self.graph.borrow().resolve(base, specifier);
        resolved.map_err(|reason| {
            self.graph.borrow_mut().missing = Some(Missing {
                base: base.to_owned(),
                specifier: specifier.to_owned(),
                export: None,
            });
            self.realm.error("ReferenceError", &reason)
        })
    }
}

/// The engine asks what a specifier leads to.
#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn normalize_callback(
    context: *mut qjs::JSContext,
    base: *const c_char,
    specifier: *const c_char,
    _attributes: qjs::JSValue,
    _opaque: *mut c_void,
) -> *mut c_char {
    // SAFETY: the engine calls with a context of ours and two C strings that live during the call.
    let (realm, base, specifier) = unsafe {
        let text = |pointer| CStr::from_ptr(pointer).to_string_lossy().into_owned();
        (Realm::of(context), text(base), text(specifier))
    };
    let resolved = match realm.run_state() {
        // Compiling only collects the specifiers; they are resolved in the realm that runs them.
        Some(run) if realm.is(&run.compiler) => Ok(specifier),
        Some(run) => run.resolve(&base, &specifier),
        None => Ok(specifier),
    };
    match resolved {
        // SAFETY: the engine takes over the copy, which it made itself.
        Ok(name) => unsafe {
            qjs::js_strndup(context, name.as_ptr().cast(), name.len() as qjs::size_t)
        },
        Err(thrown) => throw(context, thrown, std::ptr::null_mut()),
    }
}

/// The engine asks for a module by the name that it was given.
#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn load_callback(
    context: *mut qjs::JSContext,
    name: *const c_char,
    _opaque: *mut c_void,
    _attributes: qjs::JSValue,
) -> *mut qjs::JSModuleDef {
    // SAFETY: as above.
    let (realm, name) = unsafe {
        (
            Realm::of(context),
            CStr::from_ptr(name).to_string_lossy().into_owned(),
        )
    };
    let loaded = match realm.run_state() {
        Some(run) if !realm.is(&run.compiler) => run.load_module(&name),
        // A stand-in: nothing is ever linked in the compiler realm.
        _ => realm
            .object()
            .and_then(|nothing| realm.synthetic_module(&name, &[], nothing)),
    };
    match loaded {
        Ok(module) => module.raw(),
        Err(thrown) => throw(context, thrown, std::ptr::null_mut()),
    }
}

#[allow(unsafe_code)]
fn throw<T>(context: *mut qjs::JSContext, Thrown(value): Thrown, nothing: *mut T) -> *mut T {
    // SAFETY: the engine takes over the reference to the value.
    unsafe { qjs::JS_Throw(context, value.into_raw()) };
    nothing
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn relative_specifiers_stay_below_the_root() {
        for (base, specifier, expected) in [
            ("", "./a.js", Some("./a.js")),
            ("", "./lib/../a.js", Some("./a.js")),
            ("./lib/b.js", "./a.js", Some("./lib/a.js")),
            ("./lib/b.js", "../a.js", Some("./a.js")),
            ("./lib/b.js", "../../a.js", None),
            ("", "../a.js", None),
            ("", "a.js", None),
            ("./lib/b.js", "./", Some("./lib")),
        ] {
            assert_eq!(
                normalize(base, specifier).as_deref(),
                expected,
                "{specifier} from {base}"
            );
        }
    }
}
