//! What came back in the end: bounded, and without the secrets that were added on the way out.

use std::collections::BTreeMap;

use ringfence_jail::net::Response;

use crate::network::Mask;

/// What came back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The status.
    pub(crate) status: u16,
    /// The headers, with names in lower case. Several of one name are one, as `fetch` has them; each
    /// `set-cookie` is a line.
    pub(crate) headers: BTreeMap<String, String>,
    /// The body, or its beginning.
    pub(crate) body: Vec<u8>,
    /// Whether there is more of it.
    pub(crate) is_truncated: bool,
    /// Where it came from, if that is not where the request was sent.
    pub(crate) url: Option<String>,
}

impl Arrival {
    /// An answer without what the mask covers, and with a body of at most this many bytes.
    pub(crate) fn of(answer: &Response, mask: &Mask, most_bytes: usize) -> Self {
        let mut headers = BTreeMap::<String, String>::new();
        for (name, value) in &answer.headers {
            let value = text(&mask.cover(value));
            let between = if name == "set-cookie" { "\n" } else { ", " };
            headers
                .entry(name.clone())
                .and_modify(|known| {
                    known.push_str(between);
                    known.push_str(&value);
                })
                .or_insert(value);
        }
        let mut body = mask.cover(&answer.body).into_owned();
        let is_truncated = !answer.is_whole || body.len() > most_bytes;
        body.truncate(most_bytes);
        if is_truncated {
            drop_half_a_character(&mut body);
        }
        Self {
            status: answer.status,
            headers,
            body,
            is_truncated,
            url: None,
        }
    }
}

/// The value of a header as a text: UTF-8, or else each byte a character.
fn text(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) => text.to_owned(),
        Err(_) => value.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// A text that was cut in the middle of a character ends before it. What is no text is left as it is.
fn drop_half_a_character(body: &mut Vec<u8>) {
    if let Err(error) = std::str::from_utf8(body)
        && error.error_len().is_none()
    {
        body.truncate(error.valid_up_to());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &[u8], headers: &[(&str, &[u8])]) -> Response {
        let headers = headers.iter();
        Response {
            status: 200,
            headers: headers
                .map(|(name, value)| ((*name).to_owned(), value.to_vec()))
                .collect(),
            body: body.to_vec(),
            is_whole: true,
        }
    }

    #[test]
    fn bodies_are_cut_between_characters() {
        for (body, most, expected, cut) in [
            ("häuser".as_bytes(), 9, "häuser".as_bytes(), false),
            ("häuser".as_bytes(), 7, "häuser".as_bytes(), false),
            ("häuser".as_bytes(), 3, "hä".as_bytes(), true),
            ("häuser".as_bytes(), 2, b"h", true),
            ("häuser".as_bytes(), 0, b"", true),
            (b"\xff\xfe\xfd", 2, b"\xff\xfe", true),
        ] {
            let arrival = Arrival::of(&answer(body, &[]), &Mask::default(), most);
            assert_eq!((&*arrival.body, arrival.is_truncated), (expected, cut));
        }
    }

    #[test]
    fn headers_of_one_name_are_one() {
        let answer = answer(
            b"",
            &[
                ("a", b"1"),
                ("set-cookie", b"x"),
                ("a", b"2"),
                ("set-cookie", b"y"),
                ("l", b"\xe4"),
            ],
        );
        let arrival = Arrival::of(&answer, &Mask::default(), 9);
        let headers: Vec<_> = arrival
            .headers
            .iter()
            .map(|(n, v)| format!("{n}={v}"))
            .collect();
        assert_eq!(headers, ["a=1, 2", "l=ä", "set-cookie=x\ny"]);
    }
}
