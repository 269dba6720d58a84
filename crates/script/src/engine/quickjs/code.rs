//! Code in a realm: compiling it, loading it, modules, and the jobs that it leaves behind.
#![allow(unsafe_code)]
#![allow(clippy::cast_possible_truncation, reason = "`size_t` is `usize`")]

use std::ffi::CString;

use rquickjs_sys as qjs;

use super::{ModuleRef, Realm, Thrown, Val, callback};

impl Realm {
    /// Compiles in this realm, which must be a compiler, to bytecode for any realm of the runtime.
    pub(crate) fn compile(
        &self,
        source: &str,
        name: &str,
        module: bool,
    ) -> Result<Vec<u8>, Thrown> {
        let kind = if module {
            qjs::JS_EVAL_TYPE_MODULE
        } else {
            qjs::JS_EVAL_TYPE_GLOBAL
        };
        let compiled = self.evaluate(source, name, kind | qjs::JS_EVAL_FLAG_COMPILE_ONLY)?;
        let mut size: qjs::size_t = 0;
        // SAFETY: Live; on success the engine returns `size` bytes that we free with its allocator.
        unsafe {
            let flags = qjs::JS_WRITE_OBJ_BYTECODE.cast_signed();
            let bytes = qjs::JS_WriteObject(self.context(), &raw mut size, compiled.raw, flags);
            if bytes.is_null() {
                return Err(self.exception());
            }
            let bytecode = std::slice::from_raw_parts(bytes, size as usize).to_vec();
            qjs::js_free(self.context(), bytes.cast());
            Ok(bytecode)
        }
    }

    /// Evaluates source in this realm, which must be a compiler.
    pub(crate) fn evaluate(&self, source: &str, name: &str, flags: u32) -> Result<Val, Thrown> {
        // The engine wants a zero after the text, and a NUL inside is the script's own affair.
        let mut text = Vec::with_capacity(source.len() + 1);
        text.extend_from_slice(source.as_bytes());
        text.push(0);
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: Live; the text ends with a zero at `input_len`.
        self.outcome(unsafe {
            let length = source.len() as qjs::size_t;
            let flags = flags.cast_signed();
            qjs::JS_Eval(
                self.context(),
                text.as_ptr().cast(),
                length,
                name.as_ptr(),
                flags,
            )
        })
    }

    /// Brings bytecode that [`Realm::compile`] made into this realm.
    pub(crate) fn load(&self, bytecode: &[u8]) -> Result<Val, Thrown> {
        // SAFETY: Live; the bytes come from `compile` of the same process, never from outside.
        self.outcome(unsafe {
            let flags = qjs::JS_READ_OBJ_BYTECODE.cast_signed();
            let length = bytecode.len() as qjs::size_t;
            qjs::JS_ReadObject(self.context(), bytecode.as_ptr(), length, flags)
        })
    }

    /// Runs a loaded script, or links a loaded module and begins to evaluate it.
    pub(crate) fn run(&self, code: Val) -> Result<Val, Thrown> {
        let raw = code.into_raw();
        // SAFETY: Live; the engine takes over the reference.
        self.outcome(unsafe { qjs::JS_EvalFunction(self.context(), raw) })
    }

    /// Loads what a loaded module imports.
    pub(crate) fn resolve_imports(&self, module: &Val) -> Result<(), Thrown> {
        // SAFETY: Live; `module` is a module value.
        self.check(unsafe { qjs::JS_ResolveModule(self.context(), module.raw) })
            .map(drop)
    }

    pub(crate) fn namespace(&self, module: ModuleRef) -> Result<Val, Thrown> {
        // SAFETY: Live; modules live as long as their realm.
        self.outcome(unsafe { qjs::JS_GetModuleNamespace(self.context(), module.0) })
    }

    pub(crate) fn import_meta(&self, module: ModuleRef) -> Result<Val, Thrown> {
        // SAFETY: as above.
        self.outcome(unsafe { qjs::JS_GetImportMeta(self.context(), module.0) })
    }

    /// A module whose exports are the properties of `exports`.
    pub(crate) fn synthetic_module(
        &self,
        name: &str,
        names: &[String],
        exports: Val,
    ) -> Result<ModuleRef, Thrown> {
        let c_name = CString::new(name).unwrap_or_default();
        // SAFETY: Live; the engine copies the names, and takes over the reference to `exports`.
        unsafe {
            let module =
                qjs::JS_NewCModule(self.context(), c_name.as_ptr(), Some(callback::fill_module));
            if module.is_null() {
                return Err(self.exception());
            }
            for name in names {
                let name = CString::new(name.as_str()).unwrap_or_default();
                self.check(qjs::JS_AddModuleExport(
                    self.context(),
                    module,
                    name.as_ptr(),
                ))?;
            }
            let raw = exports.into_raw();
            self.check(qjs::JS_SetModulePrivateValue(self.context(), module, raw))?;
            Ok(ModuleRef(module))
        }
    }

    /// Runs one job of the microtask queue; false when there is none.
    pub(crate) fn run_job(&self) -> Result<bool, Thrown> {
        let mut context = std::ptr::null_mut();
        // SAFETY: Live.
        let code = unsafe { qjs::JS_ExecutePendingJob(self.runtime(), &raw mut context) };
        self.check(code).map(|code| code > 0)
    }

    /// Puts a call of `function` without arguments into the microtask queue.
    pub(crate) fn enqueue(&self, function: &Val) -> Result<(), Thrown> {
        let mut arguments = [function.raw];
        // SAFETY: Live; the engine takes its own reference.
        self.check(unsafe {
            qjs::JS_EnqueueJob(
                self.context(),
                Some(callback::call_job),
                1,
                arguments.as_mut_ptr(),
            )
        })
        .map(drop)
    }

    /// Asks `loader` for modules from now on.
    pub(crate) fn set_loader(&self) {
        // SAFETY: Live; the callbacks are static.
        unsafe {
            qjs::JS_SetModuleLoaderFunc2(
                self.runtime(),
                None,
                Some(super::super::modules::load_callback),
                None,
                std::ptr::null_mut(),
            );
            qjs::JS_SetModuleNormalizeFunc2(
                self.runtime(),
                Some(super::super::modules::normalize_callback),
            );
        }
    }
}
