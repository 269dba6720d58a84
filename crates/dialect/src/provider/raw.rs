//! JSON that is handed on as it came: escapes, order, spaces and numbers included.
//!
//! - [`Raw`]: a piece of JSON, byte for byte
//! - [`Object`]: the fields of an object, each of them raw, in their order
//! - `Grown`: a string that comes in pieces. The pieces stay escaped, so that half a character of two `\u` escapes finds its
//!   other half in the next piece.

use std::fmt;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A piece of JSON, byte for byte as it came.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// Takes a text that is JSON.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self)
    }

    /// A value written as JSON, without spaces.
    pub fn of(value: &Value) -> Self {
        // `Display` of a value is JSON.
        Self::parse(value.to_string()).unwrap_or_else(|_| Self::null())
    }

    /// A string written as JSON.
    pub fn string(text: &str) -> Self {
        Self::of(&Value::from(text))
    }

    /// An array of these.
    pub fn array<'a>(elements: impl IntoIterator<Item = &'a Raw>) -> Self {
        let texts: Vec<&str> = elements.into_iter().map(Self::text).collect();
        Self::parse(format!("[{}]", texts.join(","))).unwrap_or_else(|_| Self::null())
    }

    /// `null`.
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// The JSON.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// What it says, if that can be represented: it is not nested too deep.
    pub fn value(&self) -> Option<Value> {
        self.read()
    }

    /// The fields, if it is an object.
    pub fn object(&self) -> Option<Object> {
        self.text().starts_with('{').then(|| self.read()).flatten()
    }

    /// The elements, if it is an array.
    pub fn elements(&self) -> Option<Vec<Raw>> {
        self.text().starts_with('[').then(|| self.read()).flatten()
    }

    /// The text, if it is a string.
    pub fn as_text(&self) -> Option<String> {
        self.text().starts_with('"').then(|| self.read()).flatten()
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }

    /// Reads it. Half of a character of two escapes is no reason to lose all the rest.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.text())
            .or_else(|_| serde_json::from_str(&without_lone_surrogates(self.text())))
            .ok()
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Raw {}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The fields of an object, in their order.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Object(Vec<(String, Raw)>);

impl Object {
    /// The first field of this name.
    pub fn get(&self, name: &str) -> Option<&Raw> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, raw)| raw)
    }

    /// The text of a field that is a string.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(Raw::as_text)
    }

    /// The number of a field that is one.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(Raw::read)
    }

    /// The fields of a field that is an object.
    pub fn object(&self, name: &str) -> Option<Object> {
        self.get(name).and_then(Raw::object)
    }

    /// The elements of a field that is an array.
    pub fn elements(&self, name: &str) -> Option<Vec<Raw>> {
        self.get(name).and_then(Raw::elements)
    }

    /// Puts something in the place of a field, or behind all others.
    pub fn set(&mut self, name: &str, raw: Raw) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = raw,
            None => self.0.push((name.to_owned(), raw)),
        }
    }

    /// The same with a field more, unless there is nothing to say.
    pub fn with(mut self, name: &str, raw: Option<Raw>) -> Self {
        if let Some(raw) = raw {
            self.set(name, raw);
        }
        self
    }

    /// Takes a field out.
    pub fn remove(&mut self, name: &str) -> Option<Raw> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    /// The fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(name, raw)| (name.as_str(), raw))
    }

    /// As JSON.
    pub fn to_raw(&self) -> Raw {
        let mut text = String::from("{");
        for (name, raw) in self.iter() {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(Raw::string(name).text());
            text.push(':');
            text.push_str(raw.text());
        }
        text.push('}');
        Raw::parse(text).unwrap_or_else(|_| Raw::null())
    }
}

impl FromIterator<(String, Raw)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Raw)>>(fields: I) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, raw) in self.iter() {
            map.serialize_entry(name, raw)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// A JSON string that comes in pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Grown {
    escaped: String,
}

impl Grown {
    /// Adds a piece. What is no string is not added.
    pub(super) fn push(&mut self, piece: &Raw) {
        let inner = piece.text().strip_prefix('"');
        if let Some(inner) = inner.and_then(|inner| inner.strip_suffix('"')) {
            self.escaped.push_str(inner);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.escaped.is_empty()
    }

    /// The string as JSON.
    pub(super) fn raw(&self) -> Raw {
        Raw::parse(format!("\"{}\"", self.escaped)).unwrap_or_else(|_| Raw::string(""))
    }

    /// What it says.
    pub(super) fn text(&self) -> String {
        self.raw().as_text().unwrap_or_default()
    }
}

/// The same JSON with U+FFFD for each half of a character that lacks its other half.
fn without_lone_surrogates(json: &str) -> String {
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let (taken, ok) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, true),
            (Some(0xD800..=0xDFFF), _) => (6, false),
            (Some(_), _) => (6, true),
            // An escape of one character, which may be a backslash.
            (None, _) => (2, true),
        };
        let (escape, behind) = escape.split_at(taken.min(escape.len()));
        mended.push_str(if ok { escape } else { "\\ufffd" });
        rest = behind;
    }
    mended.push_str(rest);
    mended
}

/// The number of a `\u` escape at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_changed_is_written_as_it_came() {
        let text = r#"{"a":1.0,"b" :{ "x":1e400,"é":"é\/"},"a":2,"c":12345678901234567890123}"#;
        let object = Raw::parse(text).unwrap().object().unwrap();
        let plain = text.replace("\"b\" :", "\"b\":");
        assert_eq!(object.to_raw().text(), plain);
        assert_eq!(serde_json::to_string(&object).unwrap(), plain);
    }

    #[test]
    fn half_a_character_waits_for_its_other_half() {
        let mut grown = Grown::default();
        for piece in [r#""a\ud83d""#, r#""\ude00 \\ud83d""#, r#""\ud83d!""#] {
            grown.push(&Raw::parse(piece).unwrap());
        }
        assert_eq!(grown.text(), "a😀 \\ud83d\u{fffd}!");
        assert_eq!(grown.raw().text(), r#""a\ud83d\ude00 \\ud83d\ud83d!""#);
    }
}
