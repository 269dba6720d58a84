//! Netlink, which changes the network for whoever may. Asking it about the network works.

use super::{Attempt, Deed};

pub(super) const ATTEMPT: Attempt = Attempt {
    name: "netlink",
    below: "/var/tmp",
    prepare: |_| {},
    attack: Deed::Probe("change_a_link"),
    escaped: |_, done| done.code == 0,
    twin: Deed::Probe("look_at_a_link"),
    worked: |_, done| done.code == 0,
};
