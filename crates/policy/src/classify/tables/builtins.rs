//! Builtins of the shell, and the wrappers as programs of their own.

use crate::classify::{
    Class::{Dangerous, ReadOnly, Safe, Suspicious, Unknown},
    table::{Operands, Tool, mark, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(ReadOnly, "echo printf", "it prints text").operands(Operands::Ignored),
    tool(ReadOnly, "test [ [[", "it tests a condition").operands(Operands::Named),
    tool(ReadOnly, "cd chdir pushd popd dirs", "it changes the working directory").operands(Operands::Named).all("-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -L -P -e -@ -c -l -n -p -v"),
    // Which variables they set, and whether what they are given is evaluated, is among the facts.
    tool(ReadOnly, "export declare typeset local readonly", "it sets variables").operands(Operands::Ignored).first("-a -A -f -F -g -l -n -p -r -t -u -x"),
    tool(ReadOnly, "unset", "it forgets variables").operands(Operands::Ignored).first("-f -v -n"),
    tool(ReadOnly, "read mapfile readarray", "it sets variables").operands(Operands::Ignored).first("-r -s -e -a: -d: -i: -n: -N: -p: -t -u: -O: -c:"),
    tool(ReadOnly, "getopts let shift", "it sets variables").operands(Operands::Ignored),
    tool(ReadOnly, "exit return break continue times umask ulimit caller disown fg bg", "it steers the shell").operands(Operands::Ignored),
    tool(ReadOnly, "wait jobs", "it waits for background commands, or lists them").operands(Operands::Ignored).first("-f -l -n -p -r -s -x").marks(&[
        mark(Unknown, "-x", "it runs another program"),
    ]),
    tool(ReadOnly, "set", "it sets options of the shell").operands(Operands::ShellOptions),
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
    tool(Safe, "source .", "it runs a script").operands(Operands::Script).alone(Unknown),
    // Wrappers: what they run is judged by itself, so that they add nothing, or only the rights they give.
    tool(ReadOnly, "setsid nice ionice timeout gtimeout time gtime stdbuf chrt taskset caffeinate watch entr chronic unbuffer eatmydata dbus-run-session systemd-inhibit setarch linux32 linux64 i386 x86_64", "it runs another program").operands(Operands::Ignored),
    tool(Safe, "nohup", "it may write nohup.out").operands(Operands::Ignored),
    tool(ReadOnly, "flock", "it takes a lock").first("-s -x -e -u -n -w: -o -E: -F --shared --exclusive --unlock --nonblock --nb --timeout= --close --no-fork --conflict-exit-code=").operands(Operands::LockFile),
    tool(Unknown, "script xvfb-run", "it writes down what a program prints, or runs one on another screen").operands(Operands::Ignored),
    tool(Unknown, "busybox toybox", "it runs one of many programs").operands(Operands::Ignored),
    tool(Unknown, "parallel strace ltrace valgrind rr perf firejail bwrap fakeroot proot torsocks proxychains proxychains4 nix-shell", "it runs another program in another way").operands(Operands::Ignored),
    tool(Suspicious, "sudo doas pkexec su runuser gosu su-exec setpriv capsh", "it takes other rights").operands(Operands::Ignored),
    tool(Suspicious, "chroot unshare nsenter systemd-run", "it leaves where it runs").operands(Operands::Ignored),
    tool(Safe, "sh bash dash ash zsh ksh mksh ksh93 yash posh rbash fish csh tcsh", "it runs a script").first("-e -u -x -v -n -l -f --norc --noprofile --login --posix --verbose").operands(Operands::Script).alone(Unknown),
];
