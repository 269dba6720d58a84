//! How settings are declared: each once, with its name, type, form, default, what loosens it, and
//! its description. The type, its keys and the reading follow.

use super::key::Key;
use super::resolve::Resolved;

/// A table of the configuration as a type.
pub(super) trait Section: Sized {
    /// Its keys, and those of the tables in it.
    fn keys() -> Vec<&'static Key>;

    /// What they came to.
    fn of(resolved: &Resolved) -> Self;
}

/// Declares a section.
///
/// ```text
/// settings! {
///     /// What the type is.
///     pub struct Type in "section" {
///         /// What the setting does: the description of the field and of the key.
///         field["key"]: FieldType = form(least, default), WhatLoosensIt;
///     }
///     where { table: TypeOfATableInIt, }
/// }
/// ```
///
/// `["key"]` is left out where it is the field's name. `impl Type` instead of `pub struct Type`
/// declares the settings of a type that stands elsewhere.
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        pub struct $section:ident in $name:literal {
            $($(#[doc = $doc:literal])+ $field:ident $([$key:literal])? : $type:ty = $accepts:expr, $loosens:expr;)*
        }
        $(where { $($(#[$inner_attribute:meta])+ $inner:ident : $inner_type:ty,)+ })?
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $section {
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($($(#[$inner_attribute])+ pub $inner: $inner_type,)+)?
        }

        settings! {
            impl $section in $name {
                $($(#[doc = $doc])+ $field $([$key])? : $type = $accepts, $loosens;)*
            }
            $(where { $($inner: $inner_type,)+ })?
        }
    };
    (
        impl $section:ident in $name:literal {
            $($(#[doc = $doc:literal])+ $field:ident $([$key:literal])? : $type:ty = $accepts:expr, $loosens:expr;)*
        }
        $(where { $($inner:ident : $inner_type:ty,)+ })?
    ) => {
        impl $crate::config::declare::Section for $section {
            fn keys() -> Vec<&'static $crate::config::key::Key> {
                #[allow(unused_imports, reason = "not every section has every form")]
                use $crate::config::{accepts::*, key::Loosens::*};
                static KEYS: &[$crate::config::key::Key] = &[$({
                    const FORM: Accepts<$type> = $accepts;
                    $crate::config::key::Key {
                        section: $name,
                        name: settings!(@name $field $($key)?),
                        field: stringify!($field),
                        kind: FORM.kind,
                        default: FORM.default,
                        merge: FORM.merge,
                        loosens: $loosens,
                        doc: concat!($($doc),+).trim_ascii_start(),
                    }
                }),*];
                #[allow(unused_mut, reason = "most sections have no tables in them")]
                let mut keys: Vec<_> = KEYS.iter().collect();
                $($(keys.extend(<$inner_type as $crate::config::declare::Section>::keys());)+)?
                keys
            }

            fn of(resolved: &$crate::config::resolve::Resolved) -> Self {
                #[allow(unused_imports, reason = "not every section has every form")]
                use $crate::config::accepts::*;
                Self {
                    $($field: {
                        const FORM: Accepts<$type> = $accepts;
                        resolved.read(concat!($name, ".", settings!(@name $field $($key)?)), &FORM)
                    },)*
                    $($($inner: $crate::config::declare::Section::of(resolved),)+)?
                }
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $key:literal) => { $key };
}

/// Declares the words that a type is written as; with `pub enum` the type too.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        pub enum $type:ident { $($(#[$doc:meta])+ $variant:ident = $word:literal,)+ }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $type { $($(#[$doc])+ $variant,)+ }

        words! { $type { $($variant = $word,)+ } }
    };
    ($type:ident { $($variant:ident = $word:literal,)+ }) => {
        impl $crate::config::accepts::Word for $type {
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn of(word: &str) -> Option<Self> {
                // A variant without a word does not compile.
                const _: fn($type) = |value| match value { $($type::$variant => (),)+ };
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

pub(super) use {settings, words};
