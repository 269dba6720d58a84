//! Filters with a language of their own. What their scripts do is looked at in `scripts`.

use crate::classify::{
    Class::{ReadOnly, Suspicious, Unknown},
    table::{Operands, Tool, mark, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(ReadOnly, "sed gsed", "it edits text").only("-n -e: -f: -E -r -s -u -z -l: -b -i? --quiet --silent --expression= --file= --regexp-extended --separate --unbuffered --null-data --line-length= --posix --debug --sandbox --in-place=? --help --version --follow-symlinks --binary").marks(&[
        mark(Unknown, "-i --in-place", "it changes files in place"),
        mark(Unknown, "-f --file", "it runs a script from a file"),
    ]),
    tool(ReadOnly, "awk gawk mawk nawk", "it computes over lines").first("-F: -v: -f: -e: -S -V -h --field-separator= --assign= --file= --source= --sandbox --version --help -i: --include= -l: --load= -o? -p? -d? -D? -E: --exec= -M -O -N -P -t -c --posix --bignum --optimize --pretty-print=? --dump-variables=? --profile=?").marks(&[
        mark(Unknown, "-f --file -i --include -E --exec", "it runs a script from a file"),
        mark(Suspicious, "-l --load", "it loads a library"),
        mark(Unknown, "-o -p -d -D --pretty-print --dump-variables --profile", "it writes a file"),
    ]),
    tool(ReadOnly, "base64 base32 basenc", "it encodes").only("-d -D -i -w: -o: --decode --ignore-garbage --wrap= --input= --output=").marks(&[crate::classify::table::output("-o --output")]),
    tool(ReadOnly, "iconv", "it converts text").only("-f: -t: -c -s -l -o: --from-code= --to-code= --list --silent --output=").marks(&[crate::classify::table::output("-o --output")]),
    tool(ReadOnly, "zcat gzcat bzcat xzcat zstdcat", "it prints compressed files").only("-f -h -l -k -q -s -t -v -V --force --keep --list --quiet --small --test --verbose --no-progress --help --version"),
    tool(Unknown, "lz4cat", "it may write a second file"),
    tool(Unknown, "ed ex vi vim nvim view emacs nano pico", "an editor can change files and run programs").operands(Operands::Ignored),
];
