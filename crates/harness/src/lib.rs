//! (being laid out)

pub mod audit;
pub mod config;
