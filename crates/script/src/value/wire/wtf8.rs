//! Text as it crosses: UTF-8, in which a lone surrogate of the script has the three bytes that it would have if it were a
//! character. The script's side takes it exactly; the host's side has a replacement character in its place.

use std::borrow::Cow;

use super::WireError;

/// Text from the other side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// Checks the bytes.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        if std::str::from_utf8(bytes).is_err() && units(bytes).is_none() {
            return Err(WireError::MalformedText);
        }
        Ok(Self(bytes))
    }

    /// Valid Unicode.
    pub(crate) fn lossy(self) -> Cow<'a, str> {
        match std::str::from_utf8(self.0) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(String::from_utf16_lossy(&units(self.0).unwrap_or_default())),
        }
    }

    /// The text, or its units if it is not valid Unicode.
    pub(crate) fn exact(self) -> Result<&'a str, Vec<u16>> {
        std::str::from_utf8(self.0).map_err(|_| units(self.0).unwrap_or_default())
    }
}

/// The bytes of a text that is not valid Unicode.
pub(crate) fn from_units(units: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(units.len());
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok(letter) => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(lone) => {
                let unit = lone.unpaired_surrogate();
                let low = |shift: u16| 0x80 | ((unit >> shift) & 0x3f).to_le_bytes()[0];
                bytes.extend_from_slice(&[0xed, low(6), low(0)]);
            }
        }
    }
    bytes
}

/// UTF-16 of bytes that are UTF-8 but for surrogates; `None` if they are neither.
fn units(bytes: &[u8]) -> Option<Vec<u16>> {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let valid = match std::str::from_utf8(rest) {
            Ok(_) => rest.len(),
            Err(error) => error.valid_up_to(),
        };
        let (text, after) = rest.split_at_checked(valid)?;
        units.extend(std::str::from_utf8(text).ok()?.encode_utf16());
        rest = after;
        if let Some((lone, after)) = rest.split_first_chunk::<3>() {
            let &[0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf] = lone else {
                return None;
            };
            units.push(0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f));
            rest = after;
        } else if !rest.is_empty() {
            return None;
        }
    }
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_come_back_and_everything_else_is_refused() {
        for units in [
            &[0x61, 0xd83d][..],
            &[0xdc00, 0x62],
            &[0xd800, 0xd800, 0xdc00, 0x10ff],
            &[0xdfff],
        ] {
            let bytes = from_units(units);
            let text = Text::new(&bytes).unwrap();
            assert_eq!(text.exact().unwrap_err(), units);
            assert_eq!(text.lossy(), String::from_utf16_lossy(units));
        }
        for bytes in [
            &[0xed][..],
            &[0xed, 0xa0],
            &[0xff, 0xa0, 0x80],
            &[0xed, 0xa0, 0x20],
            &[0xc0, 0x80, 0x80],
        ] {
            assert!(Text::new(bytes).is_err(), "{bytes:?}");
        }
        assert_eq!(Text::new("é😀".as_bytes()).unwrap().exact().unwrap(), "é😀");
    }
}
