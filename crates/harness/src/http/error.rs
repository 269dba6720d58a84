//! Why a request came to nothing, besides that it was refused.

use ringfence_jail::net::{SendError, UrlError};
use ringfence_policy::verdict::Refusal;
use thiserror::Error;

/// Why a request came to nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HttpError {
    /// It could not be sent, or no answer could be read.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The answer leads to a host that is refused.
    #[error("{from} redirects to {to}, which is refused: {refusal}")]
    RedirectRefused {
        /// Who redirects.
        from: String,
        /// Where to.
        to: String,
        /// Why not.
        refusal: Box<Refusal>,
    },
    /// The answer leads to something that is no address.
    #[error("{from} redirects to an address that cannot be used: {problem}")]
    BadRedirect {
        /// Who redirects.
        from: String,
        /// What is wrong with it.
        problem: RedirectProblem,
    },
    /// One answer led to the next for too long.
    #[error(
        "{from} redirects once more, after {most} redirects; `http.max_redirects` sets how many are followed"
    )]
    TooManyRedirects {
        /// Who redirects.
        from: String,
        /// How many are followed.
        most: u64,
    },
}

/// What is wrong with the address that an answer leads to.
#[derive(Debug, Error)]
pub enum RedirectProblem {
    /// It cannot be read.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// It is no text.
    #[error("it is not UTF-8")]
    NotText,
    /// It holds what was added to the request.
    #[error("it holds the secret that was added to the request")]
    Secret,
}

impl HttpError {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Send(error) => error.code(),
            Self::RedirectRefused { .. } => "http_redirect_refused",
            Self::BadRedirect { .. } => "http_bad_redirect",
            Self::TooManyRedirects { .. } => "http_too_many_redirects",
        }
    }

    /// An answer leads to an address with a secret in it.
    pub(crate) fn secret_in_redirect(from: String) -> Self {
        Self::BadRedirect {
            from,
            problem: RedirectProblem::Secret,
        }
    }

    /// Whether a clock ended it.
    pub(crate) fn is_a_timeout(&self) -> bool {
        self.code() == "http_timed_out"
    }
}
