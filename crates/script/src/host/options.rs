//! What a caller can say about a run.

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use super::result::CodeExecutionLog;
use crate::protocol::JobKind;
use crate::value::{JsonError, JsonFunctions, Value};

/// Reads the value of an option.
type ReadValue<'a> = dyn FnMut(&str, &Json) -> Result<Value, OptionsError> + 'a;

/// The options of `run_code`, with the defaults of `docs/run-code.md`.
#[derive(Clone, Debug)]
pub struct CodeOptions {
    pub(crate) export: String,
    pub(crate) arguments: Vec<Value>,
    pub(crate) imports: Vec<(String, Value)>,
    pub(crate) modules: Vec<(String, String)>,
    pub(crate) globals: Vec<(String, Value)>,
    pub(crate) language: Language,
    pub(crate) memory_limit_bytes: Option<u64>,
    pub(crate) filename: String,
    pub(crate) report: Option<ReportSink>,
    pub(crate) kind: JobKind,
    pub(crate) stack_bytes: Option<u64>,
    pub(crate) logging: Logging,
}

/// How much of the console is taken, and who hears it at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Logging {
    pub(crate) lines: Option<u64>,
    pub(crate) per_second: u64,
    pub(crate) sink: Option<LogSink>,
}

/// Takes every line of the console as it comes.
#[derive(Clone)]
pub(crate) struct LogSink(pub(crate) Arc<dyn Fn(&CodeExecutionLog) + Send + Sync>);

impl fmt::Debug for LogSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogSink")
    }
}

/// Source language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// Standard ECMAScript modules, left untouched.
    JavaScript,
    /// Types are erased first.
    #[default]
    TypeScript,
}

/// Takes every value that the script reports.
#[derive(Clone)]
pub(crate) struct ReportSink(pub(crate) Arc<dyn Fn(&Value) + Send + Sync>);

/// Why options cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// The options are not a JSON object.
    #[error("options must be an object")]
    NotAnObject,
    /// A key that does not exist.
    #[error("unknown option `{key}`; the options are {}", KEYS.join(", "))]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// An option of the wrong type.
    #[error("option `{key}` must be {expected}")]
    WrongType {
        /// Which option.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A value that is not valid in the `$` notation.
    #[error("option `{key}`: {error}")]
    Value {
        /// Which option.
        key: String,
        /// What is wrong.
        error: JsonError,
    },
    /// The key of a module is not relative to the root of the graph.
    #[error("`modules` has the key `{0}`; keys are relative specifiers such as './helpers.js'")]
    ModuleKey(String),
    /// A global that is not an identifier.
    #[error("`globals` has the key `{0}`, which is not an identifier that a script can use")]
    GlobalName(String),
    /// A name that the engine cannot hold.
    #[error("`{0}` contains a NUL character")]
    NulInName(String),
    /// The limit leaves no room for anything.
    #[error("`memoryLimitBytes` must be at least {MIN_MEMORY} bytes")]
    MemoryLimit,
}

/// Below this not even an empty module runs.
pub(crate) const MIN_MEMORY: u64 = 1 << 20;

const KEYS: [&str; 8] = [
    "execute",
    "imports",
    "modules",
    "globals",
    "language",
    "memoryLimitBytes",
    "filename",
    "report",
];

impl Default for CodeOptions {
    fn default() -> Self {
        Self {
            export: "default".to_owned(),
            arguments: Vec::new(),
            imports: Vec::new(),
            modules: Vec::new(),
            globals: Vec::new(),
            language: Language::default(),
            memory_limit_bytes: None,
            filename: "<runCode>".to_owned(),
            report: None,
            kind: JobKind::default(),
            stack_bytes: None,
            logging: Logging::default(),
        }
    }
}

