//! What a test needs of the machine. A test that cannot run says so out loud, and fails where
//! `RINGFENCE_REQUIRE` names what it needs.

/// Reports that something is missing. Fails if `RINGFENCE_REQUIRE` is `all` or names it.
pub fn missing(what: &str, why: &str) {
    let required = std::env::var("RINGFENCE_REQUIRE").unwrap_or_default();
    let names: Vec<&str> = required.split(',').map(str::trim).collect();
    assert!(
        !names.contains(&"all") && !names.contains(&what),
        "this test needs {what}, which RINGFENCE_REQUIRE names: {why}"
    );
    #[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
    {
        eprintln!("SKIPPED for want of {what}: {why}");
    }
}

/// Whether a program is to be found.
pub fn has_program(name: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// Whether control groups for memory and processes can be made; reported as missing if not.
pub fn control_groups() -> bool {
    use ringfence_confine::cgroup::{Controller, GroupRoot};
    match GroupRoot::make(&[Controller::Pids, Controller::Memory]) {
        Ok(_) => true,
        Err(refused) => {
            missing("control groups", &refused.to_string());
            false
        }
    }
}
