//! The table of presets: a row for each package manager.

use super::{
    Own, Preset, Variable,
    When::{Always, OnceUsed},
};

const NPM_REGISTRY: &str = "registry.npmjs.org:443";
const PYPI: &[&str] = &["pypi.org:443", "files.pythonhosted.org:443"];
const MAVEN_CENTRAL: &[&str] = &["repo.maven.apache.org:443", "repo1.maven.org:443"];

const fn always(name: &'static str, value: &'static str, why: &'static str) -> Variable {
    Variable {
        name,
        value,
        when: Always,
        why,
    }
}

const fn once_used(name: &'static str, value: &'static str, why: &'static str) -> Variable {
    Variable {
        name,
        value,
        when: OnceUsed,
        why,
    }
}

const NOTHING: Preset = Preset {
    name: "",
    also: &[],
    hosts: &[],
    own: None,
    variables: &[],
    hurried: &[],
    links: &[],
};

/// Every preset. Where several reach a host, the first is the one that is offered.
#[rustfmt::skip]
pub const TABLE: &[Preset] = &[
    Preset { name: "npm", hosts: &[NPM_REGISTRY],
        variables: &[always("npm_config_cache", "{cache}", "without a cache that can be written npm does not start")],
        hurried: &[("npm_config_fetch_retries", "0"), ("npm_config_update_notifier", "false")],
        ..NOTHING },
    Preset { name: "pip", hosts: PYPI,
        variables: &[always("PIP_CACHE_DIR", "{cache}", "pip goes on without a cache, and downloads everything again")],
        hurried: &[("PIP_RETRIES", "0"), ("PIP_DISABLE_PIP_VERSION_CHECK", "1")],
        ..NOTHING },
    Preset { name: "cargo", hosts: &["index.crates.io:443", "static.crates.io:443"],
        own: Some(Own { variables: &[("CARGO_HOME", "")], in_home: ".cargo" }),
        variables: &[once_used("CARGO_HOME", "{cache}", "there is no variable for the registry alone. What cargo has downloaded for you can be read, and is enough for a build without a network")],
        hurried: &[("CARGO_NET_RETRY", "0")],
        links: &["config.toml", "config"],
        ..NOTHING },
    Preset { name: "go", hosts: &["proxy.golang.org:443", "sum.golang.org:443"],
        own: Some(Own { variables: &[("GOMODCACHE", ""), ("GOPATH", "pkg/mod")], in_home: "go/pkg/mod" }),
        variables: &[
            always("GOCACHE", "{cache}/build", "without a build cache that can be written go does not build"),
            always("GOMODCACHE", "{cache}/mod", "GOPATH stays yours: programs that were installed are there"),
            always("GOFLAGS", "-buildvcs=false", "where there is no repository its name is held by an empty folder, which go takes for a broken one"),
            always("GOPROXY", "[file://{own}/cache/download,]https://proxy.golang.org,direct", "modules that you have are taken from your own cache, which is read as a proxy, and checked against go.sum as any"),
        ],
        ..NOTHING },
    Preset { name: "maven", also: &["mvn"], hosts: MAVEN_CENTRAL,
        own: Some(Own { variables: &[], in_home: ".m2/repository" }),
        variables: &[always("MAVEN_OPTS", "-Dmaven.repo.local={cache}[ -Dmaven.repo.local.tail={own}] -Daether.connector.http.useSystemProperties=true -Daether.transport.http.useSystemProperties=true", "Maven has options and no variable. Since 3.9 it reads your own repository behind this one; the last two make it use the proxy")],
        ..NOTHING },
    Preset { name: "gradle", hosts: &["services.gradle.org:443", "downloads.gradle.org:443", "plugins.gradle.org:443", "plugins-artifacts.gradle.org:443", MAVEN_CENTRAL[0], MAVEN_CENTRAL[1]],
        own: Some(Own { variables: &[("GRADLE_USER_HOME", "")], in_home: ".gradle" }),
        variables: &[
            always("GRADLE_USER_HOME", "{cache}", "Gradle writes locks and its daemon's state there, and does not start without"),
            always("GRADLE_RO_DEP_CACHE", "[{own}/caches]", "what you have downloaded is read from your own"),
        ],
        links: &["gradle.properties"],
        ..NOTHING },
    Preset { name: "yarn", hosts: &["registry.yarnpkg.com:443", NPM_REGISTRY, "repo.yarnpkg.com:443"],
        variables: &[
            always("YARN_CACHE_FOLDER", "{cache}/cache", "both yarns read it"),
            always("YARN_GLOBAL_FOLDER", "{cache}/global", "what yarn 2 and later keep besides"),
            once_used("COREPACK_HOME", "{cache}/corepack", "package managers that Corepack has fetched for you can be run from your own"),
        ],
        hurried: &[("YARN_HTTP_RETRY", "0")],
        ..NOTHING },
    Preset { name: "pnpm", hosts: &[NPM_REGISTRY],
        variables: &[always("PNPM_HOME", "{cache}", "its store is there; npm would complain of a variable for the store alone")],
        ..NOTHING },
    Preset { name: "bun", hosts: &[NPM_REGISTRY],
        variables: &[always("BUN_INSTALL_CACHE_DIR", "{cache}", "BUN_INSTALL stays yours: programs that were installed are there")],
        hurried: &[("BUN_CONFIG_HTTP_RETRY_COUNT", "0")],
        ..NOTHING },
    Preset { name: "deno", hosts: &["jsr.io:443", "npm.jsr.io:443", "deno.land:443", NPM_REGISTRY],
        variables: &[once_used("DENO_DIR", "{cache}", "modules that Deno has fetched for you can be read from your own")],
        ..NOTHING },
    Preset { name: "uv", hosts: PYPI,
        variables: &[always("UV_CACHE_DIR", "{cache}", "without a cache that can be written uv does not start")],
        hurried: &[("UV_HTTP_RETRIES", "0")],
        ..NOTHING },
    Preset { name: "poetry", hosts: PYPI,
        variables: &[once_used("POETRY_CACHE_DIR", "{cache}", "the environments of your projects are below it, and can be run from your own")],
        hurried: &[("POETRY_REQUESTS_MAX_RETRIES", "0")],
        ..NOTHING },
    Preset { name: "composer", hosts: &["repo.packagist.org:443", "packagist.org:443", "api.github.com:443", "codeload.github.com:443"],
        variables: &[always("COMPOSER_CACHE_DIR", "{cache}", "COMPOSER_HOME stays yours: its settings are there")],
        ..NOTHING },
    Preset { name: "bundler", also: &["gem"], hosts: &["rubygems.org:443", "index.rubygems.org:443"],
        variables: &[
            always("BUNDLE_USER_CACHE", "{cache}/bundle", "gems that were installed stay where they are"),
            always("GEM_SPEC_CACHE", "{cache}/specs", "what `gem` downloads to look things up"),
        ],
        hurried: &[("BUNDLE_RETRY", "0")],
        ..NOTHING },
    Preset { name: "nuget", hosts: &["api.nuget.org:443"],
        own: Some(Own { variables: &[("NUGET_PACKAGES", "")], in_home: ".nuget/packages" }),
        variables: &[
            always("NUGET_PACKAGES", "{cache}/packages", "packages are unpacked there before anything is built"),
            always("NUGET_FALLBACK_PACKAGES", "[{own}]", "what you have downloaded is read from your own"),
            always("NUGET_HTTP_CACHE_PATH", "{cache}/http", "what it was answered"),
        ],
        hurried: &[("NUGET_ENHANCED_MAX_NETWORK_TRY_COUNT", "1")],
        ..NOTHING },
];