impl CodeOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which export becomes the result, and the arguments if it is a function.
    pub fn execute(mut self, export: &str, arguments: impl IntoIterator<Item = Value>) -> Self {
        export.clone_into(&mut self.export);
        self.arguments = arguments.into_iter().collect();
        self
    }

    /// A module that scripts import by this bare specifier. Its default export is the entry `default`.
    pub fn import<K: Into<Arc<str>>, V: Into<Value>>(
        mut self,
        specifier: &str,
        exports: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.imports
            .push((specifier.to_owned(), Value::object(exports)));
        self
    }

    /// A source module that scripts import by this relative specifier.
    pub fn module(mut self, specifier: &str, source: &str) -> Self {
        self.modules.push((specifier.to_owned(), source.to_owned()));
        self
    }

    /// A free identifier of the script's modules.
    pub fn global(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.globals.retain(|(known, _)| known != name);
        self.globals.push((name.to_owned(), value.into()));
        self
    }

    /// The language of the source and of the modules.
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// The most bytes that the script's heap may take.
    pub fn memory_limit_bytes(mut self, bytes: u64) -> Self {
        self.memory_limit_bytes = Some(bytes);
        self
    }

    /// The label of the entry module in stack traces, and the base of its relative imports.
    pub fn filename(mut self, filename: &str) -> Self {
        filename.clone_into(&mut self.filename);
        self
    }

    /// Installs the built-in `report` global and takes what it emits.
    pub fn report(mut self, sink: impl Fn(&Value) + Send + Sync + 'static) -> Self {
        self.report = Some(ReportSink(Arc::new(sink)));
        self
    }

    /// Somebody who hears every line of the built-in console as it comes.
    pub fn log(mut self, sink: impl Fn(&CodeExecutionLog) + Send + Sync + 'static) -> Self {
        self.logging.sink = Some(LogSink(Arc::new(sink)));
        self
    }

    /// The functions of the host that the script is given: where it finds each, and its name.
    pub fn bridged(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (from, value) in self.imports.iter().chain(&self.globals) {
            functions_in(from, value, &mut names);
        }
        names
    }

    /// Whether the script has the `report` global.
    pub fn reports(&self) -> bool {
        self.report.is_some()
    }

    /// Reads the JSON form. `report: true` installs the `report` global; values use the `$` notation.
    pub fn from_json(json: &Json) -> Result<Self, OptionsError> {
        Self::read(json, &mut |key, value| {
            convert(key, Value::from_json(value))
        })
    }

    /// The same with functions.
    pub fn from_json_with(
        json: &Json,
        functions: &mut dyn JsonFunctions,
    ) -> Result<Self, OptionsError> {
        Self::read(json, &mut |key, value| {
            convert(key, Value::from_json_with(value, functions))
        })
    }

    fn read(json: &Json, value_of: &mut ReadValue<'_>) -> Result<Self, OptionsError> {
        let map = json.as_object().ok_or(OptionsError::NotAnObject)?;
        let mut options = Self::default();
        for (key, value) in map {
            match key.as_str() {
                "execute" => options.read_execute(value, value_of)?,
                "imports" => {
                    for (specifier, exports) in entries(key, value)? {
                        entries(&format!("imports.{specifier}"), exports)?;
                        let exports = value_of(key, exports)?;
                        options.imports.push((specifier.clone(), exports));
                    }
                }
                "modules" => {
                    for (specifier, source) in entries(key, value)? {
                        let source = text(&format!("modules.{specifier}"), source)?;
                        options.modules.push((specifier.clone(), source));
                    }
                }
                "globals" => {
                    for (name, value) in entries(key, value)? {
                        options.globals.push((name.clone(), value_of(key, value)?));
                    }
                }
                "language" => {
                    options.language = match value.as_str() {
                        Some("javascript") => Language::JavaScript,
                        Some("typescript") => Language::TypeScript,
                        _ => return Err(wrong(key, "'javascript' or 'typescript'")),
                    }
                }
                "memoryLimitBytes" => {
                    let bytes = value
                        .as_u64()
                        .ok_or_else(|| wrong(key, "a whole number of bytes"))?;
                    options.memory_limit_bytes = Some(bytes);
                }
                "filename" => options.filename = text(key, value)?,
                "report" => {
                    if value.as_bool().ok_or_else(|| wrong(key, "true or false"))? {
                        options = options.report(|_| {});
                    }
                }
                _ => return Err(OptionsError::UnknownKey { key: key.clone() }),
            }
        }
        options.check()?;
        Ok(options)
    }

    fn read_execute(
        &mut self,
        json: &Json,
        value_of: &mut ReadValue<'_>,
    ) -> Result<(), OptionsError> {
        for (key, value) in entries("execute", json)? {
            match key.as_str() {
                "fn" => self.export = text("execute.fn", value)?,
                "args" => {
                    let items = value
                        .as_array()
                        .ok_or_else(|| wrong("execute.args", "an array"))?;
                    let items = items.iter().map(|item| value_of("execute.args", item));
                    self.arguments = items.collect::<Result<_, _>>()?;
                }
                _ => {
                    return Err(OptionsError::UnknownKey {
                        key: format!("execute.{key}"),
                    });
                }
            }
        }
        Ok(())
    }

    /// What the types alone do not rule out.
    pub(crate) fn check(&self) -> Result<(), OptionsError> {
        let relative = |key: &str| key.starts_with("./") || key.starts_with("../");
        if let Some((key, _)) = self.modules.iter().find(|(key, _)| !relative(key)) {
            return Err(OptionsError::ModuleKey(key.clone()));
        }
        if let Some((name, _)) = self.globals.iter().find(|(name, _)| !is_bindable(name)) {
            return Err(OptionsError::GlobalName(name.clone()));
        }
        let specifiers = self.imports.iter().map(|(specifier, _)| specifier);
        let names = specifiers.chain([&self.filename, &self.export]);
        if let Some(name) = names
            .chain(self.modules.iter().map(|(key, _)| key))
            .find(|name| name.contains('\0'))
        {
            return Err(OptionsError::NulInName(name.clone()));
        }
        if self
            .memory_limit_bytes
            .is_some_and(|bytes| bytes < MIN_MEMORY)
        {
            return Err(OptionsError::MemoryLimit);
        }
        Ok(())
    }
}

