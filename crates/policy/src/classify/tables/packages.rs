//! Package managers and build tools. They run the project's own code, which is fine inside the
//! fence; publishing, and installing for the whole machine, is not.

use crate::classify::{
    Class::{ReadOnly, Safe, Suspicious, Unknown},
    table::{Operands, Tool, mark, mode, output, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(Unknown, "npm", "a subcommand that is not known").alone(Safe).operands(Operands::Ignored).marks(NPM_MARKS).first(NPM_OPTIONS).subcommands(NPM),
    tool(Safe, "yarn pnpm", "it manages packages and runs the project's scripts").alone(Safe).operands(Operands::Ignored).marks(NPM_MARKS).first(NPM_OPTIONS).subcommands(NPM),
    tool(Unknown, "npx pnpx bunx yarnpkg corepack uvx", "it downloads and runs a package").operands(Operands::Ignored),
    tool(Unknown, "pip", "it manages packages").alone(ReadOnly).operands(Operands::Ignored).first("-h -V -q -v --help --version --quiet --verbose --disable-pip-version-check --no-color --no-input --isolated").subcommands(&[
        tool(ReadOnly, "list show freeze check help inspect", "it lists packages").operands(Operands::Ignored).only("-e -f -l -h -q -v --all --editable --exclude= --exclude-editable --files --format= --include-editable --local --not-required --path= --user --verbose --quiet --disable-pip-version-check --no-color --no-input --help"),
        tool(Safe, "install download wheel", "it installs packages").operands(Operands::Ignored).only("-c: -e: -f: -h -I -q -r: -t: -U -v --build-option= --constraint= --editable= --disable-pip-version-check --dry-run --extra-index-url= --find-links= --force-reinstall --group= --ignore-installed --index-url= -i: --no-binary= --no-build-isolation --no-cache-dir --no-color --no-deps --no-index --no-input --no-warn-script-location --only-binary= --pre --prefer-binary --prefix= --progress-bar= --quiet --require-virtualenv --requirement= --root= --target= --trusted-host= --upgrade --upgrade-strategy= --user --verbose -d: -w: --dest= --wheel-dir= --break-system-packages --report=").marks(&[
            mark(Suspicious, "--break-system-packages --index-url -i --extra-index-url --trusted-host --target -t --prefix --root", "it installs elsewhere, or from elsewhere"),
            output("-d -w --dest --wheel-dir --report"),
        ]),
        tool(Unknown, "uninstall cache index debug hash search completion", "it removes packages, or talks to another machine").operands(Operands::Ignored),
        tool(Suspicious, "config", "it changes settings").operands(Operands::Ignored),
    ]),
    tool(Unknown, "uv", "it manages packages").alone(ReadOnly).operands(Operands::Ignored).first("-h -q -v -V --help --version --quiet --verbose --no-progress --offline --no-cache --color=").subcommands(&[
        tool(Safe, "sync lock add remove venv build run tree version init format", "it manages the project's packages").operands(Operands::Ignored).marks(UV_MARKS),
        tool(Safe, "pip", "it manages the project's packages").operands(Operands::Ignored).marks(UV_MARKS).subcommands(&[
            tool(Safe, "install sync compile uninstall list freeze show tree check", "it manages the project's packages").operands(Operands::Ignored).marks(UV_MARKS),
        ]),
        tool(Unknown, "tool python self cache x", "it manages programs of the user").operands(Operands::Ignored),
        tool(Suspicious, "publish auth", "it publishes, or handles credentials").operands(Operands::Ignored),
    ]),
    tool(Unknown, "pipx conda mamba", "it installs packages").operands(Operands::Ignored),
    tool(Safe, "poetry pipenv pdm hatch rye bundle", "it manages the project's packages").operands(Operands::Ignored).subcommands(&[
        tool(Safe, "show check list version info", "it lists packages").operands(Operands::Ignored),
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
    tool(Unknown, "rustup", "it manages toolchains").alone(ReadOnly).first("-q -v --quiet --verbose --help --version").subcommands(&[tool(ReadOnly, "show which", "it shows toolchains").operands(Operands::Ignored).only("-v --verbose --toolchain=")]),
    tool(Unknown, "go", "a subcommand that is not known").alone(ReadOnly).first("-C:").marks(&[mark(Unknown, "-C", "it works in another folder")]).subcommands(&[
        tool(Safe, "version help", "it prints facts, and may fetch another version of itself").operands(Operands::Ignored).only("-m -v -json"),
        tool(Safe, "list doc", "it prints facts about the project").operands(Operands::Ignored).marks(&[mark(Suspicious, "-exec -toolexec -overlay -modfile", "it runs another program")]),
        tool(Safe, "env", "it prints settings").operands(Operands::Ignored).dashed("-json -changed -w -u").marks(&[mark(Suspicious, "-w -u", "it changes settings")]),
        tool(Safe, "build test run vet fmt mod work clean", "it builds or tests the project").operands(Operands::Ignored).marks(&[
            mark(Suspicious, "-exec -toolexec -overlay -vettool -ldflags -gcflags", "it runs another program"),
        ]),
        tool(Unknown, "install get generate tool", "it installs, or runs programs that comments name").operands(Operands::Ignored),
    ]),
    tool(Safe, "gofmt", "it formats").marks(&[mark(Safe, "-w", "it changes files in place")]),
    tool(Safe, "make gmake ninja ctest meson just task rake mage bazel bazelisk buck2 pants scons invoke tox nox earthly", "it builds the project").operands(Operands::Targets).marks(&[
        mark(Unknown, "-f --file --makefile --justfile -C --directory -B --eval", "it builds something else"),
        mark(Unknown, "-E", "it runs another program"),
    ]),
    tool(Safe, "cmake", "it builds the project").operands(Operands::Targets).marks(&[
        output("-B"),
        mark(Unknown, "-E -P -C -D --install --toolchain", "it runs another program, or sets one"),
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
    tool(Suspicious, "apt", "it installs programs for the whole machine").operands(Operands::Ignored).alone(ReadOnly).first("-h -v --help --version").subcommands(&[
        tool(ReadOnly, "list search show policy depends rdepends showsrc", "it lists packages").operands(Operands::Ignored).only("-a -f -i -n -q -v --all-versions --full --installed --manual-installed --names-only --no-all-versions --quiet --upgradable --verbose"),
        tool(Suspicious, "update", "it refreshes the list of packages").operands(Operands::Ignored),
    ]),
    tool(Suspicious, "dpkg", "it installs programs for the whole machine").operands(Operands::Ignored)
        .modes(&[mode(ReadOnly, "-l -L -s -S -p -C --list --listfiles --status --search --print-avail --print-architecture --get-selections --audit --compare-versions", "-l -L -s -S -p -C --list --listfiles --status --search --print-avail --print-architecture --get-selections --audit --compare-versions --no-pager", "it lists packages")]),
    tool(Suspicious, "apt-get aptitude yum dnf zypper pacman yay apk emerge port snap flatpak nix nix-env pkg winget choco scoop", "it installs programs for the whole machine").operands(Operands::Ignored).alone(ReadOnly).subcommands(&[
        tool(Unknown, "list search show info policy depends rdepends", "it lists packages").operands(Operands::Ignored),
    ]),
    tool(Suspicious, "rpm", "it installs programs for the whole machine").operands(Operands::Ignored)
        .modes(&[mode(ReadOnly, "-q --query", "-a -c -d -f -i -l -q -R --all --changelog --configfiles --docfiles --file --info --last --list --provides --query --requires", "it lists packages")]),
    tool(Suspicious, "brew", "it installs programs for the whole machine").operands(Operands::Ignored).alone(ReadOnly).first("-q -v --quiet --verbose --help --version").subcommands(&[
        tool(Safe, "list ls info search desc deps uses leaves outdated config doctor", "it lists packages").operands(Operands::Ignored).only("-1 -l -v --versions --formula --cask --full-name --installed --json=? --tree --include-build --quiet --verbose"),
    ]),
    tool(ReadOnly, "apt-cache", "it lists packages").operands(Operands::Ignored).first("-a -f -i -n -q --all-versions --full --important --installed --names-only --no-all-versions --quiet --recurse --help --version").subcommands(&[
        tool(ReadOnly, "policy show search depends rdepends showpkg madison pkgnames stats dump", "it lists packages").operands(Operands::Ignored).only("-a -f -i -n -q --all-versions --full --important --installed --names-only --no-all-versions --quiet --recurse"),
        tool(Unknown, "gencaches dotty xvcg", "it writes a cache").operands(Operands::Ignored),
    ]),
    tool(ReadOnly, "dpkg-query", "it lists packages").operands(Operands::Ignored).only("-c: -f: -l -L -p -s -S -W --control-list= --list --listfiles --print-avail --search --show --showformat= --status --no-pager --help --version"),
];

#[rustfmt::skip]
const UV_MARKS: &[crate::classify::table::Mark] = &[
    mark(Suspicious, "--index-url -i --extra-index-url --index --default-index --system --target --prefix --publish-url --break-system-packages", "it installs elsewhere, or from elsewhere"),
    mark(Unknown, "--project --directory --config-file --python -p --with", "it works in another folder, or with something else"),
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
    tool(Safe, "ls list ll la outdated view info show v why explain root bin prefix search licenses query fund", "it lists packages, and writes a log").operands(Operands::Ignored).only("-a -d -g -h -l -p -r -w: --all --depth= --dev --global --include= --json --link --long --omit= --only= --parseable --prod --production --recursive --silent --versions --workspace= --workspaces --help").marks(&[
        mark(Unknown, "-g --global", "it looks at the whole machine"),
    ]),
    tool(Unknown, "help doctor", "it runs a browser or other programs").operands(Operands::Ignored),
    tool(Safe, "install i ci add in remove uninstall rm un update up upgrade dedupe prune rebuild link test t tst run run-script start stop restart build init pack audit version lint format dev check typecheck", "it installs packages or runs the project's scripts").operands(Operands::Ignored).marks(&[
        mark(Suspicious, "-g --global --location --script-shell --registry", "it installs for the whole machine, or from elsewhere"),
    ]),
    tool(Unknown, "exec x dlx create", "it downloads and runs a package").operands(Operands::Ignored),
    tool(Suspicious, "publish unpublish deprecate access owner adduser login logout token dist-tag star unstar team org hook config c set profile", "it publishes, or changes settings").operands(Operands::Ignored),
];
