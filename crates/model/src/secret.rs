//! A key. Whoever holds one can send it to the endpoint that it is for, and do nothing else with it.

use std::fmt;

use hyper::header::HeaderValue;

/// What stands in the place of a key where one would be told.
const MASK: &str = "[key]";

/// A key. It is not printed, compared, written or given out.
///
/// ```compile_fail
/// let key = ringfence_model::Secret::new("sk-1");
/// println!("{key}");
/// ```
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes a key; the spaces and line ends around it are none of it. None if there is nothing.
    pub fn new(key: impl Into<String>) -> Option<Self> {
        let key: String = key.into();
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    /// A header that carries it, behind a word such as `Bearer`.
    pub(crate) fn header(&self, word: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{word}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// A text without it: servers repeat what they were sent.
    pub fn mask(&self, text: &str) -> String {
        // As it is, and as it stands in JSON.
        let escaped = serde_json::Value::from(self.0.as_str()).to_string();
        text.replace(&self.0, MASK)
            .replace(escaped.trim_matches('"'), MASK)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_told_nowhere() {
        let key = Secret::new(" sk-\"very\"-secret\n").unwrap();
        let printed = format!("{key:?} {:?} {:#?}", key.header("Bearer "), Some(&key));
        assert!(!printed.contains("very"), "{printed}");
        let said = "wrong key sk-\"very\"-secret in {\"k\": \"sk-\\\"very\\\"-secret\"}";
        assert_eq!(key.mask(said), "wrong key [key] in {\"k\": \"[key]\"}");
        assert!(Secret::new(" \n").is_none());
    }
}
