//! A permitted command as a stage takes it: its words, its environment, its way to the network.

use super::packages;

use ringfence_policy::action::RunCommand;
use ringfence_policy::permissions::{Network, TmpPolicy};
use ringfence_policy::permit::Confinement;

use crate::backend::Backend;
use crate::error::LaunchError;
use crate::net::{self, Outlet};
use crate::warden::CERTIFICATES_INSIDE;

pub(super) fn argv(command: &RunCommand) -> Result<Vec<Vec<u8>>, LaunchError> {
    let argv = command.line.argv();
    match argv.first() {
        None => return Err(LaunchError::EmptyCommand),
        Some(program) if program.is_empty() => return Err(LaunchError::EmptyCommand),
        Some(_) => {}
    }
    argv.into_iter()
        .map(|word| without_nul(word.into_bytes()))
        .collect()
}

/// The command's environment, with the marks of the fence in it.
pub(super) fn environment(
    command: &RunCommand,
    confinement: &Confinement,
    backend: Backend,
    outlet: Option<&Outlet>,
    has_certificates: bool,
) -> Result<Vec<Vec<u8>>, LaunchError> {
    let mut environment = command.environment.clone();
    if let Confinement::Fenced { sandbox, .. } = confinement {
        environment.insert("RINGFENCE_SANDBOX".to_owned(), backend.name().to_owned());
        if sandbox.network == Network::Off {
            environment.insert(
                "RINGFENCE_SANDBOX_NETWORK_DISABLED".to_owned(),
                "1".to_owned(),
            );
        }
        packages::add(sandbox, &mut environment);
        // A temporary folder elsewhere cannot be written.
        if sandbox.tmp == TmpPolicy::Private && environment.contains_key("TMPDIR") {
            environment.insert("TMPDIR".to_owned(), "/tmp".to_owned());
        }
    }
    if let Some(outlet) = outlet {
        if has_certificates {
            let variables = net::certificate_variables(CERTIFICATES_INSIDE);
            environment.extend(
                variables
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value)),
            );
        }
        let java = environment.get("JAVA_TOOL_OPTIONS").map(String::as_str);
        let variables = net::proxy_variables(outlet.port(), java);
        environment.extend(
            variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
    }
    environment
        .iter()
        .map(|(name, value)| without_nul(format!("{name}={value}").into_bytes()))
        .collect()
}

fn without_nul(bytes: Vec<u8>) -> Result<Vec<u8>, LaunchError> {
    if bytes.contains(&0) {
        Err(LaunchError::NulInArgument)
    } else {
        Ok(bytes)
    }
}
