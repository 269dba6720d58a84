//! The difference of two texts, as `diff -u` writes it.

use std::fmt::Write;

/// Lines around a change.
const CONTEXT: usize = 3;
/// The most pairs of lines that are compared. Beyond that everything between the first and the last change is one.
const MOST_PAIRS: usize = 1 << 20;

/// A line of the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Both(&'t str),
    Old(&'t str),
    New(&'t str),
}

/// The unified diff of a file. One that is new or gone has no text on that side.
pub(super) fn unified(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let side = |letter: char, text: Option<&str>| match text {
        Some(_) => format!("{letter}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let mut diff = format!("--- {}\n+++ {}\n", side('a', old), side('b', new));
    let old: Vec<&str> = old.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = new.unwrap_or_default().split_inclusive('\n').collect();
    let lines = compared(&old, &new);
    let mut at = 0;
    let (mut old_line, mut new_line) = (1, 1);
    while at < lines.len() {
        let Some((begin, end)) = next_hunk(&lines, at) else {
            break;
        };
        for line in &lines[at..begin] {
            count(line, &mut old_line, &mut new_line);
        }
        write_hunk(&mut diff, &lines[begin..end], &mut old_line, &mut new_line);
        at = end;
    }
    diff
}

fn count(line: &Line<'_>, old: &mut usize, new: &mut usize) {
    *old += usize::from(!matches!(line, Line::New(_)));
    *new += usize::from(!matches!(line, Line::Old(_)));
}

/// Changes that are close to each other, with the lines around them.
fn next_hunk(lines: &[Line<'_>], from: usize) -> Option<(usize, usize)> {
    let is_change = |line: &Line<'_>| !matches!(line, Line::Both(_));
    let first = from + lines[from..].iter().position(is_change)?;
    let mut last = first;
    for (at, line) in lines.iter().enumerate().skip(first) {
        if is_change(line) {
            last = at;
        } else if at - last > 2 * CONTEXT {
            break;
        }
    }
    let begin = first.saturating_sub(CONTEXT).max(from);
    Some((begin, (last + 1 + CONTEXT).min(lines.len())))
}

fn write_hunk(diff: &mut String, lines: &[Line<'_>], old_line: &mut usize, new_line: &mut usize) {
    let (old_begin, new_begin) = (*old_line, *new_line);
    let mut text = String::new();
    for line in lines {
        count(line, old_line, new_line);
        let (mark, line) = match line {
            Line::Both(line) => (' ', line),
            Line::Old(line) => ('-', line),
            Line::New(line) => ('+', line),
        };
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
    let range = |begin: usize, end: usize| match end - begin {
        // An empty side is told by the line before it.
        0 => format!("{},0", begin - 1),
        1 => begin.to_string(),
        lines => format!("{begin},{lines}"),
    };
    let _ = write!(
        diff,
        "@@ -{} +{} @@\n{text}",
        range(old_begin, *old_line),
        range(new_begin, *new_line)
    );
}

fn compared<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(same)
        .count();
    let middle_old = &old_rest[..old_rest.len() - tail];
    let middle_new = &new_rest[..new_rest.len() - tail];
    let mut lines: Vec<Line<'t>> = old[..head].iter().map(|line| Line::Both(line)).collect();
    if middle_old.len().saturating_mul(middle_new.len()) > MOST_PAIRS {
        lines.extend(middle_old.iter().map(|line| Line::Old(line)));
        lines.extend(middle_new.iter().map(|line| Line::New(line)));
    } else {
        align(middle_old, middle_new, &mut lines);
    }
    lines.extend(old[old.len() - tail..].iter().map(|line| Line::Both(line)));
    lines
}

/// Keeps as many lines as can be kept.
fn align<'t>(old: &[&'t str], new: &[&'t str], lines: &mut Vec<Line<'t>>) {
    let width = new.len() + 1;
    // How many lines can be kept from here on.
    let mut kept = vec![0_u32; (old.len() + 1) * width];
    for (row, a) in old.iter().enumerate().rev() {
        for (column, b) in new.iter().enumerate().rev() {
            kept[row * width + column] = if a == b {
                kept[(row + 1) * width + column + 1] + 1
            } else {
                kept[(row + 1) * width + column].max(kept[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    while row < old.len() || column < new.len() {
        if row < old.len() && column < new.len() && old[row] == new[column] {
            lines.push(Line::Both(old[row]));
            (row, column) = (row + 1, column + 1);
        } else if column == new.len()
            || row < old.len() && kept[(row + 1) * width + column] >= kept[row * width + column + 1]
        {
            lines.push(Line::Old(old[row]));
            row += 1;
        } else {
            lines.push(Line::New(new[column]));
            column += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn differences_read_like_those_of_diff() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13";
        expect![[r"
            --- a/x
            +++ b/x
            @@ -2,7 +2,7 @@
             2
             3
             4
            -5
            +five
             6
             7
             8
            @@ -10,3 +10,4 @@
             10
             11
             12
            +13
            \ No newline at end of file
        "]]
        .assert_eq(&unified("x", Some(old), Some(new)));
        expect![[r"
            --- /dev/null
            +++ b/x
            @@ -0,0 +1,2 @@
            +a
            +b
        "]]
        .assert_eq(&unified("x", None, Some("a\nb\n")));
        expect![[r"
            --- a/x
            +++ /dev/null
            @@ -1 +0,0 @@
            -a
        "]]
        .assert_eq(&unified("x", Some("a\n"), None));
    }

    #[test]
    fn what_is_far_apart_is_two_hunks() {
        let old: Vec<String> = (0..40).map(|line| line.to_string()).collect();
        let old = old.join("\n");
        let new = old.replace("\n5\n", "\nfive\n").replace("\n30\n", "\n");
        let diff = unified("x", Some(&old), Some(&new));
        assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
        assert!(
            diff.contains("@@ -3,7 +3,7 @@") && diff.contains("@@ -28,7 +28,6 @@"),
            "{diff}"
        );
    }
}
