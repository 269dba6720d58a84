//! A realm as every run of a kind finds it: hardened, with nothing of any script in it.
//!
//! A zygote makes it once and forks; the in-process runtime makes one for every run.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::globals;
use super::primordials::Primordials;
use super::quickjs::{Intrinsics, Realm, Thrown, Val};
use super::tool_realm::ToolRealm;
use crate::runtime::RealmKind;

/// Everything that a run starts from.
pub(crate) struct Template {
    pub(crate) realm: Realm,
    pub(crate) compiler: Realm,
    pub(crate) primordials: Rc<Primordials>,
    pub(crate) contents: RealmContents,
}

/// What a kind of realm has beside the intrinsics.
pub(crate) enum RealmContents {
    /// Sets the binding `console` in the global lexical scope, which begins as the built-in one.
    Module { set_console: Val },
    /// Frozen intrinsics, tracked promises, and the way to begin a script.
    ToolScript(ToolRealm),
}

/// The engine could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the JavaScript engine could not be set up: {0}")]
pub(crate) struct TemplateError(String);

impl Template {
    /// A realm of a kind. The run ends soon after `stop` becomes true.
    pub(crate) fn new(kind: RealmKind, stop: Arc<AtomicBool>) -> Result<Self, TemplateError> {
        let none = || TemplateError("out of memory".to_owned());
        let realm = Realm::new(Intrinsics::Script, stop).ok_or_else(none)?;
        let compiler = realm.sibling(Intrinsics::Compiler).ok_or_else(none)?;
        realm.set_loader();
        Self::set_up(kind, realm, compiler).map_err(|Thrown(error)| {
            let message = error
                .get(c"message")
                .ok()
                .and_then(|message| message.string());
            TemplateError(message.unwrap_or_else(|| "unknown".to_owned()))
        })
    }

    /// Which kind it is.
    pub(crate) fn kind(&self) -> RealmKind {
        match self.contents {
            RealmContents::Module { .. } => RealmKind::Module,
            RealmContents::ToolScript(_) => RealmKind::ToolScript,
        }
    }

    fn set_up(kind: RealmKind, realm: Realm, compiler: Realm) -> Result<Self, Thrown> {
        let evaluate = |source: &str| {
            realm.run(realm.load(&compiler.compile(source, "<template>", false)?)?)
        };
        let primordials = Rc::new(Primordials::take(&realm, evaluate)?);
        evaluate(globals::RANGE_ERRORS)?;
        globals::harden(&realm)?;
        let console = globals::console(&realm)?;
        let contents = match kind {
            RealmKind::Module => {
                let set_console = evaluate("let console; (value) => { console = value; }")?;
                set_console.call(&realm.undefined(), &[console])?;
                RealmContents::Module { set_console }
            }
            RealmKind::ToolScript => {
                RealmContents::ToolScript(ToolRealm::set_up(&realm, evaluate, console)?)
            }
        };
        Ok(Self {
            realm,
            compiler,
            primordials,
            contents,
        })
    }
}
