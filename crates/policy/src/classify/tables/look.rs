//! Programs that look: at files, folders, the system and its processes.
//!
//! The lists of options are closed. `all` says that a list is complete: no option of the program does
//! anything else, so that a computed word cannot be one that does.

use crate::classify::{
    Class::{ReadOnly, Safe, Suspicious, Unknown},
    table::{Operands, Tool, mark, output, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    // Files and folders.
    tool(ReadOnly, "ls dir vdir", "it lists files").operands(Operands::Named).all("-a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I: -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T: -u -U -v -w: -x -X -Z -1 -@ -O -e --all --almost-all --author --block-size= --color=? --directory --dired --escape --file-type --format= --full-time --group-directories-first --no-group --human-readable --si --hide= --hyperlink=? --indicator-style= --ignore= --inode --kibibytes --dereference --dereference-command-line --dereference-command-line-symlink-to-dir --classify=? --quote-name --quoting-style= --literal --recursive --reverse --size --sort= --time= --time-style= --tabsize= --width= --context --zero --numeric-uid-gid --show-control-chars --hide-control-chars --ignore-backups --help --version"),
    tool(ReadOnly, "exa eza lsd", "it lists files").operands(Operands::Named).only("-1 -a -A -b -B -d -D -f -F -g -h -H -i -I: -l -L: -m -n -r -R -s: -S -t: -T -u -U -x --all --long --tree --level= --git --icons=? --header --group --reverse --sort= --recurse --oneline --color= --group-directories-first --only-dirs --only-files --no-permissions --no-user --no-time --depth= --git-ignore --help --version"),
    tool(ReadOnly, "cat", "it prints files").all("-A -b -e -E -n -s -t -T -u -v -l --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting --help --version"),
    tool(ReadOnly, "tac nl", "it prints files").all("-b: -d: -f: -h: -i: -l: -n: -p -r -s: -v: -w: --before --regex --separator= --body-numbering= --section-delimiter= --footer-numbering= --header-numbering= --line-increment= --join-blank-lines= --number-format= --no-renumber --number-separator= --starting-line-number= --number-width= --help --version"),
    tool(ReadOnly, "bat batcat", "it prints files").only("-A -p -pp -n -l: -r: -H: -d -s -f -u -P --show-all --plain=? --number --language= --line-range= --highlight-line= --diff --style= --color= --theme= --wrap= --tabs= --paging= --decorations= --squeeze-blank --force-colorization --list-languages --list-themes --file-name= --help --version --pager= --lessopen").marks(&[
        mark(Unknown, "--pager --lessopen", "it runs another program"),
    ]),
    tool(ReadOnly, "head tail", "it prints parts of files").all("-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -c: -n: -q -v -z -f -F -s: -r -b: --bytes= --lines= --quiet --silent --verbose --zero-terminated --follow=? --retry --pid= --sleep-interval= --max-unchanged-stats= --help --version"),
    tool(ReadOnly, "wc", "it counts").all("-c -m -l -L -w --bytes --chars --lines --words --max-line-length --files0-from= --total= --help --version"),
    tool(ReadOnly, "stat", "it prints what a path is").operands(Operands::Named).all("-L -f -t -c: -x -s -n -q -r -l -F --dereference --file-system --cached= --format= --printf= --terse --help --version"),
    tool(ReadOnly, "readlink realpath basename dirname pathchk", "it prints what a path is").operands(Operands::Named).all("-a -e -f -L -m -n -p -P -q -s? -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero --logical --physical --relative-to= --relative-base= --no-symlinks --strip --multiple --suffix= --portability --help --version"),
    tool(ReadOnly, "file", "it tells what files are").only("-b -i -I -k -L -h -n -N -r -s -0 -v -e: -F: -P: --brief --mime --mime-type --mime-encoding --extension --keep-going --dereference --no-dereference --exclude= --separator= --no-buffer --no-pad --raw --special-files --print0 --apple --parameter= --help --version -C -m: -f: -z -Z --compile --magic-file= --files-from= --uncompress --uncompress-noreport").marks(&[
        mark(Unknown, "-C --compile", "it writes a compiled magic file"),
        mark(Unknown, "-m --magic-file", "it reads rules from another file"),
        mark(Unknown, "-z -Z --uncompress --uncompress-noreport", "it runs decompression programs"),
    ]),
    tool(ReadOnly, "tree", "it lists files").operands(Operands::Named).only("-a -d -l -f -x -L. -P. -I. -i -q -N -Q -p -u -g -s -h -D -F -v -t -c -U -r -A -S -n -C -X -J -T. -H. -o. -R --noreport --dirsfirst --filesfirst --filelimit= --gitignore --gitfile= --prune --matchdirs --ignore-case --inodes --device --du --si --timefmt= --sort= --charset= --version --help").marks(&[
        output("-o"),
        mark(Unknown, "-R", "it writes a file into every folder"),
    ]),
    tool(ReadOnly, "du", "it prints how much is used").operands(Operands::Named).all("-0 -a -A -B: -b -c -D -d: -g -h -H -I: -k -L -l -m -n -P -r -S -s -t: -x -X: --apparent-size --all --block-size= --bytes --total --dereference-args --max-depth= --files0-from= --human-readable --inodes --dereference --count-links --no-dereference --null --separate-dirs --si --summarize --threshold= --time=? --time-style= --exclude-from= --exclude= --one-file-system --help --version"),
    tool(ReadOnly, "df", "it prints how much is used").operands(Operands::Named).all("-a -B: -b -c -g -h -H -i -I -k -l -m -n -P -t: -T -x: -Y -v --all --block-size= --human-readable --inodes --local --no-sync --output=? --portability --sync --total --type= --print-type --exclude-type= --si --help --version"),
    tool(ReadOnly, "lsblk findmnt", "it prints what is mounted").operands(Operands::Named).only("-a -A -b -d -D -e: -f -i -I: -J -k -l -m -M: -n -o: -O -p -P -r -R -s -S: -t: -T? -u -v -x: --all --bytes --fs --json --list --output= --output-all --paths --pairs --topology --tree=? --target= --source= --real --submounts --noheadings --raw --nodeps --help --version"),
    tool(ReadOnly, ": true false", "it does nothing").operands(Operands::Ignored),
    tool(ReadOnly, "pwd nproc arch tty logname whoami groups users", "it prints or does nothing").operands(Operands::Ignored).all("-L -P -s --logical --physical --all --ignore= --silent --quiet --help --version"),
    tool(ReadOnly, "cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum md5 shasum", "it computes sums of files").only("-0 -1 -a: -b -c -l: -p -q -r -s -t -U -w -z --algorithm= --base64 --binary --check --debug --ignore-missing --length= --quiet --raw --status --strict --sysv --tag --text --untagged --warn --zero --UNIVERSAL --help --version"),
    tool(ReadOnly, "cmp comm", "it compares files").all("-1 -2 -3 -b -h -i: -l -n: -s -x -z --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent --check-order --nocheck-order --output-delimiter= --total --zero-terminated --help --version"),
    tool(ReadOnly, "strings", "it looks into binary files").operands(Operands::ReadPlain).only("-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -a -d -f -n: -t: -e: -o -w -s: -U: --all --data --bytes= --radix= --encoding= --print-file-name --include-all-whitespace --output-separator= --help --version"),
    tool(ReadOnly, "nm", "it looks into binary files").operands(Operands::ReadPlain).only("-a -A -B -C? -D -f: -g -h -j -l -n -o -p -P -r -s -S -t: -u -v -V -W --debug-syms --print-file-name --demangle=? --no-demangle --dynamic --extern-only --format= --line-numbers --numeric-sort --no-sort --portability --reverse-sort --size-sort --print-size --radix= --undefined-only --defined-only --special-syms --synthetic --just-symbols --print-armap --no-weak --help --version"),
    tool(ReadOnly, "size", "it looks into binary files").operands(Operands::ReadPlain).only("-A -B -G -d -o -x -t -f -h -V --format= --radix= --common --totals --target= --help --version"),
    tool(ReadOnly, "addr2line c++filt", "it looks into binary files").operands(Operands::ReadPlain).only("-a -C? -e. -f -i -j. -n -p -r -s. -t -_ --addresses --basenames --demangle=? --exe= --functions --inlines --pretty-print --no-params --types --section= --help --version"),
    tool(ReadOnly, "objdump readelf otool", "it looks into binary files").operands(Operands::ReadPlain).only("-a -A -b: -c -C? -d -D -e -f -g -G -h -H -i -I -j: -l -L -m: -M: -n -p: -r -R: -s -S -t -T -u -V -v -w? -W -x: -z --all --all-headers --arch-specific --architecture= --archive-headers --debug-dump=? --demangle=? --disassemble=? --disassemble-all --disassembler-options= --dwarf=? --dyn-syms --dynamic --dynamic-reloc --dynamic-syms --file-header --file-headers --full-contents --headers --hex-dump= --histogram --line-numbers --no-show-raw-insn --notes --prefix-addresses --private-headers --program-headers --reloc --relocs --section= --section-headers --sections --segments --source --start-address= --stop-address= --string-dump= --symbols --syms --target= --version-info --wide --help --version"),
    tool(Unknown, "ldd", "it may start the program it looks at"),
    tool(ReadOnly, "xxd", "it prints bytes").dashed("-a -b -c# -E -e -g# -i -l# -n: -o# -p -ps -s# -u -v -d -C -R: -r -cols: -len: -seek: -bits -plain -postscript -capitalize -EBCDIC -include").operands(Operands::SecondWritten),
    tool(ReadOnly, "od hexdump hd", "it prints bytes").all("-A: -a -b -c -C -d -D -e: -f -F -h -H -i -I -j: -l -L? -n: -N: -o -O -s: -S: -t: -v -V -w? -x -X --address-radix= --skip-bytes= --read-bytes= --strings=? --format= --output-duplicates --width=? --endian= --traditional --canonical --length= --skip= --no-squeezing --color=? --help --version"),
    tool(ReadOnly, "lsof", "it prints which files are open").only("-a -b -c: -d: -F? -g? -i? -l -n -N -o -O -p: -P -R -s? -t -T? -u: -U -v -V -w -X -K? -h").operands(Operands::Named),
    tool(ReadOnly, "fuser", "it prints which files are open").only("-a -c -f -m -M -n. -s -u -v -V -4 -6 -k -i -w").operands(Operands::Named).marks(&[mark(Suspicious, "-k", "it kills processes")]),
    tool(ReadOnly, "tokei", "it counts lines").only("-f -e: -t: -s: -C -c: --files --exclude= --type= --types= --sort= --hidden --no-ignore --columns= --compact --version --help"),
    tool(ReadOnly, "scc", "it counts lines").only("-a -c -d -i. -f. -M. -s. -v -w -x. -z --by-file --exclude-dir= --include-ext= --format= --sort= --no-cocomo --no-complexity --wide --version --help"),
    tool(ReadOnly, "cloc", "it counts lines").only("--by-file --by-file-by-lang --exclude-dir=! --exclude-ext=! --exclude-lang=! --include-lang=! --include-ext=! --json --yaml --csv --md --quiet --hide-rate --vcs=! --version --help").marks(&[mark(Unknown, "--vcs", "it runs another program")]),
    // The system.
    tool(ReadOnly, "id", "it prints facts about the system").operands(Operands::Ignored).all("-a -A -c -F -g -G -n -p -P -r -u -z -Z --group --groups --name --real --user --zero --context --help --version"),
    tool(ReadOnly, "who w last uptime free vmstat iostat mpstat", "it prints facts about the system").operands(Operands::Ignored).only("-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -a -A -b -c -d -D -f -F -g -h -H -i -I: -k -l -m -n: -N -o -p -P: -q -r -R -s -S: -t -T -u -V -w -x -y -z --all --boot --count= --heading --human --wide --total --bytes --kibi --mebi --gibi --si --mega --giga --lohi --seconds= --pretty --since --users --short --help --version"),
    tool(ReadOnly, "lscpu lsmem lspci lsusb", "it prints facts about the system").operands(Operands::Ignored).only("-a -b -c -d: -e? -J -k -m -mm -n -nn -o: -p? -P -r -s: -S: -t -v -vv -vvv -x -y --all --json --extended=? --parse=? --summary=? --output= --help --version"),
    tool(ReadOnly, "lastlog getconf locale", "it prints facts about the system").operands(Operands::Ignored).only("-a -b: -c -k -m -t: -u: -v: --all-locales --charmaps --category-name --keyword-name --before= --time= --user= --help --version"),
    tool(ReadOnly, "uname", "it prints facts about the system").operands(Operands::Ignored).all("-a -i -m -n -o -p -r -s -v --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system --help --version"),
    tool(ReadOnly, "printenv", "it prints the environment").operands(Operands::Ignored).all("-0 --null --help --version"),
    tool(ReadOnly, "env", "it prints the environment, or runs a program in another one").only("-i -0 -u: -C: --ignore-environment --null --unset= --chdir= -v --debug --help --version").operands(Operands::Ignored),
    tool(ReadOnly, "hostname", "it prints the host's name").only("-a -A -d -f -i -I -s -y --fqdn --long --short --ip-address --all-ip-addresses --domain --help --version").operands(Operands::None),
    tool(ReadOnly, "date", "it prints the date").only("-d: -u -R -I? -r: -f: -j -v: -n --date= --utc --universal --rfc-email --rfc-3339= --iso-8601=? --reference= --debug -s: --set= --file= --resolution --help --version").operands(Operands::Clock).marks(&[
        mark(Suspicious, "-s --set", "it sets the clock"),
    ]),
    tool(ReadOnly, "cal ncal", "it prints a calendar").operands(Operands::Ignored).only("-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -A: -b -B: -C -d: -e -h -H: -j -J -m: -M -N -n: -o -p -s: -w? -y --one --three --monday --sunday --julian --year"),
    tool(ReadOnly, "ps", "it lists processes").operands(Operands::Ignored).all("-A -a -c -C: -d -e -E -f -F -g: -G: -H -j -l -L -m -M -N -n -o: -O: -p: -q: -r -s: -S -t: -T -u: -U: -v -V -w -x -X -y -Z --cols= --columns= --context --cumulative --deselect --forest --format= --group= --Group= --headers --help=? --info --lines= --no-headers --no-headings --pid= --ppid= --quick-pid= --rows= --sid= --sort= --tty= --user= --User= --version --width="),
    tool(ReadOnly, "pgrep pidof pstree", "it lists processes").operands(Operands::Ignored).only("-a -A -c -C: -d: -f -F: -g: -G: -h -H: -i -l -L -n -N: -o -O: -p -P: -q -r: -s: -S -t: -T -u: -U: -v -w -x -Z --full --list-name --list-full --count --newest --oldest --parent= --exact --ignore-case --euid= --uid= --group= --session= --terminal= --inverse --delimiter= --arguments --show-pids --help --version"),
    tool(ReadOnly, "dmesg", "it prints the kernel's messages").only("-H -T -t -k -l: -x -L -w -P --human --ctime --level= --kernel --follow --nopager --time-format= -c -C --clear --read-clear").marks(&[
        mark(Suspicious, "-c -C --clear --read-clear", "it clears the kernel's messages"),
    ]),
    tool(Safe, "top htop btop", "it shows processes until it is stopped").operands(Operands::Ignored).only("-b -c -d: -H -i -n: -o: -p: -s: -S -u: -U: -w? -l: -h -v --help --version --batch --delay= --pid= --sort-key= --user="),
    tool(ReadOnly, "which whereis type whatis apropos", "it tells where a program is").operands(Operands::Ignored).only("-a -b -d -e -f -g -k -l -L: -m -p -P -r -s -t -u -w --all --exact --and --regex --wildcard --long --sections= --skip-alias --skip-functions --help --version"),
    // Pagers and manuals: some of their options and keys run programs.
    tool(ReadOnly, "man", "it shows a manual page").only("-a -f -k -K -w -W -s: -S: -L: --all --whatis --apropos --where --path --sections= -P: --pager= -H? --html=? -C: --config-file= -p: --preprocessor= -l --local-file --help --version").operands(Operands::Ignored).marks(&[
        mark(Suspicious, "-P --pager", "it runs a pager"),
        mark(Suspicious, "-H --html -p --preprocessor -C --config-file", "it runs another program"),
        mark(Unknown, "-l --local-file", "it runs formatters on a file"),
    ]),
    tool(ReadOnly, "info", "it shows a manual").only("-k: -w --apropos= --where").operands(Operands::Ignored),
    tool(ReadOnly, "less", "it shows files").only("-E -F -G -I -i -J -K -L -M -m -N -n -Q -q -R -r -S -s -u -U -V -w -W -X -x# -z# -a -e -f -g -h# -j# -c --quit-if-one-screen --no-init --RAW-CONTROL-CHARS --chop-long-lines --LINE-NUMBERS --ignore-case --help --version").operands(Operands::Paged),
    tool(ReadOnly, "more", "it shows files").only("-d -l -e -f -p -c -s -u -n: --squeeze --plain --lines= --help --version").operands(Operands::Paged),
    tool(ReadOnly, "column", "it formats text").all("-c: -d -e -E: -H: -i: -J -l: -L -n: -N: -o: -O: -p: -R: -r: -s: -t -T: -W: -x --table --separator= --output-separator= --output-width= --columns= --fillrows --json --keep-empty-lines --table-columns= --table-name= --table-right= --table-noheadings --help --version"),
    tool(ReadOnly, "fold fmt pr expand unexpand colrm rev", "it formats text").all("-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -a -b -c -d -D: -e? -f -F -g: -h: -i? -J -l: -m -n? -N: -o: -p: -r -s? -S? -t -T -u -v -w: -W: --bytes --spaces --width= --crown-margin --prefix= --split-only --tagged-paragraph --uniform-spacing --goal= --initial --tabs= --all --first-only --columns= --length= --header= --omit-header --merge --zero --help --version"),
    tool(ReadOnly, "jq gojq", "it filters JSON").only("-n -r -R -s -c -C -M -a -S -e -f: -j -h -V -L: --arg= --argjson= --slurpfile= --rawfile= --args --jsonargs --tab --indent= --null-input --raw-input --raw-output --raw-output0 --slurp --compact-output --color-output --monochrome-output --ascii-output --sort-keys --exit-status --from-file= --join-output --seq --stream --stream-errors --unbuffered --help --version").marks(&[
        mark(Unknown, "-L", "it loads modules from another folder"),
    ]),
    tool(ReadOnly, "xq tomlq", "it filters documents").only("-n -r -R -s -c -C -M -S -a -e -j -t -x --raw-output --slurp --compact-output --sort-keys --toml-output --xml-output --help --version"),
    tool(ReadOnly, "htmlq", "it filters documents").only("-a. -b. -B -f. -p -r. -t -w --attribute= --base= --detect-base --filename= --pretty --remove-nodes= --text --ignore-whitespace --help --version"),
    tool(ReadOnly, "yq", "it filters YAML").only("-r -j -e -P -o. -p. -n -N -C -M -c -s -y -Y -I# --raw-output --output-format= --input-format= --null-input --no-colors --colors --prettyPrint -i --inplace --in-place --exit-status --help --version").marks(&[
        mark(Unknown, "-i --inplace --in-place", "it changes files in place"),
        mark(Unknown, "-s", "it writes one file per document"),
    ]),
    tool(ReadOnly, "sleep usleep expr", "it waits or computes").operands(Operands::Ignored),
    tool(ReadOnly, "seq factor numfmt", "it computes").operands(Operands::Ignored).all("-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -d: -f: -h -s: -t: -w -z --debug --delimiter= --equal-width --exponents --field= --format= --from= --from-unit= --grouping --header=? --invalid= --padding= --round= --separator= --suffix= --to= --to-unit= --zero-terminated --help --version"),
    tool(ReadOnly, "bc", "it computes").only("-i -l -q -s -w -h -v --mathlib --quiet --standard --warn --help --version"),
    tool(ReadOnly, "tput clear reset", "it drives the terminal").operands(Operands::Ignored).only("-T: -S -V -x"),
    tool(ReadOnly, "stty", "it drives the terminal").operands(Operands::Ignored).only("-a -g --all --save"),
    tool(ReadOnly, "nvidia-smi sensors", "it prints facts about the machine").only("-L -q -l: -i: --list-gpus --query-gpu= --format=").operands(Operands::Ignored),
    tool(ReadOnly, "getent", "it asks the machine's databases").only("-s: -i --service= --no-idn --help --version").operands(Operands::Ignored),
];
