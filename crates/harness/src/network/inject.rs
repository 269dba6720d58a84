//! Headers that are added to requests on their way out, so that a command uses a service without
//! holding its secret.

use std::collections::{BTreeMap, BTreeSet};

use ringfence_jail::net::{Header, HeaderError};
use ringfence_policy::action::Connect;
use ringfence_policy::host::{HostError, Protocol};
use ringfence_policy::rule::HostPattern;
use thiserror::Error;

use super::mask::Mask;
use crate::config::NetworkConfig;

/// Why a header cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InjectError {
    /// What it is for is no host.
    #[error("`network.inject`: `{host}` is no host: {problem}")]
    Host {
        /// The host.
        host: String,
        /// What is wrong.
        problem: HostError,
    },
    /// It is no header.
    #[error("`network.inject`: the header for {host} cannot be used: {problem}")]
    Header {
        /// The host.
        host: String,
        /// What is wrong.
        problem: HeaderError,
    },
    /// A variable is not there.
    #[error(
        "`network.inject`: the header for {host} needs the variable {variable}, which is not set \
         where ringfence runs"
    )]
    Variable {
        /// The host.
        host: String,
        /// The variable.
        variable: String,
    },
    /// A `${` that is not closed.
    #[error("`network.inject`: the header for {host} has a `${{` without its `}}`")]
    Open {
        /// The host.
        host: String,
    },
}

/// The headers of a session, by the hosts that they are for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Injections {
    headers: Vec<(HostPattern, Header, Mask)>,
    variables: BTreeSet<String>,
    inside_tls: bool,
}

impl Injections {
    /// Reads the configuration's table, and the variables that it names.
    pub(crate) fn read(
        config: &NetworkConfig,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, InjectError> {
        let mut injections = Self {
            inside_tls: config.terminate_tls,
            ..Self::default()
        };
        for (host, written) in &config.inject {
            let pattern = HostPattern::parse(host).map_err(|problem| InjectError::Host {
                host: host.clone(),
                problem,
            })?;
            let (filled, values) = injections.fill(host, written, environment)?;
            let header = Header::parse(&filled).map_err(|problem| InjectError::Header {
                host: host.clone(),
                problem,
            })?;
            let mask = Mask::of_header(&filled, values);
            injections.headers.push((pattern, header, mask));
        }
        Ok(injections)
    }

    /// The text with its variables filled in, and their values.
    fn fill(
        &mut self,
        host: &str,
        written: &str,
        environment: &BTreeMap<String, String>,
    ) -> Result<(String, Vec<String>), InjectError> {
        let (mut filled, mut values) = (String::new(), Vec::new());
        let mut rest = written;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, behind) = after.split_once('}').ok_or_else(|| InjectError::Open {
                host: host.to_owned(),
            })?;
            let value = environment.get(name).ok_or_else(|| InjectError::Variable {
                host: host.to_owned(),
                variable: name.to_owned(),
            })?;
            filled.push_str(before);
            filled.push_str(value);
            values.push(value.clone());
            self.variables.insert(name.to_owned());
            rest = behind;
        }
        filled.push_str(rest);
        Ok((filled, values))
    }

    /// Whether a header is made from this variable.
    pub(crate) fn uses(&self, variable: &str) -> bool {
        self.variables.contains(variable)
    }

    /// The headers for a connection. Where they can go inside TLS, one goes in the clear only if
    /// the port was named: a command could choose to have it read on the way otherwise.
    pub(crate) fn for_connection(&self, connect: &Connect) -> Vec<Header> {
        let chosen = self.chosen(connect, self.inside_tls);
        chosen.map(|(header, _)| header.clone()).collect()
    }

    /// The headers for a request that the harness sends itself, which is always able to do so inside
    /// TLS, and what has to be taken out of the answer.
    pub(crate) fn for_request(&self, connect: &Connect) -> (Vec<Header>, Mask) {
        let (mut headers, mut mask) = (Vec::new(), Mask::default());
        for (header, own) in self.chosen(connect, true) {
            headers.push(header.clone());
            mask.extend(own);
        }
        (headers, mask)
    }

    fn chosen(
        &self,
        connect: &Connect,
        inside_tls: bool,
    ) -> impl Iterator<Item = (&Header, &Mask)> {
        let covered = self
            .headers
            .iter()
            .filter(|(pattern, ..)| pattern.covers(&connect.host, connect.port, connect.protocol));
        let protocol = connect.protocol;
        covered
            .filter(move |(pattern, ..)| match protocol {
                Protocol::Https => inside_tls,
                Protocol::Http => !inside_tls || !pattern.ports.is_empty(),
                Protocol::Tcp => false,
            })
            .map(|(_, header, mask)| (header, mask))
    }
}

#[cfg(test)]
mod tests {
    use ringfence_policy::host::Host;

    use super::*;
    use crate::config::Config;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn named(injections: &Injections, host: &str, port: u16, protocol: Protocol) -> Vec<String> {
        let connect = Connect {
            tool: "bash".to_owned(),
            host: Host::parse(host).unwrap(),
            port,
            protocol,
        };
        let headers = injections.for_connection(&connect);
        headers
            .iter()
            .map(|header| header.name().to_owned())
            .collect()
    }

    #[test]
    fn a_header_goes_to_its_host_and_to_no_other() {
        use Protocol::{Http, Https, Tcp};
        let config = |terminate_tls, pairs: &[(&str, &str)]| NetworkConfig {
            inject: map(pairs),
            terminate_tls,
            ..Config::default().network
        };
        let table = [
            ("api.example.com", "Authorization: Bearer ${TOKEN}"),
            ("*.example.org:8080", "X-Key: ${A}-${B}"),
        ];
        let environment = map(&[("TOKEN", "t0ken"), ("A", "a"), ("B", "b")]);
        let clear = Injections::read(&config(false, &table), &environment).unwrap();
        let inside = Injections::read(&config(true, &table), &environment).unwrap();
        for (host, port, protocol, in_clear, in_tls) in [
            ("api.example.com", 80, Http, "Authorization", ""),
            ("api.example.com", 443, Https, "", "Authorization"),
            ("api.example.com", 443, Tcp, "", ""),
            ("example.com", 80, Http, "", ""),
            ("evil-api.example.com", 80, Http, "", ""),
            ("a.example.org", 8080, Http, "X-Key", "X-Key"),
            ("a.example.org", 80, Http, "", ""),
        ] {
            assert_eq!(
                named(&clear, host, port, protocol).join(","),
                in_clear,
                "{host}:{port}"
            );
            assert_eq!(
                named(&inside, host, port, protocol).join(","),
                in_tls,
                "{host}:{port}"
            );
        }
        assert!(clear.uses("TOKEN") && clear.uses("B") && !clear.uses("HOME"));
        assert!(!format!("{clear:?}").contains("t0ken"));
    }

    #[test]
    fn what_cannot_be_added_is_an_error_that_names_it() {
        for (host, header, expected) in [
            ("a.com", "X: ${MISSING}", "needs the variable MISSING"),
            ("a.com", "X: ${TOKEN", "has a `${` without its `}`"),
            ("a.com", "no header", "does not read `Name: value`"),
            ("a.com", "X: ${BREAK}", "line break"),
            ("a b.com", "X: y", "`a b.com` is no host"),
        ] {
            let environment = map(&[("TOKEN", "t"), ("BREAK", "a\r\nHost: evil")]);
            let config = NetworkConfig {
                inject: map(&[(host, header)]),
                ..Config::default().network
            };
            let error = Injections::read(&config, &environment).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
