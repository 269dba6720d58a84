//! Programs that look: at files, folders, the system and its processes.

use crate::classify::{
    Class::{ReadOnly, Safe, Suspicious, Unknown},
    table::{Operands, Tool, mark, output, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    // Files and folders.
    tool(ReadOnly, "ls dir vdir exa eza lsd", "it lists files"),
    tool(ReadOnly, "cat tac nl", "it prints files"),
    tool(ReadOnly, "bat batcat", "it prints files").marks(&[
        mark(Unknown, "--pager", "it runs a pager"),
        mark(Unknown, "--build --clear --lessopen", "it changes its cache or runs a program"),
    ]),
    tool(ReadOnly, "head tail wc", "it prints parts of files"),
    tool(ReadOnly, "stat readlink realpath basename dirname pathchk", "it prints what a path is"),
    tool(ReadOnly, "file", "it tells what files are").marks(&[
        mark(Unknown, "-C --compile", "it writes a compiled magic file"),
        mark(Unknown, "-m --magic-file", "it reads rules from another file"),
    ]),
    tool(ReadOnly, "tree", "it lists files").marks(&[
        output("-o"),
        mark(Unknown, "-R", "it writes a file into every folder"),
    ]),
    tool(ReadOnly, "du df lsblk findmnt", "it prints how much is used"),
    tool(ReadOnly, "pwd true false : nproc arch tty logname", "it prints or does nothing").operands(Operands::Ignored),
    tool(ReadOnly, "cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum md5 shasum", "it computes sums of files"),
    tool(ReadOnly, "cmp comm", "it compares files"),
    tool(ReadOnly, "strings nm objdump readelf size otool addr2line c++filt", "it looks into binary files").marks(&[
        mark(Unknown, "--plugin --target-help", "it loads a plug-in"),
    ]),
    tool(Unknown, "ldd", "it may start the program it looks at"),
    tool(ReadOnly, "xxd", "it prints bytes").only("-a -b -c: -E -e -g: -i -l: -n: -o: -p -ps -s: -u -v -d -C -R: -cols: -len: -seek: -bits -plain -postscript -capitalize -EBCDIC -include").operands(Operands::SecondWritten),
    tool(ReadOnly, "od hexdump hd", "it prints bytes"),
    tool(ReadOnly, "lsof fuser", "it prints which files are open").marks(&[mark(Suspicious, "-k", "it kills processes")]),
    tool(ReadOnly, "tokei scc cloc", "it counts lines").marks(&[output("-o --output --out --report-file")]),
    // The system.
    tool(ReadOnly, "whoami id groups users who w last lastlog uptime free vmstat iostat mpstat lscpu lsmem lspci lsusb getconf locale", "it prints facts about the system").operands(Operands::Ignored),
    tool(ReadOnly, "uname", "it prints facts about the system").operands(Operands::Ignored),
    tool(ReadOnly, "printenv", "it prints the environment").operands(Operands::Ignored),
    tool(ReadOnly, "env", "it prints the environment, or runs a program in another one").only("-i -0 -u: -C: --ignore-environment --null --unset= --chdir= -v --debug").operands(Operands::Ignored),
    tool(ReadOnly, "hostname", "it prints the host's name").only("-a -A -d -f -i -I -s -y --fqdn --long --short --ip-address --all-ip-addresses --domain").operands(Operands::None),
    tool(ReadOnly, "date", "it prints the date").only("-d: -u -R -I? -r: -f: -j -v: -n --date= --utc --universal --rfc-email --rfc-3339= --iso-8601=? --reference= --debug -s: --set=").operands(Operands::Ignored).marks(&[
        mark(Suspicious, "-s --set", "it sets the clock"),
    ]),
    tool(ReadOnly, "cal ncal", "it prints a calendar").operands(Operands::Ignored),
    tool(ReadOnly, "ps pgrep pidof pstree", "it lists processes").operands(Operands::Ignored),
    tool(ReadOnly, "dmesg", "it prints the kernel's messages").only("-H -T -t -k -l: -x -L -w --human --ctime --level= --kernel --follow -c -C --clear --read-clear").marks(&[
        mark(Suspicious, "-c -C --clear --read-clear", "it clears the kernel's messages"),
    ]),
    tool(Safe, "top htop btop", "it shows processes until it is stopped").operands(Operands::Ignored),
    tool(ReadOnly, "which whereis type whatis apropos", "it tells where a program is").operands(Operands::Ignored),
    // Pagers and manuals: some of their options and keys run programs.
    tool(ReadOnly, "man", "it shows a manual page").only("-a -f -k -K -w -W -s: -S: -L: --all --whatis --apropos --where --path --sections= -P: --pager= -H? --html=? -C: --config-file= -p: --preprocessor= -l --local-file").operands(Operands::Ignored).marks(&[
        mark(Suspicious, "-P --pager", "it runs a pager"),
        mark(Suspicious, "-H --html -p --preprocessor -C --config-file", "it runs another program"),
        mark(Unknown, "-l --local-file", "it runs formatters on a file"),
    ]),
    tool(ReadOnly, "info", "it shows a manual").only("-k: -w --apropos= --where").operands(Operands::Ignored),
    tool(ReadOnly, "less", "it shows files").only("-E -F -G -I -i -J -K -L -M -m -N -n -Q -q -R -r -S -s -u -U -V -w -W -X -x: -z: -a -e -f -g -p: -h: -j: -c --quit-if-one-screen --no-init --RAW-CONTROL-CHARS --chop-long-lines --LINE-NUMBERS --ignore-case --help --version").operands(Operands::Paged),
    tool(ReadOnly, "more", "it shows files").only("-d -l -e -f -p -c -s -u -n: --squeeze --plain --lines= --help --version").operands(Operands::Paged),
    tool(ReadOnly, "column fold fmt pr expand unexpand colrm rev", "it formats text"),
    tool(ReadOnly, "jq gojq", "it filters JSON").marks(&[
        mark(Unknown, "-L", "it loads modules from another folder"),
    ]),
    tool(ReadOnly, "xq tomlq htmlq", "it filters documents").marks(&[mark(Unknown, "-i --in-place --inplace", "it changes files in place")]),
    tool(ReadOnly, "yq", "it filters YAML").only("-r -j -e -P -o: -p: -n -N -C -M -c -s -y -Y -I: --raw-output --output-format= --input-format= --null-input --no-colors --colors --prettyPrint -i --inplace --in-place --exit-status").marks(&[
        mark(Unknown, "-i --inplace --in-place", "it changes files in place"),
        mark(Unknown, "-s", "it writes one file per document"),
    ]),
    tool(ReadOnly, "sleep usleep", "it waits").operands(Operands::Ignored),
    tool(ReadOnly, "seq expr factor numfmt bc", "it computes").operands(Operands::Ignored).marks(&[]),
    tool(ReadOnly, "tput clear reset stty", "it drives the terminal").operands(Operands::Ignored),
    tool(ReadOnly, "nvidia-smi sensors", "it prints facts about the machine").only("-L -q -l: -i: --list-gpus --query-gpu= --format=").operands(Operands::Ignored),
];
