//! Programs that talk to other machines.

use crate::classify::{
    Class::{ReadOnly, Suspicious, Unknown},
    table::{Operands, Tool, mark, output, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(Unknown, "curl", "it talks to another machine").operands(Operands::Ignored).marks(&[
        output("-o --output --dump-header -D --cookie-jar -c --trace --trace-ascii --stderr --output-dir --etag-save --libcurl"),
        mark(Suspicious, "-T --upload-file -F --form --data-binary", "it sends files"),
        mark(Suspicious, "-K --config", "it reads options from a file"),
        mark(Suspicious, "--unix-socket --abstract-unix-socket", "it talks to a service of this machine"),
        mark(Suspicious, "-k --insecure", "it doesn't check whom it talks to"),
    ]),
    tool(Unknown, "wget wget2", "it talks to another machine").operands(Operands::Ignored).marks(&[
        output("-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies --warc-file"),
        mark(Suspicious, "--post-file --body-file", "it sends files"),
        mark(Suspicious, "--use-askpass --config -e --execute", "it runs another program, or reads options from a file"),
        mark(Suspicious, "--no-check-certificate", "it doesn't check whom it talks to"),
    ]),
    tool(Unknown, "http https xh aria2c axel lynx w3m links elinks lftp ftp rclone gsutil aws az gcloud fly heroku vercel netlify wrangler doctl kubectl oc", "it talks to another machine").operands(Operands::Ignored),
    tool(Suspicious, "ssh scp sftp mosh telnet rsh rlogin nc ncat netcat socat autossh sshfs cryptcat ngrok cloudflared tailscale wg wg-quick openvpn", "it opens a connection that can carry anything").operands(Operands::Ignored),
    tool(Suspicious, "ssh-keygen ssh-add ssh-agent ssh-copy-id gpg gpg2 pass security keyring secret-tool openssl age vault op", "it handles keys").operands(Operands::Ignored).first("").subcommands(&[
        tool(ReadOnly, "version", "it prints its version").operands(Operands::Ignored).only("-a -v"),
        tool(Unknown, "dgst x509 rand s_client", "it computes, or looks at certificates").operands(Operands::Ignored),
    ]),
    tool(Unknown, "ping ping6 traceroute tracepath mtr dig nslookup host whois nmap arp", "it asks the network").operands(Operands::Ignored),
    tool(ReadOnly, "netstat ss", "it lists connections").operands(Operands::Ignored).only("-0 -4 -6 -a -A: -b -c -e -f: -g -h -H -i -I -l -m -M -n -N: -o -O -p -r -s -t -T -u -v -V -w -W -x -z -Z --all --extended --help --info --ipv4 --ipv6 --listening --listen --memory --numeric --options --process --processes --programs --program --raw --resolve --route --statistics --summary --tcp --udp --unix --version --wide -K --kill -D: -F: --diag= --filter=").marks(&[
        mark(Suspicious, "-K --kill", "it closes connections"),
        mark(Unknown, "-F --filter -D --diag", "it reads or writes a file"),
    ]),
    tool(Suspicious, "ifconfig ip route iptables ip6tables nft ufw firewall-cmd tc brctl ethtool iw nmcli", "it changes the network").operands(Operands::Ignored).alone(ReadOnly).first("-0 -4 -6 -c -d -h -j -o -r -s").subcommands(&[
        tool(Suspicious, "addr a address link l route r neigh rule", "it lists or changes the network's settings").operands(Operands::None).alone(ReadOnly).first("").subcommands(&[
            tool(ReadOnly, "show list ls", "it lists the network's settings").operands(Operands::Ignored).only("-4 -6 -s -d -br -j"),
            tool(Suspicious, "add del delete set change replace flush", "it changes the network").operands(Operands::Ignored),
        ]),
    ]),
    tool(Suspicious, "tcpdump wireshark tshark ettercap bettercap", "it listens to the network").operands(Operands::Ignored),
    tool(Suspicious, "mail sendmail mutt msmtp", "it sends mail").operands(Operands::Ignored),
];
