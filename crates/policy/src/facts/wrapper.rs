//! The wrappers: programs whose arguments name another program, or hold a script.
//!
//! One table. A wrapper that is not listed is an ordinary program that nobody knows, which is the
//! stricter reading.

use super::options::{Grammar, Style};

/// A program that runs another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrapper {
    /// Its names.
    pub(crate) names: &'static str,
    /// The options that are known not to change which program is run.
    pub(crate) options: Grammar,
    /// What its arguments hold.
    pub(crate) runs: Runs,
    /// Whether it changes nothing but how the program is started, so that rules need not name it.
    pub(crate) transparent: bool,
}

/// What a wrapper's arguments hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// After this many operands, a program and its arguments.
    Program {
        /// Operands of the wrapper itself.
        skip: usize,
    },
    /// The same, with assignments first, as in `env A=b program`.
    Assignments,
    /// A program, to which arguments from the standard input are added.
    Supplied,
    /// A program, to which the arguments after `:::` or the standard input are added.
    Parallel,
    /// The rest, joined with blanks, is a script.
    Joined {
        /// Operands of the wrapper itself.
        skip: usize,
    },
    /// The value of this option is a script; without it the wrapper is an ordinary program.
    Option(&'static str),
    /// After a file, a program, or `-c` and a script.
    Locked,
    /// This operand is a script.
    Operand(usize),
    /// A Bourne shell: `-c`, a file, or the standard input.
    Shell,
    /// `find` with `-exec` and its relatives.
    Find,
    /// `alias name=script`.
    Alias,
    /// With this option, a program and its arguments; without it an ordinary program.
    Flagged(&'static str),
    /// After a subcommand of its own (`uv run`), a program.
    Subcommand(&'static str),
}

const fn gnu(options: &'static str) -> Grammar {
    Grammar {
        options,
        style: Style::Gnu,
    }
}

const fn posix(options: &'static str) -> Grammar {
    Grammar {
        options,
        style: Style::Posix,
    }
}

const fn quiet(names: &'static str, options: &'static str, runs: Runs) -> Wrapper {
    Wrapper {
        names,
        options: posix(options),
        runs,
        transparent: true,
    }
}

const fn loud(names: &'static str, options: &'static str, runs: Runs) -> Wrapper {
    Wrapper {
        names,
        options: posix(options),
        runs,
        transparent: false,
    }
}

const AFTER_OPTIONS: Runs = Runs::Program { skip: 0 };

/// All wrappers.
#[rustfmt::skip]
pub(crate) static WRAPPERS: &[Wrapper] = &[
    // How a program is started: nothing else changes.
    quiet("nohup", "", AFTER_OPTIONS),
    quiet("setsid", "-c -f -w --ctty --fork --wait", AFTER_OPTIONS),
    quiet("nice", "-n: --adjustment= -0 -1 -2 -3 -4 -5 -6 -7 -8 -9", AFTER_OPTIONS),
    quiet("ionice", "-c: -n: -t --class= --classdata= --ignore", AFTER_OPTIONS),
    quiet("timeout gtimeout", "-k: -s: -v -f --kill-after= --signal= --verbose --foreground --preserve-status", Runs::Program { skip: 1 }),
    quiet("time gtime", "-p -v --verbose --portability", AFTER_OPTIONS),
    quiet("stdbuf", "-i: -o: -e: --input= --output= --error=", AFTER_OPTIONS),
    quiet("chrt", "-b -f -i -o -r -R --batch --idle --other", Runs::Program { skip: 1 }),
    quiet("taskset", "-c", Runs::Program { skip: 1 }),
    quiet("command", "-p", AFTER_OPTIONS),
    quiet("builtin", "", AFTER_OPTIONS),
    quiet("exec", "-c -l -a:", AFTER_OPTIONS),
    quiet("jobs", "-x -l -n -p -r -s", Runs::Flagged("-x")),
    quiet("caffeinate", "-d -i -m -s -u -t:", AFTER_OPTIONS),
    quiet("xvfb-run", "-a --auto-servernum", AFTER_OPTIONS),
    quiet("env", "-i -0 -u: -C: --ignore-environment --null --unset= --chdir= -v --debug", Runs::Assignments),
    quiet("chronic unbuffer eatmydata dbus-run-session systemd-inhibit", "", AFTER_OPTIONS),
    quiet("setarch linux32 linux64 i386 x86_64", "-R --addr-no-randomize", AFTER_OPTIONS),
    quiet("busybox toybox", "", AFTER_OPTIONS),
    quiet("then do else if while until", "", AFTER_OPTIONS),
    // Arguments come from elsewhere.
    quiet("xargs gxargs", "-0 -r -t -p -x -n: -P: -L: -s: -d: -E: -I: -a: -i? -l? -e? --null --no-run-if-empty --verbose --interactive --exit --max-args= --max-procs= --max-lines=? --max-chars= --delimiter= --eof=? --replace=? --arg-file= --process-slot-var=", Runs::Supplied),
    loud("parallel", "-j: -k -n: -N: -0 -I: -a: --jobs= --keep-order --halt= --bar --null --will-cite --dry-run", Runs::Parallel),
    quiet("find gfind", "", Runs::Find),
    // With other rights, or elsewhere.
    loud("sudo", "-A -b -E -H -i -K -k -n -P -S -s -C: -g: -h: -p: -r: -t: -u: -T: -D: --user= --group= --non-interactive --preserve-env --preserve-env= --set-home --login --chdir= --stdin", Runs::Assignments),
    loud("doas", "-n -L -u: -C: -s", AFTER_OPTIONS),
    loud("pkexec", "--user= --disable-internal-agent --keep-cwd", AFTER_OPTIONS),
    loud("gosu su-exec", "", Runs::Program { skip: 1 }),
    loud("setpriv capsh", "--no-new-privs --clear-groups --reuid= --regid= --init-groups", AFTER_OPTIONS),
    loud("chroot", "--userspec= --groups= --skip-chdir", Runs::Program { skip: 1 }),
    loud("unshare", "-m -u -i -n -p -U -C -f -r -c --mount --uts --ipc --net --pid --user --cgroup --fork --map-root-user --mount-proc", AFTER_OPTIONS),
    loud("nsenter", "-t: -a -m -u -i -n -p -U -C --target= --all --mount --uts --ipc --net --pid --user", AFTER_OPTIONS),
    loud("systemd-run", "--user --system --scope --wait --pty -P -t -q --collect -G --quiet --unit= -p: --property=", AFTER_OPTIONS),
    loud("firejail bwrap fakeroot proot", "", AFTER_OPTIONS),
    loud("torsocks proxychains proxychains4", "-q", AFTER_OPTIONS),
    // Watching or tracing.
    quiet("watch", "-d -n: -t -b -e -g -c -x -p -q: --interval= --differences --no-title --beep --errexit --chgexit --color --exec --precise", Runs::Joined { skip: 0 }),
    quiet("entr", "-a -c -d -n -p -r -s -z", AFTER_OPTIONS),
    loud("strace ltrace", "-f -ff -c -C -t -tt -ttt -T -v -y -yy -x -q -qq -e: -s: -p: -u: -a: -o:", AFTER_OPTIONS),
    loud("valgrind rr perf", "", AFTER_OPTIONS),
    // A lock or a terminal around it.
    quiet("flock", "-s -x -e -u -n -w: -o -E: -F --shared --exclusive --unlock --nonblock --nb --timeout= --close --no-fork --conflict-exit-code=", Runs::Locked),
    Wrapper { names: "script", options: gnu("-a -c: -e -f -q -t? --append --command= --return --flush --quiet"), runs: Runs::Option("-c --command"), transparent: true },
    Wrapper { names: "su runuser", options: gnu("-c: -l -m -p -s: -g: -G: -u: -f - --command= --login --shell= --preserve-environment"), runs: Runs::Option("-c --command"), transparent: false },
    Wrapper { names: "nix-shell", options: gnu("-p: --run= --command= --pure --packages="), runs: Runs::Option("--run --command"), transparent: false },
    // Builtins that evaluate text.
    quiet("eval", "", Runs::Joined { skip: 0 }),
    quiet("trap", "-l -p", Runs::Operand(0)),
    quiet("alias", "-p", Runs::Alias),
    // Shells.
    quiet("sh bash dash ash zsh ksh mksh ksh93 yash posh rbash", "", Runs::Shell),
    // Tools of languages that run a program of the project's environment.
    quiet("uv", "", Runs::Subcommand("run")),
    quiet("poetry pipenv pdm hatch rye", "", Runs::Subcommand("run")),
    quiet("bundle", "", Runs::Subcommand("exec")),
    quiet("cross-env dotenv", "", Runs::Assignments),
];

/// The wrapper with this name.
pub(crate) fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS
        .iter()
        .find(|wrapper| wrapper.names.split(' ').any(|known| known == name))
}
