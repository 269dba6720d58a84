//! A secret that was added to a request, taken out of what comes back.
//!
//! Some hosts answer with what they were sent: an error page with the headers of the request, an echo. What
//! is there literally is covered. What a host has changed first (put into base64, cut into pieces) nobody
//! finds: a header is only added for a host that is trusted with it.

use std::borrow::Cow;

use memchr::memmem;

/// What stands in the place of a secret.
pub(crate) const COVER: &str = "[secret]";

/// Values shorter than this are not looked for: they would turn up everywhere.
const SHORTEST: usize = 6;

/// Values that do not go back to whoever sent the request.
#[derive(Clone, Default)]
pub(crate) struct Mask {
    /// Longest first, so that a value which contains another goes as a whole.
    values: Vec<String>,
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask of {}", self.values.len())
    }
}

impl Mask {
    /// The secrets of a header: its value, the words of it, and the values of the variables in it.
    pub(super) fn of_header(written: &str, variables: Vec<String>) -> Self {
        let value = written
            .split_once(':')
            .map_or("", |(_, value)| value)
            .trim();
        let words = value.split_whitespace().map(str::to_owned);
        let mut mask = Self::default();
        mask.add(
            std::iter::once(value.to_owned())
                .chain(words)
                .chain(variables),
        );
        mask
    }

    /// Covers what another one covers too.
    pub(super) fn extend(&mut self, other: &Self) {
        self.add(other.values.iter().cloned());
    }

    fn add(&mut self, values: impl Iterator<Item = String>) {
        let values = values.filter(|value| value.len() >= SHORTEST);
        self.values.extend(values);
        self.values
            .sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.values.dedup();
    }

    /// As much has to be read beyond a limit, so that no value is cut in two there.
    pub(crate) fn margin(&self) -> usize {
        self.values.first().map_or(0, String::len)
    }

    /// The bytes with what is secret in them covered.
    pub(crate) fn cover<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let mut covered = Cow::Borrowed(bytes);
        for value in &self.values {
            if let Some(without) = replaced(&covered, value.as_bytes()) {
                covered = Cow::Owned(without);
            }
        }
        covered
    }
}

/// The bytes with a value replaced, if it is there.
fn replaced(bytes: &[u8], value: &[u8]) -> Option<Vec<u8>> {
    let finder = memmem::Finder::new(value);
    let mut found = finder.find_iter(bytes).peekable();
    found.peek()?;
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for start in found {
        out.extend_from_slice(&bytes[at..start]);
        out.extend_from_slice(COVER.as_bytes());
        at = start + value.len();
    }
    out.extend_from_slice(&bytes[at..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_covered_and_nothing_else() {
        let variables = vec!["s3cr3t-t0ken".to_owned()];
        let mask = Mask::of_header("Authorization: Bearer s3cr3t-t0ken", variables);
        for (text, expected) in [
            (
                "authorization: Bearer s3cr3t-t0ken\n",
                "authorization: [secret]\n",
            ),
            ("s3cr3t-t0kens3cr3t-t0ken", "[secret][secret]"),
            ("{\"t\":\"s3cr3t-t0ken\"}", "{\"t\":\"[secret]\"}"),
            ("s3cr3t-t0ke", "s3cr3t-t0ke"),
            ("Bearer of news", "[secret] of news"),
            ("", ""),
        ] {
            let covered = mask.cover(text.as_bytes());
            assert_eq!(String::from_utf8_lossy(&covered), expected, "{text}");
        }
        assert_eq!(mask.margin(), "Bearer s3cr3t-t0ken".len());
        let short = Mask::of_header("X: a", vec!["a".to_owned()]);
        assert_eq!(&*short.cover(b"banana"), b"banana");
        assert_eq!(format!("{mask:?}"), "Mask of 3");
    }
}