/// Functions that are given as such or as properties of an object.
fn functions_in(path: &str, value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Function(_) => names.push(path.to_owned()),
        Value::Object(entries) => {
            for (name, value) in entries.iter() {
                functions_in(&format!("{path}.{name}"), value, names);
            }
        }
        _ => {}
    }
}

fn entries<'a>(
    key: &str,
    json: &'a Json,
) -> Result<&'a serde_json::Map<String, Json>, OptionsError> {
    json.as_object().ok_or_else(|| wrong(key, "an object"))
}

fn text(key: &str, json: &Json) -> Result<String, OptionsError> {
    json.as_str()
        .map(str::to_owned)
        .ok_or_else(|| wrong(key, "a string"))
}

fn convert(key: &str, value: Result<Value, JsonError>) -> Result<Value, OptionsError> {
    value.map_err(|error| OptionsError::Value {
        key: key.to_owned(),
        error,
    })
}

fn wrong(key: &str, expected: &'static str) -> OptionsError {
    OptionsError::WrongType {
        key: key.to_owned(),
        expected,
    }
}

/// Words that cannot be bound by `let` at the top of a script, or that are constants of `globalThis`.
const RESERVED: &[&str] = &[
    "NaN",
    "Infinity",
    "undefined",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "eval",
    "arguments",
];

fn is_bindable(name: &str) -> bool {
    let letter = |letter: char| letter == '_' || letter == '$' || letter.is_alphabetic();
    let mut letters = name.chars();
    letters.next().is_some_and(letter)
        && letters.all(|next| letter(next) || next.is_alphanumeric())
        && !RESERVED.contains(&name)
}

impl fmt::Debug for ReportSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReportSink")
    }
}
