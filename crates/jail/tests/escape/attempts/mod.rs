//! The attempts, one file each.

mod abstract_datagrams;
mod abstract_sockets;
mod address_that_changes;
mod capabilities;
mod clone3;
mod control_groups;
mod daemons;
mod datagrams;
mod denied_spellings;
mod denied_through_a_link;
mod descriptors_of_init;
mod dev_shm;
mod devices;
mod dot_git_file;
mod foreign_syscall_tables;
mod fork_bomb;
mod git_in_the_command_line;
mod hard_link;
mod inherited_descriptors;
mod io_uring;
mod kernel_keys_and_programs;
mod machine_datagrams;
mod machine_sockets;
mod machine_tmp;
mod missing_hook;
mod missing_keys;
mod missing_repository;
mod missing_settings;
mod mounts;
mod multipath_tcp;
mod nested_repositories;
mod nested_write_read_only_mode;
mod netlink;
mod o_path;
mod open_by_handle;
mod pairs_for_datagrams;
mod proc_mem;
mod proc_root;
mod proc_sys;
mod process_vm;
mod ptrace;
mod rename_parent;
mod rename_workspace;
mod second_listener;
mod set_user_id;
mod settings_by_rename;
mod signals_outward;
mod socket_behind_a_swapped_link;
mod socket_beside_an_odd_name;
mod socket_by_a_relative_name;
mod socket_for_an_orphan;
mod socket_for_packets;
mod socket_in_the_machine_network;
mod socket_in_the_machine_tmp;
mod socket_made_meanwhile;
mod socket_of_another_network;
mod socket_that_is_not_named;
mod socket_that_was_there;
mod socket_through_proc;
mod socket_while_many_wait;
mod sockets_of_other_families;
mod swapped_symlink;
mod symlink_out;
mod terminal_descriptors;
mod truncate_read_only;
mod typing_into_the_terminal;
mod user_namespaces;
mod workspace_below_tmp;

pub use crate::fence::{Deed, Fence, RunResult};

/// A way to get out, and its harmless twin.
pub struct Attempt {
    /// Its name.
    pub name: &'static str,
    /// Where the test's folders are made.
    pub below: &'static str,
    /// Sets the scene, outside the fence.
    pub prepare: fn(&mut Fence),
    /// What is tried.
    pub attack: Deed,
    /// Whether it got out.
    pub escaped: fn(&Fence, &RunResult) -> bool,
    /// What must work.
    pub twin: Deed,
    /// Whether it did.
    pub worked: fn(&Fence, &RunResult) -> bool,
}

/// Every attempt.
pub const ATTEMPTS: &[&Attempt] = &[
    &missing_hook::ATTEMPT,
    &missing_repository::ATTEMPT,
    &missing_settings::ATTEMPT,
    &missing_keys::ATTEMPT,
    &settings_by_rename::ATTEMPT,
    &rename_parent::ATTEMPT,
    &rename_workspace::ATTEMPT,
    &git_in_the_command_line::ATTEMPT,
    &symlink_out::ATTEMPT,
    &swapped_symlink::ATTEMPT,
    &hard_link::ATTEMPT,
    &denied_spellings::ATTEMPT,
    &denied_through_a_link::ATTEMPT,
    &truncate_read_only::ATTEMPT,
    &o_path::ATTEMPT,
    &open_by_handle::ATTEMPT,
    &proc_root::ATTEMPT,
    &proc_mem::ATTEMPT,
    &proc_sys::ATTEMPT,
    &inherited_descriptors::ATTEMPT,
    &dev_shm::ATTEMPT,
    &machine_tmp::ATTEMPT,
    &workspace_below_tmp::ATTEMPT,
    &machine_sockets::ATTEMPT,
    &socket_beside_an_odd_name::ATTEMPT,
    &socket_by_a_relative_name::ATTEMPT,
    &socket_of_another_network::ATTEMPT,
    &socket_made_meanwhile::ATTEMPT,
    &socket_that_was_there::ATTEMPT,
    &address_that_changes::ATTEMPT,
    &socket_behind_a_swapped_link::ATTEMPT,
    &socket_through_proc::ATTEMPT,
    &socket_for_an_orphan::ATTEMPT,
    &socket_while_many_wait::ATTEMPT,
    &socket_for_packets::ATTEMPT,
    &socket_in_the_machine_network::ATTEMPT,
    &socket_in_the_machine_tmp::ATTEMPT,
    &socket_that_is_not_named::ATTEMPT,
    &pairs_for_datagrams::ATTEMPT,
    &devices::ATTEMPT,
    &mounts::ATTEMPT,
    &nested_write_read_only_mode::ATTEMPT,
    &io_uring::ATTEMPT,
    &ptrace::ATTEMPT,
    &process_vm::ATTEMPT,
    &foreign_syscall_tables::ATTEMPT,
    &second_listener::ATTEMPT,
    &clone3::ATTEMPT,
    &user_namespaces::ATTEMPT,
    &typing_into_the_terminal::ATTEMPT,
    &capabilities::ATTEMPT,
    &set_user_id::ATTEMPT,
    &sockets_of_other_families::ATTEMPT,
    &abstract_sockets::ATTEMPT,
    &abstract_datagrams::ATTEMPT,
    &machine_datagrams::ATTEMPT,
    &datagrams::ATTEMPT,
    &multipath_tcp::ATTEMPT,
    &netlink::ATTEMPT,
    &kernel_keys_and_programs::ATTEMPT,
    &signals_outward::ATTEMPT,
    &nested_repositories::ATTEMPT,
    &dot_git_file::ATTEMPT,
    &terminal_descriptors::ATTEMPT,
    &descriptors_of_init::ATTEMPT,
    &control_groups::ATTEMPT,
    &daemons::ATTEMPT,
    &fork_bomb::ATTEMPT,
];
