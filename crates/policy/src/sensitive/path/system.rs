//! Files of the system that no command needs to read, and that a command of root's could.

use super::{Base::System, PathRow, Reading::Denied, Writing::Free};

const OF_THE_SYSTEM: &str = "what belongs to the system";

#[rustfmt::skip]
pub(super) const TABLE: &[PathRow] = &[
    PathRow { base: System, read: Denied, write: Free, what: OF_THE_SYSTEM,
        reason: "passwords of accounts, and who may become whom", paths: &[
        "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/security/opasswd", "/var/backups/shadow.bak",
        "/var/backups/gshadow.bak",
    ] },
    PathRow { base: System, read: Denied, write: Free, what: OF_THE_SYSTEM,
        reason: "keys by which the machine proves who it is", paths: &[
        "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_dsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key", "/etc/ssl/private",
        "/etc/pki/tls/private", "/etc/letsencrypt", "/etc/krb5.keytab", "/var/lib/systemd/credential.secret", "/etc/credstore", "/etc/credstore.encrypted",
    ] },
    PathRow { base: System, read: Denied, write: Free, what: OF_THE_SYSTEM,
        reason: "keys and passwords of networks and services", paths: &[
        "/etc/NetworkManager/system-connections", "/etc/wpa_supplicant", "/etc/wireguard", "/etc/ipsec.secrets", "/etc/ppp/chap-secrets", "/etc/ppp/pap-secrets",
        "/etc/mysql/debian.cnf", "/etc/kubernetes", "/etc/rancher", "/etc/apt/auth.conf", "/etc/apt/auth.conf.d", "/etc/docker/key.json",
    ] },
];
