//! The emulator, kept in bounds.
//!
//! Two things that a few bytes can ask of it have no end of their own: a cell takes any number of
//! accents, and a repetition draws one character 65,535 times. Everything else goes through as it
//! is, except what has no place in a text: links, clipboards, colours of the palette.

use alacritty_terminal::event::EventListener;
use alacritty_terminal::term::Term;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, LineClearMode, Mode,
    PrivateMode, StandardCharset, TabulationClearMode,
};

/// The most accents on one character.
const ACCENTS: usize = 16;
/// How many characters each byte that is fed may draw: enough for a line that is repetition only.
const PER_BYTE: u64 = 64;
/// How many characters may be saved up.
const SAVED: u64 = 1 << 20;
/// The longest title, in characters.
const TITLE: usize = 256;

/// A terminal that draws no more than it was fed for.
pub(super) struct Bounded<'a, L> {
    pub(super) term: &'a mut Term<L>,
    pub(super) allowance: &'a mut u64,
}

impl<L> Bounded<'_, L> {
    /// Adds to what may be drawn.
    pub(super) fn earn(&mut self, bytes: usize) {
        *self.allowance = SAVED.min(*self.allowance + bytes as u64 * PER_BYTE);
        // What is fed at once always pays for itself.
        *self.allowance = (*self.allowance).max(bytes as u64);
    }

    /// Whether the character that an accent would go to has its fill of them.
    fn is_full(&self) -> bool {
        let grid = self.term.grid();
        let line = &grid[grid.cursor.point.line];
        let mut column = grid.cursor.point.column;
        if !grid.cursor.input_needs_wrap {
            column.0 = column.0.saturating_sub(1);
        }
        if line[column].flags.contains(Flags::WIDE_CHAR_SPACER) {
            column.0 = column.0.saturating_sub(1);
        }
        let accents = line[column].zerowidth();
        accents.is_some_and(|accents| accents.len() >= ACCENTS)
    }
}

macro_rules! pass_through {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name(&mut self, $($argument: $kind),*) {
            self.term.$name($($argument),*);
        })*
    };
}

impl<L: EventListener> Handler for Bounded<'_, L> {
    fn input(&mut self, character: char) {
        if *self.allowance == 0 || (!character.is_ascii() && self.is_full()) {
            return;
        }
        *self.allowance -= 1;
        self.term.input(character);
    }

    fn set_title(&mut self, title: Option<String>) {
        self.term
            .set_title(title.map(|title| title.chars().take(TITLE).collect()));
    }

    pass_through! {
        set_cursor_style(style: Option<CursorStyle>);
        set_cursor_shape(shape: CursorShape);
        goto(line: i32, column: usize);
        goto_line(line: i32);
        goto_col(column: usize);
        insert_blank(count: usize);
        move_up(count: usize);
        move_down(count: usize);
        identify_terminal(intermediate: Option<char>);
        device_status(argument: usize);
        move_forward(columns: usize);
        move_backward(columns: usize);
        move_down_and_cr(rows: usize);
        move_up_and_cr(rows: usize);
        put_tab(count: u16);
        backspace();
        carriage_return();
        linefeed();
        substitute();
        newline();
        set_horizontal_tabstop();
        scroll_up(count: usize);
        scroll_down(count: usize);
        insert_blank_lines(count: usize);
        delete_lines(count: usize);
        erase_chars(count: usize);
        delete_chars(count: usize);
        move_backward_tabs(count: u16);
        move_forward_tabs(count: u16);
        save_cursor_position();
        restore_cursor_position();
        clear_line(mode: LineClearMode);
        clear_screen(mode: ClearMode);
        clear_tabs(mode: TabulationClearMode);
        set_tabs(interval: u16);
        reset_state();
        reverse_index();
        terminal_attribute(attribute: Attr);
        set_mode(mode: Mode);
        unset_mode(mode: Mode);
        report_mode(mode: Mode);
        set_private_mode(mode: PrivateMode);
        unset_private_mode(mode: PrivateMode);
        report_private_mode(mode: PrivateMode);
        set_scrolling_region(top: usize, bottom: Option<usize>);
        set_keypad_application_mode();
        unset_keypad_application_mode();
        set_active_charset(index: CharsetIndex);
        configure_charset(index: CharsetIndex, charset: StandardCharset);
        dynamic_color_sequence(prefix: String, index: usize, terminator: &str);
        decaln();
        push_title();
        pop_title();
        text_area_size_pixels();
        text_area_size_chars();
    }
}
