//! In which way a client can be asked something.

use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, ProtocolVersion};
use rmcp::service::RequestContext;

/// How questions of a call are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// By a request of ours while the call goes on.
    Elicitation,
    /// As the result of the call, which is repeated with the answer.
    InputRequired,
    /// Not at all.
    Nobody,
}

impl Manner {
    /// How the client that makes a request can be asked.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        if !shows_forms(context.client_capabilities().as_ref()) {
            return Self::Nobody;
        }
        let version = context.protocol_version();
        let newer = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if newer {
            Self::InputRequired
        } else {
            Self::Elicitation
        }
    }
}

/// Whether a client declares forms: one that names no mode means them.
fn shows_forms(client: Option<&ClientCapabilities>) -> bool {
    client
        .and_then(|client| client.elicitation.as_ref())
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}
