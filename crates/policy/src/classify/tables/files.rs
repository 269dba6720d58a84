//! Programs that change files.

use crate::classify::{
    Class::{Dangerous, ReadOnly, Safe, Suspicious, Unknown},
    table::{Operands, Tool, mark, mode, output, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(Safe, "mkdir touch", "it makes files or folders").operands(Operands::Written).only("-p -v -m: -Z -a -c -d: -h -r: -t: --parents --verbose --mode= --no-create --date= --no-dereference --reference= --time="),
    tool(Safe, "mktemp", "it makes a temporary file").only("-d -u -q -p: -t --directory --dry-run --quiet --tmpdir=? --suffix=").operands(Operands::Written),
    tool(Safe, "cp gcp", "it copies files").operands(Operands::LastWritten).only("-a -b -d -f -H -i -l -L -n -p -P -r -R -s -S: -t: -T -u -v -x -Z --archive --attributes-only --backup=? --copy-contents --force --interactive --link --dereference --no-clobber --no-dereference --preserve=? --no-preserve= --parents --recursive --reflink=? --remove-destination --sparse= --strip-trailing-slashes --symbolic-link --suffix= --target-directory= --no-target-directory --update=? --verbose --one-file-system"),
    tool(Unknown, "mv gmv", "it moves files").operands(Operands::Moved).only("-b -f -i -n -S: -t: -T -u -v -Z --backup=? --force --interactive --no-clobber --strip-trailing-slashes --suffix= --target-directory= --no-target-directory --update=? --verbose"),
    tool(Unknown, "ln", "it makes links").operands(Operands::LastWritten).only("-b -d -F -f -i -L -n -P -r -s -S: -t: -T -v -h --backup=? --force --interactive --logical --no-dereference --physical --relative --symbolic --suffix= --target-directory= --no-target-directory --verbose"),
    tool(Unknown, "install ginstall", "it copies files and sets their rights").operands(Operands::LastWritten).only("-b -c -C -d -D -g: -m: -o: -p -s -S: -t: -T -v --backup=? --compare --directory --group= --mode= --owner= --preserve-timestamps --strip --strip-program= --suffix= --target-directory= --no-target-directory --verbose").marks(&[
        mark(Suspicious, "--strip-program", "it runs another program"),
    ]),
    tool(Unknown, "rm grm", "it deletes files").operands(Operands::Deleted).only("-f -i -I -r -R -d -v -P -W -x --force --interactive=? --one-file-system --no-preserve-root --preserve-root=? --recursive --dir --verbose").marks(&[
        mark(Dangerous, "--no-preserve-root", "it lifts the protection of /"),
    ]),
    tool(Unknown, "rmdir unlink trash trash-put", "it deletes files or empty folders").operands(Operands::Deleted),
    tool(Suspicious, "shred srm wipe scrub", "it destroys files for good").operands(Operands::Deleted),
    tool(Unknown, "truncate fallocate", "it changes the size of files").operands(Operands::Written).only("-c -o -r: -s: -l: -n -d -p -z -x --no-create --io-blocks --reference= --size= --length= --offset= --keep-size --dig-holes --punch-hole --zero-range"),
    tool(Safe, "tee gtee sponge", "it writes its input to files").operands(Operands::Written).only("-a -i -p --append --ignore-interrupts --output-error=?").alone(ReadOnly),
    tool(Safe, "split csplit", "it writes parts of a file").only("-a: -b: -C: -d -e -l: -n: -u -x -t: -k -s -z -f: --bytes= --lines= --number= --verbose --additional-suffix= --numeric-suffixes=? --filter= --suffix-length= --prefix= --digits=").operands(Operands::LastWritten).marks(&[
        mark(Suspicious, "--filter", "it runs another program"),
    ]),
    tool(Unknown, "chmod gchmod", "it changes the rights of files").operands(Operands::Changed).only("-c -f -v -R -h --changes --quiet --silent --verbose --recursive --reference= --preserve-root --no-preserve-root -x -w -r -s -t -X").marks(&[
        mark(Dangerous, "--no-preserve-root", "it lifts the protection of /"),
    ]),
    tool(Suspicious, "chown chgrp gchown", "it changes whom files belong to").operands(Operands::Changed).only("-c -f -v -h -R -H -L -P --changes --silent --quiet --verbose --recursive --dereference --no-dereference --from= --reference= --preserve-root --no-preserve-root").marks(&[
        mark(Dangerous, "--no-preserve-root", "it lifts the protection of /"),
    ]),
    tool(Suspicious, "chattr setfacl setfattr chflags xattr", "it changes the attributes of files").operands(Operands::Changed),
    tool(ReadOnly, "lsattr getfacl getfattr", "it prints the attributes of files").operands(Operands::Named).only("-a -c -d -e: -E -h -L -l -m: -n: -p -P -R -s -t -v -V --absolute-names --access --default --dump --encoding= --match= --name= --numeric --omit-header --only-values --recursive --tabular --help --version"),
    tool(Safe, "dd gdd", "it copies bytes").operands(Operands::Assigned),
    tool(Unknown, "patch", "it changes files as a patch says").marks(&[output("-o --output")]),
    // Archives: unpacking writes wherever the archive says.
    tool(Unknown, "tar gtar bsdtar", "it packs or unpacks an archive").operands(Operands::Written).marks(&[
        mark(Suspicious, "--to-command --use-compress-program -I --checkpoint-action --rsh-command --rmt-command --info-script --new-volume-script -F --use-compress", "it runs another program"),
        mark(Suspicious, "-P --absolute-names", "it may write outside the folder"),
        mark(Unknown, "--remove-files", "it deletes what it packed"),
    ]),
    tool(Safe, "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 compress uncompress pigz", "it packs or unpacks files").operands(Operands::Written),
    tool(Unknown, "zip", "it packs files").marks(&[mark(Suspicious, "-T -TT --unzip-command", "it runs another program"), mark(Unknown, "-m --move", "it deletes what it packed")]),
    tool(Unknown, "unzip", "it unpacks an archive").operands(Operands::Ignored).modes(&[mode(ReadOnly, "-l -Z", "-l -q -v -Z -1", "it lists an archive")]),
    tool(Unknown, "7z 7za 7zr unrar cpio ar", "it packs or unpacks an archive").operands(Operands::Ignored),
    tool(Unknown, "rsync", "it copies files, also to and from other machines").operands(Operands::LastWritten).marks(&[
        mark(Suspicious, "-e --rsh --rsync-path --daemon", "it runs another program"),
        mark(Suspicious, "--delete --del --delete-before --delete-during --delete-after --delete-excluded --remove-source-files", "it deletes files"),
    ]),
    tool(Unknown, "xargs gxargs", "it runs a program on its input").operands(Operands::Ignored).alone(ReadOnly),
];
