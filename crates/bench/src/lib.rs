//! Benchmarks that compare within one run.
//!
//! A machine's noise differs from minute to minute, so a number alone says little. Every benchmark
//! here runs its contenders in turn, round after round, and reports ratios of medians.
//!
//! - [`contest`]: contenders in turn, and their times
//! - [`fenced`]: a session whose commands run inside the fence
//! - [`follow`]: a fenced command, followed to its end
//! - [`plain`]: a command started, and what it prints read, with the least effort
//! - [`target`]: what a ratio has to be, and whether it is
//! - [`venue`]: where a contest is held, and how it ends

pub mod bubblewrap;
pub mod contest;
pub mod fenced;
pub mod follow;
pub mod plain;
pub mod program;
pub mod target;
pub mod venue;
