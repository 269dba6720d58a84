//! `open_by_handle_at` opens a file past every path.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "open_by_handle",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("open_by_handle"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("open_by_path"),
    worked: |_, done| done.code == 0,
};
