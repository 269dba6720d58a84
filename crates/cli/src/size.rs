//! Sizes as people write them: `512MB`, `2GiB`, `100k`, or a plain number of bytes.

/// What follows the number, and how many bytes it stands for.
const UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("b", 1),
    ("kb", 1000),
    ("mb", 1000 * 1000),
    ("gb", 1000 * 1000 * 1000),
    ("tb", 1000 * 1000 * 1000 * 1000),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("t", 1 << 40),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

/// Reads a size.
pub(crate) fn parse(written: &str) -> Result<u64, String> {
    let text = written.trim().to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim();
    let factor = UNITS.iter().find(|(name, _)| *name == unit);
    let read = || {
        let number: u64 = number.parse().ok()?;
        number.checked_mul(factor?.1)
    };
    read().ok_or_else(|| {
        format!("`{written}` is no size; write 512MB, 2GiB or a number of bytes, without fractions")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (written, expected) in [
            ("512MB", Some(512_000_000)),
            ("512 MB", Some(512_000_000)),
            ("512MiB", Some(512 << 20)),
            ("512m", Some(512 << 20)),
            ("2g", Some(2 << 30)),
            ("100kb", Some(100_000)),
            ("4096", Some(4096)),
            ("0", Some(0)),
            ("", None),
            ("MB", None),
            ("1.5GB", None),
            ("-1", None),
            ("12XB", None),
            ("99999999999999999999", None),
            ("99999999999TB", None),
        ] {
            assert_eq!(parse(written).ok(), expected, "{written}");
        }
    }
}
