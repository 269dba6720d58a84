//! Text that somebody decides by: nothing in it is invisible, reorders what stands around it, or
//! pushes the rest out of sight.

use std::fmt::Write as _;

/// The characters that show nothing, look like a blank, or change how others are shown. Ranges,
/// both ends included.
const HIDDEN: &[(char, char)] = &[
    // Controls, but for the line feed, which is not looked up here.
    ('\u{0}', '\u{1f}'),
    ('\u{7f}', '\u{9f}'),
    // Blanks that a shell takes for letters.
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{2800}', '\u{2800}'),
    // Nothing at all: soft hyphen, joiners, fillers, vowels that are not drawn.
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200d}'),
    ('\u{2060}', '\u{2065}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{1d173}', '\u{1d17a}'),
    // Marks of direction, and what embeds, overrides and isolates it.
    ('\u{61c}', '\u{61c}'),
    ('\u{200e}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2066}', '\u{206f}'),
    // Signs in front of numbers that reach over them.
    ('\u{600}', '\u{605}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{890}', '\u{891}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    // Ends of lines and paragraphs that are none to a shell.
    ('\u{2028}', '\u{2029}'),
    // Marks that are drawn over, through or around the character before.
    ('\u{300}', '\u{36f}'),
    ('\u{483}', '\u{489}'),
    ('\u{591}', '\u{5c7}'),
    ('\u{610}', '\u{61a}'),
    ('\u{64b}', '\u{65f}'),
    ('\u{670}', '\u{670}'),
    ('\u{1ab0}', '\u{1aff}'),
    ('\u{1dc0}', '\u{1dff}'),
    ('\u{20d0}', '\u{20ff}'),
    ('\u{302a}', '\u{302f}'),
    ('\u{3099}', '\u{309a}'),
    ('\u{fe20}', '\u{fe2f}'),
    // Letters that are written from right to left: what stands around them changes places.
    ('\u{590}', '\u{8ff}'),
    ('\u{fb1d}', '\u{fdff}'),
    ('\u{fe70}', '\u{feff}'),
    ('\u{10800}', '\u{10fff}'),
    ('\u{1e800}', '\u{1efff}'),
    // What is drawn like a sign of the shell's, or like a slash or a dash.
    ('\u{2b9}', '\u{2bf}'),
    ('\u{37e}', '\u{37e}'),
    ('\u{387}', '\u{387}'),
    ('\u{1c3}', '\u{1c3}'),
    ('\u{2010}', '\u{2015}'),
    ('\u{2018}', '\u{201f}'),
    ('\u{2024}', '\u{2024}'),
    ('\u{2032}', '\u{2037}'),
    ('\u{2039}', '\u{203a}'),
    ('\u{2044}', '\u{2044}'),
    ('\u{2212}', '\u{2212}'),
    ('\u{2215}', '\u{2217}'),
    ('\u{2223}', '\u{2223}'),
    ('\u{2236}', '\u{2236}'),
    ('\u{223c}', '\u{223c}'),
    ('\u{29f8}', '\u{29f9}'),
    ('\u{fe50}', '\u{fe6b}'),
    ('\u{ff01}', '\u{ff5e}'),
    // Variations of the character before, annotations, tags.
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{fff0}', '\u{fffc}'),
    ('\u{fffe}', '\u{ffff}'),
    ('\u{e0000}', '\u{e0fff}'),
    // What every font draws as it likes.
    ('\u{e000}', '\u{f8ff}'),
    ('\u{f0000}', '\u{10ffff}'),
];

/// As many blanks in a row are shown as they are.
const BLANKS: usize = 60;

/// Whether a character would not be seen for what it is.
fn is_hidden(character: char) -> bool {
    HIDDEN
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&character))
}

/// A text of one line. Whatever would not be seen for what it is stands as an escape, the end of
/// a line included: no text makes a line of its own.
pub fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut blanks = 0;
    for character in text.chars() {
        if character == ' ' {
            blanks += 1;
            continue;
        }
        push_blanks(&mut shown, std::mem::take(&mut blanks));
        match character {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            hidden if is_hidden(hidden) => shown.extend(hidden.escape_unicode()),
            plain => shown.push(plain),
        }
    }
    push_blanks(&mut shown, blanks);
    shown
}

