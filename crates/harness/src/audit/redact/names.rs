//! Names that say: what is assigned to me is a secret.

/// Words of which one is enough.
const SECRET: &[&str] = &[
    "token",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "apikey",
    "authkey",
    "secretkey",
    "accesskey",
    "privatekey",
    "accesstoken",
    "authtoken",
    "authtoken",
    "clientsecret",
    "credential",
    "credentials",
    "sig",
    "signature",
    "pat",
    "cookie",
    "bearer",
    "otp",
];

/// Ends of words that are written together, as in `PGPASSWORD`.
const ENDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
];

/// What makes a `key` a secret one.
const BEFORE_KEY: &[&str] = &[
    "access",
    "account",
    "admin",
    "api",
    "app",
    "auth",
    "client",
    "consumer",
    "deploy",
    "encryption",
    "license",
    "master",
    "private",
    "secret",
    "service",
    "session",
    "shared",
    "signing",
    "storage",
    "subscription",
    "webhook",
];

/// What makes a `KEY` in capitals a harmless one.
const BEFORE_HARMLESS_KEY: &[&str] = &[
    "cache",
    "column",
    "foreign",
    "hot",
    "map",
    "partition",
    "primary",
    "public",
    "row",
    "sort",
    "unique",
];

/// Ends of names that speak about a secret without holding it.
const HARMLESS_END: &[&str] = &[
    "algorithm",
    "cmd",
    "command",
    "env",
    "fd",
    "stdin",
    "count",
    "dir",
    "directory",
    "enabled",
    "endpoint",
    "expires",
    "expiry",
    "field",
    "file",
    "format",
    "header",
    "helper",
    "id",
    "len",
    "length",
    "limit",
    "manager",
    "max",
    "min",
    "name",
    "path",
    "policy",
    "prompt",
    "provider",
    "required",
    "service",
    "size",
    "store",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "usage",
    "version",
];

/// Whether what is assigned to this name is held to be a secret.
pub(super) fn is_secret(name: &str) -> bool {
    // The working folder, in every shell.
    if matches!(name, "PWD" | "OLDPWD" | "pwd") {
        return false;
    }
    let words = words(name);
    if words
        .last()
        .is_some_and(|last| HARMLESS_END.contains(&last.as_str()))
    {
        return false;
    }
    let capitals = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map(|before| words[before].as_str());
        match word.as_str() {
            "key" | "keys" => before.is_some_and(|before| {
                BEFORE_KEY.contains(&before) || (capitals && !BEFORE_HARMLESS_KEY.contains(&before))
            }),
            // `DB_PASS` and `PASS`; but not the `pass: 12` of a test's summary.
            "pass" => capitals || before.is_some(),
            // `AUTH`, `REDISCLI_AUTH`, and what npm calls it; but not `--auth basic`.
            "auth" => name == "_auth" || capitals,
            "jwt" | "pin" | "salt" | "webhook" => capitals,
            "sk" => capitals && before.is_some(),
            // `SSHPASS`
            word if capitals && word.len() > 4 && word.ends_with("pass") => true,
            word => SECRET.contains(&word) || ENDS.iter().any(|end| word.ends_with(end)),
        }
    })
}

/// The words of `A_NAME`, `a-name`, `a.name` or `aName`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        let upper = c.is_ascii_uppercase();
        if !c.is_ascii_alphanumeric() || (upper && after_lower) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(c.to_ascii_lowercase());
        }
        after_lower = c.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
