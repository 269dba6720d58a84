//! The audit log: what was meant to run, who allowed it and why, and how it ended.
//!
//! One file of JSON lines per harness process. Each line carries the hash of the one before and a
//! keyed code of its own; the head (how many lines, and the hash of the last) is kept in another
//! directory. [`verify`] therefore finds a line that was changed, removed, moved, appended by a
//! stranger or cut off, and names it. The logs of a state directory are chained as well: a register
//! lists them, and the first line of each carries the hash of its entry there, so that a log that is
//! removed with its head is missed by name. Secrets are redacted before anything is written.
//!
//! This module does not decide what is recorded or when (the engine does), never prints, and uses
//! only the directories that it is given.
//!
//! # What is written, in which order
//!
//! A process may be killed between any two system calls. [`AuditLog::record`] makes three writes
//! while it holds a lock on the head file:
//!
//! 1. the whole line to the *draft* in the state directory,
//! 2. the line to the log,
//! 3. the new count and hash to the head.
//!
//! | killed | head | log | draft |
//! |---|---|---|---|
//! | before or in 1 | n | n lines | anything |
//! | in 2 | n | n lines and a part of line n+1 | line n+1 |
//! | between 2 and 3 | n | n+1 lines | line n+1 |
//! | after 3 | n+1 | n+1 lines | line n+1 |
//!
//! `verify` accepts these four and nothing else: what stands in the log after line n must be a
//! beginning of the draft, and the draft must carry the key's code for record n+1 of this very
//! file. Somebody who can write the audit directory, but neither the state directory nor the key,
//! can only shorten a line that was in flight when the process died. No caller was ever told that
//! this record was kept, so nothing was run on the strength of it.
//!
//! The writes are ordered for the death of the process, not of the machine: unless [`Upkeep`] says
//! otherwise nothing is synced per record. After a power cut the log may be shorter than its head
//! says, and `verify` reports it.
//!
//! # Over the years
//!
//! A log that grows long or old goes on in another file, which the register lists like that of another
//! session. Files that are too old are removed from the oldest on; the register says how many, so that
//! none can be taken away under that pretext.

mod clipping;
mod clock;
mod digest;
mod expiry;
mod filter;
mod folders;
mod head;
mod key;
mod line;
mod log;
mod older;
mod outcome;
mod part;
mod read;
mod record;
mod redact;
mod register;
mod report;
mod select;
mod upkeep;
mod verify;

pub use clock::{Clock, SystemClock, Timestamp};
pub use filter::Filter;
pub use folders::AuditFolders;
pub use log::{AuditError, AuditLog};
pub use outcome::{CallEnded, HttpEnded, Outcome};
pub use read::{Entries, Entry, ReadError, read};
pub use record::{
    Answer, ApprovalAnswered, ApprovalAsked, CallId, Command, ConnectionEnded, Decision, Intent,
    Record, ScriptSite, SessionEnded, SessionId, SessionStarted,
};
pub use redact::Redactor;
pub use report::{Fault, FileReport, Finding, Report};
pub use select::{Selection, select};
pub use upkeep::{Durability, Upkeep};
pub use verify::{VerifyError, verify};
