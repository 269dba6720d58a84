//! Secrets that are known by their looks: tokens with a maker's mark, JWTs, private keys, and the
//! password in a URL.

use super::{Span, is_reference};

/// How a token begins, what it is made of, and how long the rest is at least.
struct Token {
    prefix: &'static str,
    rest: fn(u8) -> bool,
    at_least: usize,
    /// For a short prefix that words may have, too: the rest must hold a digit or a capital.
    mixed: bool,
}

const fn token(prefix: &'static str, rest: fn(u8) -> bool, at_least: usize) -> Token {
    Token {
        prefix,
        rest,
        at_least,
        mixed: false,
    }
}

const fn mixed(prefix: &'static str, rest: fn(u8) -> bool, at_least: usize) -> Token {
    Token {
        prefix,
        rest,
        at_least,
        mixed: true,
    }
}

const TOKENS: &[Token] = &[
    token("ghp_", alphanumeric, 20),
    token("gho_", alphanumeric, 20),
    token("ghu_", alphanumeric, 20),
    token("ghs_", alphanumeric, 20),
    token("ghr_", alphanumeric, 20),
    token("github_pat_", word, 20),
    token("glpat-", dashed, 16),
    mixed("sk-", dashed, 20),
    token("sk_live_", word, 16),
    token("sk_test_", word, 16),
    token("rk_live_", word, 16),
    token("whsec_", word, 16),
    token("xoxb-", dashed, 10),
    token("xoxp-", dashed, 10),
    token("xoxa-", dashed, 10),
    token("xoxr-", dashed, 10),
    token("xoxs-", dashed, 10),
    token("xapp-", dashed, 10),
    token("AKIA", capital, 16),
    token("ASIA", capital, 16),
    token("AIza", dashed, 30),
    token("ya29.", dashed, 20),
    token("npm_", alphanumeric, 30),
    token("pypi-", dashed, 30),
    token("hf_", alphanumeric, 30),
    token("dop_v1_", alphanumeric, 30),
    token("shpat_", alphanumeric, 30),
    mixed("SG.", dotted, 30),
    token("AGE-SECRET-KEY-1", capital, 30),
    token("hvs.", dashed, 20),
    token("dckr_pat_", dashed, 20),
    token("dckr_oat_", dashed, 20),
    token("glptt-", dashed, 16),
    token("gldt-", dashed, 16),
    token("pscale_tkn_", dashed, 20),
    token("sntrys_", dashed, 20),
    token("tfp_", alphanumeric, 30),
    token("lin_api_", alphanumeric, 30),
    token("rubygems_", alphanumeric, 30),
    token("xai-", dashed, 30),
    token("gsk_", alphanumeric, 30),
    token("AccountKey=", base64, 40),
];

/// Finds everything that looks like a secret.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    // A private key is long; what stands in it is not looked at again.
    let mut key_end = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if at < key_end {
            continue;
        }
        let inside_word = at > 0 && dashed(bytes[at - 1]);
        match byte {
            b'-' if bytes[at..].starts_with(b"-----BEGIN ") => {
                if let Some(span) = private_key(text, at) {
                    key_end = span.end;
                    spans.push(span);
                }
            }
            b':' if text[at..].starts_with("://") => spans.extend(url_password(text, at + 3)),
            b'a' if text[at..].starts_with(TELEGRAM) => {
                let start = at + TELEGRAM.len();
                let rest = |byte: &&u8| dashed(**byte) || **byte == b':';
                let length = bytes[start..].iter().take_while(rest).count();
                spans.push(start..start + length);
            }
            b's' if text[at..].starts_with(SLACK) => spans.extend(webhook(bytes, at)),
            b'0'..=b'9' if !inside_word => spans.extend(bot(bytes, at)),
            _ if inside_word || !byte.is_ascii_alphabetic() => {}
            b'e' if text[at..].starts_with("eyJ") => spans.extend(jwt(bytes, at)),
            b'B' | b'b' => spans.extend(bearer(text, at)),
            _ => spans.extend(TOKENS.iter().find_map(|token| token.span(bytes, at))),
        }
    }
}

