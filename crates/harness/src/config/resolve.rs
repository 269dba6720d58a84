//! The layers on top of each other.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::accepts::Accepts;
use super::error::ConfigErrors;
use super::key::{Key, Merge};
use super::layer::{self, Entry, Sources, Trust};
use super::loosen;
use super::origin::Origin;
use super::settings::keys;
use super::value::Value;
use super::value::path::Bases;

/// Every setting with its origin, and what was not honoured.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// One per key, in the order of [`keys`].
    pub settings: Vec<Setting>,
    /// What a project that is not trusted asked for in vain. Tell the user.
    pub refused: Vec<RefusedSetting>,
}

/// One key and what it came to.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The key.
    pub key: &'static Key,
    /// Where its value came from: one part, or several where layers add to each other.
    pub parts: Vec<Part>,
}

/// A value from one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The value.
    pub value: Value,
    /// The place.
    pub origin: Origin,
}

/// A setting of an untrusted project that would have loosened the fence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedSetting {
    /// The key.
    pub key: String,
    /// What was not honoured.
    pub value: Value,
    /// The same as the project might have written it.
    pub text: String,
    /// Where it stands.
    pub origin: Origin,
}

impl fmt::Display for RefusedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            key, text, origin, ..
        } = self;
        write!(
            f,
            "{origin}: `{key} = {text}` would loosen the fence and was not honoured; \
             `ringfence trust` in this project would honour it"
        )
    }
}

/// Reads all layers and puts them together.
pub fn resolve(sources: &Sources) -> Result<Resolved, ConfigErrors> {
    let mut resolved = Resolved::defaults();
    let mut errors = Vec::new();
    let home = sources.home.as_deref();
    let fixed = Bases { start: None, home };
    let here = Bases {
        start: Some(&sources.workspace),
        home,
    };
    for file in [&sources.system, &sources.user].into_iter().flatten() {
        resolved.put(layer::file(file, &fixed, &mut errors));
    }
    for project in &sources.projects {
        let root = project.file.parent().and_then(Path::parent);
        let bases = Bases { start: root, home };
        let entries = layer::text(&project.file, &project.text, &bases, &mut errors);
        match project.trust {
            Trust::Trusted => resolved.put(entries),
            Trust::Untrusted => resolved.put_tighter(entries, &sources.workspace),
        }
    }
    resolved.put(layer::environment(&sources.environment, &here, &mut errors));
    resolved.put(layer::flags(&sources.flags, &here, &mut errors));
    if errors.is_empty() {
        Ok(resolved)
    } else {
        Err(ConfigErrors(errors))
    }
}

impl Resolved {
    /// What holds when nobody sets anything.
    pub fn defaults() -> Self {
        let setting = |key: &&'static Key| Setting {
            key,
            parts: vec![Part {
                value: key.default.into(),
                origin: Origin::Default,
            }],
        };
        Self {
            settings: keys().iter().map(setting).collect(),
            refused: Vec::new(),
        }
    }

    /// The setting of a key such as `sandbox.mode`.
    pub fn get(&self, path: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key.is(path))
    }

    /// Whether nobody has set a key.
    pub fn is_default(&self, path: &str) -> bool {
        let setting = self.get(path);
        setting.is_some_and(|set| set.parts.iter().all(|part| part.origin == Origin::Default))
    }

    /// What a key came to, as its type.
    pub(super) fn read<T>(&self, path: &str, form: &Accepts<T>) -> T {
        let value = self.get(path).map(Setting::value);
        let read = value.as_ref().and_then(form.read);
        // The key and its form are one declaration, and a layer lets in only what a key accepts.
        read.unwrap_or_else(|| unreachable!("`{path}` has a value of its kind"))
    }

    fn put(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            if let Some(setting) = self.setting_mut(entry.key) {
                setting.put(Part {
                    value: entry.value,
                    origin: entry.origin,
                });
            }
        }
    }

    fn put_tighter(&mut self, entries: Vec<Entry>, workspace: &Path) {
        for Entry { key, value, origin } in entries {
            let Some(setting) = self.setting_mut(key) else {
                continue;
            };
            let parted = loosen::part(key, value, &setting.value(), workspace);
            if let Some(value) = parted.kept {
                setting.put(Part {
                    value,
                    origin: origin.clone(),
                });
            }
            if let Some(value) = parted.refused {
                let text = key.write(&value);
                self.refused.push(RefusedSetting {
                    key: key.path(),
                    value,
                    text,
                    origin,
                });
            }
        }
    }

    fn setting_mut(&mut self, key: &Key) -> Option<&mut Setting> {
        let is = |other: &Key| other.section == key.section && other.name == key.name;
        self.settings.iter_mut().find(|setting| is(setting.key))
    }
}

impl Setting {
    /// The value, all parts together.
    pub fn value(&self) -> Value {
        let mut values = self.parts.iter().map(|part| part.value.clone());
        let Some(mut sum) = values.next() else {
            return Value::Nothing;
        };
        for value in values {
            match (&mut sum, value) {
                (Value::List(sum), Value::List(items)) => {
                    for item in items {
                        if !sum.contains(&item) {
                            sum.push(item);
                        }
                    }
                }
                (Value::Table(sum), Value::Table(items)) => sum.extend(items),
                (sum, value) => *sum = value,
            }
        }
        sum
    }

    fn put(&mut self, part: Part) {
        // Lists that add start out empty: an empty default says nothing any more.
        let only_default = self.parts.iter().all(|part| part.origin == Origin::Default);
        if self.key.merge == Merge::Replace || only_default {
            self.parts.clear();
        }
        self.parts.push(part);
    }
}
