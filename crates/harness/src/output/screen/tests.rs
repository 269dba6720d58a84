//! Screens after what real programs printed, and after what no program would.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const SMALL: TerminalSize = TerminalSize {
    rows: 4,
    columns: 20,
};
const USUAL: TerminalSize = TerminalSize {
    rows: 24,
    columns: 80,
};

fn shown(size: TerminalSize, bytes: &[u8]) -> (Screen, String) {
    let mut screen = Screen::new(size);
    let answers = screen.feed(bytes);
    (screen, String::from_utf8(answers).unwrap())
}

fn check(size: TerminalSize, bytes: &[u8], expected: &Expect) {
    let (screen, answers) = shown(size, bytes);
    let picture = screen.picture();
    expected.assert_eq(&format!(
        "{}\n-- {:?} {:?}, title {:?}, answers {answers:?}\n",
        screen.text(),
        picture.cursor,
        picture.face,
        picture.title,
    ));
}

#[test]
fn vim_that_was_typed_to() {
    check(
        USUAL,
        include_bytes!("recorded/vim.bin"),
        &expect![[r#"
          1 first line
          2 inserted by keys
          3 second ünïcode
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        ~
        :set number
        -- Cursor { row: 1, column: 19, visible: true } Alternate, title None, answers "\u{1b}[2;2R\u{1b}[3;1R\u{1b}[>0;2600;1c\u{1b}]10;rgb:e5e5/e5e5/e5e5\u{7}\u{1b}]11;rgb:0000/0000/0000\u{7}"
    "#]],
    );
}

#[test]
fn less_after_a_search() {
    check(
        USUAL,
        include_bytes!("recorded/less.bin"),
        &expect![[r#"
        row 77
        row 78
        row 79
        row 80
        row 81
        row 82
        row 83
        row 84
        row 85
        row 86
        row 87
        row 88
        row 89
        row 90
        row 91
        row 92
        row 93
        row 94
        row 95
        row 96
        row 97
        row 98
        row 99
        :
        -- Cursor { row: 23, column: 1, visible: true } Alternate, title None, answers ""
    "#]],
    );
}

#[test]
fn a_python_prompt() {
    check(
        USUAL,
        include_bytes!("recorded/python.bin"),
        &expect![[r#"
        >>> 6*7
        42
        >>> import curses
        >>>
        -- Cursor { row: 3, column: 4, visible: true } Main, title None, answers ""
    "#]],
    );
}

#[test]
fn a_box_of_line_drawing_characters() {
    let size = TerminalSize {
        rows: 8,
        columns: 30,
    };
    check(
        size,
        include_bytes!("recorded/curses.bin"),
        &expect![[r#"
        ┌────────────────────────────┐
        │                            │
        │   inside the box           │
        │                            │
        │                            │
        │                            │
        │                            │
        └────────────────────────────┘
        -- Cursor { row: 3, column: 4, visible: true } Alternate, title None, answers ""
    "#]],
    );
}

/// What programs ask, and what they are told.
#[test]
fn questions_are_answered() {
    for (asked, told) in [
        ("\x1b[c", "\x1b[?6c"),
        ("\x1b[5n", "\x1b[0n"),
        ("ab\x1b[2;5H\x1b[6n", "\x1b[2;5R"),
        ("\x1b[?7$p", "\x1b[?7;1$y"),
        ("\x1b[18t", "\x1b[8;4;20t"),
        ("\x1b[14t", "\x1b[4;64;160t"),
        ("\x1b]11;?\x07", "\x1b]11;rgb:0000/0000/0000\x07"),
        ("nothing", ""),
    ] {
        assert_eq!(shown(SMALL, asked.as_bytes()).1, told, "{asked:?}");
    }
    assert!(shown(SMALL, b"\x1b[>c").1.starts_with("\x1b[>0;"));
}

#[test]
fn the_title_and_the_other_screen_come_and_go() {
    let (mut screen, _) = shown(
        SMALL,
        b"below\x1b]0;a title\x07\x1b[?1049h\x1b[Habove\x1b[?25l",
    );
    let picture = screen.picture();
    assert_eq!(picture.title.as_deref(), Some("a title"));
    assert_eq!(picture.face, Face::Alternate);
    assert!(!picture.cursor.visible);
    assert_eq!(screen.text(), "above");
    screen.feed(b"\x1b[?1049l");
    assert_eq!(screen.picture().face, Face::Main);
    assert_eq!(screen.text(), "below");
}

#[test]
fn wide_characters_accents_and_tabs_are_text() {
    let (screen, _) = shown(SMALL, "日本 e\u{301}\r\na\tb  ".as_bytes());
    assert_eq!(screen.text(), "日本 e\u{301}\na       b");
}

#[test]
fn a_character_that_was_read_in_two_halves_costs_nothing_else() {
    let mut screen = Screen::new(SMALL);
    for piece in [&b"e\xcc"[..], b"\x81|e\xcc", b"\x81"] {
        screen.feed(piece);
    }
    assert_eq!(screen.text(), "e\u{301}|e\u{301}");
}

#[test]
fn a_resize_keeps_what_still_fits() {
    let (mut screen, _) = shown(SMALL, b"one\r\ntwo\r\nthree");
    screen.resize(TerminalSize {
        rows: 2,
        columns: 10,
    });
    assert_eq!(screen.picture().lines, ["two", "three"]);
    screen.feed(b"\x1b[999;999H\x1b[6n");
    let cursor = screen.picture().cursor;
    assert_eq!((cursor.row, cursor.column), (1, 9));
}

/// What would grow without end or take for ever.
#[test]
fn a_few_bytes_cannot_ask_for_much() {
    let accents = "e".to_owned() + &"\u{301}".repeat(100_000);
    let (screen, _) = shown(SMALL, accents.as_bytes());
    assert!(screen.text().chars().count() < 20);

    let questions = "\x1b[c".repeat(10_000);
    assert!(shown(SMALL, questions.as_bytes()).1.len() <= ANSWER_BYTES);

    let title = format!("\x1b]0;{}\x07after", "t".repeat(1_000_000));
    let (screen, _) = shown(SMALL, title.as_bytes());
    assert_eq!(screen.text(), "after");
    assert!(screen.picture().title.unwrap().len() <= 256);

    // A hundred million characters, were they all drawn.
    let repetitions = "x\x1b[65535b".repeat(2_000);
    let (screen, _) = shown(SMALL, repetitions.as_bytes());
    assert!(screen.text().starts_with("xxx"));

    let huge = TerminalSize {
        rows: u16::MAX,
        columns: u16::MAX,
    };
    let nothing = TerminalSize {
        rows: 0,
        columns: 0,
    };
    for (size, rows) in [(huge, 1000), (nothing, 1)] {
        let (mut screen, _) = shown(size, "日x\x1b[c".as_bytes());
        assert_eq!(screen.picture().lines.len(), rows);
        screen.resize(huge);
        screen.resize(nothing);
        screen.feed(b"again");
    }
}

proptest! {
    /// Nothing that is printed upsets the emulator, and it does not matter how it was read.
    #[test]
    fn any_output_in_any_pieces_gives_the_same_screen(
        parts in prop::collection::vec(
            prop_oneof![
                "[a-z日é\u{301}\t\r\n]{0,12}".prop_map(String::into_bytes),
                // Repetitions (`b`) are bounded by what was fed before, hence short ones here.
                "\x1b\\[[?>!]?[0-9;]{0,8}[@A-Zac-z`$]|\x1b\\[[0-9]b".prop_map(String::into_bytes),
                "\x1b[()*+#][0AB8]|\x1b[78DEHMNOc=>]|[\x0e\x0f\x08]".prop_map(String::into_bytes),
                "\x1b[\\]P_X^][0-9a-z;?]{0,8}(\x07|\x1b\\\\)?".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..8),
            ],
            0..40,
        ),
        rows in 1u16..6,
        columns in 1u16..12,
        piece in 1usize..9,
    ) {
        let bytes = parts.concat();
        let size = TerminalSize { rows, columns };
        let (mut whole, answers) = shown(size, &bytes);
        let mut pieces = Screen::new(size);
        let mut answered = Vec::new();
        for piece in bytes.chunks(piece) {
            answered.extend(pieces.feed(piece));
        }
        prop_assert_eq!(whole.picture(), pieces.picture());
        prop_assert_eq!(answers.as_bytes(), &answered);
        whole.resize(TerminalSize { rows: columns, columns: rows });
        whole.feed(&bytes);
        whole.picture();
    }
}
