//! Strings and comments of a script, as far as needed to tell whether a mark in it is one: byte by byte, so that it
//! comes out the same whatever pieces the script comes in.
//!
//! It is no parser. Strings and regular expressions end with their line at the latest, so that a mistake about one
//! doesn't reach further; templates and comments over several lines end where they say.

/// Where in a script reading has come to.
#[derive(Debug, Clone, Default)]
pub(super) struct Lexer {
    state: State,
    /// Brackets that are open in code.
    brackets: i32,
    /// For each template that is open around the code: the brackets that were open where the code begins.
    templates: Vec<i32>,
    /// The last byte of code that is no blank, and the last word.
    last: u8,
    word: Word,
    /// Whether only blanks and marks of a fence have come in this line.
    line_begins: bool,
    /// Marks of a fence that a line begins with.
    marks: u8,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Code,
    /// A `/` in code, of which the next byte tells what it is.
    Slash,
    /// The rest of a line that opens or closes a fence around the script.
    FenceLine,
    LineComment,
    BlockComment,
    /// A `*` in a comment.
    Star,
    Quoted(u8),
    QuotedEscape(u8),
    /// A carriage return behind a `\\`: the line feed behind it belongs to it.
    QuotedReturn(u8),
    Template,
    TemplateEscape,
    /// A `$` in a template.
    Dollar,
    Regex,
    RegexEscape,
    RegexClass,
    RegexClassEscape,
}

/// The word that was read last.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    letters: [u8; 10],
    len: usize,
    /// The next letter begins another.
    is_whole: bool,
}

impl Word {
    fn push(&mut self, letter: u8) {
        if self.is_whole {
            *self = Self::default();
        }
        if let Some(place) = self.letters.get_mut(self.len) {
            *place = letter;
        }
        self.len += 1;
    }

    fn is_before_a_value(self) -> bool {
        let Some(word) = self.letters.get(..self.len) else {
            return false;
        };
        BEFORE_A_VALUE.contains(&word)
    }
}

/// Words behind which a `/` begins a regular expression.
const BEFORE_A_VALUE: &[&[u8]] = &[
    b"return",
    b"typeof",
    b"case",
    b"in",
    b"of",
    b"await",
    b"yield",
    b"void",
    b"delete",
    b"throw",
    b"else",
    b"do",
    b"new",
    b"instanceof",
];

/// What a mark at this place would be part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// Code: a mark is one.
    Code,
    /// A comment that ends with its line.
    LineComment,
    /// A string, a template, a regular expression or a longer comment.
    Text,
}

impl Lexer {
    /// At the beginning of a script.
    pub(super) fn new() -> Self {
        Self {
            line_begins: true,
            ..Self::default()
        }
    }

    /// What a mark here would be part of.
    pub(super) fn within(&self) -> Within {
        match self.state {
            // The mark before this began a template.
            State::Code if self.marks == 1 => Within::Text,
            State::Code | State::Slash | State::FenceLine => Within::Code,
            State::LineComment => Within::LineComment,
            _ => Within::Text,
        }
    }

    /// Whether whatever was opened in code has been closed.
    pub(super) fn is_balanced(&self) -> bool {
        self.brackets == 0 && self.templates.is_empty()
    }

    /// Goes over some bytes.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.state = self.after(*byte);
        }
    }

    fn after(&mut self, byte: u8) -> State {
        match self.state {
            State::Code => self.in_code(byte),
            State::Slash => match byte {
                b'/' => State::LineComment,
                b'*' => State::BlockComment,
                _ if self.value_comes() => {
                    self.last = b'/';
                    self.state = State::Regex;
                    self.after(byte)
                }
                _ => {
                    self.last = b'/';
                    self.in_code(byte)
                }
            },
            State::FenceLine | State::LineComment if byte == b'\n' => self.in_code(byte),
            State::BlockComment | State::Star => match byte {
                b'*' => State::Star,
                b'/' if self.state == State::Star => State::Code,
                _ => State::BlockComment,
            },
            State::Quoted(quote) => match byte {
                b'\\' => State::QuotedEscape(quote),
                _ if byte == quote => self.value_ends(),
                b'\n' => self.in_code(byte),
                _ => State::Quoted(quote),
            },
            State::QuotedEscape(quote) if byte == b'\r' => State::QuotedReturn(quote),
            State::QuotedEscape(quote) => State::Quoted(quote),
            State::QuotedReturn(quote) if byte == b'\n' => State::Quoted(quote),
            State::QuotedReturn(quote) => {
                self.state = State::Quoted(quote);
                self.after(byte)
            }
            State::TemplateEscape => State::Template,
            State::Template | State::Dollar => match byte {
                b'`' => self.value_ends(),
                b'\\' => State::TemplateEscape,
                b'$' => State::Dollar,
                b'{' if self.state == State::Dollar => {
                    self.templates.push(self.brackets);
                    self.brackets = 0;
                    self.last = b'{';
                    State::Code
                }
                _ => State::Template,
            },
            _ => self.in_regex(byte),
        }
    }

    fn in_regex(&mut self, byte: u8) -> State {
        match (self.state, byte) {
            (State::Regex | State::RegexClass, b'\n') => self.in_code(byte),
            (State::Regex, b'/') => self.value_ends(),
            (State::Regex, b'[') | (State::RegexClassEscape, _) => State::RegexClass,
            (State::Regex, b'\\') => State::RegexEscape,
            (State::RegexClass, b'\\') => State::RegexClassEscape,
            (State::RegexClass, b']') | (State::RegexEscape, _) => State::Regex,
            (same, _) => same,
        }
    }

    /// What comes behind a value is no value.
    fn value_ends(&mut self) -> State {
        self.last = b'"';
        self.word = Word::default();
        State::Code
    }

    /// Whether a `/` here begins a regular expression: behind a value it divides.
    fn value_comes(&self) -> bool {
        let ends_value = is_letter(self.last) || b")]\"".contains(&self.last);
        !ends_value || (is_letter(self.last) && self.word.is_before_a_value())
    }

    fn in_code(&mut self, byte: u8) -> State {
        if self.line_begins && byte == b'`' {
            // Models put a fence around scripts that have marks already.
            self.marks += 1;
            if self.marks == 3 {
                self.line_begins = false;
                return State::FenceLine;
            }
            return State::Code;
        }
        let marks = std::mem::take(&mut self.marks);
        if marks > 0 {
            // One begins a template, and two are an empty one.
            self.line_begins = false;
            self.state = if marks == 1 {
                State::Template
            } else {
                self.value_ends()
            };
            return self.after(byte);
        }
        self.line_begins = byte == b'\n' || (self.line_begins && matches!(byte, b' ' | b'\t'));
        match byte {
            b'/' => return State::Slash,
            b'\'' | b'"' => return State::Quoted(byte),
            b'`' => return State::Template,
            b'(' | b'[' | b'{' => self.brackets += 1,
            b'}' if self.brackets == 0 => {
                if let Some(outside) = self.templates.pop() {
                    self.brackets = outside;
                    return State::Template;
                }
                self.brackets -= 1;
            }
            b')' | b']' | b'}' => self.brackets -= 1,
            _ => {}
        }
        if is_letter(byte) {
            self.word.push(byte);
        } else {
            self.word.is_whole = true;
        }
        if !byte.is_ascii_whitespace() {
            self.last = byte;
        }
        State::Code
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
