//! Bytes as text in base64, and back.

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().enumerate().fold(0_u32, |group, (i, byte)| {
            group | u32::from(*byte) << (16 - 8 * i)
        });
        for i in 0..4 {
            let digit = BASE64[(group >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    text
}

pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let mut group = 0_u32;
        for (i, digit) in chunk.iter().enumerate() {
            let value = BASE64.iter().position(|known| known == digit)?;
            group |= u32::try_from(value).ok()? << (18 - 6 * i);
        }
        if chunk.len() == 1 {
            return None;
        }
        bytes.extend(group.to_be_bytes().iter().skip(1).take(chunk.len() - 1));
    }
    Some(bytes)
}
