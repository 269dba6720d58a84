//! The difference that an entry makes, for a person to look at.

/// Lines around the change that are shown.
const AROUND: usize = 2;

/// The lines that go and come, with a few around them.
pub(super) fn lines(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let begin = old
        .iter()
        .zip(&new)
        .take_while(|(old, new)| old == new)
        .count();
    let most = old.len().min(new.len()) - begin;
    let end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(most)
        .take_while(|(old, new)| old == new)
        .count();
    let mut lines = Vec::new();
    let mut say = |sign: char, range: &[&str]| {
        lines.extend(range.iter().map(|line| format!("{sign} {line}")));
    };
    say(' ', &old[begin.saturating_sub(AROUND)..begin]);
    say('-', &old[begin..old.len() - end]);
    say('+', &new[begin..new.len() - end]);
    let rest = &new[new.len() - end..];
    say(' ', &rest[..rest.len().min(AROUND)]);
    lines
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn what_changes_is_shown() {
        let cases = [
            ("a\nb\nc\nd\n", "a\nb\nx\nc\nd\n", "  a|  b|+ x|  c|  d"),
            ("", "x\n", "+ x"),
            ("a\nb\n", "a\nc\n", "  a|- b|+ c"),
            ("a\na\n", "a\na\na\n", "  a|  a|+ a"),
        ];
        for (before, after, expected) in cases {
            assert_eq!(lines(before, after).join("|"), expected);
        }
    }
}
