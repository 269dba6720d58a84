//! Builtins of the shell, and the wrappers as programs of their own.

use crate::classify::{
    Class::{Dangerous, ReadOnly, Suspicious, Unknown},
    table::{Operands, Tool, mark, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(ReadOnly, "echo printf", "it prints text").operands(Operands::Ignored),
    tool(ReadOnly, "test [ [[", "it tests a condition"),
    tool(ReadOnly, "cd chdir pushd popd dirs", "it changes the working directory"),
    tool(ReadOnly, "export declare typeset local readonly unset shift read mapfile readarray getopts let", "it sets variables").operands(Operands::Ignored),
    tool(ReadOnly, "exit return break continue wait jobs times umask ulimit caller disown fg bg", "it steers the shell").operands(Operands::Ignored),
    tool(ReadOnly, "set", "it sets options of the shell").operands(Operands::Ignored),
    tool(Unknown, "shopt setopt unsetopt emulate", "it sets options of the shell").operands(Operands::Ignored),
    tool(ReadOnly, "trap", "it names what to do on a signal").operands(Operands::Ignored),
    tool(ReadOnly, "eval command builtin", "it runs what its arguments say").operands(Operands::Ignored),
    tool(Unknown, "alias", "it gives a command another meaning").operands(Operands::Ignored).alone(ReadOnly),
    tool(ReadOnly, "unalias", "it takes a meaning back").operands(Operands::Ignored),
    tool(Unknown, "exec", "it replaces the shell").operands(Operands::Ignored).alone(ReadOnly),
    tool(Suspicious, "hash enable bind complete compgen compopt zmodload autoload zle fc", "it changes what commands mean or reads the history").operands(Operands::Ignored).alone(ReadOnly),
    tool(ReadOnly, "history", "it shows the history").only("-c -d: -a -n -r -w -p -s").marks(&[
        mark(Dangerous, "-c -d -w -s -a -r -n", "it tampers with the shell's history"),
    ]),
    tool(Unknown, "source .", "it runs a script").operands(Operands::Script),
    // Wrappers: what they run is judged by itself, so that they add nothing, or only the rights they give.
    tool(ReadOnly, "nohup setsid nice ionice timeout gtimeout time gtime stdbuf chrt taskset caffeinate xvfb-run watch entr flock script", "it runs another program").operands(Operands::Ignored),
    tool(Unknown, "busybox toybox", "it runs one of many programs").operands(Operands::Ignored),
    tool(Unknown, "parallel strace ltrace valgrind rr perf firejail bwrap fakeroot proot torsocks proxychains proxychains4 nix-shell", "it runs another program in another way").operands(Operands::Ignored),
    tool(Suspicious, "sudo doas pkexec su runuser gosu su-exec setpriv capsh", "it takes other rights").operands(Operands::Ignored),
    tool(Suspicious, "chroot unshare nsenter systemd-run", "it leaves where it runs").operands(Operands::Ignored),
    tool(Unknown, "sh bash dash ash zsh ksh mksh ksh93 yash posh rbash fish csh tcsh", "it runs a script").operands(Operands::Script),
];
