//! What the suites of this folder have in common: the situations that trials run in, this program
//! as somebody who runs one, and permits.

pub mod own_copy;
pub mod permit;
pub mod situation;

pub use own_copy::OwnCopy;
pub use permit::permit;
pub use situation::{Surroundings, Where};
