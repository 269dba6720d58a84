//! The syntax tree of a Bourne-shell text, as far as facts need it.
//!
//! Every construct that the parser accepts has a variant here, so the compiler sees to it that the
//! walk over the tree treats all of them.

use std::{
    cell::{Cell, OnceCell},
    rc::Rc,
};

use crate::facts::{command::Direction, word::Word};

/// A list of statements.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) statements: Vec<Statement>,
}

/// A pipeline, and how it follows the one before.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) stages: Vec<Stage>,
    pub(crate) link: Link,
    pub(crate) background: bool,
    /// Whether `!` or `time` stands before it.
    pub(crate) prefixed: bool,
}

/// How a statement follows the one before it in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    First,
    And,
    Or,
    Next,
}

/// One stage of a pipeline with its redirections.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) body: Body,
    pub(crate) redirects: Vec<Redirect>,
}

/// What a stage runs.
#[derive(Debug)]
pub(crate) enum Body {
    Simple {
        assignments: Vec<Assign>,
        words: Vec<Text>,
    },
    Group(Script),
    Loop {
        words: Vec<Text>,
        variable: Option<String>,
        parts: Vec<Script>,
    },
    Branches(Vec<Script>),
    Case {
        words: Vec<Text>,
        arms: Vec<Script>,
    },
    Function {
        name: String,
        body: Box<Stage>,
    },
    Arithmetic(Text),
    Test(Vec<Text>),
    Coprocess(Box<Stage>),
}

/// `name=value`, or one element of `name=(…)`.
#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) name: String,
    pub(crate) value: Text,
}

/// A word together with the scripts that its substitutions hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    pub(crate) word: Word,
    pub(crate) inner: Vec<Rc<Inner>>,
    /// Whether any of it is quoted or escaped.
    pub(crate) quoted: bool,
    /// The variables that `${name:=…}` in it sets.
    pub(crate) sets: Vec<String>,
    /// Whether a default in it (`${x:-…}`) is computed.
    pub(crate) computed_default: bool,
    /// What expressions in it evaluate.
    pub(crate) evaluated: Vec<Evaluated>,
}

/// What an expression evaluates.
#[derive(Debug, Clone)]
pub(crate) enum Evaluated {
    /// The value of a variable.
    Variable(String),
    /// A variable that the expression sets: a number, therefore.
    Set(String),
    /// What a script prints.
    Printed(Rc<Inner>),
    /// A value that is not known.
    Computed,
}

/// A script inside a word.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) script: Script,
    pub(crate) process: bool,
    /// Whether it stands in an expression.
    pub(crate) inside_arithmetic: Cell<bool>,
}

/// A redirection.
#[derive(Debug)]
pub(crate) enum Redirect {
    File {
        direction: Direction,
        target: Text,
    },
    /// `2>&1`, `>&-`: between descriptors.
    Descriptor,
    Here(Rc<OnceCell<Text>>),
}

impl Default for Word {
    fn default() -> Self {
        Self::of("")
    }
}
