//! What is sensitive, and what that means: paths, variables and programs.
//!
//! There is one table of each. A row says what follows for its names, everywhere, and why: whether the fence
//! hides a file or keeps it as it is, whether the judge asks, whether a variable is passed on or may be
//! set by a project, how far a rule about a program may be generalised. Nobody else keeps a list.

pub mod path;
pub mod program;
pub mod variable;
