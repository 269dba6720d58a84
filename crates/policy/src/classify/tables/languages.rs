//! Interpreters and compilers. A program file of the project may run inside the fence; code in an
//! argument is not understood.

use crate::classify::{
    Class::{ReadOnly, Safe, Suspicious, Unknown},
    table::{Operands, Tool, mark, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(Safe, "python pypy", "it runs a program").operands(Operands::Script).alone(Unknown).first("-b -B -d -E -i -I -O -OO -q -s -S -u -v -V -x -h -W: -X: -c: -m: --version --help").marks(&[
        mark(Unknown, "-c", "it runs code in its arguments"),
        mark(Safe, "-m", "it runs a module"),
        mark(ReadOnly, "-V --version -h --help", "it prints its version"),
    ]),
    tool(Safe, "node nodejs", "it runs a program").operands(Operands::Script).alone(Unknown).first("-e: -p: -c -i -v -h -r: -C: -pe: --eval= --print= --check --version --help --test --watch --import= --require= --loader= --experimental-vm-modules --experimental-strip-types --no-warnings --enable-source-maps --inspect=? --inspect-brk=? --max-old-space-size= --trace-warnings --env-file= --run=").marks(&[
        mark(Unknown, "-e -p -pe --eval --print", "it runs code in its arguments"),
        mark(Unknown, "-r --require --import --loader", "it loads another module first"),
        mark(Unknown, "--inspect --inspect-brk", "it opens a port that can run code"),
    ]),
    tool(Unknown, "deno bun", "it runs a program").operands(Operands::Script),
    tool(Safe, "perl ruby php lua luajit tsx ts-node", "it runs a program").first("-w -v -V --version").operands(Operands::Script).alone(Unknown),
    tool(Unknown, "tclsh wish expect osascript Rscript R julia groovy scala kotlin jshell irb ghci runghc guile racket sbcl clisp swipl octave erl elixir iex gdb lldb", "it runs a program").operands(Operands::Script),
    tool(Safe, "java", "it runs a program").operands(Operands::Read).marks(&[
        mark(Unknown, "-javaagent -agentlib -agentpath", "it loads another library"),
    ]),
    tool(Safe, "javac kotlinc scalac ghc ocamlc ocamlopt", "it compiles").operands(Operands::Ignored),
    tool(Safe, "gcc g++ cc c++ clang clang++ ld as cpp", "it compiles").operands(Operands::Read).marks(&[
        crate::classify::table::output("-o"),
        mark(Suspicious, "-wrapper -fplugin -specs -B -fuse-ld", "it runs or loads something else"),
    ]),
    tool(Unknown, "m4 dc", "its language can run programs").operands(Operands::Ignored),
    tool(Unknown, "sqlite3 psql mysql mariadb mongosh redis-cli duckdb clickhouse-client", "a database client can change data, write files and run programs").operands(Operands::Ignored),
];
