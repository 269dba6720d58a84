//! What a patch asks for, before anything has been looked at: files added, deleted and updated, and
//! hunks of lines. Paths are as they were written.

/// A patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Patch {
    /// What it asks for, in order.
    pub(crate) changes: Vec<Change>,
}

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// A file that is not there yet.
    Add {
        /// Where.
        path: String,
        /// What is in it.
        content: Vec<u8>,
        /// Whether it is a program, if the patch says so.
        executable: Option<bool>,
    },
    /// A file that goes.
    Delete {
        /// Which.
        path: String,
        /// What is in it, if the patch says so.
        hunks: Vec<Hunk>,
    },
    /// A file that stays, with other lines or in another place.
    Update {
        /// Which.
        path: String,
        /// Where it goes.
        moved_to: Option<String>,
        /// What changes in it.
        hunks: Vec<Hunk>,
        /// Whether it is a program, if the patch says so.
        executable: Option<bool>,
    },
}

impl Change {
    /// The paths that it is about, and what becomes of each.
    pub(crate) fn paths(&self) -> Vec<&str> {
        match self {
            Self::Add { path, .. } | Self::Delete { path, .. } => vec![path],
            Self::Update { path, moved_to, .. } => {
                let mut paths = vec![path.as_str()];
                paths.extend(moved_to.as_deref());
                paths
            }
        }
    }
}

/// Lines that change, with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hunk {
    /// Lines to look for first, from the outside in (`@@ class A`, `@@ def f`).
    pub(crate) headings: Vec<String>,
    /// The first line in the old file, counted from one; zero for a file without lines.
    pub(crate) line: Option<usize>,
    /// The lines.
    pub(crate) lines: Vec<HunkLine>,
    /// Whether its last line is the file's last.
    pub(crate) at_end: bool,
    /// What the patch says about the end of the new file.
    pub(crate) new_end: NewEnd,
}

impl Hunk {
    /// The lines that must be there.
    pub(crate) fn old(&self) -> Vec<&str> {
        let there = self.lines.iter().filter_map(|line| match line {
            HunkLine::Keep(text) | HunkLine::Remove(text) => Some(text.as_str()),
            HunkLine::Add(_) => None,
        });
        there.collect()
    }
}

/// A line of a hunk, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HunkLine {
    /// It is there and stays.
    Keep(String),
    /// It is there and goes.
    Remove(String),
    /// It comes.
    Add(String),
}

/// What a patch says about the end of the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NewEnd {
    /// Nothing: it stays as it is.
    #[default]
    Unsaid,
    /// The last line ends like the others.
    Newline,
    /// The last line has no end (`\ No newline at end of file`).
    NoNewline,
}
