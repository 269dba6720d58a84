//! The three APIs: recorded answers read, cut, mixed with keep-alives and written back.

#![allow(
    clippy::unwrap_used,
    clippy::format_push_string,
    clippy::format_collect,
    reason = "streams are written down as texts"
)]

mod calls;
mod cutting;
mod history;
mod odd;
mod recorded;
mod requests;
mod tools;
