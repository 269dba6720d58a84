//! (being laid out)

pub mod audit;
