//! The environment that commands start from.

use std::collections::BTreeMap;

use ringfence_confine::account;
use ringfence_policy::permissions::EnvironmentPolicy;
use ringfence_policy::preset;
use ringfence_policy::sensitive::variable::{Passing, passing};

/// The environment of commands that run as a user, from the environment of the harness.
pub(crate) fn base_environment(
    policy: &EnvironmentPolicy,
    host: &BTreeMap<String, String>,
    own_uid: u32,
    uid: u32,
) -> BTreeMap<String, String> {
    let mut environment = policy.build(host.iter().map(|(k, v)| (k.as_str(), v.as_str())));
    environment.retain(|name, _| !is_about_own_caches(policy, name));
    if uid != own_uid
        && let Some(account) = account::by_uid(uid)
    {
        // The command is somebody else: root's home would be closed to it.
        let home = account.home.to_string_lossy().into_owned();
        let shell = account.shell.to_string_lossy().into_owned();
        for (name, value) in [
            ("HOME", home),
            ("USER", account.name.clone()),
            ("LOGNAME", account.name),
            ("SHELL", shell),
        ] {
            environment.insert(name.to_owned(), value);
        }
    }
    environment
        .entry("PATH".to_owned())
        .or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".into());
    environment.insert("RINGFENCE".to_owned(), "1".to_owned());
    environment
}

/// Whether a variable says where the user's own caches are, which commands cannot write. One that the configuration names
/// was meant for commands.
fn is_about_own_caches(policy: &EnvironmentPolicy, name: &str) -> bool {
    preset::variables().any(|known| known == name) && !policy.names(name)
}

/// Variables that belong to the shell that printed them, not to its environment.
const OF_THE_SHELL: &[&str] = &["_", "SHLVL", "PWD", "OLDPWD"];

/// Reads what `env -0` printed, and the functions that `declare -f` printed behind it; nothing if it is
/// not that.
pub(crate) fn parse_environment(bytes: &[u8]) -> Option<BTreeMap<String, String>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (text, declared) = text.rsplit_once('\0')?;
    let mut variables = functions(declared)?;
    for entry in text.split('\0').filter(|entry| !entry.is_empty()) {
        // A profile may print things of its own first, on lines before the first variable.
        let entry =
            entry.rsplit_once('\n').map_or(
                entry,
                |(before, last)| {
                    if before.contains('=') { entry } else { last }
                },
            );
        let (name, value) = entry.split_once('=')?;
        variables.insert(name.to_owned(), value.to_owned());
    }
    (!variables.is_empty()).then_some(variables)
}

/// Functions as bash prints them, as variables from which it takes them up again; nothing if one of
/// them cannot be told from its neighbours, or is longer than the kernel lets a variable be.
fn functions(declared: &str) -> Option<BTreeMap<String, String>> {
    const LONGEST: usize = 96 * 1024;
    let mut functions = BTreeMap::new();
    let mut lines = declared.lines();
    while let Some(line) = lines.next() {
        let name = line.strip_suffix(" () ")?;
        if lines.next() != Some("{ ") {
            return None;
        }
        let mut value = String::from("() {\n");
        loop {
            let line = lines.next()?;
            value.push_str(line);
            if line == "}" {
                break;
            }
            value.push('\n');
        }
        if value.len() > LONGEST {
            return None;
        }
        functions.insert(format!("{FUNCTION}{name}%%"), value);
    }
    Some(functions)
}

/// How the names of variables begin that are functions.
const FUNCTION: &str = "BASH_FUNC_";

/// What a profile sets, on top of the environment that it started from. Secrets, and what
/// makes programs load or run something, are left out, unless the policy includes them by name.
pub(crate) fn merge_login_environment(
    policy: &EnvironmentPolicy,
    base: &BTreeMap<String, String>,
    login: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut merged = base.clone();
    for (name, value) in login {
        let is_function = name.starts_with(FUNCTION) && name.ends_with("%%");
        let dropped = passing(&name) == Passing::Dropped && !is_function;
        let unwanted = OF_THE_SHELL.contains(&name.as_str())
            || is_about_own_caches(policy, &name)
            || dropped && !policy.inherits(&name);
        if !unwanted && !policy.set.contains_key(&name) {
            merged.insert(name, value);
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[test]
    fn a_profile_adds_variables_but_no_secrets() {
        let login = parse_environment(
            b"welcome!\nPATH=/opt/bin:/bin\0MULTI=a\nb\0GITHUB_TOKEN=t\0LD_PRELOAD=x\0SHLVL=1\0",
        )
        .unwrap();
        let merged = merge_login_environment(
            &EnvironmentPolicy::default(),
            &map(&[("PATH", "/bin"), ("HOME", "/h")]),
            login,
        );
        assert_eq!(
            merged,
            map(&[("PATH", "/opt/bin:/bin"), ("HOME", "/h"), ("MULTI", "a\nb")])
        );
    }

    #[test]
    fn functions_come_along_or_nothing_does() {
        let declared =
            "greet () \n{ \n    echo hello $1;\n    cat <<E\nx\nE\n\n}\nb () \n{ \n    :\n}\n";
        let read = parse_environment(format!("A=1\0{declared}").as_bytes()).unwrap();
        assert_eq!(read["BASH_FUNC_b%%"], "() {\n    :\n}");
        let ran = std::process::Command::new("bash")
            .args(["-c", "greet you"])
            .envs(&read)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "hello you\nx\n");
        // A body with a line that looks like the end of one.
        let odd = b"A=1\0f () \n{ \n    cat <<E\n}\nE\n\n}\n";
        assert_eq!(parse_environment(odd), None);
    }

    #[test]
    fn what_is_not_an_environment_is_refused() {
        assert_eq!(parse_environment(b""), None);
        assert_eq!(parse_environment(b"nonsense"), None);
        assert_eq!(parse_environment(b"\xff=1\0"), None);
    }

    #[test]
    fn commands_of_another_user_get_that_users_home() {
        let base = base_environment(
            &EnvironmentPolicy::default(),
            &map(&[("HOME", "/somewhere"), ("USER", "me")]),
            1,
            0,
        );
        assert_eq!(base["USER"], "root");
        assert_ne!(base["HOME"], "/somewhere");
        assert_eq!(base["RINGFENCE"], "1");
    }
}
