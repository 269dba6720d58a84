//! What people see: plain text, coloured only on a terminal, control characters made visible.

use std::io::{IsTerminal, Write};

use crate::terminal::CONSOLE;
use ringfence_protocol::reveal;

/// Whether standard error may be coloured.
fn colourful() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Says what went wrong.
pub(crate) fn complain(text: &str) {
    let prefix = if colourful() {
        "\x1b[31mringfence:\x1b[0m"
    } else {
        "ringfence:"
    };
    CONSOLE.say(&format!("{prefix} {}\n", revealed(text)));
}

/// A message in which nothing of what it quotes is hidden.
fn revealed(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(reveal::line).collect();
    lines.join("\n")
}

/// Says something that is not an error.
pub(crate) fn remark(text: &str) {
    let prefix = if colourful() {
        "\x1b[33mringfence:\x1b[0m"
    } else {
        "ringfence:"
    };
    CONSOLE.say(&format!("{prefix} {}\n", revealed(text)));
}

/// Prints what a script said, beside its result.
pub(crate) fn aside(text: &str) {
    CONSOLE.say(&format!("{}\n", visible(text)));
}

/// Prints a line of a result. A reader that has gone away is no error of ours.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Text in which no character acts on the terminal: control characters and those that reverse
/// the direction of writing are shown as escapes. New lines stay.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        let acts = character.is_control() && character != '\n'
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        if acts {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn nothing_that_acts_on_a_terminal_gets_through() {
        assert_eq!(visible("rm\x1b[2K\rls"), "rm\\u{1b}[2K\\u{d}ls");
        assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(visible("zwei\nZeilen ü"), "zwei\nZeilen ü");
    }
}
