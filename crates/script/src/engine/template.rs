//! A realm as every run of a kind finds it: hardened, with nothing of any script in it.
//!
//! A zygote makes it once and forks; the in-process runtime makes one for every run.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::globals;
use super::primordials::Primordials;
use super::quickjs::{Intrinsics, Realm, Thrown, Val};

/// Everything that a run starts from.
pub(crate) struct Template {
    pub(crate) realm: Realm,
    pub(crate) compiler: Realm,
    pub(crate) primordials: Rc<Primordials>,
    /// Sets the binding `console` in the global lexical scope, which begins as the built-in one.
    pub(crate) set_console: Val,
}

/// The engine could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the JavaScript engine could not be set up: {0}")]
pub(crate) struct TemplateError(String);

impl Template {
    /// Plain intrinsics, for `runCode`. The run ends soon after `stop` becomes true.
    pub(crate) fn plain(stop: Arc<AtomicBool>) -> Result<Self, TemplateError> {
        let none = || TemplateError("out of memory".to_owned());
        let realm = Realm::new(Intrinsics::Script, stop).ok_or_else(none)?;
        let compiler = realm.sibling(Intrinsics::Compiler).ok_or_else(none)?;
        realm.set_loader();
        Self::furnish(realm, compiler).map_err(|Thrown(error)| {
            let message = error
                .get(c"message")
                .ok()
                .and_then(|message| message.string());
            TemplateError(message.unwrap_or_else(|| "unknown".to_owned()))
        })
    }

    fn furnish(realm: Realm, compiler: Realm) -> Result<Self, Thrown> {
        let evaluate = |source: &str| {
            realm.run(realm.load(&compiler.compile(source, "<template>", false)?)?)
        };
        let primordials = Rc::new(Primordials::take(&realm, evaluate)?);
        let set_console = evaluate("let console; (value) => { console = value; }")?;
        evaluate(globals::RANGE_ERRORS)?;
        globals::harden(&realm)?;
        set_console.call(&realm.undefined(), &[globals::console(&realm)?])?;
        Ok(Self {
            realm,
            compiler,
            primordials,
            set_console,
        })
    }
}
