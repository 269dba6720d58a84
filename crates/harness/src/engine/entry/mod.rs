//! The entries of the door, one file for each kind of action and named after it.

pub(crate) mod apply_patch;
#[cfg(feature = "commands")]
pub(crate) mod connect;
#[cfg(feature = "commands")]
pub(crate) mod run_command;
#[cfg(feature = "scripts")]
pub(crate) mod run_script;
pub(crate) mod search_files;
#[cfg(feature = "commands")]
pub(crate) mod send_http;
#[cfg(feature = "commands")]
pub(crate) mod stop_process;
#[cfg(feature = "commands")]
pub(crate) mod type_input;

/// What holds what the harness does itself.
const HARNESS: &str = "harness";

#[cfg(test)]
mod tests {
    use ringfence_policy::action::ActionKind;

    /// What an entry does goes through the door: it names its action, and `act` or `Passage`.
    #[test]
    fn every_action_has_its_entry() {
        let sources = [
            ("apply_patch", include_str!("apply_patch.rs")),
            ("connect", include_str!("connect.rs")),
            ("run_command", include_str!("run_command.rs")),
            ("run_script", include_str!("run_script.rs")),
            ("search_files", include_str!("search_files.rs")),
            ("send_http", include_str!("send_http.rs")),
            ("stop_process", include_str!("stop_process.rs")),
            ("type_input", include_str!("type_input.rs")),
        ];
        assert_eq!(sources.len(), ActionKind::ALL.len());
        for kind in ActionKind::ALL {
            let entry = sources.iter().find(|(name, _)| *name == kind.name());
            let Some((name, source)) = entry else {
                panic!("{} has no entry", kind.name());
            };
            let action = format!("Action::{kind:?}");
            let door = source.contains(".act(") || source.contains("Passage::begin(");
            assert!(door && source.contains(&action), "{name}");
        }
    }
}
