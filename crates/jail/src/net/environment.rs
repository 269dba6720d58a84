//! The variables that tell programs of a proxy. There is no one way: each family of programs has
//! names of its own.

use super::OUTLETS;

/// The variables for a proxy on a port of the address that outlets have. What a command's environment says about
/// proxies is replaced by them: no other proxy can be reached from inside.
pub fn proxy_variables(port: u16, java_options: Option<&str>) -> Vec<(&'static str, String)> {
    let proxy = format!("http://{OUTLETS}:{port}");
    // The session's own servers are reached without a proxy.
    let direct = "localhost,127.0.0.1,::1";
    let mut variables: Vec<(&'static str, String)> = [
        // curl reads the small `http_proxy` only; most others read either.
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "ftp_proxy",
        "FTP_PROXY",
        "grpc_proxy",
        // A proxy for everything that has none of its own. Not `socks5h`, though it is answered:
        // some HTTP libraries refuse to start when they see it and lack a package for it.
        "all_proxy",
        "ALL_PROXY",
        "CARGO_HTTP_PROXY",
        "PIP_PROXY",
        "npm_config_proxy",
        "npm_config_https_proxy",
        "YARN_HTTP_PROXY",
        "YARN_HTTPS_PROXY",
    ]
    .into_iter()
    .map(|name| (name, proxy.clone()))
    .collect();
    variables.extend(
        ["no_proxy", "NO_PROXY", "npm_config_noproxy"].map(|name| (name, direct.to_owned())),
    );
    // Node looks at the variables above only if it is told to.
    variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    variables.push(("RSYNC_PROXY", format!("{OUTLETS}:{port}")));
    variables.push(("JAVA_TOOL_OPTIONS", java(port, java_options)));
    variables
}

/// The variables that tell programs which certificates to trust.
pub fn certificate_variables(bundle: &str) -> Vec<(&'static str, String)> {
    [
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "REQUESTS_CA_BUNDLE",
        "PIP_CERT",
        "NODE_EXTRA_CA_CERTS",
        "npm_config_cafile",
        "CARGO_HTTP_CAINFO",
        "AWS_CA_BUNDLE",
        "DENO_CERT",
    ]
    .into_iter()
    .map(|name| (name, bundle.to_owned()))
    .collect()
}

/// Java reads no variables, but options from this one.
fn java(port: u16, before: Option<&str>) -> String {
    let own = format!(
        "-Dhttp.proxyHost={OUTLETS} -Dhttp.proxyPort={port} -Dhttps.proxyHost={OUTLETS} \
         -Dhttps.proxyPort={port} -Dhttp.nonProxyHosts=localhost|127.*|[::1]"
    );
    match before {
        Some(before) if !before.is_empty() => format!("{before} {own}"),
        _ => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_of_programs_is_told() {
        let variables = proxy_variables(4711, Some("-Xmx1g"));
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        for name in ["http_proxy", "HTTPS_PROXY", "ALL_PROXY", "CARGO_HTTP_PROXY"] {
            assert_eq!(value(name), "http://127.82.70.1:4711", "{name}");
        }
        assert!(value("JAVA_TOOL_OPTIONS").starts_with("-Xmx1g -Dhttp.proxyHost=127.82.70.1"));
        assert_eq!(value("NODE_USE_ENV_PROXY"), "1");
        assert!(value("NO_PROXY").contains("localhost"));
    }
}
