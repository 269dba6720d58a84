//! What is written about the protocol is what it is.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use expect_test::expect_file;

/// The page below this line follows from the types.
const MARK: &str =
    "<!-- What follows is made from the types; UPDATE_EXPECT=1 writes it anew. -->\n";

#[test]
fn the_description_is_up_to_date() {
    let description = serde_json::to_string_pretty(&ringfence_protocol::description()).unwrap();
    expect_file!["../../../docs/session-protocol.json"].assert_eq(&format!("{description}\n"));
}

#[test]
fn the_reference_is_up_to_date() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/session-protocol.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (prose, reference) = text.split_once(MARK).unwrap();
    let expected = format!("\n{}", ringfence_protocol::reference());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&page, format!("{prose}{MARK}{expected}")).unwrap();
        return;
    }
    assert_eq!(reference, expected, "UPDATE_EXPECT=1 writes it anew");
}
