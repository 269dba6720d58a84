//! Programs that search.

use crate::classify::{
    Class::{ReadOnly, Suspicious, Unknown},
    table::{Operands, Tool, mark, output, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(ReadOnly, "grep egrep fgrep ggrep", "it searches files").all("-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -a -A: -b -B: -c -C: -d: -D: -e: -E -f: -F -G -h -H -i -I -l -L -m: -n -o -O -p -P -q -r -R -s -S -T -u -U -v -V -w -x -y -z -Z --after-context= --before-context= --context=? --basic-regexp --binary --binary-files= --byte-offset --color=? --colour=? --count --decompress --dereference-recursive --devices= --directories= --exclude= --exclude-dir= --exclude-from= --extended-regexp --file= --files-with-matches --files-without-match --fixed-strings --group-separator= --help --ignore-case --include= --include-dir= --initial-tab --invert-match --label= --line-buffered --line-number --line-regexp --max-count= --no-filename --no-group-separator --no-ignore-case --no-messages --null --null-data --only-matching --perl-regexp --quiet --recursive --regexp= --silent --text --unix-byte-offsets --version --with-filename --word-regexp"),
    tool(ReadOnly, "zgrep zegrep zfgrep", "it searches compressed files").only("-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -a -A: -b -B: -c -C: -e: -E -F -h -H -i -l -L -m: -n -o -P -q -s -v -w -x --count --ignore-case --line-number --files-with-matches --invert-match --help --version"),
    tool(Unknown, "pcregrep pcre2grep", "its patterns can run programs"),
    tool(ReadOnly, "rg ripgrep", "it searches files").only(
        "-a -A: -b -B: -c -C: -d: -e: -E: -f: -F -g: -h -H -i -I -j: -l -L -m: -M: -n -N -o -p -P -q -r: -s -S -t: -T: -u -U -v -V -w -x -. -0 -z \
         --after-context= --before-context= --context= --count --count-matches --color= --colors= --column --crlf --debug --encoding= --engine= --file= --files \
         --files-with-matches --files-without-match --fixed-strings --follow --glob= --heading --help --hidden --iglob= --ignore-case --ignore-file= --invert-match --json \
         --line-buffered --line-number --line-regexp --max-columns= --max-count= --max-depth= --max-filesize= --multiline --multiline-dotall --no-config --no-filename --no-heading \
         --no-ignore --no-ignore-vcs --no-ignore-parent --no-line-number --no-messages --null --null-data --one-file-system --only-matching --passthru --path-separator= --pcre2 --pretty \
         --quiet --regexp= --replace= --search-zip --smart-case --sort= --sortr= --stats --text --threads= --trim --type= --type-add= --type-list --unrestricted --version \
         --vimgrep --with-filename --word-regexp --glob-case-insensitive --no-unicode --context-separator= --field-match-separator= --include-zero --pre= --pre-glob= --hostname-bin= --hyperlink-format="
    ).marks(&[
        mark(Suspicious, "--pre", "it runs a program on every file"),
        mark(Suspicious, "--hostname-bin", "it runs a program"),
        mark(Unknown, "-z --search-zip", "it runs decompression programs"),
    ]),
    tool(Unknown, "sift pt", "it may write what it finds to a file or to another machine"),
    tool(ReadOnly, "ag ack", "it searches files").only("-a -A: -B: -c -C: -f -F -g: -G: -h -H -i -l -L -m: -n -o -p: -Q -r -R -s -S -u -U -v -V -w --after= --before= --context= --count --column --color --nocolor --filename --nofilename --group --nogroup --heading --noheading --hidden --ignore= --ignore-case --smart-case --literal --files-with-matches --files-without-matches --only-matching --invert-match --word-regexp --max-count= --depth= --stats --vimgrep --help --version --rust --python --py --js --ts --go --java --cpp --cc --ruby --html --css --json --md --pager= --ackrc= --env").marks(&[
        mark(Suspicious, "--pager", "it runs a pager"),
        mark(Suspicious, "--ackrc --env", "it reads options from a file"),
    ]),
    tool(ReadOnly, "find gfind", "it searches folders").operands(Operands::Searched).dashed(
        "-H -L -P -O0 -O1 -O2 -O3 -amin: -anewer: -atime: -cmin: -cnewer: -ctime: -daystart -depth -d -empty -executable -false -follow -fstype: -gid: -group: -ilname: -iname: -inum: \
         -ipath: -iregex: -iwholename: -links: -lname: -ls -maxdepth: -mindepth: -mmin: -mount -mtime: -name: -newer: -newermt: -newerat: -newerct: -nogroup -noignore_readdir_race -noleaf -nouser -o -a -not -and -or -path: \
         -perm: -print -print0 -printf: -prune -quit -readable -regex: -regextype: -samefile: -size: -true -type: -uid: -used: -user: -warn -nowarn -wholename: -writable -xdev -xtype: -E -s -x -X -f: \
         -delete -exec -execdir -ok -okdir -fprint: -fprint0: -fls: -fprintf:"
    ).marks(&[
        mark(Unknown, "-delete", "it deletes what it finds"),
    ]),
    tool(ReadOnly, "fd fdfind", "it searches folders").only(
        "-H -I -u -s -i -g -F -a -l -L -p -0 -d: -t: -e: -E: -S: -c: -j: -1 -q -x: -X: -h -V --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --fixed-strings --absolute-path --list-details \
         --follow --full-path --print0 --max-depth= --min-depth= --exact-depth= --type= --extension= --exclude= --size= --changed-within= --changed-before= --owner= --color= --threads= --max-results= --quiet --exec= --exec-batch= --help --version --no-ignore-vcs --and="
    ).marks(&[
        mark(Unknown, "-x -X --exec --exec-batch", "it runs a program on what it finds"),
        mark(ReadOnly, "-l --list-details", "it runs ls"),
    ]),
    tool(ReadOnly, "locate plocate mlocate", "it searches an index").only("-A -b -c -d: -e -i -l: -L -n: -N -P -0 -r: -S -w --all --basename --count --database= --existing --ignore-case --limit= --null --regex --regexp= --statistics --wholename --help --version").marks(&[mark(Unknown, "-d --database", "it reads another index")]),
    tool(ReadOnly, "diff colordiff", "it compares files").only(
        "-a -b -B -c -C: -d -e -E -f -F: -H -i -I: -l -n -N -p -P -q -r -s -S: -t -T -u -U: -v -w -W: -x: -X: -y -Z -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --brief --color=? --context=? --exclude= --expand-tabs --ignore-all-space --ignore-blank-lines --ignore-case \
         --ignore-space-change --ignore-trailing-space --ignore-matching-lines= --label= -L: --left-column --minimal --new-file --no-dereference --normal --recursive --report-identical-files --side-by-side --speed-large-files \
         --starting-file= --strip-trailing-cr --suppress-common-lines --text --unified=? --width= --help --version --to-file= --from-file= --show-c-function -l --paginate"
    ).marks(&[
        mark(Unknown, "-l --paginate", "it runs another program"),
    ]),
    tool(ReadOnly, "diff3", "it compares files").only("-a -A -e -E -i -m -x -X -3 -T -L: --text --show-all --ed --show-overlap --merge --easy-only --label= --diff-program=").marks(&[
        mark(Suspicious, "--diff-program", "it runs another program"),
    ]),
    tool(ReadOnly, "sdiff", "it compares files side by side").only("-a -b -B -E -Z -i -I: -l -s -t -w: -W -o: --text --ignore-case --ignore-all-space --left-column --suppress-common-lines --width= --output= --diff-program=").marks(&[
        output("-o --output"),
        mark(Suspicious, "--diff-program", "it runs another program"),
    ]),
    tool(ReadOnly, "sort gsort", "it sorts lines").only(
        "-b -d -f -g -i -M -h -n -R -r -V -c -C -k: -m -s -t: -u -z -S: -T: -o: --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort \
         --random-source= --reverse --sort= --version-sort --check=? --key= --merge --stable --field-separator= --unique --zero-terminated --buffer-size= --parallel= --batch-size= --debug --files0-from= --output= --temporary-directory= --compress-program= --help --version"
    ).marks(&[
        output("-o --output"),
        mark(Suspicious, "--compress-program", "it runs another program"),
        mark(Unknown, "-T --temporary-directory", "it writes temporary files elsewhere"),
    ]),
    tool(ReadOnly, "uniq guniq", "it drops repeated lines").only("-c -d -D -i -u -z -f: -s: -w: --count --repeated --all-repeated=? --group=? --ignore-case --unique --zero-terminated --skip-fields= --skip-chars= --check-chars= --help --version").operands(Operands::SecondWritten),
    tool(ReadOnly, "shuf", "it shuffles lines").only("-e -i: -n: -r -z -o: --echo --input-range= --head-count= --repeat --zero-terminated --output= --random-source=").marks(&[output("-o --output")]),
    tool(ReadOnly, "cut paste", "it rearranges text").all("-b: -c: -d: -f: -n -s -w -z --bytes= --characters= --delimiter= --delimiters= --fields= --complement --only-delimited --output-delimiter= --serial --zero-terminated --help --version"),
    tool(ReadOnly, "tr", "it rearranges text").operands(Operands::Ignored).all("-c -C -d -s -t -u --complement --delete --squeeze-repeats --truncate-set1 --help --version"),
    tool(ReadOnly, "join tsort", "it rearranges text").all("-1: -2: -a: -e: -i -j: -o: -t: -v: -z --check-order --header --ignore-case --nocheck-order --zero-terminated --help --version"),
];
