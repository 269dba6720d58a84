//! The lists that hold when nobody sets anything: what cannot be read or changed, and what is not
//! passed on. They are taken from the tables of what is sensitive.

use ringfence_policy::sensitive::path::{Base, Writing, denied, kept, protected_in_roots};
use ringfence_policy::sensitive::variable::{self, Passing, Project, VariableRow};
use serde::Serialize;

/// One of the lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuiltIn {
    /// The key that adds to it, if one does.
    pub adds: Option<&'static str>,
    /// The key that takes entries out of it; nothing if a project's trust does.
    pub lifts: Option<&'static str>,
    /// What it is.
    pub what: &'static str,
    /// Its entries: paths below `~`, absolute, or relative to every writable root; or names of
    /// variables.
    pub paths: Vec<String>,
}

/// The keys that add to a list and take entries out of it.
type Keys = (Option<&'static str>, Option<&'static str>);

impl BuiltIn {
    /// How it is changed, for a person.
    pub fn changed_by(&self) -> String {
        match (self.adds, self.lifts) {
            (Some(adds), Some(lifts)) => {
                format!("`{adds}` adds to the list, `{lifts}` takes entries out of it.")
            }
            _ => "`ringfence trust` lifts it.".to_owned(),
        }
    }
}

/// Every list.
pub fn built_in() -> Vec<BuiltIn> {
    let mut lists = paths();
    lists.extend(variables());
    lists
}

fn paths() -> Vec<BuiltIn> {
    let home = |names: &mut dyn Iterator<Item = &'static str>| {
        names.map(|name| format!("~/{name}")).collect()
    };
    let plain = |names: &mut dyn Iterator<Item = &'static str>| names.map(str::to_owned).collect();
    let reads = (Some("sandbox.denied_reads"), Some("sandbox.allowed_reads"));
    let changes = (
        Some("sandbox.protected_paths"),
        Some("sandbox.unprotected_paths"),
    );
    vec![
        list(
            reads,
            "Keys, credentials and other agents' state in the home folder. Commands cannot read them.",
            home(&mut denied(Base::Home)),
        ),
        list(
            reads,
            "Files of the system that commands cannot read, whoever runs them.",
            plain(&mut denied(Base::System)),
        ),
        list(
            changes,
            "What runs code for you later. Commands cannot change or make it at the top of any writable root.",
            plain(&mut protected_in_roots()),
        ),
        list(
            changes,
            "What every new terminal or git command reads. It matters where the home folder is writable.",
            home(&mut kept(Base::Home, Writing::Protected)),
        ),
        list(
            changes,
            "What other programs run when they start, in the home folder: it cannot be changed, and is set aside where a command made it.",
            home(&mut kept(Base::Home, Writing::Watched)),
        ),
        list(
            changes,
            "The same at the top of any writable root.",
            plain(&mut kept(Base::Root, Writing::Watched)),
        ),
    ]
}

fn variables() -> Vec<BuiltIn> {
    let names = |wanted: fn(&VariableRow) -> bool| -> Vec<String> {
        let rows = variable::rows().filter(|row| wanted(row));
        rows.flat_map(VariableRow::each)
            .map(str::to_owned)
            .collect()
    };
    let (exclude, include) = (Some("environment.exclude"), Some("environment.include"));
    let dropped = (exclude, include);
    let secrets = variable::SECRETS.iter().map(ToString::to_string);
    vec![
        list(
            (include, exclude),
            "Variables that commands are given with `inherit = \"core\"`.",
            names(|row| row.passing == Passing::Always),
        ),
        list(
            dropped,
            "Variables that look like secrets. They are not passed on, whatever is inherited.",
            secrets.collect(),
        ),
        list(
            dropped,
            "Variables that make programs load or run something, or lead to programs outside. They are not passed on, whatever is \
             inherited, and a project may set them only when it is trusted.",
            names(|row| row.passing == Passing::Dropped),
        ),
        list(
            (None, None),
            "Variables that are passed on, and that a project may set only when it is trusted.",
            names(|row| row.passing != Passing::Dropped && row.project == Project::MayNotSet),
        ),
    ]
}

fn list((adds, lifts): Keys, what: &'static str, paths: Vec<String>) -> BuiltIn {
    BuiltIn {
        adds,
        lifts,
        what,
        paths,
    }
}
