//! The moment in which a waiting stage becomes a running command.

use std::io;
use std::os::fd::AsFd;

use crate::backend::{Backend, Holder, Site};
use crate::error::LaunchError;
use crate::line::{self, Stage};
use crate::process::{Output, Process};
use crate::terminal::Terminal;
use crate::warden::protocol::{self, Launch, Report};

use super::stdio::{Io, ends};

/// Hands the launch to the stage and waits for its word. None if the stage has given up waiting.
pub(super) async fn start(
    stage: Stage,
    launch: &Launch,
    io: Io,
    site: &Site,
    holder: Holder,
) -> Result<Option<Process>, LaunchError> {
    let backend = site.backend();
    let Stage {
        launch: launcher,
        control: socket,
        pidfd,
        ..
    } = stage;
    let (mut ends, input, output) = ends(io).map_err(LaunchError::Warden)?;
    // What `bwrap` has to say comes here, if it gives up before our program runs in it.
    let complaints = protocol::file_of(&[]).map_err(LaunchError::Warden)?;
    if backend == Backend::Bubblewrap {
        ends.push(complaints.try_clone().map_err(LaunchError::Warden)?);
    }
    let borrowed: Vec<_> = ends.iter().map(AsFd::as_fd).collect();
    match protocol::send(&launcher, launch, &borrowed) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(None),
        other => other.map_err(LaunchError::Warden)?,
    }
    drop((ends, launcher));
    match line::receive::<Report>(&socket)
        .await
        .map_err(LaunchError::Warden)?
    {
        Some((Report::Started, along)) => {
            let mut along = along.into_iter();
            let output = if let Some(output) = output {
                output
            } else {
                let terminal = along.next().ok_or(LaunchError::WardenGone)?;
                Output::Terminal(Terminal::new(terminal).map_err(LaunchError::Warden)?)
            };
            let first = along.next().unwrap_or(pidfd);
            let process = Process::new(socket, (first, site.kin()), holder, input, output);
            Ok(Some(process))
        }
        Some((Report::Failed(failure), _)) => Err(LaunchError::from(failure)),
        None if backend == Backend::Bubblewrap => {
            let said = protocol::read_file(&complaints).map_err(LaunchError::Warden)?;
            let said = String::from_utf8_lossy(&said).trim().to_owned();
            Err(LaunchError::Bubblewrap(said))
        }
        Some((Report::Exited { .. } | Report::Over { .. }, _)) | None => {
            Err(LaunchError::WardenGone)
        }
    }
}
