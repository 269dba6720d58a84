//! Images that a command printed: as their bytes, as a `data:` URI, or as bare base64.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::ImageFormat;

/// An image as models take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    /// Its format, from its own first bytes.
    pub format: ImageFormat,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its bytes in base64.
    pub base64: String,
}

/// An image that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// One that may be returned.
    Image(Image),
    /// One that is larger than allowed.
    TooLarge { format: ImageFormat, bytes: u64 },
}

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// So many characters decode to as many bytes as it takes to know a format.
const FIRST_CHARS: usize = 16;

impl Found {
    /// The image whose bytes these are.
    pub(super) fn in_bytes(format: ImageFormat, bytes: &[u8], most: u64) -> Self {
        let size = bytes.len() as u64;
        if size > most {
            return Self::TooLarge {
                format,
                bytes: size,
            };
        }
        Self::Image(Image {
            format,
            bytes: size,
            base64: BASE64.encode(bytes),
        })
    }

    /// The image that a text is, if it is one: a `data:` URI or base64, and nothing besides.
    pub(super) fn in_text(text: &str, most: u64) -> Option<Self> {
        let uri = after_data_uri(text.trim());
        let encoded = uri.unwrap_or(text.trim());
        // A cheap look first: most output is something else.
        let first: String = encoded.chars().take(FIRST_CHARS).collect();
        let format = ImageFormat::of(&BASE64.decode(first).ok()?)?;
        let encoded: Vec<u8> = encoded
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        let padding = encoded.iter().rev().take_while(|byte| **byte == b'=');
        let bytes = (encoded.len() - padding.count()) as u64 * 3 / 4;
        if bytes > most {
            let known = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
            return encoded
                .iter()
                .all(known)
                .then_some(Self::TooLarge { format, bytes });
        }
        let decoded = BASE64.decode(encoded).ok()?;
        // Bare base64 has nothing that announces it: short words and paths can look like one.
        let meant = uri.is_some() || is_complete(format, &decoded);
        meant.then(|| Self::in_bytes(format, &decoded, most))
    }
}

/// Whether an image ends as it should.
fn is_complete(format: ImageFormat, bytes: &[u8]) -> bool {
    match format {
        ImageFormat::Png => bytes.ends_with(b"IEND\xaeB`\x82"),
        ImageFormat::Jpeg => bytes.ends_with(b"\xff\xd9"),
        ImageFormat::Gif => bytes.ends_with(b";"),
        ImageFormat::WebP => {
            let size = bytes.get(4..8).and_then(|size| size.try_into().ok());
            size.is_some_and(|size| u32::from_le_bytes(size) as usize + 8 == bytes.len())
        }
    }
}

/// What follows the head of a `data:` URI of an image.
pub(super) fn after_data_uri(text: &str) -> Option<&str> {
    const SCHEME: &str = "data:image/";
    let scheme = text.get(..SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    let (kind, encoded) = text[SCHEME.len()..].split_once(',')?;
    let is_base64 = kind.len() < 100 && kind.to_ascii_lowercase().ends_with(";base64");
    is_base64.then_some(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest PNG there is, one pixel.
    const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

    fn found(text: &str, most: u64) -> Option<&'static str> {
        match Found::in_text(text, most)? {
            Found::Image(image) => {
                assert_eq!(image.base64, PIXEL);
                Some(image.format.media_type())
            }
            Found::TooLarge { .. } => Some("too large"),
        }
    }

    #[test]
    fn only_whole_images_are_found() {
        let wrapped: String = PIXEL
            .as_bytes()
            .chunks(20)
            .map(|line| String::from_utf8_lossy(line).into_owned() + "\n")
            .collect();
        for (text, expected) in [
            (PIXEL.to_owned(), Some("image/png")),
            (wrapped.clone(), Some("image/png")),
            (
                format!("data:image/png;base64,{PIXEL}\n"),
                Some("image/png"),
            ),
            (format!("DATA:image/PNG;Base64,{PIXEL}"), Some("image/png")),
            // The bytes count, not what somebody calls them.
            (format!("data:image/jpeg;base64,{PIXEL}"), Some("image/png")),
            (PIXEL.trim_end_matches('=').to_owned(), Some("image/png")),
            (format!("{PIXEL} and more"), None),
            (format!("see {PIXEL}"), None),
            (
                "data:image/png;base64,aGVsbG8gd29ybGQgYWdhaW4=".to_owned(),
                None,
            ),
            ("data:image/svg+xml;utf8,<svg/>".to_owned(), None),
            ("/9j/some/pat".to_owned(), None),
            (PIXEL[..60].to_owned(), None),
            ("iVBORw0KGgo".to_owned(), None),
            ("hello".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(found(&text, 1000), expected, "{text:?}");
        }
        assert_eq!(found(&wrapped, 10), Some("too large"));
        assert_eq!(found(PIXEL, 70), Some("image/png"));
        assert_eq!(found(PIXEL, 69), Some("too large"));
    }
}