fn push_blanks(shown: &mut String, count: usize) {
    if count > BLANKS {
        let _ = write!(shown, " [{count} blanks] ");
    } else {
        shown.extend(std::iter::repeat_n(' ', count));
    }
}

/// A text of several lines, each by itself; of several empty ones in a row only their number.
pub fn lines(text: &str) -> Vec<String> {
    let mut shown = Vec::new();
    let mut empty = 0;
    for part in text.split('\n').map(line) {
        if part.trim().is_empty() {
            empty += 1;
            continue;
        }
        push_empty(&mut shown, std::mem::take(&mut empty));
        shown.push(part);
    }
    push_empty(&mut shown, empty);
    shown
}

fn push_empty(shown: &mut Vec<String>, count: usize) {
    match count {
        0 => {}
        1 => shown.push(String::new()),
        count => shown.push(format!("[{count} empty lines]")),
    }
}

/// The beginning and the end of a line, of at most so many characters together, and how many are
/// left out between them: what a line does last is no less than what it does first.
pub fn cut(line: &str, most: usize) -> String {
    let count = line.chars().count();
    if count <= most {
        return line.to_owned();
    }
    let tail = most / 3;
    let head: String = line.chars().take(most - tail).collect();
    let end: String = line.chars().skip(count - tail).collect();
    format!("{head} [{} more characters] {end}", count - most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for (text, expected) in [
            ("rm\u{1b}[2K\rls", "rm\\u{1b}[2K\\u{d}ls"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
            (
                "a\u{200b}b\u{2060}c\u{feff}",
                "a\\u{200b}b\\u{2060}c\\u{feff}",
            ),
            ("a\u{ad}b\u{115f}c\u{3164}", "a\\u{ad}b\\u{115f}c\\u{3164}"),
            ("ls\u{a0}-la\u{3000}x", "ls\\u{a0}-la\\u{3000}x"),
            ("a\u{e0041}b\u{fe0f}", "a\\u{e0041}b\\u{fe0f}"),
            ("a\u{2028}b\u{85}c\u{c}d", "a\\u{2028}b\\u{85}c\\u{c}d"),
            ("\u{e000}\u{2800}", "\\u{e000}\\u{2800}"),
            ("a\tb\nc", "a\\tb\\nc"),
            (
                "r\u{336}m x\u{488} y\u{20dd}",
                "r\\u{336}m x\\u{488} y\\u{20dd}",
            ),
            ("a\u{300}\u{300}b", "a\\u{300}\\u{300}b"),
            ("ls \u{5d0} rm \u{627}", "ls \\u{5d0} rm \\u{627}"),
            (
                "ls\u{37e} rm\u{ff1b}x\u{fffe}",
                "ls\\u{37e} rm\\u{ff1b}x\\u{fffe}",
            ),
            // Other letters stay.
            ("grün 日本 ñ → ✓ 🎉 кот", "grün 日本 ñ → ✓ 🎉 кот"),
        ] {
            assert_eq!(line(text), expected, "{text:?}");
        }
    }

    #[test]
    fn nothing_is_pushed_out_of_sight() {
        assert_eq!(lines("a\n\nb"), ["a", "", "b"]);
        assert_eq!(
            lines("ls\n\n \n\t\n\nrm -rf x"),
            ["ls", "[2 empty lines]", "\\t", "", "rm -rf x"]
        );
        assert_eq!(
            lines(&format!("ls{}rm", "\n".repeat(200))),
            ["ls", "[199 empty lines]", "rm"]
        );
        assert_eq!(
            line(&format!("ls{};rm", " ".repeat(500))),
            "ls [500 blanks] ;rm"
        );
        assert_eq!(line("    indented"), "    indented");
    }

    #[test]
    fn long_lines_say_how_much_is_missing() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("äbcdef", 3), "äb [3 more characters] f");
        let hidden = format!("{};rm -rf x", "y".repeat(5000));
        assert!(cut(&hidden, 1000).ends_with(";rm -rf x"));
    }
}
