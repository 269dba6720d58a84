//! Whole outputs as resources: what replies named is listed, can be read in ranges, and is gone with the session.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::Value;
use thiserror::Error;

/// What the address of an output begins with.
const SCHEME: &str = "ringfence://output/";
/// As many outputs are known; the oldest give way.
const KNOWN: usize = 256;
/// The most bytes of one reading.
const MOST: u64 = 256 << 10;

/// The outputs of a session.
#[derive(Debug, Default)]
pub(crate) struct Outputs(Mutex<VecDeque<(String, PathBuf)>>);

/// Why an output cannot be read.
#[derive(Debug, Error)]
pub(crate) enum OutputError {
    #[error("there is no resource `{0}` in this session")]
    Unknown(String),
    #[error("`{0}` is no range: write ringfence://output/NAME?offset=N&length=N, in bytes")]
    NoRange(String),
    #[error("the output cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl Outputs {
    /// Knows the file that a reply names, if it does; gives back its resource.
    pub(crate) fn named_in(&self, reply: &Value) -> Option<Resource> {
        let path = ["rawOutputPath", "raw_output_path"]
            .iter()
            .find_map(|field| reply[*field].as_str())?;
        let name = Path::new(path).file_stem()?.to_str()?.to_owned();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.iter().any(|(kept, _)| *kept == name) {
            known.push_back((name.clone(), PathBuf::from(path)));
            if known.len() > KNOWN {
                known.pop_front();
            }
        }
        Some(resource(&name, Path::new(path)))
    }

    /// What there is.
    pub(crate) fn list(&self) -> Vec<Resource> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .iter()
            .map(|(name, path)| resource(name, path))
            .collect()
    }

    /// How to read a part of one.
    pub(crate) fn template() -> ResourceTemplate {
        ResourceTemplate::new(format!("{SCHEME}{{name}}{{?offset,length}}"), "output")
            .with_title("A part of a command's output")
            .with_description(
                "The whole output of a command whose reply left some of it out, from `offset`, at most `length` bytes \
                 (262144 unless told, which is the most)",
            )
            .with_mime_type("text/plain")
    }

    /// Reads one, or a part of it.
    pub(crate) fn read(&self, uri: &str) -> Result<ResourceContents, OutputError> {
        let unknown = || OutputError::Unknown(uri.to_owned());
        let rest = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
        let (name, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let found = known.iter().find(|(kept, _)| kept == name);
            found.map(|(_, path)| path.clone()).ok_or_else(unknown)?
        };
        let (offset, length) = range(query).ok_or_else(|| OutputError::NoRange(uri.to_owned()))?;
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(length.min(MOST)).read_to_end(&mut bytes)?;
        Ok(contents(uri, bytes))
    }
}

fn resource(name: &str, path: &Path) -> Resource {
    let mut resource = Resource::new(format!("{SCHEME}{name}"), name);
    resource.title = Some("The whole output of a command".to_owned());
    resource.mime_type = Some("text/plain".to_owned());
    resource.size = path.metadata().ok().map(|file| file.len());
    resource
}

/// Offset and length, as a query has them.
fn range(query: &str) -> Option<(u64, u64)> {
    let (mut offset, mut length) = (0, MOST);
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=')?;
        let value = value.parse().ok()?;
        match key {
            "offset" => offset = value,
            "length" => length = value,
            _ => return None,
        }
    }
    Some((offset, length))
}

/// Text where it is text: a range may begin and end inside a character, which is left out then.
fn contents(uri: &str, bytes: Vec<u8>) -> ResourceContents {
    let begins = bytes
        .iter()
        .take(3)
        .take_while(|byte| **byte & 0xc0 == 0x80)
        .count();
    let whole = &bytes[begins..];
    let text = match std::str::from_utf8(whole) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&whole[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    };
    match text {
        Some(text) => ResourceContents::text(text, uri),
        None => ResourceContents::blob(STANDARD.encode(bytes), uri),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn ranges() {
        let cases = [
            ("", Some((0, MOST))),
            ("offset=5", Some((5, MOST))),
            ("offset=5&length=7", Some((5, 7))),
            ("length=7&", Some((0, 7))),
            ("offset=-1", None),
            ("offset", None),
            ("path=/etc/passwd", None),
        ];
        for (query, expected) in cases {
            assert_eq!(range(query), expected, "{query}");
        }
    }

    #[test]
    fn only_what_a_reply_named_is_read() {
        let outputs = Outputs::default();
        for uri in [
            "ringfence://output/passwd",
            "ringfence://output/../../etc/passwd",
            "file:///etc/passwd",
        ] {
            assert!(
                matches!(outputs.read(uri), Err(OutputError::Unknown(_))),
                "{uri}"
            );
        }
    }

    #[test]
    fn characters_are_whole() {
        let text = "aé€".as_bytes();
        for (from, to, expected) in [(0, 6, "aé€"), (2, 6, "€"), (0, 2, "a"), (4, 6, "")] {
            let ResourceContents::TextResourceContents { text, .. } =
                contents("u", text[from..to].to_vec())
            else {
                panic!("{from}..{to} is no text");
            };
            assert_eq!(text, expected);
        }
    }
}
