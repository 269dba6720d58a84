//! What kind of thing a command printed: text, an image, or other data. Told from its first bytes.

use super::text;

/// How many bytes at the beginning decide.
pub(crate) const SNIFFED_BYTES: usize = 4096;

/// What a stream consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text, or something that can be shown as such.
    Text,
    /// An image that a model can look at.
    Image(ImageFormat),
    /// Anything else.
    Binary(BinaryKind),
}

/// The image formats that models take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImageFormat {
    /// PNG
    Png,
    /// JPEG
    Jpeg,
    /// GIF
    Gif,
    /// WebP
    WebP,
}

impl ImageFormat {
    /// Its media type.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
        }
    }

    /// The format of an image that begins like this.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let is = |at: usize, magic: &[u8]| {
            let rest = bytes.get(at..).unwrap_or_default();
            rest.starts_with(magic)
        };
        if is(0, b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if is(0, b"\xff\xd8\xff") {
            Some(Self::Jpeg)
        } else if is(0, b"GIF87a") || is(0, b"GIF89a") {
            Some(Self::Gif)
        } else if is(0, b"RIFF") && is(8, b"WEBP") {
            Some(Self::WebP)
        } else {
            None
        }
    }
}

/// Data that is neither text nor an image to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BinaryKind {
    /// What it is, for a person.
    pub name: &'static str,
    /// Its media type.
    pub media_type: &'static str,
}

impl BinaryKind {
    /// Data of which nothing more is known.
    pub(crate) const UNKNOWN: Self = Self {
        name: "data",
        media_type: "application/octet-stream",
    };
}

/// Where a kind of file has which bytes.
#[rustfmt::skip]
const MAGIC: &[(usize, &[u8], &str, &str)] = &[
    (0, b"\x7fELF", "ELF program or library", "application/x-elf"),
    (0, b"\x1f\x8b", "gzip archive", "application/gzip"),
    (0, b"BZh", "bzip2 archive", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "xz archive", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "zstd archive", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z archive", "application/x-7z-compressed"),
    (0, b"PK\x03\x04", "zip archive", "application/zip"),
    (0, b"PK\x05\x06", "zip archive", "application/zip"),
    (257, b"ustar", "tar archive", "application/x-tar"),
    (0, b"%PDF-", "PDF document", "application/pdf"),
    (0, b"SQLite format 3\0", "SQLite database", "application/vnd.sqlite3"),
    (0, b"\0asm", "WebAssembly module", "application/wasm"),
    (0, b"\xca\xfe\xba\xbe", "Java class or Mach-O program", "application/octet-stream"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O program", "application/x-mach-binary"),
    (0, b"II*\0", "TIFF image", "image/tiff"),
    (0, b"MM\0*", "TIFF image", "image/tiff"),
    (4, b"ftypavif", "AVIF image", "image/avif"),
    (4, b"ftypheic", "HEIC image", "image/heic"),
    (4, b"ftyp", "MP4 video", "video/mp4"),
    (0, b"\x1a\x45\xdf\xa3", "Matroska video", "video/x-matroska"),
    (8, b"WAVEfmt", "WAV audio", "audio/wav"),
    (0, b"OggS", "Ogg audio", "audio/ogg"),
    (0, b"fLaC", "FLAC audio", "audio/flac"),
    (0, b"ID3", "MP3 audio", "audio/mpeg"),
    (0, b"\0\x01\0\0\0", "TrueType font", "font/ttf"),
    (0, b"wOF2", "WOFF2 font", "font/woff2"),
    (0, b"\xff\xfe", "UTF-16 text", "text/plain; charset=utf-16le"),
    (0, b"\xfe\xff", "UTF-16 text", "text/plain; charset=utf-16be"),
];

impl Kind {
    /// The kind of what begins like this.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let first = &bytes[..bytes.len().min(SNIFFED_BYTES)];
        if let Some(format) = ImageFormat::of(first) {
            return Self::Image(format);
        }
        if is_text(first) {
            return Self::Text;
        }
        let known = MAGIC.iter().find(|(at, magic, ..)| {
            let rest = first.get(*at..).unwrap_or_default();
            rest.starts_with(magic)
        });
        Self::Binary(
            known.map_or(BinaryKind::UNKNOWN, |(_, _, name, media_type)| BinaryKind {
                name,
                media_type,
            }),
        )
    }
}

/// Text in an older encoding has some broken characters, and some programs print odd control
/// characters: a few of either don't make it something else.
fn is_text(first: &[u8]) -> bool {
    let whole = &first[..first.len() - text::begun_character(first)];
    let odd = |byte: &u8| matches!(byte, 1..=6 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let odd = whole.iter().filter(|byte| odd(byte)).count();
    let broken: usize = whole.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let few = odd * 10 <= whole.len() && broken * 10 <= whole.len() * 3;
    let nuls = whole.contains(&0);
    few && (!nuls || (broken == 0 && is_list(whole)))
}

/// Whether NUL stands between entries, as after `find -print0`: never two of them together, and
/// longer entries than UTF-16 would make.
fn is_list(bytes: &[u8]) -> bool {
    let entries = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let count = entries.split(|byte| *byte == 0).count();
    let together = entries.split(|byte| *byte == 0).any(<[u8]>::is_empty);
    !together && entries.len() >= count * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_from_the_first_bytes() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        let tar = [&b"name"[..], &[0; 253], b"ustar\x0000"].concat();
        let late = [&[b'a'; SNIFFED_BYTES][..], &[0; 100]].concat();
        for (bytes, expected) in [
            (&b""[..], "text"),
            (b"hello\n", "text"),
            ("grün 日本\n".as_bytes(), "text"),
            // Latin-1, colours, a character that the sample cuts off, data that comes later.
            (b"gr\xfcn ist die Farbe\n", "text"),
            (b"\x1b[1mbold\x1b[0m\x07\x08", "text"),
            (b"half \xe2\x82", "text"),
            (&late, "text"),
            // Lists of names.
            (b"./a/file\0./another\0", "text"),
            (b"PATH=/bin\0HOME=/root\0", "text"),
            (png, "image/png"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
            (b"GIF89a\x01\0\x01\0", "image/gif"),
            (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
            (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
            (b"\x7fELF\x02\x01\x01\0\0\0", "application/x-elf"),
            (b"\x1f\x8b\x08\0\0\0\0\0", "application/gzip"),
            (&tar, "application/x-tar"),
            (b"h\0e\0l\0l\0o\0", "application/octet-stream"),
            (b"\0\0\0\0", "application/octet-stream"),
            (b"\x01\x02\x03\x04abc", "application/octet-stream"),
            (b"\xfe\xff\x81\x92\xa3", "text/plain; charset=utf-16be"),
            // Names of formats in a text are not the formats.
            (b"BZh is the magic of bzip2\n", "text"),
            (b"%PDF- is how they begin\n", "text"),
        ] {
            let kind = match Kind::of(bytes) {
                Kind::Text => "text",
                Kind::Image(format) => format.media_type(),
                Kind::Binary(kind) => kind.media_type,
            };
            assert_eq!(kind, expected, "{bytes:?}");
        }
    }
}
