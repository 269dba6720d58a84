//! The tables of the guide are true.

mod verdicts;

use ringfence_policy::{
    Ground, ShellKind,
    classify::classify,
    facts::{CommandText, understand},
    permissions::ApprovalPolicy,
    rule::Layer,
    ruleset::RuleSet,
};

fn page(name: &str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The rows of the table that begins with this heading; `\|` is a bar inside a cell.
fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let mut lines = page.lines().skip_while(|line| *line != heading).skip(2);
    let mut rows = Vec::new();
    for line in lines.by_ref().take_while(|line| line.starts_with('|')) {
        let line = line.replace("\\|", "\u{1}");
        let cells = line
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().replace('\u{1}', "|"));
        rows.push(cells.collect());
    }
    rows
}

fn ground() -> Ground {
    Ground::at("/home/u/work").with_home("/home/u")
}

fn command_in(cell: &str) -> String {
    cell.strip_prefix('`')
        .and_then(|c| c.strip_suffix('`'))
        .unwrap_or_else(|| panic!("{cell}"))
        .to_owned()
}

fn verdict(text: &str) -> &'static str {
    verdicts::verdict(text, ApprovalPolicy::OnRequest).0.name()
}

#[test]
fn the_classes_page_says_what_check_says() {
    let rows = table(
        &page("command-classes.md"),
        "| command | verdict | class | why |",
    );
    assert!(rows.len() >= 20, "only {} examples", rows.len());
    for row in rows {
        let command = command_in(&row[0]);
        let found = classify(
            &understand(CommandText::Shell {
                kind: ShellKind::Bash,
                text: &command,
            }),
            &ground(),
        );
        let why: Vec<&str> = found.deciding().map(|reason| reason.why.as_str()).collect();
        assert_eq!(found.class.name(), row[2], "{command}");
        assert_eq!(why[0], row[3], "{command}");
        assert_eq!(verdict(&command), row[1], "{command}");
    }
}

#[test]
fn the_rules_page_says_what_the_rules_decide() {
    let page = page("rules.md");
    let blocks: Vec<&str> = page
        .split("```toml\n")
        .skip(1)
        .filter_map(|b| b.split("```").next())
        .collect();
    for block in &blocks {
        RuleSet::parse(Layer::User, "rules.md", block).unwrap();
    }
    let set = RuleSet::parse(Layer::User, "rules.md", blocks[0]).unwrap();
    let rows = table(&page, "| command | decision |");
    assert!(rows.len() >= 10);
    for row in rows {
        let command = command_in(&row[0]);
        let facts = understand(CommandText::Shell {
            kind: ShellKind::Bash,
            text: &command,
        });
        let found = set.decide(&facts, &ground(), "bash");
        let decision = found.map_or("-".to_owned(), |found| found.decision.to_string());
        assert_eq!(decision, row[1], "{command}");
    }
}
