//! A span: something that began, ended, and was part of something.

use std::time::SystemTime;

/// Something that took time.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The trace that it is part of.
    pub trace: [u8; 16],
    /// Its id.
    pub id: [u8; 8],
    /// The span that it is part of.
    pub parent: Option<[u8; 8]>,
    /// Its name.
    pub name: &'static str,
    /// When it began.
    pub start: SystemTime,
    /// When it ended.
    pub end: SystemTime,
    /// What is known of it.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Why it came to nothing, if it did.
    pub error: Option<String>,
}

/// Something that is known of a span.
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// Another number.
    Real(f64),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Attribute {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}
