//! What a configuration key is: its name, what it accepts, what it does by default, and when a
//! project may not set it.

use ringfence_policy::preset::Preset as PackagePreset;

use super::value::Value;

/// The description of one key.
#[derive(Debug)]
pub struct Key {
    /// The table that it stands in, such as `sandbox` or `script.limits`.
    pub section: &'static str,
    /// Its name in that table.
    pub name: &'static str,
    /// The field that it becomes, in the type of its section.
    pub field: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// What it is when nobody sets it.
    pub default: Preset,
    /// How the values of several layers come together.
    pub merge: Merge,
    /// When a project that is not trusted may not set it.
    pub loosens: Loosens,
    /// What it does, in one line.
    pub doc: &'static str,
}

impl Key {
    /// The whole name, such as `sandbox.mode`.
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// Whether this is its whole name.
    pub fn is(&self, path: &str) -> bool {
        let name = path
            .strip_prefix(self.section)
            .and_then(|rest| rest.strip_prefix('.'));
        name == Some(self.name)
    }

    /// A value of this key as a person would write it.
    pub fn write(&self, value: &Value) -> String {
        match (value, self.kind) {
            (Value::Nothing, Kind::Limit(_)) => "\"unlimited\"".to_owned(),
            (value, _) => value.to_string(),
        }
    }

    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!(
            "RINGFENCE_{}",
            self.path().replace('.', "_").to_ascii_uppercase()
        )
    }
}

/// What a key accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number of at least this.
    Number(u64),
    /// A whole number of at least this, or `"unlimited"`.
    Limit(u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A text that is not empty.
    Text,
    /// A path: absolute, below the home folder (`~/…`), or relative to the project.
    Path,
    /// A list of such paths.
    Paths,
    /// A list of paths that may be relative to every writable root.
    RootedPaths,
    /// A list of names.
    Names,
    /// A list of hosts.
    Hosts,
    /// A list of package managers that there is a preset for.
    Presets,
    /// A table of names and texts.
    Table,
}

impl Kind {
    /// What is accepted, for a person.
    pub fn accepts(self) -> String {
        match self {
            Self::Bool => "true or false".into(),
            Self::Number(0) => "a whole number".into(),
            Self::Number(least) => format!("a whole number of at least {least}"),
            Self::Limit(least) => format!("a whole number of at least {least}, or \"unlimited\""),
            Self::Choice(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Text => "a text in quotes".into(),
            Self::Path => "a path in quotes".into(),
            Self::Paths | Self::RootedPaths => "a list of paths".into(),
            Self::Names => "a list of names".into(),
            Self::Hosts => "a list of hosts".into(),
            Self::Presets => format!("a list of {}", PackagePreset::names()),
            Self::Table => "a table of names and texts".into(),
        }
    }
}

/// A default, as a constant can hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Nothing: unlimited, or found out at run time.
    Nothing,
    /// A switch.
    Bool(bool),
    /// A number.
    Number(u64),
    /// A word.
    Text(&'static str),
    /// A list.
    List(&'static [&'static str]),
    /// An empty table.
    NoTable,
}

impl From<Preset> for Value {
    fn from(default: Preset) -> Self {
        match default {
            Preset::Nothing => Self::Nothing,
            Preset::Bool(value) => Self::Bool(value),
            Preset::Number(value) => Self::Number(value),
            Preset::Text(value) => Self::Text(value.to_owned()),
            Preset::List(values) => Self::List(values.iter().map(ToString::to_string).collect()),
            Preset::NoTable => Self::Table(std::collections::BTreeMap::new()),
        }
    }
}

/// How the values of several layers come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The last one counts.
    Replace,
    /// Each layer adds to those before.
    Add,
}

/// When a value from a project that is not trusted is refused. It is compared with what the
/// layers below came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loosens {
    /// Never: it tightens, or changes nothing that matters.
    Never,
    /// Always, unless it says what holds anyway.
    Always,
    /// When it is a later one of the key's words, which go from tight to loose.
    Later,
    /// When it is one of these words.
    To(&'static [&'static str]),
    /// Unless the step from the one word to the other is listed here.
    Unless(&'static [(&'static str, &'static str)]),
    /// When it is this, and it was not before.
    When(bool),
    /// When it is a larger number, or none.
    Higher,
    /// Each path outside the workspace; those inside add nothing and are left out.
    Outside,
    /// Each entry that is not there already.
    Each,
    /// Each variable that makes programs load or find other code, or that is set already.
    LoaderNames,
}
