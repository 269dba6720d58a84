//! What it means to write to a place.

use super::{Finding, known::runs_later, tampering::tampering};
use crate::{
    classify::{
        Class,
        path::{Spot, Spread},
    },
    ground::Ground,
};

/// What it means to write to a word.
pub(in crate::classify) fn writing(spread: &Spread, ground: &Ground) -> Finding {
    let mut worst = (Class::ReadOnly, String::new());
    let mut note = |finding: Finding| {
        if finding.0 > worst.0 {
            worst = finding;
        }
    };
    if spread.unknown {
        note((Class::Unknown, "which file it writes is computed".into()));
    }
    for spot in &spread.places {
        note(write_at(spot, ground));
    }
    worst
}

/// Devices that writing to destroys.
const BLOCK_DEVICES: &[&str] = &[
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "loop", "dm-", "md", "disk", "rdisk", "mapper",
    "sr", "nbd", "zd", "ram", "mem", "kmem", "port", "fb", "mtd", "pmem", "drbd", "bcache",
    "block", "root",
];

fn write_at(spot: &Spot, ground: &Ground) -> Finding {
    let shown = spot.shown();
    if let Some(finding) = device(spot) {
        return finding;
    }
    if let Some(finding) = tampering(spot, ground) {
        return finding;
    }
    let top = spot.part(0);
    if matches!(top, "proc" | "sys") && !spot.may_write(ground) {
        return (
            Class::Dangerous,
            format!("it changes the running kernel ({shown})"),
        );
    }
    let account = top == "etc"
        && (matches!(
            spot.part(1),
            "passwd" | "shadow" | "group" | "gshadow" | "sudoers" | "ld.so.preload"
        ) || spot.part(1).starts_with("sudoers")
            || spot.part(1) == "pam.d");
    if account && !spot.may_write(ground) {
        return (
            Class::Dangerous,
            format!("it changes who may do what on this machine ({shown})"),
        );
    }
    if spot.open {
        return (Class::Unknown, "which file it writes is computed".into());
    }
    if let Some(why) = runs_later(spot, ground) {
        return (Class::Suspicious, format!("it writes {why} ({shown})"));
    }
    if spot.may_write(ground) {
        if spot.has_wildcard() {
            return (
                Class::Unknown,
                format!("which file it writes depends on what is there ({shown})"),
            );
        }
        return (Class::Safe, format!("it writes {shown}"));
    }
    // Nothing is hidden or destroyed: where there is a fence it refuses this, and says so.
    (
        Class::Unknown,
        format!("it writes outside the workspace ({shown})"),
    )
}

fn device(spot: &Spot) -> Option<Finding> {
    if spot.part(0) != "dev" {
        return None;
    }
    let (name, shown) = (spot.part(1), spot.shown());
    Some(match name {
        "null" | "stdout" | "stderr" | "stdin" | "tty" | "fd" | "zero" | "full" | "random"
        | "urandom" => (Class::ReadOnly, String::new()),
        "tcp" | "udp" => (
            Class::Suspicious,
            format!("it opens a network connection ({shown})"),
        ),
        "shm" => (Class::Safe, format!("it writes {shown}")),
        _ if BLOCK_DEVICES.iter().any(|known| name.starts_with(known)) || spot.has_wildcard() => {
            (Class::Dangerous, format!("it writes to a device ({shown})"))
        }
        _ => (
            Class::Suspicious,
            format!("it writes to a device ({shown})"),
        ),
    })
}
