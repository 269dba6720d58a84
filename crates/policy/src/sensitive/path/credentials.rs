//! Keys, credentials and what may hold them, below the home folder.

use super::{
    Base::Home,
    OWN, PathRow,
    Reading::{Asked, Denied},
    Writing::{Free, Watched},
};

const CREDENTIALS: &str = "credentials";

#[rustfmt::skip]
pub(super) const TABLE: &[PathRow] = &[
    PathRow { base: Home, read: Denied, write: Free, what: CREDENTIALS,
        reason: "private keys, and what stores of passwords keep", paths: &[
        ".ssh", ".gnupg", ".pki", ".putty", ".config/sops", ".config/age", ".minisign", ".signify", ".password-store", ".local/share/gopass",
        ".config/gopass", ".local/share/keyrings", ".local/share/kwalletd", ".config/op", ".op", ".config/1Password", ".config/Bitwarden",
        ".config/Bitwarden CLI", ".config/rbw", ".local/share/rbw", ".config/keepassxc", ".lpass", ".local/share/lpass", ".config/Yubico",
        ".authinfo", ".authinfo.gpg", ".smbcredentials", ".vnc", ".davfs2", ".step", ".bitcoin", ".electrum", ".ethereum", ".config/solana",
        "Library/Keychains",
    ] },
    PathRow { base: Home, read: Denied, write: Free, what: CREDENTIALS,
        reason: "an account at a cloud or a cluster", paths: &[
        ".aws", ".azure", ".config/gcloud", ".boto", ".gsutil", ".oci", ".aliyun", ".tccli", ".bluemix", ".s3cfg", ".passwd-s3fs", ".config/rclone", ".config/doctl",
        ".config/hcloud", ".config/scw", ".config/linode-cli", ".config/exoscale", ".config/configstore/firebase-tools.json", ".config/netlify", ".netlify", ".config/.wrangler",
        ".wrangler", ".railway", ".supabase", ".fly/config.yml", ".pulumi/credentials.json", ".terraform.d/credentials.tfrc.json", ".vault-token",
        ".consul-token", ".nomad-token", ".ansible_vault_pass", ".vault_pass", ".vault_pass.txt", ".chef", ".databrickscfg", ".snowsql", ".snowflake",
        ".kube", ".config/argocd", ".argocd", ".talos", ".docker/config.json", ".docker/contexts", ".docker/machine", ".docker/trust",
        ".config/containers/auth.json", ".config/helm/registry",
    ] },
    PathRow { base: Home, read: Denied, write: Free, what: CREDENTIALS,
        reason: "an account at a code host, a registry or a service", paths: &[
        ".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/hub", ".config/glab-cli", ".config/tea", ".pypirc",
        ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".local/share/gem/credentials", ".config/composer/auth.json", ".composer/auth.json",
        ".m2/settings-security.xml", ".sbt/.credentials", ".ivy2/.credentials", ".hex/hex.config", ".config/hex", ".pub-cache/credentials.json",
        ".config/dart/pub-credentials.json", ".conan2/credentials.json", ".config/binstar", ".kaggle", ".huggingface/token", ".cache/huggingface/token",
        ".cache/huggingface/stored_tokens", ".openai", ".sentryclirc", ".circleci", ".travis", ".config/.jira", ".jira.d", ".arcrc", ".subversion/auth",
        ".p4tickets", ".p4trust", ".cvspass",
    ] },
    PathRow { base: Home, read: Denied, write: Watched, what: CREDENTIALS,
        reason: "it holds a token, and makes npm run programs", paths: &[".npmrc"] },
    PathRow { base: Home, read: Denied, write: Free, what: CREDENTIALS,
        reason: "passwords of databases, mail and other accounts", paths: &[
        ".pgpass", ".mylogin.cnf", ".msmtprc", ".config/msmtp", ".fetchmailrc", ".mbsyncrc", ".thunderbird", ".local/share/evolution",
        ".config/Signal", ".config/Slack", ".config/discord", ".config/Element", ".local/share/TelegramDesktop", ".config/filezilla", ".filezilla",
        ".local/share/remmina", ".local/share/DBeaverData", "Library/Mail", "Library/Messages",
    ] },
    PathRow { base: Home, read: Denied, write: Watched, what: CREDENTIALS,
        reason: "it holds passwords, and makes the database's client run programs", paths: &[".my.cnf"] },
    PathRow { base: Home, read: Denied, write: Free, what: "a browser's data",
        reason: "cookies and passwords that a browser keeps", paths: &[
        ".mozilla", ".librewolf", ".waterfox", ".zen", ".config/google-chrome", ".config/google-chrome-beta", ".config/google-chrome-unstable", ".config/chromium",
        ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".local/share/epiphany", ".local/share/qutebrowser",
        "snap/firefox", "snap/chromium", ".var/app/org.mozilla.firefox", ".var/app/com.google.Chrome", ".var/app/com.brave.Browser",
        ".var/app/org.chromium.Chromium", "Library/Cookies", "Library/Safari", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox",
    ] },
    PathRow { base: Home, read: Denied, write: Free, what: OWN,
        reason: "rules, trust and the log of Ringfence itself", paths: &[".config/ringfence", ".local/state/ringfence"] },
    PathRow { base: Home, read: Denied, write: Free, what: "another agent's files",
        reason: "credentials, conversations and hooks of other agents", paths: &[
        ".claude", ".claude.json", ".config/Claude", ".codex", ".gemini", ".cursor", ".copilot", ".config/github-copilot", ".codeium", ".windsurf", ".kiro", ".qwen",
        ".continue", ".roo", ".aider.conf.yml", ".config/goose", ".local/share/goose", ".config/opencode", ".local/share/opencode", ".config/amp", ".local/share/amp",
        ".config/crush", ".local/share/crush",
    ] },
    PathRow { base: Home, read: Denied, write: Free, what: "a history of commands",
        reason: "what was typed once, passwords among it", paths: &[
        ".bash_history", ".zsh_history", ".zhistory", ".histfile", ".sh_history", ".ash_history", ".ksh_history", ".mksh_history", ".local/share/fish/fish_history",
        ".config/fish/fish_history", ".local/share/atuin", ".python_history", ".node_repl_history", ".irb_history", ".pry_history", ".Rhistory", ".psql_history",
        ".mysql_history", ".mariadb_history", ".sqlite_history", ".rediscli_history", ".mongo_history", ".mongodb", ".dbshell", ".lesshst", ".viminfo",
    ] },
    PathRow { base: Home, read: Asked, write: Watched, what: CREDENTIALS,
        reason: "a build tool runs what it says, and it often holds passwords; builds need it", paths: &[
        ".m2/settings.xml", ".gradle/gradle.properties", ".nuget/NuGet/NuGet.Config", ".bundle", ".config/pip", ".pip", ".condarc", ".yarnrc.yml", ".bunfig.toml",
    ] },
    PathRow { base: Home, read: Asked, write: Watched, what: CREDENTIALS,
        reason: "a program runs what it says, and it may hold passwords", paths: &[
        ".curlrc", ".config/curlrc", ".wgetrc", ".terraformrc", ".muttrc", ".mutt", ".config/mutt", ".config/neomutt", ".offlineimaprc", ".getmail", ".hgrc",
    ] },
    PathRow { base: Home, read: Asked, write: Free, what: CREDENTIALS,
        reason: "it may hold passwords; programs need it", paths: &[".docker", ".pg_service.conf", ".dbt/profiles.yml"] },
];
