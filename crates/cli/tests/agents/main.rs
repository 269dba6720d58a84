//! Other people's agents, the real programs, reach `ringfence mcp` by what `ringfence mcp install` wrote. A fake model tells
//! them what to call and hears what they were told.
//!
//! `scripts/test --agents` installs them and runs this; `scripts/agents.txt` has their versions. What is particular to each
//! is in `agent.rs`.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

#[path = "../program/mod.rs"]
mod program;

mod agent;
mod by_itself;
mod scene;
mod screen;
mod with_somebody;
