//! The module graph of a run: what a specifier leads to, and how source becomes a module.
//!
//! Bare specifiers lead to the caller's `imports`, relative ones to its `modules`, and nothing else leads
//! anywhere. Source is compiled in the compiler realm and loaded as bytecode into the script's.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};

use rquickjs_sys as qjs;

use super::quickjs::{ModuleRef, Realm, Shown, Thrown, Val};
use super::session::Session;
use crate::protocol::Fault;
use crate::typescript::{self, HELPERS, Origin, Position, SyntaxFault, Transformed};

/// All modules that a run can reach.
pub(crate) struct Graph {
    /// The name of the entry module.
    pub(crate) entry: String,
    entry_path: Option<String>,
    typescript: bool,
    sources: HashMap<String, String>,
    imports: HashMap<String, Val>,
    origins: HashMap<String, Option<Origin>>,
    /// The specifier that could not be found last.
    pub(crate) missing: Option<String>,
    /// The syntax error that was found last.
    pub(crate) syntax: Option<Fault>,
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
            origins: HashMap::new(),
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
        self.origins.contains_key(name)
    }

    /// Where a position in the evaluated code comes from; `None` for code that nobody wrote.
    pub(crate) fn origin(&self, name: &str, at: Position) -> Option<Position> {
        let origin = self.origins.get(name).and_then(Option::as_ref);
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
        if self.typescript && helper(specifier).is_some() {
            return Ok(specifier.to_owned());
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

/// The functions that transformed decorators import.
fn helper(specifier: &str) -> Option<&'static str> {
    match specifier.strip_prefix(HELPERS)? {
        "decorate" => Some(
            "export default function (decorators, target, key, desc) {
                const c = arguments.length;
                let r = c < 3 ? target : desc === null
                    ? (desc = Object.getOwnPropertyDescriptor(target, key)) : desc;
                for (let i = decorators.length - 1; i >= 0; i--) {
                    const d = decorators[i];
                    if (d) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
                }
                if (c > 3 && r) Object.defineProperty(target, key, r);
                return r;
            }",
        ),
        "decorateParam" => Some(
            "export default (index, decorator) => (target, key) => decorator(target, key, index);",
        ),
        "decorateMetadata" => Some("export default () => undefined;"),
        _ => None,
    }
}

impl Session {
    /// Compiles a module's source and brings it into the script's realm.
    pub(crate) fn load_source(&self, name: &str, source: &str, label: &str) -> Result<Val, Thrown> {
        let typescript = self.graph.borrow().typescript;
        let transformed = if typescript && helper(name).is_none() {
            let transformed = typescript::transform(source);
            Some(transformed.map_err(|fault| self.syntax_error(fault, label))?)
        } else {
            None
        };
        let (code, origin) = match transformed {
            Some(transformed) => (transformed.code, Some(transformed.map)),
            None => (source.to_owned(), None),
        };
        if helper(name).is_none() {
            self.graph
                .borrow_mut()
                .origins
                .insert(name.to_owned(), origin);
        }
        let value = self.compile_and_load(&code, name, true)?;
        if let Some(module) = value.module() {
            let meta = self.realm.import_meta(module)?;
            let url = self.realm.string(&format!("sandbox:{label}"))?;
            meta.define(c"url", url, Shown::Enumerable)?;
        }
        Ok(value)
    }

    /// Compiles the prepared body of a tool script and brings it into the script's realm.
    pub(crate) fn load_body(&self, name: &str, body: Transformed) -> Result<Val, Thrown> {
        let (code, origin) = (body.code, Some(body.map));
        self.graph
            .borrow_mut()
            .origins
            .insert(name.to_owned(), origin);
        let outer = self.realm.run(self.compile_and_load(&code, name, false)?)?;
        outer.call(&self.realm.undefined(), &[])
    }

    fn compile_and_load(&self, code: &str, name: &str, module: bool) -> Result<Val, Thrown> {
        // An error of the compiler realm must not reach the script: its prototypes lead to that realm.
        let bytecode = self
            .compiler
            .compile(code, name, module)
            .map_err(|Thrown(error)| {
                let fault = super::fault::describe(&error, &self.graph.borrow());
                let thrown = self.realm.error("SyntaxError", &fault.message);
                self.graph.borrow_mut().syntax = Some(fault);
                thrown
            })?;
        self.realm.load(&bytecode)
    }

    /// Notes what is wrong with a text, and gives the error for it.
    pub(crate) fn syntax_error(&self, fault: SyntaxFault, label: &str) -> Thrown {
        let thrown = self.realm.error("SyntaxError", &fault.message);
        self.graph.borrow_mut().syntax = Some(Fault {
            name: "SyntaxError".to_owned(),
            message: fault.message,
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
        let source = source.or_else(|| helper(name).map(str::to_owned));
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
            self.graph.borrow_mut().missing = Some(specifier.to_owned());
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
    let resolved = match realm.session() {
        // Compiling only collects the specifiers; they are resolved in the realm that runs them.
        Some(session) if realm.is(&session.compiler) => Ok(specifier),
        Some(session) => session.resolve(&base, &specifier),
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
    let loaded = match realm.session() {
        Some(session) if !realm.is(&session.compiler) => session.load_module(&name),
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
