//! Protocol buffers, as far as messages are written here.

/// A message in the making.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

impl Message {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// A field of bytes: a text, an id, or numbers in a row.
    pub(super) fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.tag(field, LENGTH);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub(super) fn message(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// The same for each of several.
    pub(super) fn messages(self, field: u32, all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter()
            .fold(self, |whole, message| whole.message(field, &message))
    }

    pub(super) fn number(mut self, field: u32, number: u64) -> Self {
        self.tag(field, VARINT);
        self.varint(number);
        self
    }

    pub(super) fn fixed(mut self, field: u32, number: u64) -> Self {
        self.tag(field, FIXED64);
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(super) fn real(self, field: u32, number: f64) -> Self {
        self.fixed(field, number.to_bits())
    }

    /// Numbers of 64 bits in a row.
    pub(super) fn packed(self, field: u32, numbers: impl Iterator<Item = u64>) -> Self {
        let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        self.bytes(field, &bytes)
    }

    fn tag(&mut self, field: u32, form: u32) {
        self.varint(u64::from(field << 3 | form));
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_those_of_the_wire() {
        // The examples of the format's own documentation.
        assert_eq!(
            Message::default().number(1, 150).into_bytes(),
            [0x08, 0x96, 0x01]
        );
        assert_eq!(
            Message::default().text(2, "testing").into_bytes(),
            [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]
        );
        let inner = Message::default().number(1, 150);
        assert_eq!(
            Message::default().message(3, &inner).into_bytes(),
            [0x1a, 0x03, 0x08, 0x96, 0x01]
        );
        assert_eq!(
            Message::default().real(16, 1.0).into_bytes(),
            [0x81, 0x01, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]
        );
    }
}
