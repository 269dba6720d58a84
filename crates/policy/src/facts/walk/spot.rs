//! Where the walk stands: what is around the text that is being walked.

use crate::facts::command::Position;

/// Where the walk stands.
#[derive(Clone)]
pub(in crate::facts) struct Spot {
    pub(in crate::facts) position: Position,
    pub(in crate::facts) depth: u8,
    /// How many wrappers stand around it.
    pub(in crate::facts) wrapped: u8,
    pub(in crate::facts) via: Option<usize>,
    pub(in crate::facts) supposed: bool,
    pub(in crate::facts) lurking: bool,
    pub(in crate::facts) supplied: bool,
    pub(in crate::facts) pipeline: usize,
    pub(in crate::facts) stage: usize,
    pub(in crate::facts) background: bool,
    pub(in crate::facts) chained: bool,
    pub(in crate::facts) function: Option<String>,
    pub(in crate::facts) ancestry: Vec<(usize, usize)>,
    pub(in crate::facts) holds: Vec<usize>,
}

impl Spot {
    pub(in crate::facts) fn start() -> Self {
        Self {
            position: Position::Text,
            depth: 0,
            wrapped: 0,
            via: None,
            supposed: false,
            lurking: false,
            supplied: false,
            pipeline: 0,
            stage: 0,
            background: false,
            chained: false,
            function: None,
            ancestry: Vec::new(),
            holds: Vec::new(),
        }
    }
}
