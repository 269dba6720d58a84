//! Errors: what went wrong with a request, for programs and for people.

use ringfence::CallError;
use ringfence::policy::classify::Class;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::Grant;

/// Why a request came to nothing.
#[derive(Debug, Clone)]
pub struct Fault {
    /// What sort of error it is.
    pub kind: FaultKind,
    /// What happened, and what to do about it.
    pub message: String,
    /// More, for programs.
    pub data: Box<FaultData>,
}

/// What else an error says.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct FaultData {
    /// A stable name of what went wrong, finer than the number.
    pub code: String,
    /// Where in the params it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The id of the request, where the error itself cannot have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What one could do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The class of the command that was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub class: Option<Class>,
    /// What would grant it. Every refusal has it; it is empty where nothing narrow would.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<Vec<Grant>>,
    /// The name of the error that a function of a script threw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The versions of the protocol that there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supported: Option<Vec<u64>>,
    /// What the tool says besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

macro_rules! kinds {
    ($($(#[doc = $meaning:literal])+ $kind:ident = $number:literal, $name:literal;)+) => {
        /// What sort of error it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum FaultKind {
            $($(#[doc = $meaning])+ $kind,)+
        }

        impl FaultKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// The number used on the wire.
            pub fn number(self) -> i64 {
                match self { $(Self::$kind => $number,)+ }
            }

            /// Its name, which is the `code` of those that have no finer one.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }

            /// What it means.
            pub fn meaning(self) -> String {
                match self { $(Self::$kind => concat!($($meaning),+).trim().to_owned(),)+ }
            }
        }
    };
}

kinds! {
    /// A line is no JSON, or longer than a line may be; its `id` is null.
    ParseError = -32700, "parse_error";
    /// No request of JSON-RPC 2.0, or one whose id is in use (`id_in_use`: its own `id` is null, `data.id` has it).
    InvalidRequest = -32600, "invalid_request";
    /// There is no such method.
    UnknownMethod = -32601, "unknown_method";
    /// The params do not fit; `data.path` says where.
    InvalidParams = -32602, "invalid_params";
    /// The call came to nothing; `data.code` says why.
    CallFailed = -32000, "call_failed";
    /// Policy or somebody said no; `data` has `code`, `reason`, `class` and `grants`.
    Refused = -32001, "refused";
    /// The call was cancelled before it did anything.
    Cancelled = -32002, "cancelled";
    /// Nothing has been initialised, it has been already, or it cannot be done like this; `data.code` says which.
    NotInitialized = -32003, "not_initialized";
    /// More is asked for at once than is kept waiting.
    TooMuch = -32004, "too_many_calls";
    /// The session is ending.
    ShuttingDown = -32005, "shutting_down";
    /// There is no such function of a script, or its run has ended.
    NoSuchHandle = -32006, "no_such_handle";
    /// The script's function threw; `data.name` is the name of the error.
    FunctionThrew = -32007, "function_threw";
}

impl Fault {
    /// An error of a kind.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        let data = FaultData {
            code: kind.name().to_owned(),
            ..FaultData::default()
        };
        Self {
            kind,
            message: message.into(),
            data: Box::new(data),
        }
    }

    /// The same with a finer code.
    #[must_use]
    pub fn code(mut self, code: &str) -> Self {
        code.clone_into(&mut self.data.code);
        self
    }

    /// The same about a place in the params.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.data.path = Some(path.into());
        self
    }

    /// The error as it stands in a response.
    pub(crate) fn to_json(&self) -> Value {
        json!({"code": self.kind.number(), "message": self.message, "data": self.data})
    }
}

impl From<CallError> for Fault {
    fn from(error: CallError) -> Self {
        let message = error.to_string();
        let of = |kind| Self::new(kind, message.clone()).code(error.code());
        match &error {
            CallError::Refused(refusal) => {
                let mut fault = of(FaultKind::Refused);
                fault.data.reason = Some(refusal.reason.clone());
                fault.data.hint.clone_from(&refusal.hint);
                fault.data.class = refusal.class;
                fault.data.grants = Some(refusal.grants.iter().map(Grant::from).collect());
                fault
            }
            CallError::UnknownTool { .. } => of(FaultKind::InvalidParams).at("tool"),
            CallError::UnknownField { field, .. } => {
                of(FaultKind::InvalidParams).at(format!("arguments.{field}"))
            }
            CallError::BadArguments { message, .. } => {
                of(FaultKind::InvalidParams).at(place_in(message))
            }
            CallError::EmptyCommand => of(FaultKind::InvalidParams).at("arguments.command"),
            CallError::TimeoutTooLong { .. } => of(FaultKind::InvalidParams).at("arguments"),
            CallError::Cancelled => of(FaultKind::Cancelled),
            other => {
                let details = other.to_json()["error"]["details"].take();
                let mut fault = of(FaultKind::CallFailed);
                fault.data.details = (!details.is_null()).then_some(details);
                fault
            }
        }
    }
}

/// Where in the arguments a message says that something is wrong: they begin with the path.
fn place_in(message: &str) -> String {
    let quoted = message
        .strip_prefix('`')
        .and_then(|rest| rest.split_once('`'));
    quoted.map_or_else(
        || "arguments".to_owned(),
        |(path, _)| format!("arguments.{path}"),
    )
}