impl Token {
    fn span(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let rest = bytes[at..].strip_prefix(self.prefix.as_bytes())?;
        let length = rest.iter().take_while(|byte| (self.rest)(**byte)).count();
        let looks = !self.mixed
            || rest[..length]
                .iter()
                .any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
        (length >= self.at_least && looks).then(|| at..at + self.prefix.len() + length)
    }
}

/// Three parts with dots between, the first of which is a JSON object in base64.
fn jwt(bytes: &[u8], at: usize) -> Option<Span> {
    let length = bytes[at..].iter().take_while(|byte| dotted(**byte)).count();
    let mut parts = bytes[at..at + length].split(|byte| *byte == b'.');
    let long = |part: Option<&[u8]>| part.is_some_and(|part| part.len() >= 8);
    (long(parts.next()) && long(parts.next()) && parts.next().is_some()).then(|| at..at + length)
}

/// What the token of a bot follows in Telegram's addresses.
const TELEGRAM: &str = "api.telegram.org/bot";

/// Where Slack takes messages from whoever knows the rest of the address.
const SLACK: &str = "slack.com/services/";

fn webhook(bytes: &[u8], at: usize) -> Option<Span> {
    let start = at + SLACK.len();
    let path = |byte: &&u8| word(**byte) || **byte == b'/';
    let length = bytes[start..].iter().take_while(path).count();
    (length >= 20).then(|| start..start + length)
}

/// The token of a Telegram bot: its number, a colon, and 35 letters.
fn bot(bytes: &[u8], at: usize) -> Option<Span> {
    let digits = bytes[at..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let rest = bytes[at + digits..].strip_prefix(b":")?;
    let letters = rest.iter().take_while(|byte| dashed(**byte)).count();
    let end = at + digits + 1 + letters;
    ((8..=12).contains(&digits) && (32..=40).contains(&letters)).then_some(at..end)
}

/// `Bearer` and a token, wherever it stands.
fn bearer(text: &str, at: usize) -> Option<Span> {
    let rest = text
        .get(at..at + 7)
        .filter(|word| word.eq_ignore_ascii_case("bearer "))?;
    let start = at + rest.len();
    let token = |byte: &u8| dotted(*byte) || matches!(byte, b'+' | b'/' | b'=' | b'~');
    let length = text.as_bytes()[start..]
        .iter()
        .take_while(|byte| token(byte))
        .count();
    let mixed = text[start..start + length]
        .bytes()
        .any(|byte| byte.is_ascii_digit());
    (length >= 16 && mixed).then(|| start..start + length)
}

/// A private key, up to its end, or to the end of the text if that is missing.
fn private_key(text: &str, at: usize) -> Option<Span> {
    let label_end = at + 11 + text[at + 11..].find("-----")?;
    if !text[at..label_end].contains("PRIVATE KEY") {
        return None;
    }
    let start = label_end + 5;
    let end = text[start..]
        .find("-----END ")
        .map_or(text.len(), |length| start + length);
    Some(start..end)
}

/// The password of `user:password@host`, which starts here.
fn url_password(text: &str, start: usize) -> Option<Span> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<');
    let authority = &text[start..];
    let authority = &authority[..authority.find(ends).unwrap_or(authority.len())];
    let (login, _) = authority.rsplit_once('@')?;
    let Some((user, password)) = login.split_once(':') else {
        // Nobody has a name to give there but to be let in by it.
        let web = text[..start].ends_with("http://") || text[..start].ends_with("https://");
        let known = matches!(login, "git" | "user" | "username" | "me");
        return (web && !known && !is_reference(login)).then(|| start..start + login.len());
    };
    // A token in the user's place, with the filler that GitHub documents for the password.
    if password.is_empty() || password == "x-oauth-basic" {
        return (!is_reference(user)).then(|| start..start + user.len());
    }
    let end = start + login.len();
    (!is_reference(password)).then(|| end - password.len()..end)
}

fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn dashed(byte: u8) -> bool {
    word(byte) || byte == b'-'
}

fn dotted(byte: u8) -> bool {
    dashed(byte) || byte == b'.'
}
