//! What can go wrong with an answer: it cannot be read, or it is an error of the API.

use std::fmt;

use serde_json::Value;
use thiserror::Error;

use super::raw::Raw;

/// Why there is no turn.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The API says no.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The stream ended too early.
    #[error("the answer was cut off: {missing}")]
    Cut {
        /// What is missing.
        missing: String,
    },
    /// The answer is not JSON.
    #[error("the answer cannot be read: {why}")]
    NotJson {
        /// What the parser says.
        why: String,
    },
    /// The answer is JSON, and not that of this API.
    #[error("the answer is not one of this API: `{field}` is missing")]
    Foreign {
        /// What is missing.
        field: &'static str,
    },
    /// The answer is longer than is taken in.
    #[error("the answer has more than {most} bytes")]
    TooLong {
        /// How many are the most.
        most: usize,
    },
}

impl ReadError {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Api(error) => error.kind.code(),
            Self::Cut { .. } => "answer_cut_off",
            Self::NotJson { .. } => "answer_not_json",
            Self::Foreign { .. } => "answer_of_another_api",
            Self::TooLong { .. } => "answer_too_long",
        }
    }

    /// Whether the same request may do better. Nothing of an answer that was not read has been executed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Api(error) => error.kind.is_transient(),
            Self::Cut { .. } | Self::NotJson { .. } => true,
            Self::Foreign { .. } | Self::TooLong { .. } => false,
        }
    }

    pub(super) fn cut(missing: impl Into<String>) -> Self {
        Self::Cut {
            missing: missing.into(),
        }
    }
}

/// An error of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// Which kind.
    pub kind: ApiErrorKind,
    /// The HTTP status, if there is one: an error in a stream has none.
    pub status: Option<u16>,
    /// The API's own word for it.
    pub word: Option<String>,
    /// What it says.
    pub message: String,
    /// All that came, if it is JSON.
    pub raw: Option<Raw>,
}

/// Kinds of errors of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ApiErrorKind {
    InvalidRequest,
    Authentication,
    Permission,
    NotFound,
    TooLarge,
    ContextTooLong,
    RateLimited,
    QuotaUsedUp,
    Overloaded,
    TimedOut,
    Server,
    Other,
}

impl ApiErrorKind {
    /// A stable name for programs to look at.
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidRequest => "api_invalid_request",
            Self::Authentication => "api_authentication",
            Self::Permission => "api_permission",
            Self::NotFound => "api_not_found",
            Self::TooLarge => "api_request_too_large",
            Self::ContextTooLong => "api_context_too_long",
            Self::RateLimited => "api_rate_limited",
            Self::QuotaUsedUp => "api_quota_used_up",
            Self::Overloaded => "api_overloaded",
            Self::TimedOut => "api_timed_out",
            Self::Server => "api_server_error",
            Self::Other => "api_error",
        }
    }

    /// Whether the same request may do better later.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimited | Self::Overloaded | Self::TimedOut | Self::Server
        )
    }

    fn of_status(status: u16) -> Self {
        match status {
            400 | 422 => Self::InvalidRequest,
            401 => Self::Authentication,
            402 => Self::QuotaUsedUp,
            403 => Self::Permission,
            404 | 410 => Self::NotFound,
            408 | 504 => Self::TimedOut,
            413 => Self::TooLarge,
            429 => Self::RateLimited,
            503 | 529 => Self::Overloaded,
            500.. => Self::Server,
            _ => Self::Other,
        }
    }

    /// The API's own words, which say more than the status.
    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "invalid_request_error" | "invalid_prompt" => Self::InvalidRequest,
            "authentication_error" | "invalid_api_key" => Self::Authentication,
            "permission_error" => Self::Permission,
            "not_found_error" | "model_not_found" => Self::NotFound,
            "request_too_large" => Self::TooLarge,
            "context_length_exceeded" => Self::ContextTooLong,
            "rate_limit_error" | "rate_limit_exceeded" | "requests" | "tokens" => Self::RateLimited,
            "insufficient_quota" | "billing_error" => Self::QuotaUsedUp,
            "overloaded_error" | "server_is_overloaded" | "slow_down" => Self::Overloaded,
            "timeout_error" => Self::TimedOut,
            "api_error" | "server_error" | "internal_server_error" => Self::Server,
            _ => return None,
        })
    }
}

impl ApiError {
    /// Reads the body of an answer with an HTTP status that says that something is wrong. Whatever it is, there is an
    /// error afterwards: a proxy in between may answer with a page.
    pub fn read(status: u16, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let raw = Raw::parse(text.trim()).ok();
        let mut error = match raw.as_ref().and_then(Raw::value) {
            Some(value) => Self::of_value(&value),
            None => Self::in_words(&text),
        };
        error.raw = raw;
        error.status = Some(status);
        let by_status = ApiErrorKind::of_status(status);
        if error.kind == ApiErrorKind::Other
            || by_status == ApiErrorKind::RateLimited && error.kind != ApiErrorKind::QuotaUsedUp
        {
            error.kind = by_status;
        }
        if error.message.is_empty() {
            "it does not say why".clone_into(&mut error.message);
        }
        error
    }

    /// Reads an error that came in a stream, or in a whole answer.
    pub(super) fn of_raw(raw: &Raw) -> Self {
        let mut error = Self::of_value(&raw.value().unwrap_or_default());
        error.raw = Some(raw.clone());
        error
    }

    fn of_value(value: &Value) -> Self {
        // `{"error":{…}}`, `{"error":"…"}`, or the fields themselves.
        let inner = value.get("error").filter(|inner| !inner.is_null());
        let inner = inner.unwrap_or(value);
        let field = |name: &str| inner.get(name).and_then(Value::as_str);
        let message = inner.as_str().or_else(|| field("message"));
        let message = message.or_else(|| field("detail")).unwrap_or_default();
        let words = [field("code"), field("type")];
        let kind = words
            .iter()
            .flatten()
            .find_map(|word| ApiErrorKind::of_word(word));
        let mut error = Self::in_words(message);
        error.word = words
            .into_iter()
            .flatten()
            .find(|word| *word != "error")
            .map(str::to_owned);
        if let Some(kind) = kind
            && error.kind != ApiErrorKind::ContextTooLong
        {
            error.kind = kind;
        }
        error
    }

    fn in_words(message: &str) -> Self {
        let message: String = message.trim().chars().take(2_000).collect();
        let lower = message.to_ascii_lowercase();
        let too_long = [
            "prompt is too long",
            "maximum context length",
            "context window",
        ];
        let kind = if too_long.iter().any(|words| lower.contains(words)) {
            ApiErrorKind::ContextTooLong
        } else {
            ApiErrorKind::Other
        };
        Self {
            kind,
            status: None,
            word: None,
            message,
            raw: None,
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the model's API says")?;
        if let Some(status) = self.status {
            write!(f, " {status}")?;
        }
        if let Some(word) = &self.word {
            write!(f, " ({word})")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ApiError {}
