//! Programs that take secrets in places whose names do not tell: a table, and nothing else.

/// Where a program takes a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// `-p secret`.
    Next(&'static str),
    /// `-psecret`, and only so.
    Attached(&'static str),
    /// `-p secret`, `-psecret` or `-p=secret`.
    Either(&'static str),
    /// `-u user:secret` or `-uuser:secret`: what follows this sign.
    After(&'static str, char),
    /// `-b name=secret`, where a file would have no sign in it: all of it.
    IfAssigned(&'static str),
    /// `name=secret` behind this flag, whatever the name.
    Assigned(&'static str),
    /// Every `name=secret` from here on, whatever the name.
    EveryAssigned,
    /// The operand of this number, from 1, counted from the last word that is asked for.
    Operand(usize),
    /// The operand of this number, behind this sign in it.
    Paired(usize, char),
    /// `user/secret@host` as an operand.
    Login,
}

/// A program, the words that must stand before (its subcommands), and where the secret is then.
pub(super) type Row = (&'static [&'static str], &'static [&'static str], Takes);

use Takes::{
    After, Assigned, Attached, Either, EveryAssigned, IfAssigned, Login, Next, Operand, Paired,
};

const MYSQL: &[&str] = &[
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlimport",
    "mysqlsh",
    "mariadb",
    "mariadb-dump",
    "mariadb-admin",
];
const CURL: &[&str] = &["curl"];
const HTTPIE: &[&str] = &["http", "https", "xh"];
const LDAP: &[&str] = &[
    "ldapsearch",
    "ldapadd",
    "ldapmodify",
    "ldapdelete",
    "ldapwhoami",
    "ldappasswd",
];
const SAMBA: &[&str] = &["smbclient", "rpcclient", "winexe", "smbget", "net"];
const REGISTRIES: &[&str] = &[
    "docker", "podman", "helm", "buildah", "skopeo", "oras", "nerdctl",
];
const SNMP: &[&str] = &[
    "snmpget",
    "snmpwalk",
    "snmpset",
    "snmpbulkwalk",
    "snmptable",
];
const OPENSSL: &[&str] = &["openssl"];
const JAVA_KEYS: &[&str] = &["keytool", "jarsigner"];

/// Every place that is known.
pub(super) const ROWS: &[Row] = &[
    (CURL, &[], After("-u", ':')),
    (CURL, &[], After("--user", ':')),
    (CURL, &[], After("-U", ':')),
    (CURL, &[], After("--proxy-user", ':')),
    (CURL, &[], After("-E", ':')),
    (CURL, &[], After("--cert", ':')),
    (CURL, &[], Next("--oauth2-bearer")),
    (CURL, &[], Next("--pass")),
    (CURL, &[], IfAssigned("-b")),
    (CURL, &[], IfAssigned("--cookie")),
    (HTTPIE, &[], After("-a", ':')),
    (HTTPIE, &[], After("--auth", ':')),
    (SAMBA, &[], After("-U", '%')),
    (&["smbclient"], &[], Operand(2)),
    (&["net"], &["use"], Operand(4)),
    (&["xfreerdp", "wlfreerdp"], &[], Attached("/p:")),
    (&["rdesktop"], &[], Either("-p")),
    (MYSQL, &[], Attached("-p")),
    (&["sshpass"], &[], Either("-p")),
    (&["redis-cli", "valkey-cli"], &[], Next("-a")),
    (&["redis-cli", "valkey-cli"], &[], Next("--pass")),
    (REGISTRIES, &["login"], Either("-p")),
    (&["oc", "az"], &["login"], Either("-p")),
    (
        &[
            "mongosh",
            "mongo",
            "mongodump",
            "mongorestore",
            "mongoexport",
        ],
        &[],
        Next("-p"),
    ),
    (&["cqlsh"], &[], Next("-p")),
    (&["sqlcmd", "bcp", "isql", "tsql"], &[], Either("-P")),
    (&["sqlplus", "sqlldr", "expdp", "impdp"], &[], Login),
    (&["twine"], &[], Either("-p")),
    (&["ncftpget", "ncftpput"], &[], Next("-p")),
    (&["lftp"], &[], After("-u", ',')),
    (LDAP, &[], Either("-w")),
    (&["ldappasswd"], &[], Either("-s")),
    (&["ldappasswd"], &[], Either("-a")),
    (&["ipmitool"], &[], Either("-P")),
    (&["mosquitto_pub", "mosquitto_sub"], &[], Either("-P")),
    (SNMP, &[], Next("-A")),
    (SNMP, &[], Next("-X")),
    (SNMP, &[], Next("-c")),
    (&["zip", "unzip"], &[], Either("-P")),
    (&["7z", "7za", "7zz", "unrar"], &[], Attached("-p")),
    (&["rar"], &[], Attached("-hp")),
    (&["rar"], &[], Attached("-p")),
    (OPENSSL, &[], Next("-k")),
    (OPENSSL, &[], Next("-K")),
    (OPENSSL, &[], After("-pass", ':')),
    (OPENSSL, &[], After("-passin", ':')),
    (OPENSSL, &[], After("-passout", ':')),
    (JAVA_KEYS, &[], Next("-storepass")),
    (JAVA_KEYS, &[], Next("-keypass")),
    (JAVA_KEYS, &[], Next("-srcstorepass")),
    (JAVA_KEYS, &[], Next("-deststorepass")),
    (&["ssh-keygen"], &[], Either("-N")),
    (&["ssh-keygen"], &[], Either("-P")),
    (&["htpasswd"], &["-b"], Operand(3)),
    (&["htpasswd"], &["-bc"], Operand(3)),
    (&["htpasswd"], &["-cb"], Operand(3)),
    (&["htpasswd"], &["-bB"], Operand(3)),
    (&["htpasswd"], &["-nb"], Operand(2)),
    (&["useradd", "usermod", "adduser"], &[], Next("-p")),
    (&["wpa_passphrase"], &[], Operand(2)),
    (&["iwconfig"], &["key"], Operand(1)),
    (&["nmcli"], &["password"], Operand(1)),
    (&["influx"], &[], Next("-password")),
    (&["kubectl", "oc"], &["secret"], Assigned("--from-literal")),
    (&["vault"], &["login"], Operand(1)),
    (&["vault"], &["kv", "put"], EveryAssigned),
    (&["vault"], &["kv", "patch"], EveryAssigned),
    (&["vault"], &["write"], EveryAssigned),
    (&["fly", "flyctl"], &["secrets", "set"], EveryAssigned),
    (&["cargo"], &["login"], Operand(1)),
    (&["doctl"], &["auth"], Next("-t")),
    (&["gem"], &["push"], Next("--key")),
    (&["gh"], &["secret", "set"], Either("-b")),
    (&["gh"], &["secret", "set"], Next("--body")),
    (&["aws"], &["put-parameter"], Next("--value")),
    (&["aws"], &[], Next("--secret-string")),
    (&["az"], &["secret", "set"], Next("--value")),
    (&["gcloud"], &["activate-refresh-token"], Operand(2)),
    (&["rabbitmqctl"], &["add_user"], Operand(2)),
    (&["rabbitmqctl"], &["change_password"], Operand(2)),
    (&["rabbitmqctl"], &["authenticate_user"], Operand(2)),
    (&["mc"], &["alias", "set"], Operand(4)),
    (&["rclone"], &["pass"], Operand(1)),
    (&["npm"], &["publish"], Next("--otp")),
    (&["nuget", "dotnet"], &["push"], Next("-k")),
    (&["gcloud"], &[], Next("--key")),
    (&["mysqladmin", "mariadb-admin"], &["password"], Operand(1)),
    (&["rclone"], &["obscure"], Operand(1)),
    (&["etcdctl"], &[], After("--user", ':')),
    (&["bundle", "bundler"], &["config"], Paired(2, ':')),
    (&["bundle", "bundler"], &["config", "set"], Paired(2, ':')),
    (&["snyk"], &["auth"], Operand(1)),
    (&["ngrok"], &["authtoken"], Operand(1)),
    (&["ngrok"], &["add-authtoken"], Operand(1)),
    (&["bw"], &["login"], Operand(2)),
    (&["bw"], &["unlock"], Operand(1)),
    (&["security"], &["add-generic-password"], Either("-w")),
    (&["security"], &["add-internet-password"], Either("-w")),
    (&["vncviewer", "x11vnc"], &[], Next("-passwd")),
];

/// Programs that read a secret from their input, and a word that must stand among theirs.
pub(super) const READERS: &[(&[&str], &[&str])] = &[
    (&["sudo"], &["-S"]),
    (
        &[
            "docker", "podman", "helm", "buildah", "skopeo", "oras", "nerdctl",
        ],
        &["--password-stdin"],
    ),
    (&["gh"], &["--with-token"]),
    (&["gh"], &["secret", "set"]),
    (&["passwd"], &["--stdin"]),
    (&["chpasswd"], &[]),
    (&["kinit"], &[]),
    (&["smbpasswd"], &["-s"]),
    (&["cryptsetup"], &[]),
    (&["vault"], &["login"]),
    (&["gpg"], &["--passphrase-fd"]),
    (&["wrangler"], &["secret", "put"]),
    (&["vercel"], &["env", "add"]),
    (&["ssh-add"], &[]),
    (&["fly", "flyctl"], &["secrets", "import"]),
    (CURL, &["-K-"]),
    (CURL, &["-K", "-"]),
    (CURL, &["--config", "-"]),
    (&["pass"], &["insert"]),
    (&["secret-tool"], &["store"]),
    (&["lpass"], &["login"]),
    (&["bw"], &["login"]),
    (&["bw"], &["unlock"]),
];

/// Whether any row is about a program of this name.
pub(super) fn is_known(program: &str) -> bool {
    let rows = ROWS.iter().map(|(programs, ..)| *programs);
    let readers = READERS.iter().map(|(programs, _)| *programs);
    rows.chain(readers)
        .any(|programs| programs.contains(&program))
}
