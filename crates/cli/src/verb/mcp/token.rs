//! The token that clients have to send. It comes by a file or a variable, never by an argument, which everybody
//! on the machine could read.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::own_secrets::OwnSecrets;
use crate::paint;

const VARIABLE: &str = "RINGFENCE_MCP_TOKEN";
/// Shorter ones could be guessed.
const SHORTEST: usize = 16;

/// A token, and whether somebody has to be told of it.
pub(super) struct Token {
    pub(super) text: String,
    made_up: bool,
}

/// The token that was given, or one that is made up now.
pub(super) fn find(file: Option<&Path>) -> Result<Token> {
    let given = match file {
        Some(file) => {
            let text = std::fs::read_to_string(file);
            Some(text.with_context(|| format!("the token in {} cannot be read", file.display()))?)
        }
        None => std::env::var(VARIABLE).ok(),
    };
    let Some(given) = given else {
        let text = ringfence_mcp::secret().context("no token can be made up")?;
        return Ok(Token {
            text,
            made_up: true,
        });
    };
    let text = given.trim().to_owned();
    if text.len() < SHORTEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!("the token has to be at least {SHORTEST} letters, digits and signs, without blanks");
    }
    Ok(Token {
        text,
        made_up: false,
    })
}

/// Where the token is, which no command gets to see.
pub(super) fn kept(file: Option<&Path>) -> Result<OwnSecrets> {
    let secrets = OwnSecrets::default().with_variable(VARIABLE);
    file.map_or(Ok(secrets.clone()), |file| secrets.with_file(file))
}

/// Says where the server is, and with which token it is reached.
pub(super) fn announce(at: SocketAddr, token: &Token) {
    paint::remark(&format!("serving MCP at http://{at}/mcp"));
    if token.made_up {
        paint::remark(&format!("the token of this run: {}", token.text));
    }
}
