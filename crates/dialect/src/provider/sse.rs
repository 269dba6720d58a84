//! Server-sent events: bytes in whatever pieces they come, taken apart into events.
//!
//! Lines end with LF, CR or both; a mark at the very beginning is skipped; comments, which servers send to keep a
//! connection alive, are dropped; several `data` lines are one text.

/// An event of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerEvent {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its data.
    pub data: String,
}

impl ServerEvent {
    /// The event as a server sends it.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if let Some(name) = &self.name {
            text = format!("event: {name}\n");
        }
        for line in self.data.split('\n') {
            text.push_str("data: ");
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
        text
    }
}

/// Takes a stream apart into events.
#[derive(Debug, Clone, Default)]
pub struct EventStream {
    line: Vec<u8>,
    event: ServerEvent,
    has_data: bool,
    /// The last line ended with CR: an LF right behind it belongs to it.
    after_cr: bool,
    /// A line has been read, so that what comes is not the beginning any more.
    begun: bool,
}

impl EventStream {
    /// A stream of which nothing has come yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a piece; gives the events that are whole by it.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<ServerEvent> {
        let mut events = Vec::new();
        let mut rest = piece;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..at]);
            let is_cr = rest[at] == b'\r';
            rest = &rest[at + 1..];
            if is_cr {
                self.after_cr = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            events.extend(self.end_line());
        }
        self.line.extend_from_slice(rest);
        events
    }

    /// How many bytes wait for the end of their event.
    pub fn waiting(&self) -> usize {
        self.line.len() + self.event.data.len()
    }

    /// Ends the stream; gives the event that lacked nothing but the empty line behind it, as far as one can see.
    pub fn finish(mut self) -> Option<ServerEvent> {
        self.end_line().or_else(|| self.end_event())
    }

    fn end_line(&mut self) -> Option<ServerEvent> {
        let bytes = std::mem::take(&mut self.line);
        let mut line: &[u8] = &bytes;
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => self.event.name = Some(value.to_owned()),
            // `id` and `retry` are for clients that come back, which no model's API knows. The rest are comments.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<ServerEvent> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: Option<&str>, data: &str) -> ServerEvent {
        ServerEvent {
            name: name.map(str::to_owned),
            data: data.to_owned(),
        }
    }

    #[test]
    fn streams_are_the_same_events_wherever_they_are_cut() {
        let table: &[(&str, &[ServerEvent])] = &[
            ("data: a\n\n", &[event(None, "a")]),
            (
                "data: a\r\n\r\ndata:b\r\r",
                &[event(None, "a"), event(None, "b")],
            ),
            (
                "\u{feff}data: a\n\n\u{feff}data: b\n\n",
                &[event(None, "a")],
            ),
            (
                ": ping\n\n:\nevent: x\ndata: 1\ndata: 2\n\n",
                &[event(Some("x"), "1\n2")],
            ),
            ("event: lost\n\ndata\n\n", &[event(None, "")]),
            (
                "id: 1\nretry: 5\ndata:  two\n\n\n\n",
                &[event(None, " two")],
            ),
            (
                "data: é😀\r\rdata: x",
                &[event(None, "é😀"), event(None, "x")],
            ),
            ("event: y\r\ndata: x\r", &[event(Some("y"), "x")]),
        ];
        for (text, expected) in table {
            for cut in 0..=text.len() {
                for second in cut..=text.len() {
                    let mut stream = EventStream::new();
                    let mut events = stream.feed(&text.as_bytes()[..cut]);
                    events.extend(stream.feed(&text.as_bytes()[cut..second]));
                    events.extend(stream.feed(&text.as_bytes()[second..]));
                    events.extend(stream.finish());
                    assert_eq!(events, *expected, "{text:?} cut at {cut} and {second}");
                }
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for event in [event(Some("x"), "1\n2"), event(None, "")] {
            let mut stream = EventStream::new();
            assert_eq!(stream.feed(event.to_text().as_bytes()), [event]);
            assert_eq!(stream.waiting(), 0);
        }
    }
}
