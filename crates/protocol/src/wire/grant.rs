//! What would let a refused action happen, narrowly and inside the fence.

pub use ringfence::Grant;
