//! Package managers and build tools. They run the project's own code, which is fine inside the
//! fence; publishing, and installing for the whole machine, is not.

use crate::classify::{
    Class::{ReadOnly, Safe, Suspicious, Unknown},
    table::{Operands, Tool, mark, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(Unknown, "npm", "a subcommand that is not known").alone(ReadOnly).operands(Operands::Ignored).marks(NPM_MARKS).first(NPM_OPTIONS).subcommands(NPM),
    tool(Safe, "yarn pnpm", "it manages packages and runs the project's scripts").alone(Safe).operands(Operands::Ignored).marks(NPM_MARKS).first(NPM_OPTIONS).subcommands(NPM),
    tool(Unknown, "npx pnpx bunx yarnpkg corepack uvx", "it downloads and runs a package").operands(Operands::Ignored),
    tool(Safe, "pip uv", "it manages packages").alone(ReadOnly).operands(Operands::Ignored).subcommands(&[
        tool(ReadOnly, "list show freeze check help debug inspect index tree version", "it lists packages").operands(Operands::Ignored),
        tool(Safe, "install download wheel sync lock add remove venv pip build run", "it installs packages").operands(Operands::Ignored).marks(&[
            mark(Suspicious, "--break-system-packages --index-url -i --extra-index-url --trusted-host --target --prefix --root --publish-url", "it installs elsewhere, or from elsewhere"),
        ]),
        tool(Unknown, "uninstall cache tool python self", "it removes packages").operands(Operands::Ignored),
        tool(Suspicious, "config publish", "it changes settings, or publishes").operands(Operands::Ignored),
    ]),
    tool(Unknown, "pipx conda mamba", "it installs packages").operands(Operands::Ignored),
    tool(Safe, "poetry pipenv pdm hatch rye bundle", "it manages the project's packages").operands(Operands::Ignored).subcommands(&[
        tool(ReadOnly, "show check list version info", "it lists packages").operands(Operands::Ignored),
        tool(Suspicious, "publish config", "it publishes, or changes settings").operands(Operands::Ignored),
    ]),
    tool(Unknown, "cargo", "a subcommand that is not known").alone(Safe).first("-v -vv -q -V -Z: -C: --verbose --quiet --version --list --color= --locked --offline --frozen --config= --explain= +stable +nightly")
        .marks(&[mark(Suspicious, "--config -Z", "a setting can make cargo run a program")])
        .subcommands(&[
            tool(Safe, "metadata tree search info pkgid locate-project read-manifest verify-project version help", "it prints facts about the project").operands(Operands::Ignored),
            tool(Safe, "build b check c test t run r bench clippy doc d fmt fetch update generate-lockfile vendor clean new init add remove rm nextest expand machete audit deny outdated llvm-cov miri insta fix package tarpaulin hack udeps bloat", "it builds or tests the project").operands(Operands::Ignored).marks(&[
                mark(Suspicious, "--config -Z", "a setting can make cargo run a program"),
                mark(Unknown, "--manifest-path --target-dir", "it builds something else, or elsewhere"),
            ]),
            tool(Unknown, "install uninstall", "it installs programs for the user").operands(Operands::Ignored),
            tool(Suspicious, "publish yank owner login logout", "it publishes").operands(Operands::Ignored),
        ]),
    tool(Safe, "rustc rustfmt rustdoc clippy-driver", "it compiles or formats").operands(Operands::Ignored).marks(&[mark(Unknown, "-o --out-dir -C -Z --emit", "it writes where its options say, or runs a linker")]),
    tool(Unknown, "rustup", "it manages toolchains").alone(ReadOnly).subcommands(&[tool(ReadOnly, "show which doc", "it shows toolchains").operands(Operands::Ignored)]),
    tool(Unknown, "go", "a subcommand that is not known").alone(ReadOnly).subcommands(&[
        tool(ReadOnly, "version help", "it prints facts").operands(Operands::Ignored),
        tool(Safe, "list doc", "it prints facts about the project").operands(Operands::Ignored).marks(&[mark(Suspicious, "-exec -toolexec -overlay -modfile", "it runs another program")]),
        tool(ReadOnly, "env", "it prints settings").operands(Operands::Ignored).marks(&[mark(Suspicious, "-w -u", "it changes settings")]),
        tool(Safe, "build test run vet fmt mod work clean", "it builds or tests the project").operands(Operands::Ignored).marks(&[
            mark(Suspicious, "-exec -toolexec -overlay -vettool -ldflags -gcflags", "it runs another program"),
        ]),
        tool(Unknown, "install get generate tool", "it installs, or runs programs that comments name").operands(Operands::Ignored),
    ]),
    tool(Safe, "gofmt", "it formats").marks(&[mark(Safe, "-w", "it changes files in place")]),
    tool(Safe, "make gmake ninja cmake ctest meson just task rake mage bazel bazelisk buck2 pants scons invoke tox nox earthly", "it builds the project").operands(Operands::Targets).marks(&[
        mark(Unknown, "-f --file --makefile --justfile -C --directory -B --eval", "it builds something else"),
        mark(Unknown, "-E", "it runs another program"),
    ]),
    tool(Safe, "mvn mvnw gradle gradlew ant sbt lein clj mill", "it builds the project").operands(Operands::Ignored).marks(&[
        mark(Unknown, "-f --file -s --settings -I --init-script -b --build-file", "it builds something else"),
    ]),
    tool(Safe, "dotnet", "it builds the project").alone(ReadOnly).operands(Operands::Ignored).subcommands(&[
        tool(Safe, "build test run restore clean format add remove list new sln", "it builds or tests the project").operands(Operands::Ignored),
        tool(Suspicious, "nuget publish tool", "it publishes or installs").operands(Operands::Ignored),
    ]),
    tool(Safe, "jest vitest mocha ava tap karma cypress playwright pytest py.test unittest nosetests phpunit rspec tsc eslint prettier biome black ruff flake8 mypy pyright isort pylint rubocop shellcheck stylelint vite webpack rollup esbuild parcel turbo nx lerna next swc tsup hadolint yamllint markdownlint golangci-lint staticcheck", "it tests, checks or builds the project").operands(Operands::Ignored),
    tool(Unknown, "composer gem mix rebar3 cabal stack opam luarocks cpan cpanm swift xcodebuild pod flutter dart zig nim crystal terraform tofu ansible ansible-playbook pulumi helm kustomize packer vagrant serverless sam cdk", "it installs, builds or deploys").operands(Operands::Ignored),
    tool(Suspicious, "apt apt-get aptitude dpkg yum dnf rpm zypper pacman yay apk emerge brew port snap flatpak nix nix-env pkg winget choco scoop", "it installs programs for the whole machine").operands(Operands::Ignored).alone(ReadOnly).subcommands(&[
        tool(ReadOnly, "list search show info policy depends rdepends", "it lists packages").operands(Operands::Ignored),
    ]),
    tool(ReadOnly, "apt-cache dpkg-query", "it lists packages").operands(Operands::Ignored).marks(&[mark(Unknown, "-o -c --option --config-file --admindir", "it reads other settings")]),
];

const NPM_OPTIONS: &str = "-s -q -d -g -C: -v -h --silent --quiet --loglevel= --version --help --prefix= --cwd= --workspace= -w: --workspaces --include-workspace-root --no-audit --no-fund --json --global --script-shell= --registry= --dir= -r -F: --filter= --recursive --if-present --prefer-offline --offline --yes -y";

#[rustfmt::skip]
const NPM_MARKS: &[crate::classify::table::Mark] = &[
    mark(Suspicious, "--script-shell --registry", "it runs another shell, or installs from elsewhere"),
    mark(Suspicious, "-g --global", "it installs for the whole machine"),
    mark(Unknown, "-C --prefix --cwd --dir", "it works in another folder"),
];

#[rustfmt::skip]
const NPM: &[Tool] = &[
    tool(ReadOnly, "ls list ll la outdated view info show v why explain root bin prefix search help licenses doctor query fund", "it lists packages").operands(Operands::Ignored),
    tool(Safe, "install i ci add in remove uninstall rm un update up upgrade dedupe prune rebuild link test t tst run run-script start stop restart build init pack audit version lint format dev check typecheck", "it installs packages or runs the project's scripts").operands(Operands::Ignored).marks(&[
        mark(Suspicious, "-g --global --location --script-shell --registry", "it installs for the whole machine, or from elsewhere"),
    ]),
    tool(Unknown, "exec x dlx create", "it downloads and runs a package").operands(Operands::Ignored),
    tool(Suspicious, "publish unpublish deprecate access owner adduser login logout token dist-tag star unstar team org hook config c set profile", "it publishes, or changes settings").operands(Operands::Ignored),
];
