//! The kernel's tools for confinement, one file each.
//!
//! This crate knows how to ask Linux for things: namespaces, mounts, Landlock, seccomp,
//! capabilities, rlimits, control groups, descriptor passing. It holds no policy, starts nothing on its own and
//! never waits for anything but a system call. It is the home of `unsafe`; each block names the
//! invariant that it rests on.

#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

pub mod account;
pub mod caller;
pub mod cgroup;
pub mod clock;
pub mod connect;
pub mod descriptor;
pub mod file_handle;
pub mod inotify;
pub mod landlock;
pub mod lease;
pub mod mount;
pub mod namespace;
pub mod notify;
pub mod privilege;
pub mod process;
pub mod rlimit;
pub mod seccomp;
pub mod signal;
pub mod unix_diag;
